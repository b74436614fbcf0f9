"""What `query --check` prints: whether the answer keeps to the sources that it cites."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sensegraph.cli.show import format_quantity, format_usage, shorten_line
from sensegraph.corpus.views import view_checks

if TYPE_CHECKING:
    from sensegraph.answering.grounding.checking import Checked
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.types import Answer

_SAID = {
    "unsupported": "not borne out",
    "dangling": "leads nowhere",
    "misquoted": "not the source's words",
    "speaker": "who says so",
}


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks of an answer: as lines to stand below it, and as the member of an object."""

    text: str = ""
    told: dict[str, Any] = field(default_factory=dict)


def check_sources(corpus: Corpus, answer: Answer) -> Checks:
    """The answer held against its sources, by the engine where it can, else by words; and what that cost."""
    before = corpus.engine.usage()
    found = corpus.check(answer)
    usage = corpus.engine.usage() - before
    cost = f"\n- checking took {format_usage(usage)}" if usage.calls else ""
    return Checks(f"\n\n{format_checks(found)}{cost}", view_checks(found, usage))


def format_checks(found: Checked) -> str:
    """The checks for people: what was checked by whom, the figures, and each problem."""
    problems = []
    for p in found.problems:
        marks = "".join(m if m[:1] == "[" else f"[{m}]" for m in p.marks)
        problems.append(f"! {_SAID[p.kind]} {marks} “{shorten_line(p.statement)}”")
        problems += [f"  {p.reason}"] * bool(p.reason)
    return "\n".join([f"Checks ({found.by})", *_format_figures(found), *problems])


def _format_figures(found: Checked) -> Iterator[str]:
    if found.abstained:
        yield "- the answer says that it has none: there is nothing to check"
        return
    cited = found.statements - len(found.uncited)
    statements = format_quantity(found.statements, "statement")
    yield f"- {statements}; borne out by what they cite: {found.supported:,} of {cited:,}"
    if found.uncited:
        uncited = format_quantity(len(found.uncited), "statement")
        yield f"- {uncited} without a source: “{shorten_line(found.uncited[0])}”"
    if found.unjudged:
        yield f"- {format_quantity(found.unjudged, 'statement')} without a verdict"
    yield f"- {found.exact:,} of {format_quantity(found.citations, 'quoted span')} read as in their documents"
    if found.recall is not None and found.precision is not None:
        yield f"- citation recall {found.recall:.2f}, citation precision {found.precision:.2f}"
