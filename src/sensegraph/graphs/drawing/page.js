"use strict";
const G = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const canvas = $("map"), pen = canvas.getContext("2d");
const view = {x: 0, y: 0, zoom: 1};
const many = (n, one, more) => n.toLocaleString("en") + " " + (n === 1 ? one : more);
const byDegree = G.names.map((_, i) => i).sort((a, b) => G.degrees[b] - G.degrees[a] || a - b);
const folded = G.names.map(name => name.normalize("NFKC").toLowerCase());
const links = G.names.map(() => []);
G.from.forEach((a, e) => { links[a].push(e); links[G.to[e]].push(e); });
links.forEach(some => some.sort((a, b) => G.weights[b] - G.weights[a] || a - b));
let level = G.depths[0], hovered = -1, selected = -1, roles = {}, queued = false;

// ── drawing ──

function readRoles() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "ink", "soft", "faint", "link"]) roles[name] = style.getPropertyValue("--" + name).trim();
}

function redraw() {
  if (!queued) { queued = true; requestAnimationFrame(() => { queued = false; draw(); }); }
}

function circle(x, y, r) {
  pen.moveTo(x + r, y);
  pen.arc(x, y, r, 0, 2 * Math.PI);
}

function draw() {
  const ratio = devicePixelRatio || 1, width = innerWidth, height = innerHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = roles.paper;
  pen.fillRect(0, 0, width, height);
  pen.save();
  pen.translate(view.x, view.y);
  pen.scale(view.zoom, view.zoom);
  drawDiscs();
  drawBundles();
  drawLines();
  drawEntities();
  pen.restore();
  drawNames(width, height);
}

function drawDiscs() {
  for (const one of new Set([G.depths[0], level])) {
    one.titles.forEach((_, k) => {
      if (!one.r[k]) return;
      pen.beginPath();
      circle(one.x[k], one.y[k], one.r[k]);
      pen.fillStyle = pen.strokeStyle = one.colours[k];
      pen.globalAlpha = one === level ? 0.14 : 0.08;
      pen.fill();
      pen.globalAlpha = 0.45;
      pen.lineWidth = 1 / view.zoom;
      pen.stroke();
    });
  }
  pen.globalAlpha = 1;
}

