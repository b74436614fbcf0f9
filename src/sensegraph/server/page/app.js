// The frame: the session, the four places, the address, keys, and what all places share.
import {get, onSignIn, post} from "./api.js";
import {Ask} from "./ask.js";
import {closeBeside, forgetBeside, rememberOpener, showBeside} from "./beside.js";
import {followScroll, hideQuote} from "./citing.js";
import {$, empty, failure, h, icon, many, nameOf, say} from "./dom.js";
import {finder} from "./finder.js";
import {Library} from "./library.js";
import {MapPlace} from "./map.js";
import {Read} from "./read.js";
import {address, besideOf, change, follow, go, onIndex, onRoute, state} from "./state.js";

const NAMES = {ask: "Ask", map: "Map", read: "Read", library: "Library"};
let rooms = null, roomsOf = "";

async function start() {
  onSignIn(showSignIn);
  try {
    const token = new URLSearchParams(location.hash.slice(1)).get("token");
    if (token) {
      history.replaceState(null, "", location.pathname + location.search);
      state.session = await post("/api/v1/session", {token});
    } else state.session = await get("/api/v1/session");
    if (!state.session.level) return showSignIn();
    state.corpora = (await get("/api/v1/corpora")).corpora;
  } catch (error) {
    if (error.status === 401) return showSignIn("This token is not known here.");
    return $("main").replaceChildren(failure(error, start));
  }
  onRoute(show);
  onIndex(() => { for (const room of Object.values(rooms || {})) room.stale(); forgetBeside(); });
  return follow();
}

function showSignIn(why = "") {
  const field = h("input", {type: "password", id: "token", autocomplete: "current-password", required: true});
  const form = h("form", {class: "signin", on: {submit: async event => {
    event.preventDefault();
    try {
      await post("/api/v1/session", {token: field.value.trim()});
      location.reload();
    } catch (error) {
      showSignIn(error.status === 401 ? "This token is not known here." : error.message);
    }
  }}}, h("h1", {}, "Sign in"), h("p", {class: "soft"}, "The server printed a link with a token when it started. Open that link, or give the token here."),
  h("label", {for: "token"}, "Token"), field, typeof why === "string" && why && h("p", {class: "failure", role: "alert"}, why), h("button", {class: "primary"}, "Sign in"));
  document.body.className = "alone";
  $("main").replaceChildren(form);
  field.focus();
}

// ── places ──

function show(route) {
  hideQuote();
  if (!route.corpus && state.corpora.length === 1) return go({corpus: state.corpora[0].name, place: "ask"}, {replace: true});
  const known = state.corpora.find(c => c.name === route.corpus);
  document.body.className = known ? "at-" + route.place : "alone";
  $("top").replaceChildren(...heading(route, known));
  $("places").replaceChildren(...(known ? tabs(route) : []));
  if (!known) return showCorpora(route);
  if (roomsOf !== route.corpus) {
    roomsOf = route.corpus;
    rooms = {ask: new Ask(), map: new MapPlace(), read: new Read(), library: new Library()};
    Object.assign(state, {citations: [], evidence: null, lit: null, read: null});
    $("main").replaceChildren(...Object.values(rooms).map(room => room.element));
  }
  for (const [name, room] of Object.entries(rooms)) room.element.hidden = name !== route.place;
  document.title = `${NAMES[route.place]} · ${route.corpus} · sensegraph`;
  const shown = rooms[route.place].show(route);
  showBeside(route, body => rooms.map.overview(body));
  return shown;
}

function heading(route, known) {
  const corpora = state.corpora.length > 1 && known && h("select", {"aria-label": "Corpus", on: {change: event =>
    go({corpus: event.target.value, place: route.place})}}, state.corpora.map(c => h("option", {value: c.name, selected: c.name === route.corpus}, c.name)));
  return [h("a", {class: "brand", href: "/"}, h("img", {src: "/page/icon.svg", alt: "", width: 24, height: 24}), h("span", {}, "sensegraph")),
    ...(corpora ? [corpora] : known ? [h("span", {class: "corpus"}, known.name)] : []), ...(known ? [finder(known.name)] : [])];
}

const tabs = route => Object.entries(NAMES).map(([place, name]) =>
  h("a", {href: rooms && roomsOf === route.corpus ? rooms[place].last || address({place}) : address({place}),
    "aria-current": place === route.place ? "page" : null, title: `${name} (g ${place[0]})`}, icon(place), h("span", {}, name)));

function showCorpora(route) {
  rooms = null;
  roomsOf = "";
  $("beside").hidden = true;
  document.title = "sensegraph";
  const cards = state.corpora.map(c => h("a", {class: "corpuscard", href: address({corpus: c.name, place: "ask"})},
    h("b", {}, c.name), h("span", {class: "soft"}, `${many(c.documents, "document")}, ${many(c.entities, "entity", "entities")}`),
    c.pending > 0 && h("span", {class: "soft"}, `${c.pending} not indexed yet`)));
  $("main").replaceChildren(empty(route.corpus ? `There is no corpus “${route.corpus}” here.` : "Which documents?", h("div", {class: "cards"}, cards)));
}

// ── links, keys ──

function shutMenus(target) {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(target)) menu.open = false;
}

document.addEventListener("click", event => {
  shutMenus(event.target);
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.target || link.hasAttribute("download") || link.origin !== location.origin || link.pathname.startsWith("/api/")) return;
  if (link.hash && link.pathname === location.pathname) return;
  event.preventDefault();
  const beside = besideOf(link);
  hideQuote();
  if (!beside || (state.route.place === "read" && beside.doc)) return go(link.pathname + link.search);
  rememberOpener(link);
  return change(beside);
});

function step(by) {
  const {citations, route: {place, id, params}} = state;
  if (!citations.length) return say("The last answer has no citations.");
  const shown = place === "read" ? {doc: id, ...params} : params;
  const now = citations.findIndex(c => c.document === shown.doc && c.start === Number(shown.start) && c.end === Number(shown.end));
  const next = now < 0 ? (by > 0 ? 0 : citations.length - 1) : (now + by + citations.length) % citations.length;
  const {document: doc, start: from, end, marker} = citations[next];
  say(`Citation ${marker} of ${nameOf(doc)}`);
  return place === "read" ? go({place, id: doc, params: {start: from, end}}) : change({doc, start: from, end, entity: null});
}

let waiting = false;
document.addEventListener("keydown", event => {
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) {
    shutMenus(null);
    if (!$("quote").hidden) return hideQuote();
    if (event.target.closest("input, textarea")) return event.target.blur();
    return closeBeside();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return undefined;
  if (!state.route.corpus) return undefined;
  const place = waiting && Object.keys(NAMES).find(name => name[0] === event.key);
  waiting = event.key === "g" && !waiting;
  if (place) return go(rooms?.[place].last || {place});
  if (event.key === "/" && $("find")) {
    event.preventDefault();
    return $("find").focus();
  }
  if (event.key === "[" || event.key === "]") return step(event.key === "]" ? 1 : -1);
  return undefined;
});

addEventListener("popstate", () => { if (rooms || state.corpora.length) follow(); });
addEventListener("hashchange", () => { if (location.hash.startsWith("#token=")) location.reload(); });
addEventListener("scroll", followScroll, {passive: true, capture: true});
start();
