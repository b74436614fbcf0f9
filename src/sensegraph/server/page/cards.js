// What is known of an entity, and the report on a community.
import {at, get} from "./api.js";
import {chipper, placeName, spanLink} from "./citing.js";
import {h, many, number, shortened} from "./dom.js";
import {inline, render} from "./markdown.js";
import {address, entityLink, state} from "./state.js";

const SHOWN = 8;

export const entityTag = e => h("a", {class: "tag", href: entityLink(e.id), data: {entity: e.id}}, e.name);
export const communityLink = (id, label) => h("a", {href: address({place: "map", id})}, label);

function section(title, items, most = SHOWN) {
  if (!items.length) return null;
  const rest = items.slice(most);
  return h("section", {}, h("h3", {}, title), h("ul", {class: "plainlist"}, items.slice(0, most)),
    rest.length > 0 && h("details", {}, h("summary", {}, `${number(rest.length)} more`), h("ul", {class: "plainlist"}, rest)));
}

const source = place => place && spanLink(place, placeName(place), {class: "source"});

export async function entityCard(corpus, id) {
  const found = await get(at(corpus, "entities", id));
  if (!found.entities.length) return [h("p", {}, "This index knows no such entity.")];
  const timeline = found.entities.length === 1 ? await get(at(corpus, "entities", found.entities[0].entity.id, "timeline")) : {events: []};
  return found.entities.map((page, n) => entityPage(page, n ? [] : timeline.events));
}

function entityPage({entity, frequency, descriptions, neighbours, claims, communities}, events) {
  return h("article", {class: "card"},
    h("header", {}, h("h1", {}, entity.name),
      h("p", {class: "soft"}, `${entity.type} · ${many(entity.degree, "neighbour")} · mentioned ${many(frequency, "time")}`),
      h("p", {class: "row"}, h("a", {class: "button", href: entityLink(entity.id)}, "Show on the map"),
        h("a", {class: "button", href: address({place: "ask", params: {q: `What is known of ${entity.name}?`}})}, "Ask about it"))),
    section("What each place says", descriptions.map(d => h("li", {}, h("q", {}, d.text), " ", source(d.place)))),
    section("Neighbours", neighbours.map(({entity: e, relation: r}) =>
      h("li", {}, entityTag(e), " ", h("span", {class: "soft"}, shortened(r.label || r.description, 160))))),
    section("Claims", claims.map(c => h("li", {}, c.type && h("b", {}, c.type + ": "), c.description, " ",
      h("span", {class: "soft"}, [c.status, [c.starts, c.ends].filter(Boolean).join(" to ")].filter(Boolean).join(", ")), " ", source(c.place)))),
    section("In the order of time", events.map(e => h("li", {}, h("time", {}, e.when || ""), " ", e.text, " ",
      e.disputed && h("span", {class: "soft"}, "disputed "), e.document && source(e)))),
    section("Communities", communities.map(c => h("li", {}, communityLink(c.id, c.title || "without a title"), " ",
      h("span", {class: "soft"}, `depth ${c.depth}, ${many(c.entities, "entity", "entities")}`)))));
}

export async function communityCard(corpus, id) {
  const page = await get(at(corpus, "reports", id)), {report} = page, chip = chipper(page.citations);
  return [h("article", {class: "card"},
    h("header", {}, page.parent ? h("p", {class: "soft"}, "in ", communityLink(page.parent.id, page.parent.title || "the community around it"))
      : h("p", {class: "soft"}, h("a", {href: address({place: "map"})}, "All communities")),
      h("h1", {}, report.title || "Community without a title"),
      h("p", {class: "soft"}, `depth ${report.depth} · ${many(report.entities, "entity", "entities")} · ${many(report.documents, "document")}`)),
    h("div", {class: "answer"}, render(page.summary, chip)),
    page.findings.map(f => h("section", {class: "answer"}, h("h3", {}, inline(f.summary, chip)), render(f.text, chip))),
    section("Communities inside", page.children.map(c => h("li", {}, communityLink(c.id, c.title || "without a title"), " ",
      h("span", {class: "soft"}, many(c.entities, "entity", "entities"))))),
    section("Entities", page.entities.map(e => h("li", {}, entityTag(e), " ", h("span", {class: "soft"}, e.type))), 14),
    section("Claims", page.claims.map(c => h("li", {}, c.description, " ", source(c.place)))),
    h("p", {class: "row"}, h("a", {class: "button", href: address({place: "ask", params: {q: `What do the documents say about ${report.title}?`}})}, "Ask about it")))];
}

// All communities of a depth, for those who read rather than look.
export const communityList = discs => h("ul", {class: "plainlist"}, discs.map(c => {
  const dot = h("i", {class: "dot"});
  dot.style.background = c.colour;
  return h("li", {}, dot, communityLink(c.id, c.title || "without a title"), " ", h("span", {class: "soft"}, number(c.entities)));
}));

export const litList = () => state.evidence && state.lit?.length
  ? h("section", {class: "lit"}, h("h3", {}, "In the last answer"), h("div", {class: "tags"}, state.lit.slice(0, 24).map(entityTag))) : null;
