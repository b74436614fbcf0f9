"""Whether what an answer cites bears it: citation recall and citation precision.

paper: Gao et al. 2023 (ALCE), §3: a statement counts where its citations together bear it; a citation counts where its
statement is borne and it is not superfluous. Two things differ. Citations that lead nowhere stay in the denominator of
precision: an answer gains nothing by inventing them. And a part of a sentence that closes with citations of its own is
a statement of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sensegraph.answering.grounding.cited import CitedStatement, Reference
from sensegraph.answering.grounding.entailment import Supporter
from sensegraph.trials import Check, Support

MOST = 3  # citations of one statement that are scored (ALCE)

Texts = Mapping[Reference, str]


@dataclass(frozen=True, slots=True)
class Citations:
    """What became of the statements of an answer and of its citations.

    `verdicts` are one a statement: whether all its citations together bear it; None for a statement without one that
    leads somewhere. `scored` counts the citations that precision is a share of: up to three a statement that lead
    somewhere, all that lead nowhere (`dangling`), and the lists that name more than they show (`more`).
    """

    verdicts: tuple[Support | None, ...]
    uncited: int
    scored: int
    precise: int
    dangling: tuple[Reference, ...]
    more: int
    unjudged: int

    @property
    def supported(self) -> int:
        """Statements that their citations bear."""
        return sum(bool(v and v.holds) for v in self.verdicts)

    @property
    def recall(self) -> float | None:
        """Borne statements ÷ statements, 0 to 1; None without a statement."""
        return self.supported / len(self.verdicts) if self.verdicts else None

    @property
    def precision(self) -> float | None:
        """Citations that count ÷ citations, 0 to 1; 0 where nothing is cited; None without a statement."""
        return (self.precise / self.scored if self.scored else 0.0) if self.verdicts else None


def score_citations(
    answers: Sequence[tuple[Sequence[CitedStatement], Texts]], by: Supporter, most: int = MOST
) -> list[Citations]:
    """Citations of each answer, given as its statements and the texts behind references.

    A reference without a text leads nowhere. Of those that do, the first `most` of a statement are scored.
    """
    flat = [(s, _scored_texts(s, texts, most)) for statements, texts in answers for s in statements]
    joint = iter(_ask_supporter([Check(s.text, tuple(t)) for s, t in flat if t], by))
    verdicts = [next(joint) if t else None for _, t in flat]
    alone = iter(_count_needed([(s.text, t) for (s, t), v in zip(flat, verdicts, strict=True) if v and v.holds], by))
    precise = [next(alone) if v and v.holds else 0 for v in verdicts]
    found, begin = [], 0
    for statements, texts in answers:
        end = begin + len(statements)
        own = tuple(verdicts[begin:end])
        dangling = tuple(r for s in statements for r in s.references if r not in texts)
        more = sum(s.more for s in statements)
        uncited = sum(not s.references and not s.more for s in statements)
        scored = sum(len(_scored_texts(s, texts, most)) for s in statements) + len(dangling) + more
        unjudged = sum(v is not None and v.holds is None for v in own)
        found.append(Citations(own, uncited, scored, sum(precise[begin:end]), dangling, more, unjudged))
        begin = end
    return found


def _scored_texts(statement: CitedStatement, texts: Texts, most: int) -> list[str]:
    return [texts[r] for r in statement.references if r in texts][:most]


def _ask_supporter(checks: Sequence[Check], by: Supporter) -> list[Support]:
    return by.supported(checks) if checks else []


def _count_needed(borne: Sequence[tuple[str, list[str]]], by: Supporter) -> list[int]:
    """Of each borne statement, how many of its texts are not superfluous: alone enough, or missed by the others."""
    places = [(i, j) for i, (_, texts) in enumerate(borne) for j in range(len(texts)) if len(texts) > 1]
    alone = _ask_supporter([Check(borne[i][0], (borne[i][1][j],)) for i, j in places], by)
    left = [place for place, found in zip(places, alone, strict=True) if not found.holds]
    others = [tuple(t for k, t in enumerate(borne[i][1]) if k != j) for i, j in left]
    without = _ask_supporter([Check(borne[i][0], rest) for (i, _), rest in zip(left, others, strict=True)], by)
    idle = {place for place, found in zip(left, without, strict=True) if found.holds}
    return [sum((i, j) not in idle for j in range(len(texts))) for i, (_, texts) in enumerate(borne)]
