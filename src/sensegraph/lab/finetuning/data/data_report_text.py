"""The report on data as text for a terminal, as Markdown, and as one plain object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from sensegraph.lab.finetuning.data.report import DataReport, Spread


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
    """How many questions are held out, of how many, and by what: those that rest on a share of the gold passages."""
    all_ = trained.questions + apart.questions
    return f"held out: {apart.questions:,} of {all_:,} questions (they rest on {100 * share:g} % of the gold passages)"


def _describe_examples(report: DataReport) -> Iterator[str]:
    how = report.settings
    yield (
        f"{report.source}: {_count_things(report.examples, 'example')} of "
        f"{_count_things(report.questions, 'question')}; "
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
    shown = f"{_list_counts(report.distractors)} distractors, one drawn {_count_things(report.reused, 'time')} at most"
    yield f"passages of an example: {_format_spread(report.passages)}; {shown}"
    yield f"tokens of an example: {_format_spread(report.tokens)}; of what is learnt: {_format_spread(report.targets)}"
    yield f"oracle by place: {', '.join(map(str, report.positions.seen))}"
    leaks = report.leaks
    yield (
        f"leaks: {_count_things(leaks.passages, 'distractor')} of {_count_things(leaks.examples, 'example')} "
        f"{'holds' if leaks.passages == 1 else 'hold'} a short answer; answers yes or no: {leaks.polar:,}"
    )
    hits, asked = report.answered
    yield f"answer word for word in an oracle: {hits:,} of {asked:,}"
    if report.near or report.passed_over:
        passed_over = _list_counts(report.passed_over)
        yield f"distractors near the question by: {report.near or 'nobody'}; passed over: {passed_over}"
    if report.short:
        short = _count_things(report.short, "example")
        yield f"fewer distractors than wanted, for want of room or of passages: {short}"
    if report.several:
        learnt = "all are learnt" if report.settings.answers == "all" else "the first is learnt"
        yield f"several answers: {_count_things(report.several, 'example')}, of which {learnt}"
    if report.written:
        yield f"answers written by an engine from the gold passages: {report.written:,}"
    if report.masked is not None:
        yield f"personal data replaced: {_list_counts(report.masked)}"
    if len(report.types) > 1:
        yield f"types: {_list_counts(report.types)}"


def _list_counts(pairs: Sequence[tuple[str, int]]) -> str:
    return "; ".join(f"{n:,} {name}" for name, n in pairs) or "none"


def _count_things(n: int, what: str) -> str:
    return f"{n:,} {what if n == 1 else f'{what}s'}"


def _format_spread(s: Spread) -> str:
    if s.least == s.most:
        return f"{s.most:,}"
    return f"{s.least:,}–{s.most:,}, median {s.median:,.0f}, mean {s.mean:,.1f}"


def _show_percent(share: float) -> str:
    return f"{100 * share:.1f} %"