function drawBundles() {
  const most = Math.max(...level.bundles.map(b => b[2]), 1e-9), widest = level.depth ? 4 : 7;
  const mx = G.size[0] / 2, my = G.size[1] / 2;
  pen.strokeStyle = roles.link;
  pen.lineCap = "round";
  for (const [a, b, weight] of level.bundles) {
    const share = Math.sqrt(weight / most);
    const cx = (level.x[a] + level.x[b]) / 2, cy = (level.y[a] + level.y[b]) / 2;
    const bx = cx + (mx - cx) * 0.12, by = cy + (my - cy) * 0.12;
    const [x, y] = onEdge(a, bx, by), [u, v] = onEdge(b, bx, by);
    pen.globalAlpha = 0.1 + 0.25 * share;
    pen.lineWidth = 0.8 + widest * share;
    pen.beginPath();
    pen.moveTo(x, y);
    pen.quadraticCurveTo(bx, by, u, v);
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

function onEdge(k, x, y) {
  const dx = x - level.x[k], dy = y - level.y[k], part = Math.min(1, level.r[k] / Math.max(Math.hypot(dx, dy), 1e-9));
  return [level.x[k] + dx * part, level.y[k] + dy * part];
}

function drawLines() {
  pen.lineWidth = Math.max(0.6, 0.7 / view.zoom);
  pen.globalAlpha = 0.55;
  let last = null;
  for (const e of level.lines) {
    const shade = level.colours[level.of[G.from[e]]];
    if (shade !== last) {
      if (last) pen.stroke();
      pen.beginPath();
      pen.strokeStyle = last = shade;
    }
    pen.moveTo(G.x[G.from[e]], G.y[G.from[e]]);
    pen.lineTo(G.x[G.to[e]], G.y[G.to[e]]);
  }
  if (last) pen.stroke();
  pen.globalAlpha = 1;
  drawLinksOf(hovered >= 0 ? hovered : selected);
}

function drawLinksOf(i) {
  if (i < 0) return;
  pen.strokeStyle = roles.ink;
  pen.lineWidth = 1.2 / view.zoom;
  pen.globalAlpha = 0.6;
  pen.beginPath();
  for (const e of links[i]) {
    pen.moveTo(G.x[G.from[e]], G.y[G.from[e]]);
    pen.lineTo(G.x[G.to[e]], G.y[G.to[e]]);
  }
  pen.stroke();
  pen.globalAlpha = 1;
}

function drawEntities() {
  const groups = new Map();
  G.names.forEach((_, i) => {
    const shade = level.colours[level.of[i]];
    if (!groups.has(shade)) groups.set(shade, []);
    groups.get(shade).push(i);
  });
  for (const [shade, some] of groups) {
    pen.fillStyle = shade;
    pen.beginPath();
    for (const i of some) circle(G.x[i], G.y[i], G.r[i]);
    pen.fill();
  }
  for (const i of [hovered, selected]) if (i >= 0) {
    pen.strokeStyle = roles.ink;
    pen.lineWidth = 2.5 / view.zoom;
    pen.beginPath();
    circle(G.x[i], G.y[i], G.r[i] + 2 / view.zoom);
    pen.stroke();
  }
}

// ── names: none over another ──

function drawNames(width, height) {
  const taken = [];
  const focus = hovered >= 0 ? hovered : selected;
  if (focus >= 0) name(focus, taken, true);
  const largest = level.titles.map((_, k) => k).filter(k => level.r[k] * view.zoom > 24 && level.titles[k]);
  largest.sort((a, b) => level.r[b] - level.r[a] || a - b);
  if (view.zoom < 4) for (const k of largest.slice(0, 80)) title(k, taken, width, height);
  let room = 140;
  for (const i of byDegree) {
    if (!room || G.r[i] * view.zoom < 4.5) continue;
    const x = G.x[i] * view.zoom + view.x, y = G.y[i] * view.zoom + view.y;
    if (x < 0 || y < 0 || x > width || y > height || i === focus) continue;
    room -= 1;
    name(i, taken, false);
  }
}

function written(lines, x, y, size, bold, taken, always) {
  pen.font = (bold ? "bold " : "") + size + "px Helvetica, Arial, sans-serif";
  const wide = Math.max(...lines.map(line => pen.measureText(line).width)), tall = lines.length * size * 1.2;
  const box = [x - wide / 2, y - tall / 2, x + wide / 2, y + tall / 2];
  const meets = t => box[0] < t[2] && box[2] > t[0] && box[1] < t[3] && box[3] > t[1];
  if (!always && taken.some(meets)) return false;
  taken.push(box);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.lineWidth = 3.5;
  pen.strokeStyle = roles.paper;
  pen.fillStyle = roles.ink;
  lines.forEach((line, n) => {
    const at = y - tall / 2 + size * 1.2 * (n + 0.5);
    pen.globalAlpha = 0.85;
    pen.strokeText(line, x, at);
    pen.globalAlpha = 1;
    pen.fillText(line, x, at);
  });
  return true;
}

function wrapped(text, most) {
  const lines = [];
  for (const word of text.split(/\s+/)) {
    const joined = lines.length ? lines[lines.length - 1] + " " + word : word;
    if (lines.length && pen.measureText(joined).width <= most) lines[lines.length - 1] = joined;
    else lines.push(word);
  }
  return lines.length > 3 ? [...lines.slice(0, 2), lines[2] + " …"] : lines;
}

function title(k, taken, width, height) {
  const x = level.x[k] * view.zoom + view.x, y = level.y[k] * view.zoom + view.y, r = level.r[k] * view.zoom;
  if (x < -r || y < -r || x > width + r || y > height + r) return;
  const size = Math.round(Math.min(18, Math.max(11, r / 7)));
  pen.font = "bold " + size + "px Helvetica, Arial, sans-serif";
  const lines = wrapped(level.titles[k], Math.max(1.8 * r, 90));
  [0, -0.45, 0.45, -0.85, 0.85].some(up => written(lines, x, y + up * r, size, true, taken, false));
}

function name(i, taken, always) {
  const x = G.x[i] * view.zoom + view.x, y = G.y[i] * view.zoom + view.y, r = G.r[i] * view.zoom;
  pen.font = "12px Helvetica, Arial, sans-serif";
  const text = G.names[i].length > 40 ? G.names[i].slice(0, 39) + "…" : G.names[i];
  const aside = r + 4 + pen.measureText(text).width / 2;
  const places = always ? [[0, -r - 9]] : [[aside, 0], [-aside, 0], [0, r + 8], [0, -r - 8]];
  places.some(([right, down]) => written([text], x + right, y + down, 12, always, taken, always));
}

// ── moving ──

function bounded(zoom) { return Math.min(40, Math.max(0.05, zoom)); }

function zoomAt(x, y, factor) {
  const zoom = bounded(view.zoom * factor);
  view.x = x - (x - view.x) * zoom / view.zoom;
  view.y = y - (y - view.y) * zoom / view.zoom;
  view.zoom = zoom;
  redraw();
}

function showAll() {
  const left = innerWidth > 900 ? 350 : 0, top = left ? 0 : 170;
  const width = innerWidth - left - 70, height = innerHeight - top - 60;
  view.zoom = bounded(Math.min(width / G.size[0], height / G.size[1]));
  view.x = left + (width - G.size[0] * view.zoom) / 2 + 20;
  view.y = top + (height - G.size[1] * view.zoom) / 2 + 20;
  redraw();
}

function centre(i) {
  view.zoom = bounded(Math.max(view.zoom, 2.2));
  view.x = innerWidth / 2 - G.x[i] * view.zoom;
  view.y = innerHeight / 2 - G.y[i] * view.zoom;
  redraw();
}

function at(x, y) {
  let best = -1, least = Infinity;
  for (let i = 0; i < G.x.length; i++) {
    const far = Math.hypot(G.x[i] * view.zoom + view.x - x, G.y[i] * view.zoom + view.y - y) - G.r[i] * view.zoom;
    if (far < least) { least = far; best = i; }
  }
  return least < 7 ? best : -1;
}

const fingers = new Map();
let moved = 0;
canvas.addEventListener("pointerdown", event => {
  canvas.setPointerCapture(event.pointerId);
  fingers.set(event.pointerId, [event.clientX, event.clientY]);
  moved = 0;
});
canvas.addEventListener("pointermove", event => {
  const before = fingers.get(event.pointerId);
  if (!before) {
    const i = at(event.clientX, event.clientY);
    if (i !== hovered) { hovered = i; about(i >= 0 ? i : selected); redraw(); }
    return;
  }
  const now = [event.clientX, event.clientY];
  moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
  const others = [...fingers.entries()].filter(([id]) => id !== event.pointerId);
  if (others.length) {
    const [, [x, y]] = others[0];
    const far = Math.hypot(now[0] - x, now[1] - y), was = Math.hypot(before[0] - x, before[1] - y);
    if (was > 0 && far > 0) zoomAt(x, y, far / was);
  } else {
    view.x += now[0] - before[0];
    view.y += now[1] - before[1];
    redraw();
  }
  fingers.set(event.pointerId, now);
});
canvas.addEventListener("pointerup", event => {
  if (fingers.size === 1 && moved < 6) choose(at(event.clientX, event.clientY));
  fingers.delete(event.pointerId);
});
canvas.addEventListener("pointercancel", event => fingers.delete(event.pointerId));
canvas.addEventListener("pointerleave", () => { if (hovered >= 0) { hovered = -1; about(selected); redraw(); } });
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  zoomAt(event.clientX, event.clientY, Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)));
}, {passive: false});

