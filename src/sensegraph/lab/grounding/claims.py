"""What an answer claims, found by a model in three stages or by rules, and how varied that is: clusters of claims.

By a model (Claimify) a sentence is reduced to what can be verified, what it refers to is named, and it is parted into
claims. Each stage sees some sentences before and behind, asks for several completions, and takes the first where enough
of them gave something. Where the engine has no model rules find the claims, and every table must call them *heuristic
claims*. The rules know English best; elsewhere verbs are not looked for.

papers: Metropolitansky and Larson 2025 (Claimify), as Edge et al. 2024 use it (§3.2.2; G44); Edge et al. 2024, §4.2
(Experiment 2; G35–G38)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sensegraph.answering.grounding.citations import flatten_table_rows
from sensegraph.errors import UnsupportedTask
from sensegraph.lab.scores.standard import Floats, split_words
from sensegraph.lab.tasks import claim_excerpts
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import HAN, WORD, detect_language, known_form, tag_words
from sensegraph.language.word_lists import STOP
from sensegraph.runtime.runtime import Runtime
from sensegraph.trials import Excerpt, Stage

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


def extract_claims(text: str) -> tuple[str, ...]:
    """The factual claims of an answer by rules, in order, none twice.

    A claim is a clause with a finite verb and a name, a number or a date, and neither a modal nor an opinion nor a
    question. Clauses are told apart, subjects that share a verb too; a pronoun at the beginning takes the name that the
    five sentences before were last about, and without one the clause is dropped.
    """
    subjects, found = list[str](), dict[str, str]()  # one subject a sentence; "" where it names nothing
    english = not HAN.search(text) and detect_language(text) == "en"
    for sentence in split_answer(text):
        subject = ""
        for clause in _split_clauses(sentence) if english else [sentence]:
            whole, pronoun = clause, _PRONOUN.match(clause) if english else None
            if pronoun:
                name = next((s for s in reversed(subjects[-_BACK:]) if s), "")
                whole = name + clause[pronoun.end() :] if name else ""
            names = _find_names(whole)
            subject = subject or next(iter(names), "")
            if not whole or _OPINION.search(whole) or not (_DIGIT.search(whole) or names):
                continue
            if english and not any(c in "vmbp" for c in _tag_clause(whole)[1:]):
                continue
            shared = _SHARED.match(whole)  # one clause for each of several names that share a predicate
            several = [*re.split(r",\s+", shared[1]), shared[2]] if shared else []
            for one in [f"{n.strip()} {whole[shared.end() :]}" for n in several if n.strip()] if shared else [whole]:
                found.setdefault(" ".join(split_words(one)), one)
        subjects.append(subject)
    return tuple(found.values())


def count_linkage_clusters(apart: Floats, threshold: float, *, strict: bool = True) -> int:
    """The number of clusters by complete linkage over distances, shape (n, n): 1 − ROUGE-L of claims (edge2024 §4.2).

    Clusters merge while the largest distance between them is below `threshold`, or with `strict=False` at most
    `threshold`: the paper says the latter, the library that it used does the former.
    """
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


@dataclass(frozen=True, slots=True)
class Window:
    """How a stage asks: sentences it sees `before` and `after`, `completions` at a `temperature`, how many it needs."""

    before: int
    after: int
    completions: int
    needed: int
    temperature: float


@dataclass(frozen=True, slots=True)
class ClaimSettings:
    """How claims are found; `by` is `model`, `rules`, or `auto`: a model where the engine is one."""

    by: Literal["auto", "model", "rules"] = "auto"
    select: Window = Window(5, 5, 3, 2, 0.2)
    disambiguate: Window = Window(5, 0, 3, 2, 0.2)
    decompose: Window = Window(5, 0, 1, 1, 0.0)


@dataclass(frozen=True, slots=True)
class Claimed:
    """The claims of one answer, none twice, and by whom they were found.

    `dropped` counts by stage the sentences that it let go (empty for rules, which know no stages), `repeated` the
    claims that the same answer had made before.
    """

    claims: tuple[str, ...]
    by: str
    sentences: int = 0
    dropped: tuple[tuple[str, int], ...] = ()
    repeated: int = 0


def find_claims(answers: Sequence[tuple[str, str]], how: ClaimSettings, rt: Runtime) -> list[Claimed]:
    """The claims of each answer, given as (question, text): by the engine where it can find claims, else by rules.

    Raises UnsupportedTask where a model is asked for and the engine has none.
    """
    able = "claim" in rt.engine.tasks
    if how.by == "model" and not able:
        raise UnsupportedTask("Finding claims by a model", rt.engine.name, frozenset({"claim"}))
    if how.by == "rules" or not able:
        return [Claimed(extract_claims(text), LABEL, len(split_answer(text))) for _, text in answers]
    texts = [split_answer(text) for _, text in answers]
    now = [_Sentence(a, i, s) for a, listed in enumerate(texts) for i, s in enumerate(listed)]
    stages: dict[Stage, Window] = {"select": how.select, "disambiguate": how.disambiguate, "decompose": how.decompose}
    dropped: list[dict[str, int]] = [dict.fromkeys(stages, 0) for _ in answers]
    for stage, window in stages.items():
        found = list(zip(now, complete_stage(stage, now, answers, texts, window, rt), strict=True))
        for sentence, made in found:
            dropped[sentence.answer][stage] += not made
        now = [replace(sentence, text=text) for sentence, made in found for text in made]
    said: list[list[str]] = [[] for _ in answers]
    for sentence in now:
        said[sentence.answer].append(sentence.text)
    claimed = []
    for listed, sentences, lost in zip(said, texts, dropped, strict=True):
        once: dict[str, str] = {}
        for one in listed:
            once.setdefault(" ".join(split_words(one)), one)
        unique, repeated = tuple(once.values()), len(listed) - len(once)
        by = f"claims by {rt.engine.name}"
        claimed.append(Claimed(unique, by, len(sentences), tuple(lost.items()), repeated))
    return claimed


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence on its way: in which answer, at which place, and what has become of it."""

    answer: int
    place: int
    text: str


def complete_stage(
    stage: Stage,
    sentences: Sequence[_Sentence],
    answers: Sequence[tuple[str, str]],
    texts: Sequence[Sequence[str]],
    window: Window,
    rt: Runtime,
) -> list[tuple[str, ...]]:
    """The first completion of each sentence that gave something, or nothing where too few did.

    A completion is only asked for while it can still change whether there are enough.
    """
    asked, good = [0] * len(sentences), list[list[tuple[str, ...]]]([] for _ in sentences)
    for sample in range(window.completions):
        todo = [
            i
            for i, found in enumerate(good)
            if len(found) < window.needed <= len(found) + window.completions - asked[i]
        ]
        excerpts = []
        for sentence in (sentences[i] for i in todo):
            around, place = texts[sentence.answer], sentence.place
            before = tuple(around[max(0, place - window.before) : place])
            after = tuple(around[place + 1 : place + 1 + window.after])
            question = answers[sentence.answer][0]
            excerpts.append(Excerpt(stage, question, sentence.text, before, after, sample, window.temperature))
        for i, reply in zip(todo, rt.each(claim_excerpts, excerpts), strict=True):
            asked[i] += 1
            if completion := tuple(t.strip() for t in reply if t.strip()):
                good[i].append(completion)
    return [found[0] if found and len(found) >= window.needed else () for found in good]
