// The place Map: communities of a depth as discs; one of them from inside; entities as dots; what the last answer read, lit.
import {at, get, post} from "./api.js";
import {Canvas} from "./canvas.js";
import {communityList, litList} from "./cards.js";
import {button, empty, failure, h, many, number, say} from "./dom.js";
import {address, change, corpusNow, go, state} from "./state.js";

const boxOf = (c, more = 1.12) => [c.x - c.r * more, c.y - c.r * more, c.x + c.r * more, c.y + c.r * more];

export class MapPlace {
  constructor() {
    this.whole = this.inner = this.pointed = null;
    this.last = "";
    this.depth = 0;
    const label = "Map of communities. Arrow keys move it, plus and minus zoom, 0 shows all. The list beside it holds the same.";
    this.surface = h("canvas", {tabindex: 0, role: "img", "aria-label": label, on: {keydown: event => this.key(event)}});
    this.bar = h("div", {class: "mapbar"});
    this.account = h("p", {class: "account soft"});
    this.hint = h("div", {class: "hint", hidden: true});
    const zoom = (text, title, act) => button(text, act, {title, "aria-label": title});
    const middle = factor => this.canvas.zoomAt(this.canvas.width / 2, this.canvas.height / 2, factor);
    this.acts = {"+": () => middle(1.3), "-": () => middle(1 / 1.3), "0": () => this.frame(true)};
    this.element = h("section", {class: "map", "aria-label": "Map"}, this.surface, this.bar,
      h("div", {class: "zoom", role: "group", "aria-label": "Zoom"}, zoom("+", "Zoom in (+)", this.acts["+"]),
        zoom("−", "Zoom out (-)", this.acts["-"]), zoom("⤢", "Show all (0)", this.acts["0"])), this.hint, this.account);
    this.canvas = new Canvas(this.surface, {draw: c => this.draw(c), point: at => this.point(at), choose: at => this.chooseAt(at)});
  }

  async show(route) {
    const {corpus, id, params} = route, depth = Number(params.depth || 0);
    this.last = address({corpus, place: "map", id, params: {depth: params.depth, entity: params.entity}});
    this.failed?.remove();
    if (!corpusNow().index) {
      this.failed = h("div", {class: "over"}, empty("There is no map yet.", h("a", {href: address({place: "library"})}, "Add documents in the library")));
      return this.element.append(this.failed);
    }
    try {
      const before = JSON.stringify([this.inner?.id, this.whole?.depth, this.shownEntity]);
      if (!this.whole || this.whole.depth !== depth) this.whole = await get(at(corpus, "map"), {depth});
      if ((this.inner?.id || "") !== id) this.inner = id ? await get(at(corpus, "map", id)) : null;
      await Promise.all([this.light(corpus), this.find(corpus, params.entity)]);
      if (state.route !== route) return;
      this.controls();
      if (before !== JSON.stringify([this.inner?.id, this.whole?.depth, this.shownEntity]) || !this.canvas.target) this.frame(this.framed);
      this.framed = true;
      this.canvas.redraw();
    } catch (error) {
      this.element.append(this.failed = h("div", {class: "over"}, failure(error, () => this.show(route))));
    }
    return this.fillOverview();
  }

  stale() {
    this.whole = this.inner = this.entity = this.framed = null;
    state.lit = state.read = null;
  }

  async light(corpus) {
    if (!state.evidence || state.lit) return;
    const {words, ...asked} = state.evidence, {entities} = await post(at(corpus, "map", "places"), asked);
    state.read = entities.filter(e => !words.includes(e.name.toLowerCase()));
    state.lit = entities.filter(e => words.includes(e.name.toLowerCase()));
  }

  async find(corpus, id) {
    if (!id) this.entity = null;
    else if (this.entity?.id !== id) this.entity = (await post(at(corpus, "map", "places"), {entities: [id]})).entities[0] || null;
    this.shownEntity = this.entity?.id;
  }

