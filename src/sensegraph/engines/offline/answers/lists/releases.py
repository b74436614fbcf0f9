"""Answers from logs of changes: when a version was released, and what changed in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence, write_date
from sensegraph.engines.offline.answers.lists.dating import find_exact_date, find_year
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.language.text import WORD, list_stems
from sensegraph.types import Statement

MOST = 10  # changes that are shown
_LONGEST = 12  # words of the line that opens the entry of a version
_NUMBER = r"v?(?P<number>\d+(?:\.\d+)+[\w.~+-]*|(?<=version )\d+|(?<=release )\d+)"
_WHEN = re.compile(
    r"^\W*(?:when\s+(?:was|were|did)|(?:on|in)\s+(?:what|which)\s+(?:day|date|month|year)\s+(?:was|were|did)|"
    r"what(?:\s+is|\s+was|['’]s)\s+the\s+(?:release\s+)?date\s+of)\s+(?P<name>[^,;?]*?)\s*(?:\b(?:version|release)\s+)?\(?"
    + _NUMBER
    + r"\)?(?:\s+(?:\w+\s+)?(?:released|out|published|issued|appear\w*|uploaded|of\s+(?P<of>[^,;?]+?)))*\s*\?*\s*$",
    re.IGNORECASE,
)  # fmt: skip
_WHAT = re.compile(
    r"^\W*(?:what(?:['’]s|\s+(?:is|are|was|were|has|have|got|did))?|which\s+\w+\s+(?:was|were|are|is))\s+(?:been\s+)?"
    r"(?:chang(?:ed?|es)|new|fix\w*|add\w*|remov\w*|improv\w*|the\s+(?:changes|news|fixes))\s+(?:\w+\s+)?(?:in|with|by|of)\s+"
    r"(?P<name>[^,;?]*?)\s*(?:\b(?:version|release)\s+)?\(?" + _NUMBER + r"\)?(?:\s+of\s+(?P<of>[^,;?]+?))?\s*\?*\s*$",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"^\W*(?:(?:changes?|news?)\s+(?:in|for|with|from)\b(?:.*\bto)?(?:\s+[\w+-]+){0,2}?\s+|"
    r"(?:[A-Za-z][\w.+-]*\s+)?(?:(?:version|release)\s+)?)\(?v?(?P<number>\d+(?:\.[\w~+-]+)+)",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"^\W*-- ?\S.*<\S+@\S+>")


def answer_release(asked: Asked) -> Written | None:
    """When a version was released, or what changed in it; None for other questions, and where no entry is of it."""
    when = _WHEN.search(asked.question)
    match = when or _WHAT.search(asked.question)
    if match is None:
        return None
    name = " ".join(part for part in (match["name"], match["of"]) if part)
    opening = _find_opening(match["number"], name, asked.sentences)
    if opening < 0:
        return None
    head, entry = asked.sentences[opening], _read_entry(opening, asked.sentences)
    if not when:
        told = [s for s in entry if not _SIGNS.search(s.raw)]
        lines = [head.cite(f"**{show_sentence(head).rstrip('.:')}**:")] if told else []
        lines += [s.cite(("\n- " if i else "\n\n- ") + show_sentence(s)) for i, s in enumerate(told[:MOST])]
        lines += [Statement(f"\n\nAnd {len(told) - MOST} more.")] if len(told) > MOST else []
        return Written(tuple(lines)) if lines else None
    for one in (head, *(s for s in entry if _SIGNS.search(s.raw))):
        if date := find_exact_date(one.raw) or find_year(one):
            sources = tuple(dict.fromkeys((head.source, one.source)))
            text = f"**{write_date(date)}**: {show_sentence(head)}"
            return Written((Statement(text, tuple(dict.fromkeys((head.reference, one.reference))), sources),))
    return None


def _find_opening(number: str, name: str, sentences: Sequence[SourceSentence]) -> int:
    """The line that opens the entry of a version of what is named, by its place, or −1.

    Where entries are of revisions of it ("5.2-1"), the last one in a log is the first that was made.
    """
    stems, found = set(list_stems(name)), (-1, False)
    for i, one in enumerate(sentences):
        opens = _read_number(one)
        exact = opens == number.lower().rstrip(".")
        held = {*list_stems(one.raw), *list_stems(one.document), *list_stems(one.origin)}
        if not found[1] and (exact or opens.startswith(f"{number.lower()}-")) and stems <= held:
            found = (i, exact)
    return found[0]


def _read_number(one: SourceSentence) -> str:
    """The version whose entry a line opens, or empty."""
    match = _OPENS.search(one.raw) if len(WORD.findall(one.raw)) <= _LONGEST else None
    return match["number"].lower().rstrip(".") if match else ""


def _read_entry(opening: int, sentences: Sequence[SourceSentence]) -> list[SourceSentence]:
    """The sentences of an entry behind the line that opens it, as far as its passage has them."""
    entry: list[SourceSentence] = []
    for one in sentences[opening + 1 :]:
        if one.reference != sentences[opening].reference or _read_number(one):
            break
        entry.append(one)
    return entry
