"""Answers to questions of several parts, of which a later one asks why, or who said what the first one asks for."""

from __future__ import annotations

import re
from dataclasses import replace

from sensegraph.engines.offline.answers.asked import Asked, Written, list_sentences
from sensegraph.engines.offline.answers.facts import answer_fact
from sensegraph.engines.offline.answers.lists.count_answers import answer_count
from sensegraph.engines.offline.answers.lists.list_answers import answer_list
from sensegraph.engines.offline.answers.lists.weighing import list_by_document
from sensegraph.engines.offline.answers.offices.office_answers import answer_office
from sensegraph.engines.offline.answers.question_text import split_question
from sensegraph.engines.offline.answers.relating.authors import find_author
from sensegraph.engines.offline.answers.relating.causes import LIKELY, asks_why, find_causes

_WHO = re.compile(
    r"^\W*(?:who|wer)\s+(?:has\s+|had\s+)?(?:announced|wrote|written|reported|told|said|sent|signed|published|recorded|noted|proposed|"
    r"declared|verkündete|schrieb|meldete)\b(?:\s+(?:it|this|that|them|so|us|es|das))*\W*$",
    re.IGNORECASE,
)
_HELD = re.compile(
    r"^\W*(?:(?:since|until|till|from|to|seit|bis)\s+(?:when|wann)|when|wann|how\s+long)\W*$", re.IGNORECASE
)
_FIRST = (answer_office, answer_list, answer_count, answer_fact)


def answer_parts(asked: Asked) -> Written | None:
    """The answer to a question of two parts; None where the second asks for something that facts find."""
    parts = split_question(asked.question)
    if len(parts) == 2 and _HELD.match(parts[1]):  # who held something is told with its time
        return answer_office(replace(asked, question=f"{parts[0].rstrip(' ?,')}?"))
    if len(parts) != 2 or not (asks_why(parts[1]) or _WHO.match(parts[1])):
        return None
    first = replace(asked, question=f"{parts[0].rstrip(' ?,')}?")
    told = next((written for form in _FIRST if (written := form(first))), None)
    if told is None or told.abstained:
        return None
    lines = [s for s in told.statements if s.sources]
    if not lines:
        return None
    first_line = lines[0]
    if asks_why(parts[1]):
        causes = [c for c in find_causes(asked, first.question) if c.score >= LIKELY]
        if not causes:
            return None
        fresh = [s for s in causes[0].sentences if s.source not in first_line.sources]  # told already where it is none
        return Written((first_line, *list_sentences(fresh, "\n\nWhy: ")))
    origin = next((s.origin for s in asked.sentences if s.source == first_line.sources[0]), "")
    author = find_author(list_by_document(asked.sentences).get(origin, []))
    if author is None:
        return None
    name, sentence = author
    title = f", in “{sentence.document}”" if sentence.document else ""
    return Written((first_line, sentence.cite(f"\n\nWho: **{name}**, who wrote it{title}.")))
