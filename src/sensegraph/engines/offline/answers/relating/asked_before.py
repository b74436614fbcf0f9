"""Answers that a text gives to the same question itself: lists of questions and answers, and printed interviews."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from sensegraph.engines.offline.answers.asked import LABEL, Asked, Written
from sensegraph.engines.offline.answers.lists.weighing import Weigher, list_by_document
from sensegraph.engines.offline.answers.questions import RARE, weigh_rarity
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.reports.sentence_quality import end_sentence, tidy_sentence
from sensegraph.language.asking.related_words import find_related
from sensegraph.language.asking.sentence_cues import is_code
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import WORD
from sensegraph.types import Source, Statement

SHARE, OWN = 0.5, 0.5  # share of the question that the text's question holds, and the other way round
GOOD, SAME = 0.65, 0.5  # the geometric mean of both from which it is the same question, and where both begin alike
THE_SAME = 0.7  # from which words that are common everywhere are enough
_WAYS = frozenset("what who whom whose when where why how wer was wann wo warum wie".split())
_NUMBER = re.compile(r"^\W*(?:\d+[.)]|Q\s?\d*[.:)]|[Qq]uestion\s?\d*[.:])\s*")
WHOLE, WIDE = 0.9, 0.35  # where the text's question holds nearly all of it, so much the other way round
_CLAUSE = re.compile(
    r"[.!;:,]\s+(?:(?:so|and|but|then|also)\s+)?(?=(?:what|which|who|when|where|why|how)\b)", re.IGNORECASE
)
MOST = 3  # sentences of its answer


def answer_as_asked(asked: Asked) -> Written | None:
    """What a text says to the same question; None where none asks it."""
    weigher = Weigher(asked, asked.question)
    words = WORD.findall(asked.question.casefold())
    opener = _first_word(_CLAUSE.split(asked.question.strip())[-1])
    best: tuple[float, list[Statement]] = (0.0, [])
    for held in list_by_document(asked.sentences).values():
        for one in held:
            if not one.raw.rstrip('*_"” ').endswith("?") or one.speaker:
                continue
            bare = _NUMBER.sub("", one.raw)
            if WORD.findall(bare.casefold()) == words and (told := _read_answer(asked, one)):
                return Written(tuple(told))
            theirs = Weigher(asked, bare).weights
            if len(weigher.weights) < 2 or not theirs:
                continue
            there, own = (
                _share_related(weigher.weights, theirs, weigher.spoken),
                _share_related(dict.fromkeys(theirs, 1.0), weigher.weights, weigher.spoken),
            )
            if there < SHARE:
                continue
            score = (there * own) ** 0.5
            shared = [t for t in theirs.keys() & weigher.weights.keys() if weigh_rarity(t, "en") == RARE]
            if len(shared) < 2 and score < THE_SAME:
                continue
            if _read_way(_first_word(bare)) != _read_way(opener):
                continue
            least = SAME if _first_word(bare) == opener else GOOD
            if (
                own >= (WIDE if there >= WHOLE else OWN)
                and score >= max(least, best[0])
                and (told := _read_answer(asked, one))
            ):
                best = (score, told)
    return Written(tuple(best[1])) if best[1] else None


def _share_related(weights: Mapping[str, float], held: Collection[str], spoken: str) -> float:
    """The share of some words that others hold, in their own form or in words that say the same."""
    near = (max(find_related(t, held, spoken).values(), default=0.0) if t not in held else 1.0 for t in weights)
    return sum(w * share for w, share in zip(weights.values(), near, strict=True)) / sum(weights.values())


def _read_way(opener: str) -> str:
    """Which way of asking the first word of a question begins: "which" is another "what", all verbs ask for a yes."""
    return "what" if opener == "which" else opener if opener in _WAYS else ""


def _first_word(text: str) -> str:
    return next((w.casefold() for w in WORD.findall(text)), "")


def _read_answer(asked: Asked, question: SourceSentence) -> list[Statement]:
    """The sentences behind a question, up to the next question or the end of the paragraph."""
    passage = next((p for p in asked.chunks if p.id == question.reference), None)
    if passage is None or len(passage.sources) != 1:
        return []
    base = passage.sources[0]
    at = question.source.end - base.start
    found: list[Statement] = []
    for start, end in split_sentences(passage.text[at:])[:MOST]:
        raw = passage.text[at + start : at + end]
        parted = bool(found) and "\n\n" in passage.text[at + start - 2 : at + start]
        headed = passage.text[: at + start].rpartition("\n")[2].lstrip().startswith("#")
        if raw.rstrip('*_"” ').endswith("?") or headed or parted:
            break
        lead = "\n\n- " if len(found) == 1 else "\n- " if found else ""
        span = Source(base.chunk, base.start + at + start, base.start + at + end)
        text = raw.strip('"“” ') if raw.count('"') % 2 or raw.count("“") != raw.count("”") else raw
        shown = LABEL.sub("", tidy_sentence(text))
        shown = f"`{shown}`" if is_code(shown) else end_sentence(shown)
        found.append(Statement(lead + shown, (passage.id,), (span,)))
    return found
