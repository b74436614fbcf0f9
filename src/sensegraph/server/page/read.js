// The place Read: one document, or the list to choose from.
import {at, get} from "./api.js";
import {button, empty, h, load, many, nameOf} from "./dom.js";
import {Reader} from "./reader.js";
import {address, state} from "./state.js";

export class Read {
  constructor() {
    this.reader = new Reader();
    this.list = h("div", {class: "column"});
    this.element = h("section", {class: "read", "aria-label": "Read"}, this.list, this.reader.element);
    this.last = "";
    this.listed = false;
  }

  async show({corpus, id, params}) {
    this.last = address({corpus, place: "read", id, params: {start: params.start, end: params.end}});
    this.list.hidden = Boolean(id);
    this.reader.element.hidden = !id;
    if (id) return this.reader.show(corpus, id, params.start, params.end);
    if (this.listed) return undefined;
    this.listed = true;
    return load(this.list, async () => {
      const first = await get(at(corpus, "documents"), {limit: 100});
      const rows = h("ul", {class: "shelf"}, first.documents.map(row));
      if (!first.documents.length) return empty("There is nothing to read yet.", h("p", {}, h("a", {href: address({place: "library"})}, "Add documents in the library")));
      return [h("h1", {}, many(first.found, "document")), rows, this.more(corpus, first.next, rows)];
    });
  }

  stale() {
    this.listed = false;
    this.reader.shown = null;
  }

  more(corpus, next, rows) {
    if (!next) return null;
    const made = button("More", async () => {
      const found = await get(at(corpus, "documents"), {limit: 100, cursor: next});
      rows.append(...found.documents.map(row));
      made.replaceWith(this.more(corpus, found.next, rows) || "");
    }, {class: "more"});
    return made;
  }
}

const row = d => h("li", {}, h("a", {href: address({corpus: state.route.corpus, place: "read", id: d.id})},
  h("b", {}, d.title || nameOf(d.id)), h("span", {class: "soft"}, [d.time.slice(0, 10), many(d.entities, "name")].filter(Boolean).join(" · "))));
