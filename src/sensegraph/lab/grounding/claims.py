"""How much an answer claims, and how varied that is, without a judge: claims counted, and clusters of them.

paper: Edge et al. 2024, §3.2.2 and §4.2 (Experiment 2; G35–G38). There a model finds the claims; here rules do, and
every table must call them *heuristic claims*. The rules know English best; elsewhere verbs are not looked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sensegraph.answering.grounding.cited import flatten_table_rows
from sensegraph.lab.scores.standard import Floats, rouge_distances, split_words
from sensegraph.language.detection import ENGLISH, detect_by_function_words
from sensegraph.language.tagging import known_form, tag_words
from sensegraph.language.text import HAN, WORD, split_sentences
from sensegraph.language.word_lists import STOP

LABEL = "heuristic claims"
THRESHOLDS = (0.5, 0.6, 0.7, 0.8)
_BACK = 5  # sentences back in which the name behind a pronoun may stand
_SHORT = 5  # characters below which a fragment belongs to what follows

_MARKS = re.compile(r"\[(?:\d+(?:,\s*)?)+\]|\[Data:[^\]]*\]|[*_#`>]+|^\s*(?:[-•–]|\d+[.)])\s+", re.MULTILINE)
_QUOTED = re.compile(r"(?<=[.!?…][”\"])\s+and that\s+(?=[“\"])")  # one quotation after another is a sentence of its own
_OPINION = re.compile(
    r"\b(?:should|could|would|may|might|must|perhaps|maybe|probably|possibly|seems?|appears?|arguably|"
    r"(?:I|we) (?:think|believe|feel|guess|suppose|hope)|in (?:my|our) (?:opinion|view))\b|\?\s*$",
    re.IGNORECASE,
)
_TRAILING = re.compile(r",\s+(?:thus |thereby |also |further )?(?!during\b|according\b)[a-z]+ing\b[^,;]*$")
_CUT = re.compile(r";\s+|,\s+(?:and|but|while|whereas|yet|so)\s+|\s+(?:while|whereas)\s+", re.IGNORECASE)
_NAMES = r"(?:the\s+)?[^\W\d_a-z][\w.&'’-]*(?:\s+[^\W\d_a-z][\w.&'’-]*)*"
_SHARED = re.compile(rf"^({_NAMES}(?:,\s+{_NAMES})*),?\s+and\s+({_NAMES})\s+(?=[a-z])")
_PRONOUN = re.compile(r"^(?:he|she|it|they|this|these|those)\b(?!\s+(?:was|is) (?:said|clear|possible|known)\b)", re.I)
_DIGIT = re.compile(r"\d")
_STARTERS = frozenset(STOP["english"])


@dataclass(frozen=True, slots=True)
class _Reader:
    """The names that the last sentences were about, while an answer is read."""

    subjects: list[str] = field(default_factory=list)  # one a sentence; "" where it names nothing

    def resolved(self, clause: str) -> str:
        """The clause with the name that its pronoun stands for; "" where none was said lately."""
        match = _PRONOUN.match(clause)
        if not match:
            return clause
        name = next((s for s in reversed(self.subjects[-_BACK:]) if s), "")
        return name + clause[match.end() :] if name else ""


def extract_claims(text: str) -> tuple[str, ...]:
    """The factual claims of an answer by rules, in order, none twice.

    A claim is a clause with a finite verb and a name, a number or a date, and neither a modal nor an opinion nor a
    question. Clauses are told apart, subjects that share a verb too; a pronoun at the beginning takes the name that the
    five sentences before were last about, and without one the clause is dropped.
    """
    reader, found = _Reader(), dict[str, str]()
    english = not HAN.search(text) and detect_by_function_words(split_words(text)) == ENGLISH
    for sentence in split_answer(text):
        subject = ""
        for clause in _split_clauses(sentence) if english else [sentence]:
            whole = reader.resolved(clause) if english else clause
            names = _find_names(whole)
            subject = subject or next(iter(names), "")
            if not whole or _OPINION.search(whole) or not (_DIGIT.search(whole) or names):
                continue
            if english and not any(c in "vmbp" for c in _tag_clause(whole)[1:]):
                continue
            for one in _repeat_predicate(whole):
                found.setdefault(" ".join(split_words(one)), one)
        reader.subjects.append(subject)
    return tuple(found.values())


def count_clusters(texts: Sequence[str], threshold: float, *, strict: bool = True) -> int:
    """The number of clusters by complete linkage over 1 − ROUGE-L (edge2024 §4.2).

    Clusters merge while the largest distance between them is below `threshold`, or with `strict=False` at most
    `threshold`: the paper says the latter, the library that it used does the former.
    """
    return count_linkage_clusters(rouge_distances(texts), threshold, strict=strict)


def count_linkage_clusters(apart: Floats, threshold: float, *, strict: bool = True) -> int:
    """`count_clusters` for distances that are known, shape (n, n)."""
    apart = np.array(apart, np.float64)
    np.fill_diagonal(apart, np.inf)
    left = len(apart)
    while left > 1:
        row, column = divmod(int(np.argmin(apart)), len(apart))
        least = apart[row, column]
        if least > threshold or (strict and least >= threshold):
            break
        farthest = np.maximum(apart[row], apart[column])
        apart[row], apart[:, row] = farthest, farthest
        apart[column], apart[:, column] = np.inf, np.inf
        apart[row, row] = np.inf
        left -= 1
    return left


def split_answer(text: str) -> list[str]:
    """Sentences line by line, without marks of lists, emphasis and citations; a very short one goes with the next.

    A row of a table is a line; what heads its columns is no sentence.
    """
    plain = _QUOTED.sub("\n", _MARKS.sub("", flatten_table_rows(text)).replace(" .", "."))
    found, held = [], ""
    for part in (line[start:end] for line in plain.splitlines() for start, end in split_sentences(line)):
        held = f"{held} {part}".strip()
        if len(held) >= _SHORT:
            found.append(held.strip("\"“”' "))
            held = ""
    return [*found, held] if held else found


def _split_clauses(sentence: str) -> list[str]:
    """The clauses that could stand alone; what trails behind a comma as a mere comment is cut off."""
    rest, parts = _TRAILING.sub(".", sentence), []
    begin = 0
    for match in _CUT.finditer(rest):
        before, after = rest[begin : match.start()], rest[match.end() :]
        if _has_predicate(before) and _has_predicate(after.split(",")[0]):
            parts.append(before)
            begin = match.end()
    return [p.strip(" ,;") for p in (*parts, rest[begin:]) if p.strip(" ,;.")]


def _has_predicate(clause: str) -> bool:
    """Whether a subject comes before a finite verb."""
    letters = _tag_clause(clause)
    at = min((letters.find(v) for v in "vmp" if v in letters), default=-1)
    return at > 0 and any(c in "nNXogp#" for c in letters[:at])


def _tag_clause(clause: str) -> str:
    listed = WORD.findall(clause)
    if not listed:
        return ""
    first = listed[0] if not known_form(listed[0].casefold()) else listed[0].casefold()
    return tag_words([first, *listed[1:]])


def _find_names(clause: str) -> list[str]:
    """Names in the clause: capitalised words, of which the first counts where it is no common word."""
    found = []
    for match in re.finditer(_NAMES, clause):
        name = match[0].removeprefix("The ").strip()
        common = match.start() == 0 and " " not in name and known_form(name.casefold())
        if name[:1].isupper() and not common and name.casefold() not in _STARTERS and len(name) > 1:
            found.append(name)
    return found


def _repeat_predicate(clause: str) -> list[str]:
    """One clause for each of several names that share a predicate."""
    match = _SHARED.match(clause)
    if not match:
        return [clause]
    names = [n.strip() for n in re.split(r",\s+", match[1]) if n.strip()] + [match[2]]
    return [f"{name} {clause[match.end() :]}" for name in names]
