// What stands beside a place: a document at a span, an entity, on the map the report on a community.
import {communityCard, entityCard} from "./cards.js";
import {hideQuote} from "./citing.js";
import {$, h, iconButton, load} from "./dom.js";
import {Reader} from "./reader.js";
import {change, corpusNow, state} from "./state.js";

const reader = new Reader();
let key = "", opener = null;

// Another index: what stands here is read again.
export function forgetBeside() {
  key = "";
  reader.shown = null;
}

export const rememberOpener = element => { opener ||= element; };

export function showBeside(route, overview) {
  const {corpus, place, id, params} = route, aside = $("beside"), body = h("div", {class: "inside"});
  const doc = place === "read" ? null : params.doc, entity = params.entity;
  const onMap = place === "map" && Boolean(corpusNow()?.index), wanted = doc || entity || onMap;
  const closes = doc || entity;
  const now = JSON.stringify([corpus, doc || "", entity || "", onMap && !closes ? id : "", onMap && !closes && !id ? place : ""]);
  aside.hidden = !wanted;
  document.body.classList.toggle("split", Boolean(wanted));
  document.body.classList.toggle("sheet", Boolean(closes));
  if (!wanted) return restoreFocus();
  if (doc && now === key) return reader.show(corpus, doc, params.start, params.end);
  if (now === key && !(onMap && !closes)) return undefined;
  key = now;
  aside.replaceChildren(...(closes ? [h("div", {class: "bar"}, iconButton("close", "Close (Escape)", closeBeside))] : []), body);
  aside.scrollTop = 0;
  if (doc) {
    body.append(reader.element);
    return reader.show(corpus, doc, params.start, params.end);
  }
  if (entity) return load(body, () => entityCard(corpus, entity)).then(() => opener && aside.focus());
  if (id) return load(body, () => communityCard(corpus, id));
  return overview(body);
}

export function closeBeside() {
  const {doc, entity} = state.route.params;
  if (doc) change({doc: null, start: null, end: null});
  else if (entity) change({entity: null});
}

function restoreFocus() {
  key = "";
  if (opener?.isConnected) {
    opener.focus({preventScroll: true});
    hideQuote();
  }
  opener = null;
}
