"""Answers that set two things side by side: what the texts say of each, and which came first where each has a date."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence
from sensegraph.engines.offline.answers.lists.dating import OPENING, Dated
from sensegraph.engines.offline.answers.lists.weighing import Weigher, list_by_document
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, differs_from
from sensegraph.engines.offline.reports.sentence_quality import is_heading
from sensegraph.language.asking.answer_types import find_names
from sensegraph.language.dates.moments import count_parts, find_atoms, first_instant
from sensegraph.language.text import WORD, fold
from sensegraph.language.word_lists import Patterns
from sensegraph.types import Statement

_CUES = Patterns("comparisons", re.IGNORECASE)
_LINKS = frozenset(("of", "in", "for"))  # what stands behind one is of both things
SUBJECT = 40  # characters at the beginning of a sentence that tell what it is about
SIDE, REST, CONTRAST = 0.6, 0.3, 0.2  # weights of a side's words, of the question's others, and of a word of contrast
HELD = 0.5  # share of a side's words that a sentence on it holds with its title
FEWEST = 6  # content words of a sentence that says something of one side
BOTH = 0.75  # the same of both sides for a sentence that compares them


class _Side(Weigher):
    """One of two things: its words, and the numbers that tell it from the other."""

    def __init__(self, asked: Asked, name: str) -> None:
        super().__init__(asked, name)
        self.numbers = frozenset(re.findall(r"\d[\d.]*(?<!\.)", name))

    def holds(self, *texts: str, least: float = BOTH) -> bool:
        """Whether these texts together name it."""
        there = {n for text in texts for n in re.findall(r"\d[\d.]*(?<!\.)", text)}
        return self.numbers <= there and self.share(*texts) >= least


@dataclass(frozen=True, slots=True)
class _Told:
    sentence: SourceSentence
    score: float


def answer_comparison(asked: Asked) -> Written | None:
    """Two things side by side; None for other questions, and where the texts do not speak of both."""
    text = " ".join(asked.question.split())
    aspect = _CUES["aspect"].search(text)
    named = _CUES["two things"].match(text[: aspect.start()]) if aspect else None
    if aspect and named and (told := show_aspect(asked, named["one"], named["other"], aspect["aspect"])):
        return told
    if match := _CUES["differ"].search(text):
        one, other = (g for g in match.groups() if g)
        return show_difference(asked, one, other)
    if (match := _CUES["first"].search(text)) or (match := _CUES["either order"].search(text)):
        rest = match.groupdict().get("rest") or match["a"]
        return show_order(asked, match["a"], match["b"], rest)
    return None


def show_difference(asked: Asked, one: str, other: str) -> Written | None:
    """A sentence that speaks of both things, and one on each; None where the texts do not tell them apart."""
    own, words = (re.sub(r"^(?:the|an?)\s+", "", side).split() for side in (one, other))
    if len(own) == 1 and len(words) > 2 and not _LINKS.isdisjoint(words):  # the old and the new rules of Sund
        one = f"{one} {' '.join(words[1:])}"
    sides = [_Side(asked, one), _Side(asked, other)]
    if any(not side.weights for side in sides) or (
        sides[0].numbers == sides[1].numbers
        and (sides[0].weights.keys() <= sides[1].weights.keys() or sides[1].weights.keys() <= sides[0].weights.keys())
    ):
        return None
    whole = Weigher(asked, asked.question)
    both = [
        _Told(s, whole.share(s.raw) + _rate_contrast(s) + sum(side.share(s.raw[:SUBJECT]) for side in sides))
        for s in asked.sentences
        if not is_heading(s.raw) and not s.raw.endswith("?") and all(side.holds(s.raw) for side in sides)
    ]
    chosen = [max(both, key=lambda t: (t.score, -t.sentence.order)).sentence] if both else []
    lines = [c.cite(show_sentence(c)) for c in chosen]
    if chosen and _rate_contrast(chosen[0]):  # what its document says beside it is of the same things
        asked = replace(asked, sentences=tuple(s for s in asked.sentences if s.origin == chosen[0].origin))
    for name, side, against in ((one, sides[0], sides[1]), (other, sides[1], sides[0])):
        told = rank_side(asked, side, against, whole, chosen)
        if told is None:
            return None if not both else Written(tuple(lines))
        chosen.append(told)
        begin = "\n\n" if lines else ""
        lines.append(told.cite(f"{begin}**{_write_name(name)}**: {show_sentence(told)}"))
    return Written(tuple(lines))


def show_aspect(asked: Asked, one: str, other: str, aspect: str) -> Written | None:
    """What the documents of each of two names say on something; None where not both have documents that do."""
    about, by_document = Weigher(asked, aspect), list_by_document(asked.sentences)
    heads = dict(asked.counted.heads) if asked.counted else {}
    lines: list[Statement] = []
    used: set[str] = set()
    for name in (one, other):
        side = _Side(asked, name)
        shares = {origin: side.share(f"{h[0].document} {heads.get(origin, '')}") for origin, h in by_document.items()}
        own = {origin for origin, share in shares.items() if share >= HELD and share == max(shares.values())} - used
        told = [
            (s.quality + about.share(s.raw[:SUBJECT]) / 2 + about.share(before.raw) * (len(before.raw) < SUBJECT), s)
            for origin in own for before, s in pairwise([by_document[origin][0], *by_document[origin]])
            if about.share(s.raw) >= BOTH and len(s.terms) >= FEWEST and not is_heading(s.raw) and s.raw[-1] != "?"
        ]  # fmt: skip
        if not told:
            return None
        best = max(told, key=lambda t: (t[0], -t[1].order))[1]
        used.add(best.origin)
        lines.append(best.cite(f"{chr(10) * 2 if lines else ''}**{_write_name(name)}**: {show_sentence(best)}"))
    return Written(tuple(lines))


def rank_side(
    asked: Asked, side: _Side, other: _Side, whole: Weigher, chosen: Sequence[SourceSentence]
) -> SourceSentence | None:
    """The sentence that tells most of one side, and not of the other."""
    found = []
    for s in asked.sentences:
        own, against = side.share(s.raw, s.document), other.share(s.raw)
        if (
            not side.holds(s.raw, s.document, least=HELD)
            or against >= own
            or is_heading(s.raw)
            or s.raw.endswith("?")
            or not differs_from(s, chosen)
        ):
            continue
        about = side.share(s.raw[:SUBJECT]) - other.share(s.raw[:SUBJECT])
        score = (
            SIDE * (side.share(s.raw) + about) + REST * whole.share(s.raw) + _rate_contrast(s) + CONTRAST * s.quality
        )
        found.append((score, -s.order, s))
    return max(found)[2] if found else None


def _rate_contrast(one: SourceSentence) -> float:
    return CONTRAST * bool(_CUES["contrasts"].search(one.raw))


def show_order(asked: Asked, one: str, other: str, rest: str) -> Written | None:
    """Two events or things in order of time, each with the sentence that dates it."""
    dated = Dated(asked.sentences)
    about = Weigher(asked, rest)
    found: list[tuple[str, SourceSentence, str]] = []
    for name in (one, other):
        told = find_dated_side(asked, name, about, dated)
        if told is None:
            return None
        found.append((_write_name(name), *told))
    if found[0][1].source == found[1][1].source:
        return None
    early, late = sorted(found, key=lambda x: first_instant(x[2]))
    if first_instant(early[2]) == first_instant(late[2]):
        return None
    lines: list[Statement] = []
    if _CUES["either order"].search(asked.question) is None:
        best = late if _CUES["later"].search(rest) else early
        lines.append(best[1].cite(f"**{best[0]}**"))
    for name, sentence, _ in (early, late):
        begin = "\n\n- " if len(lines) == 1 else "\n- " if lines else "- "
        lines.append(sentence.cite(f"{begin}**{name}**: {show_sentence(sentence)}"))
    if all(count_parts(date) == 3 for _, _, date in found):
        days = (datetime(*first_instant(late[2])) - datetime(*first_instant(early[2]))).days
        between = "1 day lies" if days == 1 else f"{days:,} days lie"
        lines.append(Statement(f"\n\n{between} between the two dates."))
    return Written(tuple(lines))


def find_dated_side(asked: Asked, name: str, about: Weigher, dated: Dated) -> tuple[SourceSentence, str] | None:
    """The sentence on a side with one date only, that holds most of what is asked about, and that date."""
    side = _Side(asked, name)
    # of a name of several words one is enough: texts go on with the first or the last
    names = ["|".join(map(re.escape, map(fold, WORD.findall(n.text)))) for n in find_names(name)]
    names += [re.escape(fold(w)) for w in WORD.findall(name) if w[:1].isdigit()]
    opening = {s.source for held in dated.held.values() for s in held[:OPENING]}
    found = []
    for s in asked.sentences:
        atoms = {a.first for a in find_atoms(s.raw) if a.first} if any(c.isdigit() for c in s.raw) else set()
        folded = fold(f"{s.document} {s.raw}")
        if len(atoms) != 1 or not side.weights or not all(re.search(rf"\b(?:{n})\b", folded) for n in names):
            continue
        if side.holds(s.raw, least=HELD) or (s.source in opening and side.holds(s.raw, s.document)):
            own = side.share(s.raw, s.document)
            titled = fold(s.document) == fold(name)
            found.append((own + about.share(s.raw) + 0.5 * titled, -s.order, s, atoms.pop()))
    if not found:
        return None
    _, _, sentence, date = max(found)
    return sentence, date


def _write_name(name: str) -> str:
    bare = re.sub(r"^(?:the|an?)\s+", "", name.strip(" ,.?"), flags=re.IGNORECASE)
    return bare[:1].upper() + bare[1:]