  // what stands beside the map where nothing is chosen
  overview(body) {
    this.body = body;
    this.fillOverview();
  }

  fillOverview() {
    if (!this.body?.isConnected || !this.whole) return;
    const {communities, entities, relations, depths, left_out: left} = this.whole;
    const lit = litList();
    this.body.replaceChildren(h("article", {class: "card"}, h("header", {}, h("h1", {}, "Communities"),
      h("p", {class: "soft"}, `${many(entities, "entity", "entities")}, ${many(relations, "relation")}, ${many(depths, "depth")}`)),
    ...(lit ? [lit] : []), communityList(communities), ...(left ? [h("p", {class: "soft"}, `${number(left)} smaller ones are not shown.`)] : [])));
  }

  controls() {
    const {depths, depth} = this.whole;
    const one = n => h("a", {class: "button", href: address({place: "map", params: {depth: n || null}}), "aria-current": !this.inner && n === depth ? "true" : null}, `Depth ${n}`);
    this.bar.replaceChildren(...(this.inner
      ? [h("a", {class: "button", href: address({place: "map", params: {depth: depth || null}})}, "All communities"),
        h("span", {class: "crumb"}, this.inner.title || "without a title")]
      : Array.from({length: depths}, (_, n) => one(n))));
    const {communities, members, links} = this.inner || {};
    this.account.textContent = this.inner
      ? [communities.length && many(communities.length, "community", "communities"), many(members.length, "entity", "entities"),
        `the ${number(links.length)} relations that hold it together`, this.inner.left_out && `${number(this.inner.left_out)} entities left out`].filter(Boolean).join(", ")
      : `${many(this.whole.communities.length, "community", "communities")}. Click one to go in.`
        + (state.lit?.length ? ` Filled: what the last answer names; ringed: what else it read.` : "");
  }

  frame(moving) {
    if (this.entity && !this.inner) {
      const home = this.whole.communities.find(c => this.entity.communities?.includes(c.id));
      return this.canvas.fit(home?.r ? boxOf(home) : boxOf({...this.entity, r: 120}), moving);
    }
    if (this.inner?.r) return this.canvas.fit(boxOf(this.inner), moving);
    const {width, height} = this.whole || {width: 1, height: 1};
    const shown = (this.whole?.communities || []).filter(c => c.r);
    const box = shown.length ? [Math.min(...shown.map(c => c.x - c.r)), Math.min(...shown.map(c => c.y - c.r)),
      Math.max(...shown.map(c => c.x + c.r)), Math.max(...shown.map(c => c.y + c.r))] : [0, 0, width, height];
    return this.canvas.fit(box, moving);
  }

  // ── drawing ──

  draw(c) {
    if (!this.whole) return;
    const inner = this.inner, discs = inner?.communities.length ? inner.communities : this.whole.communities;
    c.inside(pen => {
      if (inner) this.discs(pen, c, this.whole.communities.filter(d => d.id !== inner.id), 0.06);
      if (inner) this.discs(pen, c, [inner], 0.1);
      if (!inner || inner.communities.length) this.discs(pen, c, discs, inner ? 0.13 : 0.17);
      this.bundles(pen, c, inner ? inner.bundles : this.whole.bundles, discs);
      if (inner) this.members(pen, c, inner);
    });
    const lit = this.seen(state.lit);
    this.lights(c, lit, this.seen(state.read));
    const focus = this.pointed?.entity || this.entity, named = new Set();
    if (focus) this.name(c, focus, true);
    if (focus) named.add(focus.id);
    for (const d of [...discs].sort((a, b) => b.r - a.r).slice(0, 80)) if (!inner || d.r * c.zoom > 34) this.title(c, d);
    if (inner) for (const m of inner.members.slice(0, 300)) c.avoid(m);
    const small = inner ? inner.members.slice(0, 160).filter(m => m.r * c.zoom > 3.5) : [];
    for (const e of [...lit.slice(0, 60), ...small]) {
      if (!named.has(e.id)) this.name(c, e, false);
      named.add(e.id);
    }
  }

