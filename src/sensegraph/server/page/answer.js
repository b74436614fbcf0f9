// One question and its answer: what is going on, the text with its chips, why and how, what it cost, what was read.
import {chipper, placeName, spanLink} from "./citing.js";
import {button, duration, failure, h, many, money, number, present, shortened} from "./dom.js";
import {render} from "./markdown.js";
import {address} from "./state.js";

const STAGES = {accepted: "Reading the question", method: "Method", waiting: "Waiting for the model", writing: "Writing"};

export function turnView(turn, again) {
  return h("article", {class: "turn"}, h("h2", {class: "question"}, turn.question), answerParts(turn, again));
}

export function answerParts(turn, again) {
  const done = turn.answer, text = done ? done.answer : turn.text;
  return h("div", {class: "reply"},
    turn.running && h("p", {class: "stage"}, h("span", {class: "pulse"}), stageOf(turn)),
    text && h("div", {class: "answer"}, render(text, chipper(done ? done.citations : turn.citations))),
    turn.error && failure(turn.error, again),
    turn.stopped && h("p", {class: "soft"}, "Stopped. ", button("Ask again", again, {class: "link"})),
    done && facts(turn, done));
}

const stageOf = ({stages}) => {
  const last = stages.at(-1);
  if (!last) return "Asking";
  const method = stages.find(s => s.name === "method");
  const said = (STAGES[last.name] || last.name) + (last.name === "accepted" ? "" : last.detail ? ": " + last.detail : "");
  return method && last !== method ? `${method.detail} · ${said}` : said;
};

function facts(turn, done) {
  const why = done.notes.find(n => n.startsWith("auto chose ")), notes = done.notes.filter(n => n !== why);
  const {calls, prompt_tokens: asked, completion_tokens: written, cost_usd: cost, seconds} = done.usage;
  const spent = calls ? `${many(calls, "call")}, ${number(asked + written)} tokens, ${money(cost)}` : "no model was called";
  const documents = new Set(done.citations.map(c => c.document)).size;
  return h("footer", {class: "facts"},
    h("p", {class: "soft"}, present([h("b", {}, done.method), why ? ` – ${why.replace(/^auto chose \S+ */, "")}` : ""]),
      h("br"), `${many(done.citations.length, "citation")} from ${many(documents, "document")} · ${spent} · ${duration(seconds)}`),
    notes.length > 0 && h("ul", {class: "notes"}, notes.map(n => h("li", {}, n))),
    done.checks && checks(done.checks),
    done.evidence.length > 0 && h("details", {}, h("summary", {}, `What it read (${number(done.evidence.length)})`), h("ol", {class: "evidence"}, done.evidence.map(passage))),
    h("p", {class: "row"},
      h("a", {class: "button", href: address({place: "map"})}, "On the map"),
      h("a", {class: "button", href: address({place: "ask", params: {q: turn.question, method: turn.method === "auto" ? null : turn.method}})}, "Link to this question")));
}

const passage = p => h("li", {}, h("b", {}, p.kind), h("p", {}, shortened(p.text, 280)),
  p.places.length > 0 && h("p", {class: "sources"}, p.places.slice(0, 4).map(s => spanLink(s, placeName(s), {class: "source"})),
    p.places.length > 4 && h("span", {class: "soft"}, ` and ${p.places.length - 4} more`)));

function checks(found) {
  const lists = [["uncited", "say nothing of their source"], ["unanswered", "about the question"]].filter(([k]) => found[k]?.length);
  const share = found.statements ? found.supported / found.statements : 1;
  return h("details", {class: "checks"}, h("summary", {}, h("span", {class: share === 1 ? "good" : "doubt"}, share === 1 ? "✓" : "!"),
    ` Checked: ${found.supported} of ${many(found.statements, "statement")} supported, ${found.exact} of ${many(found.citations, "citation")} word for word (${found.by})`),
  lists.map(([key, label]) => [h("h3", {}, `${number(found[key].length)} ${label}`), h("ul", {}, found[key].map(t => h("li", {}, shortened(t, 200))))]));
}
