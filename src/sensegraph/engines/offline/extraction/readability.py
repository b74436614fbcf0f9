"""Sentences worth showing: how well one stands alone, and how much it says about a thing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from sensegraph.engines.offline.extraction.page_text import TOKEN
from sensegraph.language.text import tag_words

_PRONOUNS = frozenset(
    "it this that these those they he she there him her them its their his one such so and but or".split()
)
_STRICT = re.compile(
    r"[\"”]?\s?(?:\([^()]{0,80}\)\s?)?,?\s*"
    r"(?:(?:is|was|are|were|became)\s+(?:\w+ly\s)?(?:an?|the|one of)\b|,\s+(?:an?|the)\s)",
    re.IGNORECASE,
)
_VERB_GAP = 60  # characters between two names that may hold the verb which links them
_LABEL_WORDS = 8
_SCANNED = 600


@lru_cache(maxsize=4096)
def rate_readability(sentence: str, english: bool) -> float:
    """How well a sentence can be read by itself, in (0, 1]: neither short nor long, ended, without open pronouns."""
    words = sentence.split() if english else list(sentence)
    size = len(words) if english else len(words) // 4
    score = 0.2 if size < 6 else 0.6 if size < 10 else 0.6 if size > 42 else 1.0
    stripped = sentence.rstrip('"”’)» ')
    if not stripped or stripped[-1] not in ".!?。！？…:":
        score *= 0.5
    if stripped.endswith(("?", "？")):
        score *= 0.4
    for word in words[:4]:
        if word.strip(",.").lower() in _PRONOUNS:
            score *= 0.8
    return score


def rate_description(text: str, start: int, end: int, span: tuple[int, int], english: bool) -> float:
    """How much the sentence `span` of `text` says about what is mentioned at `start:end`: definitions first."""
    score = rate_readability(text[span[0] : span[1]][:_SCANNED], english)
    if english and start - span[0] < 60 and _STRICT.match(text, end, min(span[1], end + 120)):
        score += 1.0
    return score + 0.3 / (1 + (start - span[0]) / 20)


def find_link_words(text: str, first_end: int, second_start: int) -> str:
    """The words between two mentions when they are few and hold a finite verb, without edges; else nothing."""
    if not 0 < second_start - first_end <= _VERB_GAP:
        return ""
    words = TOKEN.findall(text, first_end, second_start)
    if not 0 < len(words) <= _LABEL_WORDS or any(w in ',;:.()"”“' for w in words):
        return ""
    letters = tag_words([w.lower() for w in words])
    begin = re.search(r"r*(?:[vbm]|p(?=i))|^r*p", letters)  # "founded" right after a name is finite; "never" stays
    if begin is None:
        return ""
    end = len(letters.rstrip("d"))
    return " ".join(words[begin.start() : end])


def has_finite_verb(words: Sequence[str]) -> bool:
    """Whether the words of an English sentence hold a finite verb."""
    return re.search(r"[vm]|[oNn]r?[bp]", tag_words(words)) is not None
