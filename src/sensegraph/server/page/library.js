// The place Library: documents and their state; files are dropped, planned, then indexed; documents are deleted after a preview.
import {at, get, post, remove, upload} from "./api.js";
import {button, duration, failure, h, icon, iconButton, load, many, money, nameOf, number, present, say} from "./dom.js";
import {Duplicates} from "./duplicates.js";
import {JobView, skippedList, stepName} from "./job.js";
import {address, corpusNow, indexChanged, mayWrite, state} from "./state.js";

const STATES = {indexed: "indexed", new: "not indexed yet", changed: "changed since", removed: "file is gone"};

export class Library {
  constructor() {
    this.corpus = state.route.corpus;
    this.last = "";
    this.words = "";
    this.job = new JobView(this.corpus, job => this.ended(job));
    this.desk = h("div", {class: "desk", "aria-live": "polite"});
    this.list = h("div", {class: "documents"});
    this.duplicates = new Duplicates(this.corpus, job => this.job.follow(job));
    this.picker = h("input", {type: "file", multiple: true, id: "files", class: "unseen", "aria-label": "Files to add", on: {change: () => {
      this.take([...this.picker.files]);
      this.picker.value = "";
    }}});
    this.drop = h("label", {class: "drop", for: "files"}, icon("up"), h("b", {}, "Drop files here, or choose them"),
      h("span", {class: "soft"}, "Texts, Markdown, PDF, Word and other office files, tables, mail, web pages, .zip. Nothing is computed before you have seen the plan."));
    this.search = h("input", {type: "search", placeholder: "Filter by name", "aria-label": "Filter documents by name", on: {input: () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.draw(this.words = this.search.value.trim()), 150);
    }}});
    this.head = h("header", {class: "row"});
    this.element = h("section", {class: "library", "aria-label": "Library"},
      h("div", {class: "column"}, this.head, this.picker, this.drop, this.job.element, this.desk, this.duplicates.element, this.search, this.list));
    this.listen();
  }

  listen() {
    const files = event => [...(event.dataTransfer?.types || [])].includes("Files") && mayWrite();
    for (const name of ["dragenter", "dragover"]) this.element.addEventListener(name, event => {
      if (!files(event)) return;
      event.preventDefault();
      this.drop.classList.add("over");
    });
    for (const name of ["dragleave", "drop"]) this.element.addEventListener(name, () => this.drop.classList.remove("over"));
    this.element.addEventListener("drop", event => {
      if (!files(event)) return;
      event.preventDefault();
      this.take([...event.dataTransfer.files]);
    });
  }

  async show({corpus}) {
    this.last = address({corpus, place: "library"});
    this.drop.hidden = this.duplicates.element.hidden = !mayWrite();
    if (this.shown) return undefined;
    this.shown = true;
    this.draw();
    if (!mayWrite()) return undefined;
    const {jobs} = await get(at(corpus, "jobs")).catch(() => ({jobs: []}));
    const running = jobs.find(j => j.state === "running");
    if (running) this.job.follow(running);
    else if (corpusNow().pending) this.plan();
    return undefined;
  }

  // ── documents ──

  draw() {
    return load(this.list, async () => {
      const [found, status] = await Promise.all([get(at(this.corpus, "documents"), {q: this.words, limit: 60}), get(at(this.corpus, "status")).catch(() => null)]);
      this.headline(status, found);
      this.search.hidden = !this.words && found.found < 8;
      if (!found.documents.length) return h("p", {class: "soft"}, this.words ? "No document is named so." : "There are no documents yet.");
      const body = h("tbody", {}, found.documents.map(d => this.row(d)));
      return [h("table", {}, h("thead", {}, h("tr", {}, ["Document", "Date", "Names", "State", ""].map(t => h("th", {scope: "col"}, t || h("span", {class: "unseen"}, "Actions"))))), body), this.more(found.next, body)];
    });
  }

  headline(status, found) {
    const c = corpusNow();
    this.head.replaceChildren(h("h1", {}, "Library"), h("p", {class: "soft"}, present([
      many(status?.documents ?? found.found, "document"), status?.engine && `engine: ${status.engine}`,
      c?.indexed_at && `indexed ${new Date(c.indexed_at).toLocaleString("en", {dateStyle: "medium", timeStyle: "short"})}`]).join(" · ")),
    mayWrite() ? button("Compare with the files", () => this.plan(null, true), {title: "What is new, changed or gone in input/"}) : "",
    ...(status?.left_out?.length ? [h("p", {class: "soft"}, `${many(status.left_out.length, "item")} could not be read; running the index again tries them once more.`)] : []));
  }

  more(next, body) {
    if (!next) return null;
    const made = button("More", async () => {
      const found = await get(at(this.corpus, "documents"), {q: this.words, limit: 60, cursor: next});
      body.append(...found.documents.map(d => this.row(d)));
      made.replaceWith(this.more(found.next, body) || "");
    }, {class: "more"});
    return made;
  }

  row(d) {
    const title = d.title || nameOf(d.id);
    return h("tr", {}, h("td", {}, d.state === "new" ? h("span", {}, title) : h("a", {href: address({place: "read", id: d.id})}, title),
      title !== d.id && h("small", {class: "soft"}, d.id)),
    h("td", {}, d.time.slice(0, 10)), h("td", {}, d.state === "new" ? "" : number(d.entities)),
    h("td", {}, h("span", {class: "state " + d.state}, STATES[d.state] || d.state)),
    h("td", {}, mayWrite() && iconButton("bin", `Delete ${title}`, () => this.ask(d, title))));
  }

  // ── deleting ──

  async ask(d, title) {
    const dialog = h("dialog", {"aria-label": `Delete ${title}`}), body = h("div");
    const close = () => { dialog.close(); dialog.remove(); };
    const act = button("Delete", async () => {
      act.disabled = true;
      try {
        this.job.follow(await remove(at(this.corpus, "documents", d.id)));
        close();
      } catch (error) {
        act.disabled = false;
        body.replaceChildren(failure(error));
      }
    }, {class: "danger"});
    dialog.append(h("h2", {}, `Delete “${title}”?`), body, h("p", {class: "row end"}, button("Keep it", close), act));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    await load(body, async () => {
      const plan = await remove(at(this.corpus, "documents", d.id), {plan: true});
      return [h("p", {}, present([`${many(plan.entities, "name")} stand in it`, plan.chunks && `in ${many(plan.chunks, "passage")}`]).join(", ") + ". What only it says goes from the index."),
        h("p", {class: "soft"}, plan.file ? "Its file in input/ is deleted too." : "Its file is not in input/, and stays where it is.")];
    });
  }

  // ── adding ──

  async take(files) {
    if (!files.length) return;
    const form = new FormData();
    for (const file of files) form.append("files", file, file.name);
    say(`Sending ${many(files.length, "file")}.`);
    await load(this.desk, async () => {
      const {files: taken, refused} = await upload(at(this.corpus, "documents"), form);
      this.taken = taken;
      return [refused.length > 0 && skippedList(refused), h("p", {class: "soft"}, taken.length ? "Planning …" : "No file was taken.")];
    });
    this.draw();
    if (this.taken?.length) await this.plan(this.desk.querySelector(".skipped"));
  }

  plan(refused, always) {
    return load(this.desk, async () => {
      const found = await post(at(this.corpus, "plan"));
      return this.planned(found, refused) || (always && h("p", {class: "soft"}, "The index holds what the files hold."));
    });
  }

  planned(plan, refused) {
    const {estimate: e} = plan, parts = [["new", plan.added], ["changed", plan.edited], ["renamed", plan.renamed.map(r => r.join(" → "))], ["gone", plan.removed]];
    const asked = parts.filter(([, list]) => list.length);
    const aside = present([refused, plan.skipped.length > 0 && skippedList(plan.skipped)]);
    if (!asked.length) return aside.length ? h("section", {class: "plan"}, aside) : null;
    const work = e.steps.filter(s => s.items);
    const cost = e.calls ? `About ${many(e.calls, "call")}, ${number(e.prompt_tokens + e.completion_tokens)} tokens, ${money(e.cost_usd)}` : "No model is asked: it costs nothing";
    return h("section", {class: "plan", "aria-label": "Plan"}, h("h2", {}, "The plan"),
      asked.map(([label, list]) => h("details", {open: list.length < 6}, h("summary", {}, `${number(list.length)} ${label}`), h("ul", {}, list.map(n => h("li", {}, n))))),
      h("p", {}, h("b", {}, cost), plan.seconds >= 1 && `, at least ${duration(plan.seconds)}`),
      work.length > 0 && h("p", {class: "soft"}, work.map(s => `${stepName(s.step)}: ${number(s.items)}`).join(" · ")),
      plan.notes.length > 0 && h("ul", {class: "notes"}, plan.notes.map(n => h("li", {}, n))), aside,
      h("p", {class: "row"}, button("Add to the index", () => this.run(), {class: "primary"}),
        this.taken?.length > 0 && button("Take these files away", () => this.withdraw())));
  }

  async run() {
    try {
      this.job.follow(await post(at(this.corpus, "jobs"), {kind: "sync"}));
      this.desk.replaceChildren();
      this.taken = null;
    } catch (error) {
      this.desk.append(failure(error));
    }
  }

  async withdraw() {
    await load(this.desk, async () => {
      for (const {name} of this.taken) await remove(at(this.corpus, "input", name));
      this.taken = null;
      return h("p", {class: "soft"}, "The files are taken away again.");
    });
    this.draw();
  }

  ended(job) {
    this.duplicates.ended(job);
    if (job.state !== "failed") this.refresh();
    else this.draw();
  }

  async refresh() {
    state.corpora = (await get("/api/v1/corpora").catch(() => ({corpora: state.corpora}))).corpora;
    indexChanged();
    this.draw();
  }

  stale() {}
}
