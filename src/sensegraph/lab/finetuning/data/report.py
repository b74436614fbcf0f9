"""What is in the data: counts, lengths, positions, leaks, what was dropped and why, and whether all holds that should.

Everything is counted anew on the finished examples; nothing is taken from what made them but what they passed over.
Topics and sources, as asked about and as shown, stand side by side (R28). The report is told as text for a terminal, as
Markdown, and as one plain object.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sensegraph.lab.experiments.sheets import format_count
from sensegraph.lab.finetuning.data import examples
from sensegraph.lab.finetuning.data.chances import Positions, compare_positions, expected_range
from sensegraph.lab.finetuning.data.example_types import (
    DataSettings,
    DroppedQuestion,
    Example,
    MadeExample,
    format_passage,
    format_prompt,
)
from sensegraph.lab.finetuning.data.examples import find_answer, is_polar, overlaps_passage
from sensegraph.lab.finetuning.data.sources import Source, hash_text
from sensegraph.lab.scores.statistics import wilson_interval
from sensegraph.language.text import count_tokens

_CHANCE = 0.01  # a check by chance fails in so many of all sound data sets
_TOPICS = 20  # rows of the audit


@dataclass(frozen=True, slots=True)
class Spread:
    """How large things are: least, median, mean, the 95th percentile, most."""

    least: int
    median: float
    mean: float
    high: float
    most: int


@dataclass(frozen=True, slots=True)
class Leaks:
    """What distractors give away. `examples` have `passages` that hold an answer shorter than `leak_words`.

    `long` counts those that hold a longer one, which should be none; `polar` the examples whose answer is yes or no.
    """

    examples: int
    passages: int
    long: int
    polar: int


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic or source: its passages in the pool, and how often examples show it as oracle and as distractor."""

    name: str
    pool: int
    oracle: int
    distractor: int


@dataclass(frozen=True, slots=True)
class Check:
    """Whether something holds that should, and the figures behind it."""

    name: str
    holds: bool
    said: str


@dataclass(frozen=True, slots=True)
class DataReport:
    """What was made of a source. Shares come with their 95 % interval (Wilson); tokens are cl100k's.

    `dropped` and `left_out` count questions without an example, by reason; `passed_over` passages that could not be
    distractors; `short` examples with fewer distractors than were wanted; `written` those whose answer an engine wrote;
    `reused` how often one passage was drawn at most; `masked` placeholders for personal data by kind, None where it was
    not looked for. `answered` counts examples whose oracle passages hold an answer word for word, of those that have
    them and are not answered by yes or no.
    """

    source: str
    near: str
    settings: DataSettings
    questions: int
    examples: int
    made: tuple[tuple[str, int], ...]
    types: tuple[tuple[str, int], ...]
    left_out: tuple[tuple[str, int], ...]
    dropped: tuple[tuple[str, int], ...]
    passed_over: tuple[tuple[str, int], ...]
    distractors: tuple[tuple[str, int], ...]
    short: int
    with_oracle: int
    share: tuple[float, float]
    oracles: tuple[tuple[int, int], ...]
    passages: Spread
    tokens: Spread
    targets: Spread
    positions: Positions
    leaks: Leaks
    answered: tuple[int, int]
    quotes: int
    several: int
    written: int
    masked: tuple[tuple[str, int], ...] | None
    topics: tuple[Topic, ...]
    reused: int
    checks: tuple[Check, ...]

    @property
    def sound(self) -> bool:
        """Whether every check holds."""
        return all(c.holds for c in self.checks)


