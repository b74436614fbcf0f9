// What answers hold of Markdown, as elements: paragraphs, headings, lists, tables, code, quotations, bold, italics, and the
// numbers of citations, for which `chip` makes an element. Nothing is ever read as HTML.
import {h} from "./dom.js";

export function render(text, chip) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n"), blocks = [];
  let n = 0;
  while (n < lines.length) {
    const line = lines[n];
    if (!line.trim()) n += 1;
    else if (/^\s*```/.test(line)) n = code(lines, n, blocks);
    else if (/^#{1,6}\s/.test(line)) {
      const [, marks, words] = line.match(/^(#{1,6})\s+(.*)$/) || ["", "#", ""];
      blocks.push(h("h" + Math.min(6, marks.length + 2), {}, inline(words, chip)));
      n += 1;
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) { blocks.push(h("hr")); n += 1; }
    else if (ITEM.test(line)) n = list(lines, n, blocks, chip);
    else if (line.includes("|") && /^\s*\|?[\s:|-]+\|[\s:|-]*$/.test(lines[n + 1] || "")) n = table(lines, n, blocks, chip);
    else if (/^>\s?/.test(line)) n = quotation(lines, n, blocks, chip);
    else n = paragraph(lines, n, blocks, chip);
  }
  return blocks;
}

const ITEM = /^(\s*)([-*+•]|\d{1,3}[.)])\s+(.*)$/;
const OTHER = /^(\s*```|#{1,6}\s|>\s?)/;

function code(lines, n, blocks) {
  let end = n + 1;
  while (end < lines.length && !/^\s*```/.test(lines[end])) end += 1;
  blocks.push(h("pre", {}, h("code", {}, lines.slice(n + 1, end).join("\n"))));
  return end + 1;
}

function paragraph(lines, n, blocks, chip) {
  const made = h("p");
  for (let first = true; n < lines.length && lines[n].trim(); n += 1, first = false) {
    if (!first && (OTHER.test(lines[n]) || ITEM.test(lines[n]))) break;
    if (!first) made.append(h("br"));
    made.append(...inline(lines[n], chip));
  }
  blocks.push(made);
  return n;
}

function quotation(lines, n, blocks, chip) {
  const held = [];
  for (; n < lines.length && /^>\s?/.test(lines[n]); n += 1) held.push(lines[n].replace(/^>\s?/, ""));
  blocks.push(h("blockquote", {}, ...render(held.join("\n"), chip)));
  return n;
}

function list(lines, n, blocks, chip) {
  const depth = lines[n].match(ITEM)[1].length, ordered = /\d/.test(lines[n].match(ITEM)[2]);
  const made = h(ordered ? "ol" : "ul");
  if (ordered) made.setAttribute("start", parseInt(lines[n].match(ITEM)[2], 10));
  let item = null;
  while (n < lines.length) {
    const found = lines[n].match(ITEM);
    if (found && found[1].length < depth) break;
    if (found && found[1].length > depth + 1 && item) {
      const inner = [];
      n = list(lines, n, inner, chip);
      item.append(...inner);
    } else if (found) {
      if (/\d/.test(found[2]) !== ordered) break;
      made.append(item = h("li", {}, inline(found[3], chip)));
      n += 1;
    } else if (!lines[n].trim()) {
      if (!ITEM.test(lines[n + 1] || "")) break;
      n += 1;
    } else if (/^\s+/.test(lines[n])) {
      item.append(h("br"), ...inline(lines[n].trim(), chip));
      n += 1;
    } else break;
  }
  blocks.push(made);
  return n;
}

function table(lines, n, blocks, chip) {
  const cells = line => line.trim().replace(/^\||\|$/g, "").split("|").map(cell => inline(cell.trim(), chip));
  const head = h("tr", {}, cells(lines[n]).map(c => h("th", {scope: "col"}, c))), body = h("tbody");
  for (n += 2; n < lines.length && lines[n].includes("|"); n += 1) body.append(h("tr", {}, cells(lines[n]).map(c => h("td", {}, c))));
  blocks.push(h("div", {class: "wide"}, h("table", {}, h("thead", {}, head), body)));
  return n;
}

const MARKS = /(`[^`]+`)|(\*\*|__)(?=\S)(.+?\S|\S)\2(?!\w)|(?<![\w*])\*(?=[^\s*])([^*]*[^\s*])\*(?![\w*])|\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\]/u;

export function inline(text, chip) {
  const made = [];
  for (let rest = text; rest;) {
    const found = rest.match(MARKS);
    if (!found) { made.push(rest); break; }
    const [whole, literal, , bold, italic, numbers] = found, before = rest.slice(0, found.index);
    if (before) made.push(numbers ? before.replace(/ $/, "\u00a0") : before); // a number stays with its statement
    if (literal) made.push(h("code", {}, literal.slice(1, -1)));
    else if (bold) made.push(h("strong", {}, inline(bold, chip)));
    else if (italic) made.push(h("em", {}, inline(italic, chip)));
    else made.push(...numbers.split(/[,;]/).map(n => chip(Number(n))));
    rest = rest.slice(found.index + whole.length);
  }
  return made;
}
