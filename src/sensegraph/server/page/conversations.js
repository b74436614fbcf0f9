// Conversations are kept in this browser only (IndexedDB); where it offers none, until the page is left.
import {insideName} from "./dom.js";

const held = new Map();
let opened = null;

function database() {
  opened ||= new Promise(resolve => {
    if (!self.indexedDB) return resolve(null);
    const request = indexedDB.open("sensegraph", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("conversations", {keyPath: "id"}).createIndex("corpus", "corpus");
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => resolve(null);
    return undefined;
  });
  return opened;
}

async function work(mode, ask, otherwise) {
  const base = await database();
  if (!base) return otherwise();
  return new Promise((resolve, reject) => {
    const request = ask(base.transaction("conversations", mode).objectStore("conversations"));
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export const keep = one => work("readwrite", store => store.put(one), () => held.set(one.id, structuredClone(one)));
export const recall = id => work("readonly", store => store.get(id), () => held.get(id));
export const forget = id => work("readwrite", store => store.delete(id), () => held.delete(id));

export async function earlier(corpus) {
  const found = await work("readonly", store => store.index("corpus").getAll(corpus), () => [...held.values()].filter(c => c.corpus === corpus));
  return found.sort((a, b) => b.changed - a.changed);
}

export const newId = () => Date.now().toString(36) + Math.random().toString(36).slice(2, 6);

// A conversation as Markdown, with its sources.
export function asMarkdown(turns) {
  return turns.map(({question, answer, text}) => {
    const sources = (answer?.citations || []).map(c => `- [${c.marker}] ${c.document}${insideName(c) ? `${insideName(c)}, ` : ":"}${c.start}-${c.end} “${c.quote.replace(/\s+/g, " ")}”`);
    return `## ${question}\n\n${answer?.answer || text}\n` + (sources.length ? `\nSources\n\n${sources.join("\n")}\n` : "");
  }).join("\n");
}
