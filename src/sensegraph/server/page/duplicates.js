// Pairs of names that may be one thing: found when asked for, and decided one by one.
import {at, post} from "./api.js";
import {button, failure, h, many, present} from "./dom.js";
import {entityLink} from "./state.js";

const SHOWN = 20;

export class Duplicates {
  // `follow` shows a job while it runs; what came of it is given to `ended`.
  constructor(corpus, follow) {
    this.corpus = corpus;
    this.follow = follow;
    this.pairs = null;
    this.element = h("section", {class: "duplicates", "aria-label": "Names that may be one thing"});
    this.draw();
  }

  draw() {
    this.heading = h("h2", {tabindex: -1}, "Names that may be one thing");
    const look = button(this.pairs ? "Look again" : "Look for duplicates", () => this.start({kind: "resolve"}));
    this.element.replaceChildren(...present([h("header", {class: "row"}, this.heading, look), this.pairs && this.listed()]));
  }

  listed() {
    if (!this.pairs.length) return h("p", {class: "soft"}, "There is no pair to decide.");
    const more = this.pairs.length - SHOWN;
    return [h("p", {class: "soft"}, `${many(this.pairs.length, "pair")} to decide. A decision brings the index up to date, and can be taken back: sensegraph entities undo.`),
      h("ul", {class: "plainlist"}, this.pairs.slice(0, SHOWN).map(p => this.row(p))), more > 0 && h("p", {class: "soft"}, `and ${more} more`)];
  }

  row({names, types, ids, why}) {
    const one = n => h("span", {}, h("a", {href: entityLink(ids[n]), data: {entity: ids[n]}}, names[n]), " ", h("span", {class: "soft"}, types[n]));
    const decide = (label, kind) => button(label, () => this.start({kind, names: ids}), {"aria-label": `${label}: ${names.join(" and ")}`});
    return h("li", {}, h("div", {}, one(0), " · ", one(1), h("small", {class: "soft"}, why)),
      h("span", {class: "row"}, decide("One thing", "merge"), decide("Two things", "forbid")));
  }

  async start(wanted) {
    this.element.querySelector(".failure")?.remove();
    try {
      this.follow(await post(at(this.corpus, "jobs"), wanted));
      for (const made of this.element.querySelectorAll("button")) made.disabled = true;
    } catch (error) {
      this.element.append(failure(error));
    }
  }

  // A pair that was decided goes; with one that became one thing all that spoke of its names.
  ended({kind, state, names, result}) {
    if (state === "done" && kind === "resolve") this.pairs = result.proposals.filter(p => p.decision !== "keep");
    if (state === "done" && kind === "forbid") this.pairs = this.pairs?.filter(p => !p.ids.every(i => names.includes(i)));
    if (state === "done" && kind === "merge") this.pairs = this.pairs?.filter(p => !p.ids.some(i => names.includes(i)));
    this.draw();
    if (["resolve", "merge", "forbid"].includes(kind)) (this.element.querySelector("li button") || this.heading).focus();
  }
}
