// Elements from values. Text is only ever set as text: nothing that a document or a model says becomes markup.

export function h(tag, props, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, hear] of Object.entries(value)) made.addEventListener(event, hear);
    else if (name === "data") Object.assign(made.dataset, value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...present(children));
  return made;
}

export const present = children => children.flat(3).filter(c => c !== null && c !== undefined && c !== false && c !== "");

export const $ = id => document.getElementById(id);

const DRAWINGS = {
  ask: "M4 5h16v11H10l-4 4v-4H4z",
  map: "M7 5a3 3 0 1 0 .01 0M18 4.5a2 2 0 1 0 .01 0M15 14a3.2 3.2 0 1 0 .01 0M10 7.6l6-.8M8.7 10.5l4.2 4.3M17.6 8.5l-1.5 5.6",
  read: "M6 4h9l3 3v13H6zM9 10h6M9 13h6M9 16h4",
  library: "M5 5v14M9 5v14M13 5v14M17 5.5l3 13",
  find: "M10.5 4.5a6 6 0 1 0 .01 0M15 15l5 5",
  bin: "M5 7h14M10 7V4.5h4V7M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5",
  close: "M6 6l12 12M18 6L6 18",
  send: "M12 19V6M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  up: "M12 16V5M7 9l5-5 5 5M5 19h14",
};

export function icon(name) {
  const space = "http://www.w3.org/2000/svg", made = document.createElementNS(space, "svg");
  made.setAttribute("viewBox", "0 0 24 24");
  made.setAttribute("class", "icon");
  made.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", DRAWINGS[name]);
  made.append(path);
  return made;
}

export const button = (label, hear, props) => h("button", {type: "button", ...props, on: {click: hear}}, label);

export const iconButton = (name, label, hear, props) =>
  h("button", {type: "button", class: "plain", "aria-label": label, title: label, ...props, on: {click: hear}}, icon(name));

export function say(text) {
  $("said").textContent = "";
  setTimeout(() => { $("said").textContent = text; }, 50);
}

// ── what loads ──

const tickets = new WeakMap();

// Show in `place` what `work` gives; until then that it loads, and where it fails, why and what to do.
export async function load(place, work) {
  const ticket = {};
  tickets.set(place, ticket);
  place.setAttribute("aria-busy", "true");
  const timer = setTimeout(() => place.replaceChildren(waiting()), 180);
  const current = () => tickets.get(place) === ticket;
  try {
    const nodes = await work();
    clearTimeout(timer);
    if (current()) place.replaceChildren(...present([nodes]));
  } catch (error) {
    clearTimeout(timer);
    if (current()) place.replaceChildren(failure(error, () => load(place, work)));
  }
  if (current()) place.removeAttribute("aria-busy");
}

const waiting = () => h("div", {class: "waiting"}, h("span", {class: "unseen"}, "Loading"), h("i"), h("i"), h("i"));

const ADVICE = {
  change: "", index: "Add documents in the library first.", wait: "Try again in a moment.",
  settings: "Whoever runs the server must change sensegraph.toml.", endpoint: "The server of the model does not answer as it should.",
  retry: "Try again.", none: "", "sign-in": "Sign in again.",
};

export function failure(error, again) {
  if (error.name === "AbortError") return h("p", {class: "soft"}, "Stopped.");
  if (!error.code && error.name !== "TypeError") console.error(error);
  const message = error.name === "TypeError" && !error.code ? "The server cannot be reached." : error.message;
  return h("div", {class: "failure", role: "alert"},
    h("p", {}, message), ADVICE[error.next] && h("p", {class: "soft"}, ADVICE[error.next]),
    again && h("p", {}, button("Try again", again)));
}

export const empty = (title, ...rest) => h("div", {class: "empty"}, h("h2", {}, title), ...rest);

// ── numbers and words ──

export const number = n => n.toLocaleString("en");
export const many = (n, one, more) => number(n) + " " + (n === 1 ? one : more || one + "s");
export const duration = s => s < 1 ? "under a second" : s < 90 ? many(Math.round(s), "second")
  : s < 5400 ? many(Math.round(s / 60), "minute") : many(Math.round(s / 3600), "hour");
export const money = usd => "$" + (usd === 0 ? "0" : usd.toFixed(usd < 0.01 ? 4 : 2));
export const size = b => b < 1000 ? b + " bytes" : b < 1e6 ? Math.round(b / 1e3) + " kB" : (b / 1e6).toFixed(1) + " MB";
export const shortened = (text, most) => {
  const points = Array.from(text);
  return points.length > most ? points.slice(0, most - 1).join("").trimEnd() + " …" : text;
};
// the name of a document without its folders and its ending
export const nameOf = id => id.replace(/^.*\//, "").replace(/\.(txt|md|eml|html?|pdf|docx?|pptx|json|csv|vtt|srt)$/i, "");

// What stands behind the name of a document: its page, and the figure that a model told of.
export const insideName = c => (c.page ? `, p. ${c.page}` : "")
  + (c.figure ? `, figure ${c.figure.number} (described by ${c.figure.described_by})` : "");
