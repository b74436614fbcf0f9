// Where one is: the address holds it. What the last answer cited and read: shown by the reader and the map.

export const PLACES = ["ask", "map", "read", "library"];
export const state = {
  session: null,
  corpora: [],
  route: {corpus: "", place: "", id: "", params: {}},
  citations: [], // of the answer that is being read, in the order of its text
  evidence: null, // {entities, places, words}: what that answer read, and what it says
  lit: null, // entities on the map that it names
  read: null, // and others that stand in what it read
};

const hearers = [];
export const onRoute = hear => hearers.push(hear);
export const corpusNow = () => state.corpora.find(c => c.name === state.route.corpus);
export const mayWrite = () => state.session?.level === "write" && Boolean(corpusNow()?.writable);

export function readAddress() {
  const [c, corpus = "", place = "", id = ""] = location.pathname.split("/").slice(1).map(unescaped);
  const params = Object.fromEntries(new URLSearchParams(location.search));
  return c === "c" ? {corpus, place: PLACES.includes(place) ? place : "ask", id, params} : {corpus: "", place: "", id: "", params};
}

function unescaped(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// The address of a place. What is not said stays as it is; a parameter that is null goes.
export function address({corpus = state.route.corpus, place = state.route.place, id, params = {}}) {
  const words = new URLSearchParams(Object.entries(params).filter(([, v]) => v !== null && v !== undefined && v !== ""));
  const parts = ["c", corpus, place, ...(id ? [id] : [])].map(encodeURIComponent);
  return "/" + parts.join("/") + (words.size ? "?" + words : "");
}

export function go(to, {replace = false} = {}) {
  const where = typeof to === "string" ? to : address(to);
  if (where !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", where);
  follow();
}

// Stay where one is, with other parameters.
export function change(params, options) {
  const {corpus, place, id, params: before} = state.route;
  go({corpus, place, id, params: {...before, ...params}}, options);
}

export function follow() {
  state.route = readAddress();
  for (const hear of hearers) hear(state.route);
}

// ── links: addresses of their own, which open beside what one looks at ──

export const documentLink = ({document, start, end}) =>
  address({place: "read", id: document, params: end ? {start, end} : {}});
export const entityLink = id => address({place: "map", params: {entity: id}});

export function besideOf(link) {
  const {doc, start, end, entity} = link.dataset;
  if (doc !== undefined) return {doc, start, end, entity: null};
  return entity !== undefined ? {entity, doc: null, start: null, end: null} : null;
}

// ── another index than the one that was read ──

const readers = [];
export const onIndex = hear => readers.push(hear);
export const indexChanged = () => readers.forEach(hear => hear());
