"""Answers from logs of changes: when a version was released, and what changed in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence, write_date
from sensegraph.engines.offline.answers.lists.dating import find_exact_date, find_year
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.reports.sentence_quality import is_heading
from sensegraph.language.text import WORD, list_stems
from sensegraph.types import Statement

MOST = 10  # changes that are shown
_LONGEST, _SHORT = 12, 4  # words of the line that opens the entry of a version, and of a heading within it
_NUMBERED = 7  # words of a heading with a number
_AROUND = 3  # lines before one with an identifier that tell what it is of
_NUMBER = r"v?(?P<number>\d+(?:\.\d+)+[\w.~+-]*|(?<=version )\d+|(?<=release )\d+|(?<=[^\W\d_][ -])\d{2,4})"
_WHEN = re.compile(
    r"^\W*(?:when\s+(?:was|were|did)|(?:on|in)\s+(?:what|which)\s+(?:day|date|month|year)\s+(?:was|were|did)|"
    r"what(?:\s+is|\s+was|['’]s)\s+the\s+(?:release\s+)?date\s+of)\s+(?P<name>[^,;?]*?)[\s-]*(?:\b(?:version|release)\s+)?"
    r"\(?" + _NUMBER
    + r"\)?(?:\s+(?:\w+\s+)?(?:released|out|published|issued|appear\w*|uploaded|of\s+(?P<of>[^,;?]+?)))*\s*\?*\s*$",
    re.IGNORECASE,
)  # fmt: skip
_KINDS = {  # what changes do, as questions and headings of entries name it, and lines begin
    "fix": r"fix\w*|bugs?|bugfix\w*|correct\w*|repair\w*",
    "add": r"new|add\w*|features?|introduc\w*",
    "remove": r"remov\w*|dropp?\w*|delet\w*",
    "improve": r"improv\w*|enhanc\w*",
    "deprecate": r"deprecat\w*|obsolet\w*",
    "secure": r"secur\w*|vulnerab\w*|CVEs?|denial-of-service",
}
_CHANGE = rf"\b(?:chang\w*|news?|bring\w*|includ\w*|{'|'.join(_KINDS.values())})"
_WHAT = re.compile(
    rf"^\W*(?:what|which|list|show|name)(?:['’]s)?\b(?P<asked>[^,;?]*?{_CHANGE}[^,;?]*?)\s+(?:in|with|by|of|for)\s+"
    rf"(?P<name>[^,;?]*?)[\s-]*(?:\b(?:version|release)\s+)?\(?{_NUMBER}\)?(?:\s+of\s+(?P<of>[^,;?]+?))?\s*\?*\s*$",
    re.IGNORECASE,
)  # fmt: skip
_DOES = re.compile(
    r"^\W*(?P<asked>(?:what|which)(?:\s+\w+){0,3}?)\s+(?:did|does|do|has|have)\s+(?P<name>[^,;?]*?)[\s-]*"
    rf"(?:\b(?:version|release)\s+)?\(?{_NUMBER}\)?(?:\s+of\s+(?P<of>[^,;?]+?))?\s+(?P<verb>{_CHANGE})\s*\?*\s*$",
    re.IGNORECASE,
)  # fmt: skip
_OPENS = re.compile(
    r"^\W*(?:(?:changes?|news?)\s+(?:in|for|with|from)\b(?:.*\bto)?(?:\s+[\w+-]+){0,2}?\s+|"
    r"(?:[A-Za-z][\w.+-]*\s+)?(?:(?:version|release)\s+)?)\(?v?(?P<number>\d+(?:\.[\w~+-]+)+)|"
    r"^\W*(?:changes\s+(?:in|with)|version|release)(?:\s+version)?\s+(?P<whole>\d+)\b(?!\.\d)",
    re.IGNORECASE,
)
_PRESENTS = re.compile(
    r"\b(?:new\s+features|changes)\s+(?:\w+\s+){0,2}?(?:to|in)\s+[^\W\d_][\w+]*[\s-]v?(?P<number>\d+(?:\.\d+)+)\s+since\b",
    re.IGNORECASE,
)
_ENDS_WITH_HEAD = re.compile(
    r"\s(?P<head>(?:version|release)\s+v?\d+(?:\.\d+)*\s*[-–—:(,]\s*\S[^.!?]{0,60})$", re.IGNORECASE
)
_SIGNS = re.compile(r"^\W*-- ?\S.*<\S+@\S+>")


def answer_release(asked: Asked) -> Written | None:
    """When a version was released, or what changed in it; None for other questions, and where no entry is of it."""
    when = _WHEN.search(asked.question)
    match = when or _DOES.search(asked.question) or _WHAT.search(asked.question)
    if match is None:
        return None
    name = " ".join(part for part in (match["name"], match["of"]) if part)
    sentences = _part_headings(asked.sentences)
    opening = _find_opening(match["number"], name, sentences) if name or not match["number"].isdigit() else -1
    if opening < 0:
        return None
    head, entry = sentences[opening], _read_entry(opening, sentences)
    if not when:
        words = f"{match['asked']} {match.groupdict().get('verb') or ''}"
        told = _choose_lines(words, [s for s in entry if not _SIGNS.search(s.raw)])
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


def _part_headings(sentences: Sequence[SourceSentence]) -> list[SourceSentence]:
    """The sentences, those parted that end with a dated line which opens an entry: the lines of a page run on."""
    found: list[SourceSentence] = []
    for one in sentences:
        match = _ENDS_WITH_HEAD.search(one.raw)
        if match and find_exact_date(match["head"]):
            at = one.source.start + match.start("head")
            before = one.raw[: match.start()]
            found.append(replace(one, raw=before, source=replace(one.source, end=one.source.start + len(before))))
            one = replace(one, raw=match["head"], source=replace(one.source, start=at))
        found.append(one)
    return found


def _choose_lines(asked: str, entry: Sequence[SourceSentence]) -> list[SourceSentence]:
    """The lines of an entry that are of the kind asked for: below such headings, or by how they begin, else all."""
    kinds = [rule for rule in _KINDS.values() if re.search(rf"\b(?:{rule})\b", asked, re.IGNORECASE)]
    if code := re.search(r"\b[A-Z]{3,}s?\b", asked):  # "Which CVE was fixed …": what stands around its name
        rule = re.compile(rf"\b{code[0].rstrip('s')}[-_ ]?\d")
        named = [i for i, s in enumerate(entry) if rule.search(s.raw)]
        return [s for i, s in enumerate(entry) if any(at - _AROUND <= i <= at for at in named)] or list(entry)
    if not kinds or re.search(r"\bchang|\bnews?\b(?!\s+feature)", asked, re.IGNORECASE):
        return list(entry)
    kind = re.compile(rf"^\W*(?:\S+\s+){{0,2}}?(?:{'|'.join(kinds)})\b", re.IGNORECASE)
    below: list[SourceSentence] = []
    heading: SourceSentence | None = None
    for one in entry:
        words = len(WORD.findall(one.raw))
        longest = _NUMBERED if re.match(r"\d+\.\s+[A-Z]", one.raw) else 2  # "1. New features in the shell"
        if (words <= _SHORT and one.raw.rstrip().endswith(":")) or (words <= longest and is_heading(one.raw)):
            heading = one
        elif heading and kind.search(heading.raw):
            below.append(one)
    return below or [s for s in entry if kind.search(s.raw)] or list(entry)


def _find_opening(number: str, name: str, sentences: Sequence[SourceSentence]) -> int:
    """The line that opens the entry of a version of what is named, by its place, or −1.

    Where entries are of revisions of it ("5.2-1"), the last one in a log is the first that was made.
    """
    stems, found = set(list_stems(name)), (-1, False)
    for i, one in enumerate(sentences):
        opens = read_entry_version(one)
        exact = opens == number.lower().rstrip(".")
        held = {*list_stems(one.raw), *list_stems(one.document), *list_stems(one.origin)}
        if not found[1] and (exact or opens.startswith(f"{number.lower()}-")) and stems <= held:
            found = (i, exact)
    return found[0]


def read_entry_version(one: SourceSentence) -> str:
    """The version whose entry a line opens, or empty."""
    short = len(WORD.findall(one.raw)) <= _LONGEST
    match = (_OPENS if short else _PRESENTS).search(one.raw)
    if match and short and re.match(r"\s+[a-z]{2,}\b.*\.$", one.raw[match.end() :].rstrip(), re.DOTALL):
        return ""  # "Reel 2.0 adds a handle." is a sentence
    number = match and (match.groupdict().get("whole") or match["number"])
    return number.lower().rstrip(".") if number else ""


def _read_entry(opening: int, sentences: Sequence[SourceSentence]) -> list[SourceSentence]:
    """The sentences of an entry behind the line that opens it, as far as its passage has them."""
    entry: list[SourceSentence] = []
    for one in sentences[opening + 1 :]:
        if one.reference != sentences[opening].reference or read_entry_version(one):
            break
        entry.append(one)
    return entry
