"""Answers to what came right after or before something: the next version, the next of a series, the next by date."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.reports.sentence_quality import is_heading
from sensegraph.language.asking.kinds import write_noun_pattern
from sensegraph.language.text import fold

_KIND = r"(?P<kind>[\w-]+)(?:\s+of\s+(?P<of>[\w .’'-]+?))?"
_ANCHOR = (
    r"(?:[A-Z][\w-]*\s+){0,2}(?:the\s+|version\s+|release\s+|number\s+|no\.\s+)*(?P<anchor>[A-Za-z]*[\w.-]*\d[\w.-]*)"
)
_WAY = r"(?:(?:next|previous|following|preceding)\s+)"
_RULES = (
    re.compile(
        rf"^\W*(?:which|what)\s+{_KIND}\s+(?:came|comes?|followed|follows|was|is|went|preceded|precedes)\s*"
        rf"(?:right\s+|directly\s+|immediately\s+|next\s+|released\s+|published\s+)?(?:after|before)?\s*(?:of\s+)?{_ANCHOR}\W*$",
        re.I,
    ),
    re.compile(  # no "what was the cause of INC-7"
        rf"^\W*what\s+(?:is|was)\s+the\s+(?={_WAY}|.*\s(?:after|before|behind)\s){_WAY}?{_KIND}\s+"
        rf"(?:after|before|to|of|behind)\s+{_ANCHOR}\W*$",
        re.I,
    ),
)
_BACK = re.compile(r"before|preced|previous", re.IGNORECASE)
_VERSION = re.compile(r"(?<![\w.:/-])v?(\d+(?:\.\d+)*)(?![\w:/]|\.\d|-\d|%)")
_SERIES = re.compile(r"([A-Za-z]{2,}[-_ ]?)(\d+)")


@dataclass(frozen=True, slots=True)
class _Numbered:
    number: tuple[int, ...]
    text: str
    sentence: SourceSentence


def answer_succession(asked: Asked) -> Written | None:
    """What came right after or before what a question names by its number; None where no text has both."""
    match = next((m for rule in _RULES if (m := rule.match(" ".join(asked.question.split())))), None)
    if match is None:
        return None
    back = _BACK.search(asked.question) is not None
    anchor, kind = match["anchor"].rstrip(".-"), match["kind"]
    found = find_numbers_of_series(asked.sentences, anchor) or find_numbers_of_versions(
        asked.sentences, anchor, kind, match["of"] or ""
    )
    own = _split_number(anchor)
    others = [one for one in found if (one.number < own if back else one.number > own)]
    if not own or not others or all(one.number != own for one in found):
        return None
    near = (max if back else min)(one.number for one in others)
    naming = [one for one in others if one.number == near]
    told = min(
        naming, key=lambda one: (anchor not in one.sentence.raw, is_heading(one.sentence.raw), one.sentence.order)
    )
    return Written((told.sentence.cite(f"**{told.text}**: {show_sentence(told.sentence)}"),))


def find_numbers_of_series(sentences: Sequence[SourceSentence], anchor: str) -> list[_Numbered]:
    """All that bear a name of the same series as the anchor: "INC-021" after "INC-014"."""
    match = _SERIES.fullmatch(anchor)
    if match is None:
        return []
    rule = re.compile(rf"(?<![\w-]){re.escape(match[1])}(\d+)(?![\w])", re.IGNORECASE)
    return [_Numbered((int(m[1]),), m[0], s) for s in sentences for m in rule.finditer(s.raw)]


def find_numbers_of_versions(sentences: Sequence[SourceSentence], anchor: str, kind: str, of: str) -> list[_Numbered]:
    """The numbers of versions in the texts that have the anchor among theirs, or in titles that differ by it only."""
    if not _VERSION.fullmatch(anchor):
        return []
    noun = re.compile(rf"\b(?:{write_noun_pattern(kind + 's')}|versions?|releases?)\b", re.IGNORECASE)
    told = [(s, [m[1] for m in _VERSION.finditer(s.raw)]) for s in sentences]
    titled = {s.origin: [m[1] for m in _VERSION.finditer(s.document)] for s in sentences}
    bare = {s.origin: fold(_VERSION.sub("", s.document)) for s in sentences}
    same = {bare[s.origin] for s in sentences if anchor in titled[s.origin] and bare[s.origin].strip()}
    within = {s.origin for s, numbers in told if anchor in numbers and noun.search(s.raw)}
    found = []
    for s, numbers in told:
        if titled[s.origin] and bare[s.origin] in same:
            found += [_Numbered(_split_number(n), n, s) for n in numbers if n in titled[s.origin]]
        elif s.origin in within and noun.search(s.raw):
            found += [_Numbered(_split_number(n), n, s) for n in numbers]
    if of:
        wanted = fold(of).split()[-1]
        found = [one for one in found if wanted in fold(f"{one.sentence.document} {one.sentence.raw}")] or found
    return found


def _split_number(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", text)[-6:])