  // Of entities, those that what is drawn has a place for: inside a community its own, else those inside a disc.
  seen(entities) {
    const {inner, whole} = this, own = inner && new Set(inner.members.map(m => m.id));
    const low = Math.max(...whole.communities.filter(d => d.r).map(d => d.y + d.r));
    return (entities || []).filter(e => own ? own.has(e.id) : e.y <= low);
  }

  discs(pen, c, discs, alpha) {
    for (const d of discs) if (d.r) {
      pen.beginPath();
      pen.arc(d.x, d.y, d.r, 0, 2 * Math.PI);
      pen.fillStyle = pen.strokeStyle = d.colour;
      pen.globalAlpha = this.pointed?.community === d ? alpha + 0.14 : alpha;
      pen.fill();
      pen.globalAlpha = 0.5;
      pen.lineWidth = 1.2 / c.zoom;
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  bundles(pen, c, bundles, discs) {
    const known = new Map(discs.map(d => [d.id, d])), most = Math.max(...bundles.map(b => b.weight), 1e-9);
    const middle = {x: this.whole.width / 2, y: this.whole.height / 2};
    pen.strokeStyle = c.roles.link;
    pen.lineCap = "round";
    for (const {source, target, weight} of bundles) {
      const a = known.get(source), b = known.get(target), share = Math.sqrt(weight / most);
      if (!a?.r || !b?.r) continue;
      const x = (a.x + b.x) / 2, y = (a.y + b.y) / 2, bend = [x + (middle.x - x) * 0.12, y + (middle.y - y) * 0.12];
      pen.globalAlpha = 0.12 + 0.3 * share;
      pen.lineWidth = (0.8 + 6 * share) / Math.max(1, c.zoom);
      pen.beginPath();
      pen.moveTo(...onEdge(a, bend));
      pen.quadraticCurveTo(...bend, ...onEdge(b, bend));
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  members(pen, c, {members, links, communities, colour}) {
    const known = new Map(members.map(m => [m.id, m])), focus = this.pointed?.entity?.id || this.entity?.id;
    pen.lineWidth = Math.max(0.5, 0.8 / c.zoom);
    for (const near of [false, true]) {
      pen.beginPath();
      pen.strokeStyle = near ? c.roles.ink : colour;
      pen.globalAlpha = near ? 0.7 : 0.45;
      for (const {source, target} of links) {
        const a = known.get(source), b = known.get(target);
        if (!a || !b || (near !== (source === focus || target === focus))) continue;
        pen.moveTo(a.x, a.y);
        pen.lineTo(b.x, b.y);
      }
      pen.stroke();
    }
    pen.globalAlpha = 1;
    for (const m of members) {
      const home = communities.find(d => Math.hypot(m.x - d.x, m.y - d.y) <= d.r);
      pen.fillStyle = home?.colour || colour;
      pen.beginPath();
      pen.arc(m.x, m.y, m.r, 0, 2 * Math.PI);
      pen.fill();
    }
  }

  lights(c, lit, read) {
    const {pen} = c, ring = (one, colour, wide) => {
      const [x, y, r] = c.place(one);
      pen.beginPath();
      pen.arc(x, y, Math.max(r, 3.5) + wide, 0, 2 * Math.PI);
      pen.strokeStyle = colour;
      pen.lineWidth = wide;
      pen.stroke();
    };
    pen.globalAlpha = 0.5;
    for (const e of read) ring(e, c.roles.glow, 1.2);
    pen.globalAlpha = 1;
    for (const e of lit) {
      const [x, y, r] = c.place(e);
      pen.beginPath();
      pen.fillStyle = c.roles.glow;
      pen.arc(x, y, Math.max(r, 3.5), 0, 2 * Math.PI);
      pen.fill();
      pen.globalAlpha = 0.4;
      ring(e, c.roles.glow, 4);
      pen.globalAlpha = 1;
    }
    for (const e of [this.entity, this.pointed?.entity]) if (e) ring(e, c.roles.ink, 2);
  }

  title(c, d) {
    const [x, y, r] = c.place(d);
    if (!d.title || !d.r || r < 12 || x < -r || y < -r || x > c.width + r || y > c.height + r) return;
    const size = Math.round(Math.min(this.inner ? 13 : 17, Math.max(11, r / 7))), lines = c.wrap(d.title, Math.max(1.7 * r, 90), size);
    const above = this.inner ? [-1 - (0.6 * size * lines.length + 4) / r, 1 + (0.6 * size * lines.length + 4) / r, -0.8, 0.8] : [0, -0.45, 0.45, -0.8, 0.8];
    above.some(up => c.write(lines, x, y + up * r, {size, bold: true}));
  }

  name(c, e, always) {
    const [x, y, r] = c.place(e), text = e.name.length > 40 ? e.name.slice(0, 39) + "…" : e.name;
    if (x < 0 || y < 0 || x > c.width || y > c.height) return;
    c.pen.font = `400 12.5px ${c.face}`;
    const aside = Math.max(r, 4) + 7 + c.pen.measureText(text).width / 2;
    const places = always ? [[0, -Math.max(r, 4) - 12]] : [[aside, 0], [-aside, 0], [0, r + 12], [0, -r - 12]];
    places.some(([right, down]) => c.write([text], x + right, y + down, {size: 12.5, always}));
  }

  // ── choosing ──

  at([x, y]) {
    const c = this.canvas, far = one => { const [a, b, r] = c.place(one); return Math.hypot(a - x, b - y) - Math.max(r, 3); };
    const dots = [...(this.inner?.members || []), ...this.seen(state.lit), ...this.seen(state.read)];
    const entity = dots.reduce((best, one) => far(one) < (best ? far(best) : 6) ? one : best, null);
    if (entity) return {entity};
    const inside = list => (list || []).filter(d => d.r && far(d) <= 0).sort((a, b) => a.r - b.r)[0];
    const community = inside(this.inner?.communities) || inside(this.whole?.communities.filter(d => d.id !== this.inner?.id));
    return community ? {community} : null;
  }

  point(at) {
    const found = at && this.at(at);
    this.hint.hidden = !found;
    if (found) {
      const {community: d, entity: e} = found;
      this.hint.textContent = e ? `${e.name} · ${e.type}` : `${d.title || "without a title"} · ${many(d.entities, "entity", "entities")}`;
      this.hint.style.left = Math.min(at[0] + 14, this.canvas.width - this.hint.offsetWidth - 8) + "px";
      this.hint.style.top = Math.min(at[1] + 16, this.canvas.height - 40) + "px";
    }
    this.surface.style.cursor = found ? "pointer" : "grab";
    const same = found?.entity === this.pointed?.entity && found?.community === this.pointed?.community;
    this.pointed = found;
    if (!same) this.canvas.redraw();
  }

  chooseAt(at) {
    const found = this.at(at), {depth} = state.route.params;
    this.point(null);
    if (found?.entity) return change({entity: found.entity.id, doc: null, start: null, end: null});
    if (!found) return state.route.params.entity ? change({entity: null}) : this.inner && go({place: "map", params: {depth}});
    say(`Inside ${found.community.title}`);
    return go({place: "map", id: found.community.id, params: {depth}});
  }

  key(event) {
    const step = {ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60]}[event.key];
    const act = this.acts[event.key === "=" ? "+" : event.key];
    if ((!step && !act) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (step) this.canvas.shift(...step);
    else act();
  }
}

function onEdge(d, [x, y]) {
  const dx = x - d.x, dy = y - d.y, part = Math.min(1, d.r / Math.max(Math.hypot(dx, dy), 1e-9));
  return [d.x + dx * part, d.y + dy * part];
}