class Reporter:
    """Counts examples as they pass by; it holds numbers, and no text."""

    def __init__(self, source: Source, how: DataSettings) -> None:
        self.source, self.how = source, how
        self.counts: Counter[tuple[str, str]] = Counter()
        self.orders: Counter[tuple[bool, ...]] = Counter()
        self.sizes = {name: array("q") for name in ("passages", "tokens", "targets")}
        self.shown: dict[str, Counter[str]] = {"oracle": Counter(), "distractor": Counter()}
        self.ids, self.twice = set[int](), 0
        self.drawn: Counter[int] = Counter()

    def add(self, item: MadeExample | DroppedQuestion) -> None:
        """Count one more question with its example, or without one."""
        self._count("questions")
        if isinstance(item, DroppedQuestion):
            self._count("dropped", item.reason)
            return
        for reason, n in item.passed_over:
            self._count("passed over", reason, n)
        self._count("short", times=item.short)
        self._example(item.example)

    def _count(self, name: str, which: str = "", times: int = 1) -> None:
        if times:
            self.counts[name, which] += times

    def _example(self, e: Example) -> None:
        self._count("examples")
        self._count("made", e.made)
        self._count("type", e.type or "none given")
        self._count("several", times=len(e.answers) > 1)
        self._count("oracles", str(len(e.oracles)))
        self.orders[tuple(p.oracle for p in e.passages)] += 1
        size = count_tokens(format_prompt(e.question, e.passages)) + count_tokens(e.target)
        for name, n in (("passages", len(e.passages)), ("tokens", size), ("targets", count_tokens(e.target))):
            self.sizes[name].append(n)
        for p in e.passages:
            self.shown["oracle" if p.oracle else "distractor"][p.topic] += 1
            self._count("distractor", p.kind or "unknown", times=not p.oracle)
            if p.kind == "random":
                self.drawn[hash_text(p.text)] += 1
        mark = hash_text("\n".join((e.question, *(format_passage(p) for p in e.passages))))
        self.twice += mark in self.ids
        self.ids.add(mark)
        self._count("written", times=e.written)
        self._masked(e)
        self._leaks(e)
        self._founded(e)

    def _masked(self, e: Example) -> None:
        """Count placeholders for personal data, by kind."""
        for kind in self.source.masked:
            texts = (e.question, e.target, *(t for p in e.passages for t in (p.title, p.text)))
            self._count("masked", kind, sum(t.count(f"[{kind.upper()}]") for t in texts))

    def _leaks(self, e: Example) -> None:
        """Count distractors that hold an answer, or overlap an oracle passage."""
        wrong = [p for p in e.passages if not p.oracle]
        long = sum(bool(find_answer(p.text, e.sought, self.how.leak_words)) for p in wrong)
        leaking = sum(bool(find_answer(p.text, e.sought)) for p in wrong) - long
        self._count("long leaks", times=long)
        self._count("leaking passages", times=leaking)
        self._count("leaking examples", times=bool(leaking))
        self._count("polar", times=all(map(is_polar, e.answers)))
        self._count("overlaps", times=sum(overlaps_passage(p, o) for p in wrong for o in e.oracles))

    def _founded(self, e: Example) -> None:
        """Count answers that the oracle passages hold, and quotes that no passage holds."""
        if e.oracles and not all(map(is_polar, e.answers)):
            self._count("answerable")
            self._count("answered", times=any(find_answer(p.text, e.sought) for p in e.oracles))
        if self.how.style == "cot" and e.oracles:
            self._count("quotes", times=len(examples.extract_quotes(e.target)))
            self._count("false quotes", times=bool(examples.find_quote_fault(e.target, e.passages)))

    def report(self) -> DataReport:
        """What was counted so far."""
        n, examples = self._number, self._number("examples")
        kept = examples - self.counts["oracles", "0"]
        placed = compare_positions(self.orders)
        share = wilson_interval(kept / examples if examples else 0.0, examples)
        return DataReport(
            source=self.source.name,
            near=self.source.near,
            settings=self.how,
            questions=n("questions"),
            examples=examples,
            made=self._by("made"),
            types=self._by("type"),
            left_out=self.source.left_out,
            dropped=self._by("dropped"),
            passed_over=self._by("passed over"),
            distractors=self._by("distractor"),
            short=n("short"),
            with_oracle=kept,
            share=(share.low, share.high),
            oracles=tuple((int(which), count) for which, count in sorted(self._by("oracles"))),
            passages=_summarise_sizes(self.sizes["passages"]),
            tokens=_summarise_sizes(self.sizes["tokens"]),
            targets=_summarise_sizes(self.sizes["targets"]),
            positions=placed,
            leaks=Leaks(n("leaking examples"), n("leaking passages"), n("long leaks"), n("polar")),
            answered=(n("answered"), n("answerable")),
            quotes=n("quotes"),
            several=n("several"),
            written=n("written"),
            masked=self._by("masked") if self.source.masked else None,
            topics=self._audit_topics(),
            reused=max(self.drawn.values(), default=0),
            checks=self._checks(kept, examples, placed),
        )

    def _audit_topics(self) -> tuple[Topic, ...]:
        """The topics most asked about, and one row for all others."""
        pool: Counter[str] = Counter()
        if self.source.topics:
            for topic, n in self.source.topics:
                pool[topic] += n
        else:
            pool.update(p.topic for p in self.source.pool)
        oracle, distractor = self.shown["oracle"], self.shown["distractor"]
        names = sorted({*pool, *oracle, *distractor}, key=lambda t: (-oracle[t], -distractor[t], t))
        rows = [Topic(t, pool[t], oracle[t], distractor[t]) for t in names]
        if rest := rows[_TOPICS:]:
            sums = (sum(getattr(r, field) for r in rest) for field in ("pool", "oracle", "distractor"))
            return (*rows[:_TOPICS], Topic(f"{len(rest):,} others", *sums))
        return tuple(rows)

    def _number(self, name: str) -> int:
        return self.counts[name, ""]

    def _by(self, name: str) -> tuple[tuple[str, int], ...]:
        found = ((which, n) for (kind, which), n in self.counts.items() if kind == name)
        return tuple(sorted(found, key=lambda pair: (-pair[1], pair[0])))

    def _checks(self, kept: int, examples: int, placed: Positions) -> tuple[Check, ...]:
        low, high = expected_range(examples, self.how.oracle_share, _CHANCE)
        largest = max(self.sizes["tokens"], default=0)
        many = sum(n for count, n in self._by("oracles") if int(count) > self.how.most_oracles)
        n = self._number
        chi = f"χ² = {placed.chi2:.2f}, {placed.freedom} degrees of freedom, p = {placed.p:.3f}"
        cot = f"{n('quotes'):,} quotes in {kept:,} examples" if self.how.style == "cot" else "answers are plain"
        return (
            Check("there are examples", examples > 0, f"{examples:,} of {n('questions'):,} questions"),
            Check("oracle share as set", low <= kept <= high, f"{kept:,} of {examples:,}; due are {low:,} to {high:,}"),
            Check("oracle positions uniform", placed.p >= _CHANCE, chi),
            Check("oracle passages as set", not many, f"at most {self.how.most_oracles} in an example"),
            Check("quotes verbatim", not n("false quotes"), cot),
            Check("no distractor overlaps an oracle", not n("overlaps"), f"{n('overlaps'):,} do"),
            Check("no distractor holds a long answer", not n("long leaks"), f"{n('long leaks'):,} do"),
            Check("tokens within the limit", largest <= self.how.max_tokens, f"{largest:,} of {self.how.max_tokens:,}"),
            Check("no example twice", not self.twice, f"{self.twice:,} repeat another"),
        )


