"""Answers to how something changed: what the texts say of it, in order of time."""

from __future__ import annotations

import re

from sensegraph.engines.offline.answers.asked import Asked, Written, list_shown, show_sentence
from sensegraph.engines.offline.answers.lists.dating import Dated, find_exact_date, find_year
from sensegraph.engines.offline.answers.lists.weighing import Weigher
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, differs_from
from sensegraph.engines.offline.reports.sentence_quality import is_heading
from sensegraph.language.asking.causing import CAUSE_CUES
from sensegraph.language.dates.moments import FIRST, LAST, Instant, find_atoms, first_instant, instant_after

NEAR_BEST = 0.6  # share of what the best sentence holds from which another is shown
MOST = 6  # sentences
_SINCE = re.compile(r"\b(?:since|after|from|seit|nach|ab|depuis|après|desde)\b", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:before|until|till|vor|bis|avant|jusqu\w*|antes|hasta)\b", re.IGNORECASE)


def answer_changes(asked: Asked) -> Written | None:
    """What is said of a thing in order of time, within the time that is asked about, and the last of before it.

    None for other questions, and where fewer than two moments are told.
    """
    match = CAUSE_CUES["asks change"].search(asked.question)
    if match is None:
        return None
    what = match["what"] or match["was"]
    about = Weigher(asked, what)
    if not about.weights:
        return None
    dated = Dated(asked.sentences)
    begin, end = _find_stretch(match["when"] or what)
    found: list[tuple[Instant, float, SourceSentence]] = []
    for s in asked.sentences:
        date = find_exact_date(s.raw) or find_year(s) or dated.written[s.origin]
        if date and not is_heading(s.raw) and not s.raw.endswith("?") and first_instant(date) < end:
            found.append((first_instant(date), about.share(s.document, s.raw), s))
    best = max((share for at, share, _ in found if at >= begin), default=0.0)
    told = sorted((x for x in found if x[1] and x[1] >= NEAR_BEST * best), key=lambda x: (x[0], x[2].order))
    chosen: list[SourceSentence] = [s for at, _, s in told if at < begin][-1:]
    within = sorted((x for x in told if x[0] >= begin), key=lambda x: -x[1])[: MOST - len(chosen)]
    for _, _, s in sorted(within, key=lambda x: (x[0], x[2].order)):
        if differs_from(s, chosen):
            chosen.append(s)
    moments = {at for at, _, s in told if s in chosen}
    if not within or len(moments) < 2:
        return None
    return Written(tuple(list_shown([(s, show_sentence(s)) for s in chosen], "")))


def _find_stretch(when: str) -> tuple[Instant, Instant]:
    """The time that a question names: since or until a moment, between two, or within one; else all time."""
    atoms = [a for a in find_atoms(when) if a.first and a.last]
    if not atoms:
        return FIRST, LAST
    first, last = first_instant(atoms[0].first), instant_after(atoms[-1].last)
    if len(atoms) == 1 and _SINCE.search(when):
        return first, LAST
    if len(atoms) == 1 and _UNTIL.search(when):
        return FIRST, first
    return first, last