// ── what is said of an entity ──

function element(kind, text, name) {
  const made = document.createElement(kind);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

function about(i) {
  const panel = $("about");
  panel.hidden = i < 0;
  panel.replaceChildren();
  if (i < 0) return;
  const k = level.of[i], head = element("h3", level.titles[k] || "without a title"), mark = element("span", "", "mark");
  mark.style.background = level.colours[k];
  head.prepend(mark);
  panel.append(
    element("h2", G.names[i]), element("p", G.types[i] + ", degree " + G.degrees[i].toLocaleString("en"), "soft"),
    element("p", G.texts[i]), head,
    element("p", "community at depth " + level.depth + ", " + many(level.sizes[k], "entity", "entities"), "soft"),
    element("p", level.summaries[k]));
  const near = element("div", "", "near");
  for (const e of links[i].slice(0, 8)) {
    const other = G.from[e] === i ? G.to[e] : G.from[e], button = element("button", G.names[other]);
    button.addEventListener("click", () => { choose(other); centre(other); });
    near.append(button);
  }
  panel.append(near);
}

function choose(i) {
  selected = i;
  hovered = -1;
  about(i);
  redraw();
}

// ── searching ──

let found = [], mark = 0;
function search() {
  const words = $("search").value.normalize("NFKC").toLowerCase().trim();
  const rank = i => folded[i] === words ? 0 : folded[i].startsWith(words) ? 1 : 2;
  found = words ? byDegree.filter(i => folded[i].includes(words)).sort((a, b) => rank(a) - rank(b)).slice(0, 12) : [];
  mark = 0;
  list();
  if (words && !found.length) {
    $("found").append(element("li", "Nothing is named so."));
    $("found").hidden = false;
  }
}

function list() {
  $("found").replaceChildren(...found.map((i, n) => {
    const item = element("li", G.names[i] + " ");
    item.id = "found" + n;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", n === mark);
    item.append(element("small", G.types[i]));
    item.addEventListener("pointerdown", event => { event.preventDefault(); take(n); });
    return item;
  }));
  $("found").hidden = !found.length;
  $("search").setAttribute("aria-expanded", found.length > 0);
  if (found.length) $("search").setAttribute("aria-activedescendant", "found" + mark);
  else $("search").removeAttribute("aria-activedescendant");
}

function take(n) {
  if (!(n in found)) return;
  const i = found[n];
  found = [];
  list();
  choose(i);
  centre(i);
}

$("search").addEventListener("input", search);
$("search").addEventListener("blur", () => { found = []; list(); });
$("search").addEventListener("focus", search);
$("search").addEventListener("keydown", event => {
  event.stopPropagation();
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    mark = (mark + (event.key === "ArrowDown" ? 1 : found.length - 1)) % Math.max(found.length, 1);
    list();
  } else if (event.key === "Enter") take(mark);
  else if (event.key === "Escape") { $("search").value = ""; search(); canvas.focus(); }
});