def _summarise_sizes(sizes: Sequence[int]) -> Spread:
    if not len(sizes):
        return Spread(0, 0.0, 0.0, 0.0, 0)
    values = np.asarray(sizes)
    middle, high = np.percentile(values, (50, 95))
    return Spread(int(values.min()), float(middle), float(values.mean()), float(high), int(values.max()))


def record_data_report(report: DataReport) -> dict[str, Any]:
    """The report as one object for programs."""
    return asdict(report) | {"sound": report.sound}


def format_data_report(report: DataReport) -> str:
    """The report for people, in lines."""
    wide = max(len(c.name) for c in report.checks)
    return "\n".join(
        (
            "\n".join(_describe_examples(report)),
            "",
            *[f"{'holds' if c.holds else 'FAILS'}  {c.name:<{wide}}  {c.said}" for c in report.checks],
            "",
            *_describe_figures(report),
        )
    )


def render_data_page(report: DataReport) -> str:
    """The report as a page, with the audit of topics and sources (R28)."""
    checks = [f"| {'holds' if c.holds else '**fails**'} | {c.name} | {c.said} |" for c in report.checks]
    topics = [f"| {t.name or '–'} | {t.pool:,} | {t.oracle:,} | {t.distractor:,} |" for t in report.topics]
    return "\n".join(
        (
            f"# Training data of {report.source}",
            "",
            *(f"- {line}" for line in _describe_examples(report)),
            "",
            "| | check | figures |",
            "|---|---|---|",
            *checks,
            "",
            *(f"- {line}" for line in _describe_figures(report)),
            "",
            "| topic or source | passages | as oracle | as distractor |",
            "|---|---|---|---|",
            *topics,
            "",
        )
    )


