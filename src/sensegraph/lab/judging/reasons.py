"""What a judge gives as reasons, by criterion: what earns a verdict.

paper: Edge et al. 2024, §5.1: examples, quotes and citations decide empowerment (G43).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sensegraph.lab.judging.judgements import Judgements

_CUES = {  # in English; what a reason appeals to
    "examples": r"\b(?:(?:specific|concrete|detailed) (?:examples?|instances?|cases?)|examples?|for instance)\b",
    "quotations": r"\b(?:quot(?:e[sd]?|ations?|ing)|verbatim|own words)\b",
    "citations": r"\b(?:cit(?:e[sd]?|ations?|ing)|references?|sources?|evidence)\b",
    "detail": r"\b(?:detail(?:s|ed)?|in[- ]depth|thorough(?:ly|ness)?|elaborat\w+)\b",
    "breadth": r"\b(?:broad(?:er)?|breadth|wid(?:e|er) range|range of|aspects?|covers?|perspectives?|variety|varied)\b",
    "structure": r"\b(?:structur\w+|organi[sz]\w+|headings?|systematic\w*|overview)\b",
    "concision": r"\b(?:concis\w+|brief(?:ly)?|succinct\w*|to the point|direct(?:ly)?|focus(?:ed|es)?)\b",
    "clarity": r"\b(?:clear(?:er|ly)?|clarity|explain(?:s|ed|ing)?|explanations?|understand\w*)\b",
}
THEMES: Mapping[str, re.Pattern[str]] = MappingProxyType({n: re.compile(p, re.IGNORECASE) for n, p in _CUES.items()})


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an answer won, in the judge's words, which call the answers by their places; no winner means a tie."""

    question: int
    criterion: str
    winner: str
    loser: str
    shown_first: str
    text: str


def reasons_by_criterion(judgements: Judgements) -> Mapping[str, tuple[Reason, ...]]:
    """The reasons for every verdict that there is, by criterion."""
    found: dict[str, list[Reason]] = {c: [] for c in judgements.criteria}
    for v in judgements.verdicts:
        if v.won is None or not v.reason:
            continue
        loser = "" if not v.won else v.second if v.won == v.first else v.first
        found[v.criterion].append(Reason(v.question, v.criterion, v.won, loser, v.first, v.reason))
    return {criterion: tuple(listed) for criterion, listed in found.items()}


def theme_shares(listed: Sequence[Reason]) -> dict[str, float]:
    """The share of the reasons that appeal to each theme, 0 to 1; empty without a reason. It knows English only."""
    if not listed:
        return {}
    return {name: sum(bool(p.search(r.text)) for r in listed) / len(listed) for name, p in THEMES.items()}
