// One field that finds names and documents; `/` leads to it from everywhere.
import {at, get} from "./api.js";
import {h, icon, nameOf} from "./dom.js";
import {address, change, go, state} from "./state.js";

export function finder(corpus) {
  let found = [], marked = -1, asked = 0;
  const list = h("ul", {id: "found", role: "listbox", "aria-label": "Found", hidden: true});
  const input = h("input", {id: "find", type: "search", placeholder: "Find a name or document", autocomplete: "off", role: "combobox",
    "aria-label": "Find a name or a document", "aria-expanded": "false", "aria-controls": "found", "aria-autocomplete": "list"});

  function draw() {
    list.replaceChildren(...found.map((one, n) => h("li", {id: "found" + n, role: "option", "aria-selected": String(n === marked),
      on: {pointerdown: event => { event.preventDefault(); take(n); }}}, h("span", {}, one.label), h("small", {}, one.kind))));
    if (input.value.trim() && !found.length) list.append(h("li", {class: "soft", role: "option", "aria-disabled": "true"}, "Nothing is named so."));
    list.hidden = !input.value.trim();
    input.setAttribute("aria-expanded", String(!list.hidden));
    if (marked >= 0) input.setAttribute("aria-activedescendant", "found" + marked);
    else input.removeAttribute("aria-activedescendant");
  }

  function shut() {
    input.value = "";
    found = [];
    draw();
  }

  function take(n) {
    const one = found[n];
    if (!one) return;
    shut();
    input.blur();
    if (one.document) go(address({place: "read", id: one.document}));
    else if (state.route.place === "map" || state.route.place === "library") go(address({place: "map", params: {entity: one.entity}}));
    else change({entity: one.entity, doc: null, start: null, end: null});
  }

  async function look() {
    const q = input.value.trim(), ticket = asked += 1;
    if (!q) return shut();
    const [names, documents] = await Promise.all([
      get(at(corpus, "entities"), {q, limit: 8}).catch(() => ({entities: []})),
      get(at(corpus, "documents"), {q, limit: 5}).catch(() => ({documents: []}))]);
    if (ticket !== asked || !input.value.trim()) return undefined;
    found = [...names.entities.map(e => ({label: e.name, kind: e.type, entity: e.id})),
      ...documents.documents.map(d => ({label: d.title || nameOf(d.id), kind: "document", document: d.id}))];
    marked = found.length ? 0 : -1;
    return draw();
  }

  let timer = 0;
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(look, 120); });
  input.addEventListener("blur", () => setTimeout(() => { list.hidden = true; input.setAttribute("aria-expanded", "false"); }, 100));
  input.addEventListener("keydown", event => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (found.length) marked = (marked + (event.key === "ArrowDown" ? 1 : found.length - 1)) % found.length;
      draw();
    } else if (event.key === "Enter") take(marked);
    else if (event.key === "Escape") { shut(); input.blur(); }
  });
  return h("div", {class: "finder", role: "search"}, icon("find"), input, h("kbd", {"aria-hidden": "true"}, "/"), list);
}