// ── depths and keys ──

function show(n) {
  level = G.depths[n];
  [...$("depths").children].forEach((button, k) => button.setAttribute("aria-pressed", k === n));
  const drawn = level.lines.length.toLocaleString("en"), bundles = level.bundles.length.toLocaleString("en");
  $("account").textContent = "Size by degree. Drawn: " + drawn + " of " + G.from.length.toLocaleString("en")
    + " relations, the strongest that hold each community together, and " + bundles + " of "
    + many(level.pairs, "pair", "pairs") + " of communities. Point at an entity to see all of its relations."
    + (G.counts[1] ? " Left out: " + many(G.counts[1], "entity", "entities") + " of the lowest degree." : "");
  $("counts").textContent = many(G.counts[0] + G.counts[1], "entity", "entities") + ", "
    + many(G.counts[2], "relation", "relations") + ", " + many(level.titles.length, "community", "communities");
  about(hovered >= 0 ? hovered : selected);
  redraw();
}

const keys = {
  ArrowLeft: () => { view.x += 60; }, ArrowRight: () => { view.x -= 60; },
  ArrowUp: () => { view.y += 60; }, ArrowDown: () => { view.y -= 60; },
  "+": () => zoomAt(innerWidth / 2, innerHeight / 2, 1.3), "=": () => zoomAt(innerWidth / 2, innerHeight / 2, 1.3),
  "-": () => zoomAt(innerWidth / 2, innerHeight / 2, 1 / 1.3), "0": showAll, Escape: () => choose(-1),
  "/": () => $("search").focus(), d: () => show((G.depths.indexOf(level) + 1) % G.depths.length),
};
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]();
  redraw();
});
$("in").addEventListener("click", keys["+"]);
$("out").addEventListener("click", keys["-"]);
$("all").addEventListener("click", showAll);
G.depths.forEach((one, n) => {
  const button = element("button", "Depth " + one.depth);
  button.title = "Change with the key d";
  button.addEventListener("click", () => show(n));
  $("depths").append(button);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readRoles(); redraw(); });
addEventListener("resize", redraw);
$("name").textContent = G.name;
readRoles();
show(0);
showAll();
