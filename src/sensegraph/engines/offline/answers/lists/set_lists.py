"""Answers that are lists of the texts themselves: clauses, bullets and terms, where what leads in names what is asked.

"Which measures were taken?" is answered by the list below "Measures", "What did the council agree to?" by the numbered
clauses of the text in which it agrees.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.engines.offline.answers.asked import Asked, Written
from sensegraph.engines.offline.answers.lists.weighing import Weigher
from sensegraph.engines.offline.answers.question_text import split_question
from sensegraph.engines.offline.reports.sentence_quality import end_sentence
from sensegraph.language.asking.enumerations import Enumeration, read_enumerations
from sensegraph.language.asking.kinds import KIND_CUES, read_asked_kind
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import WORD, name_stemmer, stem_run
from sensegraph.language.word_lists import stop_words
from sensegraph.types import Passage, Source, Statement

READ = 12  # chunks in which lists are looked for
HELD = 0.6  # share of the question that the text around a list holds
OPENING = 400  # characters of that text
_BEHIND = r"\s(?:are|were|is|was|of|for|in|to|that|which|who|include|you|we|they|can|may|must|as|by|from|on|with)\b"
OWN = 2  # entries that begin with the name that is asked about, from which others are left out
MOST = 12


@dataclass(frozen=True, slots=True)
class SetList:
    """A list of a chunk, and how much of the question stands around it."""

    passage: Passage
    found: Enumeration
    share: float

    def read(self, span: tuple[int, int]) -> str:
        """The words of a span of the chunk."""
        return " ".join(self.passage.text[slice(*span)].split())

    def cite(self, text: str, span: tuple[int, int]) -> Statement:
        """`text` as a statement that rests on a span of the chunk."""
        base = self.passage.sources[0]
        return Statement(text, (self.passage.id,), (Source(base.chunk, base.start + span[0], base.start + span[1]),))


def answer_set_list(asked: Asked) -> Written | None:
    """The list that answers a question for several things; None where no text has one that fits."""
    if len(split_question(asked.question)) > 1:
        return None
    if match := KIND_CUES["promises"].search(asked.question):
        return _answer_promise(asked, match["who"], match["verb"])
    kind = read_asked_kind(asked.question)
    if kind is None or kind.counts:
        return None
    leads = re.compile(rf"\b{kind.pattern}(?!-)(?=\s*(?:[:*]*$|{_BEHIND}))", re.IGNORECASE)
    rest = Weigher(asked, f"{' '.join(kind.words[:-1])} {kind.rest}")
    lists = [
        SetList(p, e, rest.share(p.title, p.text))
        for p in asked.chunks[:READ] if len(p.sources) == 1 and kind.mention.search(p.text)
        for e in read_enumerations(p.text) if leads.search(p.text[slice(*e.lead)])
    ]  # fmt: skip
    fitting = [one for one in lists if one.share >= HELD or not rest.weights]
    if not fitting:
        return None
    best = max(fitting, key=lambda one: (rest.share(one.read(one.found.lead)), one.share))
    return Written(tuple(_show_list(best, best.found.entries, best.found.lead)))


def _answer_promise(asked: Asked, who: str, verb: str) -> Written | None:
    """The clauses of the text in which somebody agrees, promises, or decides something."""
    stems = set(stem_run(verb, name_stemmer(asked.question)))
    whole = Weigher(asked, asked.question)
    named = [w for w in WORD.findall(who) if w.casefold() not in stop_words("xx")]
    if not named:
        return None
    found = []
    for p in asked.chunks[:READ]:
        if len(p.sources) != 1 or not all(re.search(rf"\b{re.escape(w)}\b", p.text, re.I) for w in named):
            continue
        for e in read_enumerations(p.text):
            before = p.text[: e.entries[0][0]]
            held = {s for w in WORD.findall(f"{p.title} {before[-OPENING:]}") for s in stem_run(w, whole.spoken)}
            if stems & held and not e.terms:
                found.append(SetList(p, e, whole.share(p.title, before)))
    best = max(found, key=lambda one: one.share, default=None)
    if best is None or best.share < HELD:
        return None
    begin = re.compile(rf"(?:the\s+)?{re.escape(named[0])}\b", re.IGNORECASE)
    own = [e for e in best.found.entries if begin.match(best.read(e))]
    return Written(tuple(_show_list(best, own if len(own) >= OWN else best.found.entries)))


def _show_list(
    one: SetList, entries: Sequence[tuple[int, int]], lead: tuple[int, int] | None = None
) -> list[Statement]:
    shown = []
    if lead and lead[1]:
        last, _ = split_sentences(one.passage.text[slice(*lead)])[-1]
        lead = (lead[0] + last, lead[1])
        shown = [one.cite(one.read(lead).lstrip("# ").rstrip(":") + ":", lead)]
    for i, span in enumerate(entries[:MOST]):
        text = one.read(span)
        if one.found.terms:
            term, _, rest = one.passage.text[slice(*span)].strip().partition("\n")
            text = f"**{term.strip()}**: {' '.join(rest.split())}"
        begin = "\n\n- " if shown and i == 0 else "\n- " if i else "- "
        shown.append(one.cite(begin + end_sentence(text), span))
    if len(entries) > MOST:
        shown.append(Statement(f"\n\nAnd {len(entries) - MOST} more."))
    return shown
