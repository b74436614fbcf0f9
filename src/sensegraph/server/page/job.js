// Work on a corpus, while it runs: the step, how far, the time left, and a button that stops it.
import {at, get, remove} from "./api.js";
import {button, duration, failure, h, many, number, present, say} from "./dom.js";

const WORDS = {
  extraction: "Reading the documents", graph: "Joining what they say", hierarchy: "Finding communities", clusters: "Finding communities",
  reports: "Writing reports", vectors: "Comparing by meaning", words: "Listing the words", documents: "Opening the files", resolve: "Finding names that are one",
};
export const stepName = step => WORDS[step.split(".")[0]] || step || "Beginning";

export class JobView {
  constructor(corpus, ended) {
    this.corpus = corpus;
    this.ended = ended;
    this.element = h("section", {class: "job", "aria-label": "Work on this corpus", hidden: true});
    this.bar = h("progress", {"aria-label": "Progress of this step"});
    this.step = h("b");
    this.counted = h("span", {class: "soft"});
  }

  follow(job) {
    this.stop();
    this.job = job;
    this.element.hidden = false;
    this.stopping = button("Stop", () => this.halt());
    this.element.replaceChildren(h("p", {}, this.step, " ", this.counted), this.bar, h("p", {class: "row"}, this.stopping,
      h("span", {class: "soft"}, "What was computed is kept.")));
    this.draw(job);
    this.events = new EventSource(at(this.corpus, "jobs", job.id, "events"));
    this.events.addEventListener("progress", event => this.draw({...this.job, ...JSON.parse(event.data)}));
    this.events.addEventListener("end", event => this.end(JSON.parse(event.data)));
    this.timer = setInterval(() => this.ask(), 1500);
  }

  async ask() {
    const job = await get(at(this.corpus, "jobs", this.job.id)).catch(() => null);
    if (!this.timer || !job) return;
    if (job.state === "running") this.draw(job);
    else this.end(job);
  }

  draw(job) {
    if (job.step !== this.job.step) say(stepName(job.step));
    this.job = job;
    this.step.textContent = stepName(job.step);
    const left = job.seconds_left ? `, about ${duration(job.seconds_left)} left` : "";
    this.counted.textContent = job.total ? `${number(job.done)} of ${number(job.total)}${left}` : "";
    if (job.total) Object.assign(this.bar, {max: job.total, value: job.done});
    else this.bar.removeAttribute("value");
  }

  async halt() {
    this.stopping.disabled = true;
    this.step.textContent = "Stopping";
    const job = await remove(at(this.corpus, "jobs", this.job.id)).catch(() => null);
    if (job && job.state !== "running") this.end(job);
  }

  stop() {
    this.events?.close();
    clearInterval(this.timer);
    this.timer = 0;
  }

  end(job) {
    if (!this.timer) return;
    this.stop();
    say({done: "Done.", failed: "It failed.", stopped: "Stopped."}[job.state]);
    this.element.replaceChildren(...present([told(job), button("Close", () => { this.element.hidden = true; })]));
    this.ended(job);
  }
}

function told({state, kind, result, error}) {
  if (state === "failed") return failure(error || {message: "The work ended with an error.", code: "Internal"});
  if (state === "stopped") return h("p", {}, h("b", {}, "Stopped. "), "What was computed is kept; run it again to go on.");
  if (kind === "resolve") return h("p", {}, h("b", {}, "Done. "), "Names were compared.");
  if (kind === "merge" || kind === "forbid") return h("p", {}, h("b", {}, kind === "merge" ? "They are one thing now. " : "They are kept apart. "), "The index follows.");
  if (kind === "remove") return h("p", {}, h("b", {}, "Deleted. "), "The index follows.");
  const made = result && [result.new && many(result.new, "new document"), result.changed && many(result.changed, "changed document"),
    result.gone?.length && many(result.gone.length, "document") + " gone", result.entities && many(result.entities, "entity", "entities")];
  return [h("p", {}, h("b", {}, "Done. "), present(made || []).join(", ")),
    result?.skipped?.length > 0 && skippedList(result.skipped), result?.left_out?.length > 0 && leftOut(result.left_out),
    result?.notes?.length > 0 && h("ul", {class: "notes"}, result.notes.map(n => h("li", {}, n)))];
}

export const skippedList = skipped => h("div", {class: "skipped"}, h("h3", {}, `${many(skipped.length, "file")} left aside`),
  h("ul", {}, skipped.map(s => h("li", {}, h("b", {}, s.path || s.name), " – ", s.reason))));

const leftOut = list => h("div", {class: "skipped"}, h("h3", {}, "Not in the index"),
  h("ul", {}, list.map(one => h("li", {}, Object.values(one).filter(v => typeof v === "string").join(" – ")))));