def describe_held_out(trained: DataReport, apart: DataReport, share: float) -> str:
    """How many questions are held out, of how many, and the share of gold passages that was asked for."""
    all_, asked_for = trained.questions + apart.questions, f"asked for: those of {100 * share:g} % of the gold passages"
    return f"held out: {apart.questions:,} of {all_:,} questions ({asked_for})"


def _describe_examples(report: DataReport) -> Iterator[str]:
    how = report.settings
    yield (
        f"{report.source}: {format_count(report.examples, 'example')} of "
        f"{format_count(report.questions, 'question')}; "
        f"P {how.oracle_share:g}, style {how.style}, up to {how.max_tokens:,} tokens, seed {how.seed}"
    )
    for name, pairs in (("left out before", report.left_out), ("dropped", report.dropped)):
        if pairs:
            yield f"{name}: {_list_counts(pairs)}"
    if any(name != "given" for name, _ in report.made):
        yield f"questions: {_list_counts(report.made)}"


def _describe_figures(report: DataReport) -> Iterator[str]:
    low, high = report.share
    oracles = ", ".join(f"{n:,} with {count}" for count, n in report.oracles)
    yield f"with oracle: {report.with_oracle:,} ({_show_percent(low)} to {_show_percent(high)} at 95 %); {oracles}"
    shown = f"{_list_counts(report.distractors)} distractors, one drawn {format_count(report.reused, 'time')} at most"
    yield f"passages of an example: {_format_spread(report.passages)}; {shown}"
    yield f"tokens of an example: {_format_spread(report.tokens)}; of what is learnt: {_format_spread(report.targets)}"
    yield f"oracle by place: {', '.join(map(str, report.positions.seen))}"
    leaks = report.leaks
    yield (
        f"leaks: {format_count(leaks.passages, 'distractor')} of {format_count(leaks.examples, 'example')} "
        f"{'holds' if leaks.passages == 1 else 'hold'} a short answer; answers yes or no: {leaks.polar:,}"
    )
    hits, asked = report.answered
    yield f"answer word for word in an oracle: {hits:,} of {asked:,}"
    if report.near or report.passed_over:
        passed_over = _list_counts(report.passed_over)
        yield f"distractors near the question by: {report.near or 'nobody'}; passed over: {passed_over}"
    if report.short:
        short = format_count(report.short, "example")
        yield f"fewer distractors than wanted, for want of room or of passages: {short}"
    if report.several:
        learnt = "all are learnt" if report.settings.answers == "all" else "the first is learnt"
        yield f"several answers: {format_count(report.several, 'example')}, of which {learnt}"
    if report.written:
        yield f"answers written by an engine from the gold passages: {report.written:,}"
    if report.masked is not None:
        yield f"personal data replaced: {_list_counts(report.masked)}"
    if len(report.types) > 1:
        yield f"types: {_list_counts(report.types)}"


def _list_counts(pairs: Sequence[tuple[str, int]]) -> str:
    return "; ".join(f"{n:,} {name}" for name, n in pairs) or "none"


def _format_spread(s: Spread) -> str:
    if s.least == s.most:
        return f"{s.most:,}"
    return f"{s.least:,}–{s.most:,}, median {s.median:,.0f}, mean {s.mean:,.1f}"


def _show_percent(share: float) -> str:
    return f"{100 * share:.1f} %"
