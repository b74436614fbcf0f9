"""What an evaluation would take, before it is begun: gone through with stand-ins, and told in calls, tokens and cost.

What is stored counts nothing. Answers to come are taken to be like those of their condition that are there; where none
is, they are as long as the reports that the same model wrote, and no longer than what they read lets expect.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from sensegraph.answering.grounding.checking import check_answers
from sensegraph.answering.grounding.citations import choose_supporter
from sensegraph.cli.lab.evaluation_setup import PreparedEvaluation, prepare_evaluation
from sensegraph.corpus.tools import estimate_only
from sensegraph.errors import StepFailed
from sensegraph.index.estimate import Estimate
from sensegraph.index.question_costs import QuestionEstimate, Readable, foresee_question
from sensegraph.lab.experiments import experiment
from sensegraph.lab.experiments.conditions import Condition, Reply, ask_condition, find_unanswered
from sensegraph.lab.experiments.rehearsal import (
    USUAL,
    Rehearsed,
    RehearsedEmbedder,
    Unasked,
    imitate_answers,
    make_stand_in_answer,
)
from sensegraph.lab.grounding.claims import ClaimSettings, find_claims, split_answer
from sensegraph.lab.retrieval.retrieval_tables import align_columns
from sensegraph.methods import load_method
from sensegraph.protocols import PricedEngine
from sensegraph.runtime.keys import key
from sensegraph.types import Answer, Cluster, Usage

_CONTEXT = 8_000  # tokens of a context that nobody bounds
_SHOWN = ("calls", "prompt_tokens", "completion_tokens", "embedding_tokens", "cost_usd")
_BY_SENTENCE = ("claim", "support")
_REPORTS = 3  # written reports from which a model's length is known


@dataclass(frozen=True, slots=True)
class Forecast:
    """Parts of a run with what each would take.

    `least` names the conditions whose answers take at least that: no index is there, and their method asks more calls
    than it can say. `sentences` are those of an answer on the average, of which claims and support take calls each;
    `guessed` says that no answer is there to tell. `notes` say what else has to be known.
    """

    parts: Mapping[str, Usage]
    least: tuple[str, ...] = ()
    sentences: int = 0
    guessed: bool = True
    notes: tuple[str, ...] = ()

    @property
    def whole(self) -> Usage:
        """All parts together."""
        return sum(self.parts.values(), Usage())


@estimate_only()
def forecast_evaluation(file: Path, given: Mapping[str, Any], report: Callable[[str, int, int], None]) -> Forecast:
    """What `evaluate run` would ask for, and is not stored yet. Nothing is asked, and nothing stored."""
    with prepare_evaluation(file, given, report, dry=True) as ready:
        if not any(tool.waits for tool in (*ready.corpus.workspace.tools, ready.tools.judging.engine)):
            return Forecast({})  # all of it is this machine's own work, and not done twice
        known = read_known_answers(ready)
        sentences = foresee_answer_length(ready, known)
        answering = Rehearsed(ready.corpus.engine, sentences)
        judging = Rehearsed(ready.tools.judging.engine, sentences, measure_dropped(ready, known))
        parts: dict[str, Usage] = {}
        least: tuple[str, ...] = ()
        if ready.to_index is not None:
            index = estimate_index(ready, ready.to_index)
            parts["index"] = index.usage
            foreseen = {c.name: foresee_condition(c, index.readable, ready) for c in ready.conditions}
            least = tuple(name for name, found in foreseen.items() if found and found.at_least)
            conditions = tuple(
                guess_answers(c, foreseen[c.name], ready, sentences, index.chunks) for c in ready.conditions
            )
        else:
            dim = ready.corpus.index().vectors.shape[1]
            ready.corpus.workspace.use_tools(answering, RehearsedEmbedder(ready.corpus.embedder, dim))
            conditions = tuple(imitate_known(c, ready, known[c.name]) for c in ready.conditions)
        rt = replace(ready.tools.rt, engine=answering)
        tools = replace(ready.tools, rt=rt, judging=replace(ready.tools.judging, engine=judging))
        waiting = {c.name: find_unanswered(c, ready.questions, rt) for c in conditions}
        result = experiment.run_evaluation(replace(ready.plan, draws=1), conditions, ready.questions, tools, "")
        answers = []
        for c in conditions:
            places = [i for i, q in enumerate(ready.questions) if q in waiting[c.name]]
            answers += [result.answers[c.name][i].answer for i in places]
            parts[f"answers of {c.name}"] = sum((result.answers[c.name][i].answer.usage for i in places), Usage())
        parts |= {f"measuring: {task}": usage for task, usage in judging.by_task.items()}
        found = {n: replace(u, seconds=0.0) for n, u in parts.items()}
        lengths = [len(split_answer(a.text)) for a in answers] or [sentences]
        return Forecast(
            found, least, round(fmean(lengths)), not any(known.values()), tuple(describe_index(ready, file))
        )


def describe_index(ready: PreparedEvaluation, file: Path) -> Iterator[str]:
    """That another engine made the index which is there, and what says how much one by this engine would take."""
    made, space = ready.corpus.manifest(), ready.corpus
    if ready.to_index is None and made is not None and made.engine != space.engine.name:
        model = space.settings.endpoint.model
        chosen = f" --set endpoint.model={shlex.quote(model)}" if model else ""
        place, name = shlex.quote(str(file.parent / ready.plan.corpus)), ready.plan.corpus
        yield (
            f"no index is made: that in {name} is used as it is, and {made.engine} made its graph; what one by "
            f"{space.engine.name} would take: sensegraph index --root {place}{chosen} --dry-run"
        )


def estimate_index(ready: PreparedEvaluation, documents: Path) -> Estimate:
    """What an index of the documents would take with the parts that the methods read, and no others."""
    space = ready.corpus.workspace
    parts = {part for c in ready.conditions for part in load_method(c.method, **c.settings).reads}
    space.settings = replace(space.settings, index=replace(space.settings.index, parts=tuple(sorted(parts))))
    return ready.corpus.estimate(documents)


Known = Mapping[str, Sequence[tuple[str, Reply]]]  # by condition: questions with their answers


def read_known_answers(ready: PreparedEvaluation) -> Known:
    """The answers that are stored, as they are measured: to the questions with short ones first, in all conditions."""
    known, length = dict[str, list[tuple[str, Reply]]](), Counter[str]()
    for c in ready.conditions:
        waiting = {q.id for q in find_unanswered(c, ready.questions, ready.tools.rt)}
        answered = [q for q in ready.questions if q.id not in waiting]
        replies = ask_condition(c, answered, ready.tools.rt, most_words=ready.plan.answer_words)
        known[c.name] = [(q.text, r) for q, r in zip(answered, replies, strict=True) if not r.failure]
        length.update({text: r.words for text, r in known[c.name]})
    return {name: sorted(listed, key=lambda pair: (length[pair[0]], pair[0])) for name, listed in known.items()}


def imitate_known(condition: Condition, ready: PreparedEvaluation, known: Sequence[tuple[str, Reply]]) -> Condition:
    """The condition with answers to come like those that are known, at the cost of asking for them."""
    waiting = find_unanswered(condition, ready.questions, ready.tools.rt)
    like = dict(
        zip((q.text for q in waiting), imitate_answers([r.answer for _, r in known], len(waiting)), strict=False)
    )

    def ask(question: str) -> Answer:
        made = condition.ask(question)
        return replace(like[question], usage=made.usage) if question in like else made

    return replace(condition, ask=ask)


def measure_dropped(ready: PreparedEvaluation, known: Known) -> dict[str, float]:
    """The shares of sentences and statements that the judge let go in known answers, where that is stored."""
    rt = replace(ready.tools.judging, engine=Unasked(ready.tools.judging.engine))
    seen, let_go, by = Counter[str](), Counter[str](), choose_supporter(rt)
    for question, reply in (pair for listed in known.values() for pair in listed):
        with suppress(StepFailed):
            (claimed,) = find_claims([(question, reply.text)], ClaimSettings(), rt)
            left = claimed.sentences
            for stage, count in claimed.dropped:
                seen[stage] += left
                let_go[stage] += count
                left -= count
        with suppress(StepFailed):
            (checked,) = check_answers([reply.answer], ready.tools.fetch, by)
            refused = sum(p.kind == "unsupported" for p in checked.problems)
            seen["support"] += checked.supported + refused
            let_go["support"] += refused
    return {what: let_go[what] / count for what, count in seen.items() if count}


def foresee_answer_length(ready: PreparedEvaluation, known: Known) -> int:
    """How many sentences answers will have at most, on which depends what claims and support take.

    As many as those have on the average that are there; else, of a model that wrote reports on this corpus, as many as
    these; else the usual number.
    """
    if lengths := [len(split_answer(r.answer.text)) for listed in known.values() for _, r in listed]:
        return max(1, round(fmean(lengths)))
    made = ready.corpus.manifest()
    if ready.to_index is not None or made is None or made.engine != ready.corpus.engine.name:
        return USUAL
    if "reports" not in made.part_names:
        return USUAL
    written = [count_report_sentences(c) for c in ready.corpus.index().hierarchy.clusters]
    return max(1, min(2 * USUAL, round(fmean(written)))) if len(written) >= _REPORTS else USUAL


def count_report_sentences(report: Cluster) -> int:
    """The sentences of a report, without its headlines."""
    told = (report.summary, *(f.statements for f in report.findings))
    return sum(len(split_answer("".join(s.text for s in statements))) for statements in told)


def foresee_condition(
    condition: Condition, readable: Readable | None, ready: PreparedEvaluation
) -> QuestionEstimate | None:
    """What a question will take by its method once the index is there; None where that takes no call."""
    engine = ready.corpus.engine
    if readable is None or not engine.waits or not isinstance(engine, PricedEngine):
        return None
    method = load_method(condition.method, **condition.settings)
    return foresee_question(method, False, readable, engine, ready.corpus.store.ledger())


def guess_answers(
    condition: Condition, foreseen: QuestionEstimate | None, ready: PreparedEvaluation, sentences: int, chunks: int
) -> Condition:
    """The condition with answers that are guessed: about those of the `chunks` for which its context has room."""
    room = int(condition.settings.get("context_tokens") or _CONTEXT)
    read = min(chunks, max(1, room // ready.corpus.settings.index.chunk_tokens))
    return replace(condition, ask=partial(guess_answer, condition, foreseen, sentences, read))


def guess_answer(
    condition: Condition, foreseen: QuestionEstimate | None, sentences: int, chunks: int, question: str
) -> Answer:
    """An answer that takes what is `foreseen`. It tells of `chunks` chunks, in `sentences` sentences at most."""
    f = foreseen
    spent = Usage(f.calls, f.prompt_tokens, f.completion_tokens, cost_usd=f.cost_usd) if f else Usage()
    return replace(make_stand_in_answer(key(condition.name, question)[:8], chunks, sentences), usage=spent)


def format_forecast(found: Forecast) -> str:
    """The parts with calls, tokens and cost, and their sum."""
    whole = found.whole
    if not whole.calls and not whole.embedding_tokens:
        return "\n".join(["no calls to a model, no cost; the time is this machine's own", *found.notes])
    rows = [["part", "calls", "tokens in", "tokens out", "cost $"]]
    rows += [_forecast_row(name, u) for name, u in found.parts.items() if u.calls or u.embedding_tokens]
    rows.append(_forecast_row("in all", whole))
    lines = [align_columns(rows)]
    if not whole.cost_usd:
        lines.append("cost not known: no prices are set (endpoint.price_…)")
    if any(found.parts.get(f"measuring: {task}", Usage()).calls for task in _BY_SENTENCE):
        why = "no answer by this model is stored; answer a few first (limit = 5), and estimate again"
        lines.append(
            f"answers are estimated with about {found.sentences} sentences each, on which claims and support depend"
            + (f" ({why})" if found.guessed else " (as long as those that are stored)")
        )
    if found.parts.get("measuring: claim", Usage()).calls:
        stages = ClaimSettings()
        select, clear, part = (w.needed for w in (stages.select, stages.disambiguate, stages.decompose))
        lines.append(
            f"claims take up to {select + clear + part} calls a sentence: {select} to choose it, {clear} to make clear "
            f"what it refers to, {part} to part it into claims"
        )
    if found.least:
        lines.append(
            f"at least, for {', '.join(found.least)}: how often the method asks is known only when the index is there"
        )
    return "\n".join([*lines, *found.notes])


def _forecast_row(name: str, u: Usage) -> list[str]:
    into = u.prompt_tokens + u.embedding_tokens
    return [name, f"{u.calls:,}", f"{into:,}", f"{u.completion_tokens:,}", f"{u.cost_usd:.2f}"]


def record_forecast(found: Forecast) -> dict[str, Any]:
    """The parts and their sum, for programs."""
    named = {**found.parts, "all": found.whole}
    return {
        "least": list(found.least),
        "sentences": found.sentences,
        "notes": list(found.notes),
        "parts": {n: {f: getattr(u, f) for f in _SHOWN} for n, u in named.items()},
    }
