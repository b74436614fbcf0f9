// The place Ask: conversations whose answers stream, each statement with its chips.
import {answerParts, turnView} from "./answer.js";
import {at, Failure, get, stream} from "./api.js";
import {asMarkdown, earlier, forget, keep, newId, recall} from "./conversations.js";
import {button, h, icon, iconButton, load, many, number, present, say, shortened} from "./dom.js";
import {address, go, state} from "./state.js";

const REMEMBERED = 6; // exchanges that are sent along with a question

export class Ask {
  constructor() {
    this.id = null;
    this.turns = [];
    this.last = "";
    this.head = h("div", {class: "row talk"});
    this.flow = h("div", {class: "flow"});
    this.box = h("textarea", {id: "question", rows: 1, "aria-label": "Your question", placeholder: "Ask these documents", maxlength: 20000});
    this.sending = iconButton("send", "Ask", null, {type: "submit", class: "send"});
    this.form = h("form", {class: "composer", on: {submit: event => { event.preventDefault(); this.submit(); }}},
      h("div", {class: "field"}, this.box, this.sending), this.options());
    this.box.addEventListener("input", () => this.grow());
    this.box.addEventListener("keydown", event => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); this.submit(); }
    });
    this.element = h("section", {class: "ask", "aria-label": "Ask"}, h("div", {class: "column"}, this.head, this.flow), this.form);
  }

  options() {
    const field = (name, label, props) => h("label", {}, label, h("input", {name, ...props}));
    this.method = h("select", {name: "method"}, h("option", {value: "auto"}, "auto: fits the question"));
    return h("details", {class: "options"}, h("summary", {}, "Options"), h("div", {class: "fields"},
      h("label", {}, "Method", this.method),
      field("documents", "Only documents", {placeholder: "minutes-*"}),
      field("since", "Documents since", {placeholder: "2023-05"}), field("until", "until", {placeholder: "2024"}),
      field("as_of", "As of", {placeholder: "2023-05-17"}),
      h("label", {class: "check"}, h("input", {type: "checkbox", name: "check"}), "Check the answer against its sources")));
  }

  async show({corpus, id, params}) {
    this.last = address({corpus, place: "ask", id});
    if (this.methodsOf !== corpus) this.listMethods(corpus);
    if (id !== this.id) await this.begin(corpus, id);
    if (params.q && this.asked !== params.q) {
      this.asked = this.box.value = params.q;
      this.method.value = params.method || "auto";
      this.grow();
      this.box.focus();
    }
  }

  async listMethods(corpus) {
    this.methodsOf = corpus;
    const {methods} = await get("/api/v1/methods").catch(() => ({methods: []}));
    this.method.append(...methods.map(m => h("option", {value: m.name, title: m.good_for || ""}, m.name + (m.good_for ? ": " + shortened(m.good_for, 60) : ""))));
    if (state.route.params.method) this.method.value = state.route.params.method;
  }

  async begin(corpus, id) {
    this.stop();
    this.id = id;
    this.turns = (id && (await recall(id).catch(() => null))?.turns) || [];
    if (id !== this.id) return;
    this.headline(corpus);
    if (this.turns.length) {
      this.flow.replaceChildren(...this.turns.map(turn => turn.view = turnView(turn, () => this.ask(turn.question, turn.method))));
      this.focusOn(this.turns.at(-1));
      this.flow.lastElementChild.scrollIntoView({block: "start"});
    } else await this.welcome(corpus);
  }

  async headline(corpus) {
    const past = await earlier(corpus).catch(() => []), others = past.filter(c => c.id !== this.id);
    this.head.replaceChildren(...present([
      others.length > 0 && h("details", {class: "menu"}, h("summary", {}, "Earlier"), h("ul", {}, others.slice(0, 30).map(c => h("li", {},
        h("a", {href: address({place: "ask", id: c.id})}, shortened(c.turns[0]?.question || "", 70)),
        iconButton("close", "Forget this conversation", async () => { await forget(c.id); this.headline(corpus); }))))),
      this.turns.length > 0 && h("a", {class: "button", href: address({place: "ask"})}, "New"),
      this.turns.length > 0 && button("Save as Markdown", () => this.save())]));
  }

  welcome(corpus) {
    return load(this.flow, async () => {
      const status = await get(at(corpus, "status"));
      const titles = status.indexed ? await get(at(corpus, "reports"), {depth: 0}).catch(() => ({reports: []})) : {reports: []};
      if (!status.indexed) return h("div", {class: "empty"}, h("h1", {}, "Nothing is indexed here yet."),
        h("p", {class: "soft"}, "Add documents; then they can be asked."), h("p", {}, h("a", {class: "button primary", href: address({place: "library"})}, "Open the library")));
      const about = titles.reports.filter(r => r.title && r.entities > 1).slice(0, 5).map(r => `What do the documents say about ${r.title}?`);
      return h("div", {class: "welcome"}, h("h1", {}, "What would you like to know?"),
        h("p", {class: "soft"}, `${many(status.indexed, "document")}, ${many(status.entities, "entity", "entities")}, `
          + `${many(status.relations, "relation")}, ${many(status.claims, "claim")}. Every statement of an answer leads to the place that it stands on.`),
        h("ul", {class: "suggestions"}, ["What are the main themes?", ...about].map(question =>
          h("li", {}, button(question, () => this.ask(question, "auto"))))));
    });
  }

  grow() {
    this.box.style.height = "auto";
    this.box.style.height = Math.min(this.box.scrollHeight, 180) + "px";
  }

  // ── asking ──

  submit() {
    if (this.running) return this.stop();
    const question = this.box.value.trim();
    if (question) return this.ask(question, this.method.value);
    return this.box.focus();
  }

  scope() {
    const values = new FormData(this.form), scope = {};
    for (const name of ["since", "until", "as_of"]) if (values.get(name)?.trim()) scope[name] = values.get(name).trim();
    if (values.get("documents")?.trim()) scope.documents = values.get("documents").split(",").map(d => d.trim()).filter(Boolean);
    return {scope, check: values.get("check") === "on"};
  }

  async ask(question, method) {
    if (this.running) return;
    const {corpus} = state.route, history = this.turns.filter(t => t.answer).slice(-REMEMBERED).map(t => ({question: t.question, answer: t.answer.answer}));
    const turn = {question, method, text: "", stages: [], citations: [], answer: null, error: null, stopped: false, running: true};
    if (!this.turns.length) this.flow.replaceChildren();
    if (!this.id) {
      this.id = newId();
      go({place: "ask", id: this.id}, {replace: true});
    }
    const id = this.id, talk = this.turns;
    talk.push(turn);
    this.running = new AbortController();
    const {signal} = this.running;
    this.box.value = "";
    this.grow();
    this.sent(true);
    turn.view = turnView(turn);
    this.flow.append(turn.view);
    turn.view.scrollIntoView({block: "start", behavior: "auto"});
    try {
      for await (const event of stream(at(corpus, "query"), {question, method, history, stream: true, ...this.scope()}, signal)) {
        this.take(turn, event);
        this.draw(turn);
      }
      if (!turn.answer && !turn.error) throw new TypeError("The connection ended before the answer did.");
    } catch (error) {
      if (error.name === "AbortError") turn.stopped = true;
      else turn.error = error;
    }
    turn.running = false;
    this.running = null;
    this.sent(false);
    cancelAnimationFrame(turn.drawing);
    this.redraw(turn);
    say(turn.answer ? `The answer is here, with ${many(turn.answer.citations.length, "citation")}.` : turn.stopped ? "Stopped." : "There is no answer.");
    if (turn.answer && this.turns === talk) this.focusOn(turn);
    const stored = talk.filter(t => t.answer).map(({view, running, error, drawing, ...rest}) => rest);
    if (stored.length) await keep({id, corpus, changed: Date.now(), turns: stored}).catch(() => say("This browser does not keep the conversation."));
    this.headline(corpus);
  }

  take(turn, {name, data}) {
    if (name === "stage") turn.stages.push(data);
    else if (name === "piece") turn.text += data.text;
    else if (name === "citation") turn.citations.push(data);
    else if (name === "answer") turn.answer = data;
    else if (name === "error") turn.error = new Failure(200, data);
  }

  draw(turn) {
    turn.drawing ||= requestAnimationFrame(() => { turn.drawing = 0; this.redraw(turn); });
  }

  redraw(turn) {
    turn.view.lastElementChild.replaceWith(answerParts(turn, () => this.ask(turn.question, turn.method)));
  }

  sent(running) {
    this.sending.replaceChildren(icon(running ? "stop" : "send"));
    this.sending.setAttribute("aria-label", running ? "Stop" : "Ask");
    this.sending.title = running ? "Stop" : "Ask (Enter)";
  }

  stop() {
    this.running?.abort();
  }

  // Another index: what is shown of it is shown again.
  stale() {
    if (!this.turns.length) this.id = null;
  }

  // What the reader marks and the map lights.
  focusOn(turn) {
    if (!turn.answer) return;
    const {evidence, citations, answer} = turn.answer, places = [...citations, ...evidence.flatMap(e => e.places)];
    state.citations = citations;
    state.evidence = {
      entities: evidence.filter(e => e.kind === "entity").map(e => e.id),
      places: places.slice(0, 400).map(({document, start, end}) => ({document, start, end})),
      words: [turn.question, answer, ...citations.map(c => c.quote)].join("\n").toLowerCase(),
    };
    state.lit = state.read = null;
  }

  save() {
    const link = h("a", {href: URL.createObjectURL(new Blob([asMarkdown(this.turns)], {type: "text/markdown"})), download: "conversation.md"});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    say(`Saved, ${number(this.turns.length)} answers.`);
  }
}
