// Chips: the numbers that end a statement. Pointing shows the quotations, a click opens the reader at the span.
import {$, h, insideName, nameOf, shortened} from "./dom.js";
import {documentLink} from "./state.js";

const place = c => ({doc: c.document, start: c.start, end: c.end});

// A link to a span of a document, which opens beside.
export const spanLink = (c, label, props) => h("a", {href: documentLink(c), data: place(c), ...props}, label);

// What a place is called: its document, and the page and the figure where there are such.
export const placeName = c => nameOf(c.document) + insideName(c);

// Makes chips for the numbers of one text; `citations` may still grow while it is written.
export function chipper(citations) {
  return marker => {
    const own = citations.filter(c => c.marker === marker);
    if (!own.length) return h("span", {class: "chip none", title: "This source is not given."}, String(marker));
    const made = spanLink(own[0], String(marker), {class: "chip", "aria-label": `Source ${marker}: ${placeName(own[0])}`});
    for (const event of ["pointerenter", "focus"]) made.addEventListener(event, () => showQuote(made, own));
    for (const event of ["pointerleave", "blur"]) made.addEventListener(event, hideSoon);
    return made;
  };
}

let hiding = 0, shown = null;

function hideSoon() {
  clearTimeout(hiding);
  hiding = setTimeout(hideQuote, 220);
}

export function hideQuote() {
  clearTimeout(hiding);
  $("quote").hidden = true;
}

// A quotation stays while its chip does: it goes when that is scrolled away, or written anew.
export function followScroll() {
  if (shown && (!shown.chip.isConnected || Math.abs(shown.chip.getBoundingClientRect().top - shown.top) > 2)) hideQuote();
}

function showQuote(chip, citations) {
  clearTimeout(hiding);
  shown = {chip, top: chip.getBoundingClientRect().top};
  const box = $("quote");
  box.replaceChildren(...citations.slice(0, 5).map(c => h("div", {},
    h("blockquote", {}, shortened(c.quote, 420)), spanLink(c, placeName(c), {tabindex: -1}))));
  if (citations.length > 5) box.append(h("p", {class: "soft"}, `and ${citations.length - 5} more`));
  box.onpointerenter = () => clearTimeout(hiding);
  box.onpointerleave = hideSoon;
  box.hidden = false;
  const at = chip.getBoundingClientRect(), wide = box.offsetWidth, tall = box.offsetHeight;
  box.style.left = Math.max(8, Math.min(at.left + at.width / 2 - wide / 2, innerWidth - wide - 8)) + "px";
  box.style.top = (at.top > tall + 16 ? at.top - tall - 8 : at.bottom + 8) + "px";
}
