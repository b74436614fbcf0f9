// A document as it was read: its text, the cited spans marked, the names underlined, page numbers where they are known.
// Spans count code points, and the browser counts UTF-16: texts are arrays of code points here.
import {at, get} from "./api.js";
import {button, h, load, many, nameOf, number, present} from "./dom.js";
import {entityLink, state} from "./state.js";

const WINDOW = 120_000; // code points that are shown at once

export class Reader {
  constructor() {
    this.element = h("div", {class: "reader"});
    this.shown = null;
  }

  // Show a document, and bring the span from `start` to `end` into view.
  async show(corpus, doc, start, end) {
    this.mark = end ? {start: Number(start), end: Number(end)} : null;
    const known = this.shown, inside = !this.mark || (known && this.mark.start >= known.start && this.mark.end <= known.end);
    if (known && known.id === doc && known.corpus === corpus && inside) {
      this.write();
      return this.reveal();
    }
    this.shown = null;
    await load(this.element, async () => {
      await this.fetch(corpus, doc, this.mark ? Math.max(0, this.mark.start - WINDOW / 3) : 0);
      return this.parts();
    });
    return this.reveal();
  }

  async fetch(corpus, doc, from) {
    const query = {mentions: true, start: Math.floor(from) || "", end: Math.floor(from) + WINDOW};
    const found = await get(at(corpus, "documents", doc), query);
    this.shown = {...found, corpus, points: Array.from(found.text)};
  }

  async turn(from) {
    const {corpus, id} = this.shown;
    await load(this.element, async () => {
      await this.fetch(corpus, id, Math.max(0, from));
      return this.parts();
    });
    this.element.scrollIntoView({block: "start"});
  }

  write() {
    this.element.replaceChildren(...present([this.parts()]));
  }

  parts() {
    const {start, end, length} = this.shown;
    return [
      this.heading(),
      start > 0 && button("Earlier text", () => this.turn(start - WINDOW), {class: "more"}),
      h("div", {class: "text", lang: ""}, this.pieces()),
      end < length && button("Later text", () => this.turn(end), {class: "more"}),
    ];
  }

  heading() {
    const {id, title, time, metadata, entities, original, corpus, pages, length} = this.shown;
    const facts = [time && time.slice(0, 10), ...Object.entries(metadata).map(([k, v]) => `${k}: ${v}`),
      pages && !metadata.pages && many(pages.length, "page"), many(length, "character")];
    const names = [...entities].sort((a, b) => a.name.localeCompare(b.name));
    return h("header", {},
      h("h1", {}, title || nameOf(id)),
      h("p", {class: "soft facts"}, present(facts).join(" · ")),
      h("div", {class: "row"},
        original && h("a", {class: "button", href: at(corpus, "documents", id, "original"), download: ""}, "Original file"),
        names.length > 0 && h("details", {class: "names"}, h("summary", {}, many(names.length, "name")),
          h("div", {class: "tags"}, names.map(e => h("a", {class: "tag", href: entityLink(e.id), data: {entity: e.id}}, e.name))))));
  }

  // The text in pieces, cut wherever a mark, a name or a page begins or ends.
  pieces() {
    const {start, end, points, mentions, pages, id} = this.shown;
    const cited = state.citations.filter(c => c.document === id && c.end > start && c.start < end);
    const cuts = new Set([start, end]), within = p => p > start && p < end;
    for (const s of [...cited, ...mentions, ...(this.mark ? [this.mark] : [])]) for (const p of [s.start, s.end]) if (within(p)) cuts.add(p);
    const breaks = new Map((pages || []).map((p, n) => [p, n + 1]));
    for (const p of breaks.keys()) if (within(p)) cuts.add(p);
    const sorted = [...cuts].sort((a, b) => a - b), made = [];
    for (let n = 0, m = 0; n + 1 < sorted.length; n += 1) {
      const [from, to] = [sorted[n], sorted[n + 1]];
      if (breaks.has(from)) made.push(h("span", {class: "page", data: {page: "p. " + number(breaks.get(from))}, "aria-label": "Page " + breaks.get(from)}));
      while (m < mentions.length && mentions[m].end <= from) m += 1;
      let piece = points.slice(from - start, to - start).join("");
      if (m < mentions.length && mentions[m].start <= from) {
        const {entity} = mentions[m];
        piece = h("a", {class: "name", href: entityLink(entity), data: {entity}, tabindex: -1}, piece);
      }
      const covers = s => s.start <= from && s.end >= to;
      if (this.mark && covers(this.mark)) piece = h("mark", {class: "now", tabindex: -1}, piece);
      else if (cited.some(covers)) piece = h("mark", {title: "Cited by the answer"}, piece);
      made.push(piece);
    }
    return made;
  }

  reveal() {
    const first = this.element.querySelector("mark.now");
    first?.scrollIntoView({block: "center"});
    first?.focus({preventScroll: true});
  }
}
