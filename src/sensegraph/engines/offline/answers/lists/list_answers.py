"""Answers that list all things of a kind ("Which bridges were closed?"): a dated line each, in order of time."""

from __future__ import annotations

from collections.abc import Sequence

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence, write_date
from sensegraph.engines.offline.answers.lists.items import HELD, Gathering, Item
from sensegraph.engines.offline.reports.sentence_quality import join_with_and
from sensegraph.language.asking.kinds import read_asked_kind
from sensegraph.language.text import fold
from sensegraph.types import Statement

FEWEST, ENUMERATED = 2, 3  # things that make a list, and that make one of a single sentence
MOST = 30  # things that are shown


def answer_list(asked: Asked) -> Written | None:
    """The things of the kind that a question asks for; None for other questions, and where too few are sure."""
    kind = read_asked_kind(asked.question)
    if kind is None or kind.counts:
        return None
    reading = Gathering(kind, asked)
    items = reading.gather()
    if len(items) >= FEWEST and are_sure(items):
        return Written(tuple(list_items(items, asked)))
    if len(items) < ENUMERATED:
        return None
    one = items[0].sentence  # which enumerates all of them: it must hold what the question says of them
    told = reading.share(one) >= HELD if reading.rest else reading.gains or reading.loses
    names = join_with_and([item.name for item in items])
    return Written((one.cite(f"**{names}**: {show_sentence(one)}"),)) if told else None


def are_sure(items: Sequence[Item]) -> bool:
    """Whether several sentences present things of the kind: one that lists all of them is a fact."""
    return len({one.sentence.source for one in items}) >= FEWEST


def list_items(items: Sequence[Item], asked: Asked, heading: str = "") -> list[Statement]:
    """A line for each thing: its name, its date, and the sentence that presents it."""
    lines = [Statement(heading)] if heading else []
    for one in items[:MOST]:
        said = show_sentence(one.sentence)
        same = fold(said).startswith(fold(one.name)) and said[len(one.name) : len(one.name) + 1] == ":"
        told = said[len(one.name) + 1 :].strip() if same else said
        when = f" ({write_date(one.date)})" if one.date and one.date not in one.sentence.raw else ""
        lead = "\n- " if len(lines) > bool(heading) else "\n\n- " if heading else "- "
        lines.append(one.sentence.cite(f"{lead}**{one.name}**{when}: {told}"))
    if len(items) > MOST:
        lines.append(Statement(f"\n\nAnd {len(items) - MOST} more."))
    elif asked.counted and asked.counted.partial:
        lines.append(Statement("\n\nNot all passages that speak of them were read: there may be more."))
    return lines
