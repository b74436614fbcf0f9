"""How many planted errors the checker of answers finds by words alone, and how often it is wrong about a sound answer.

    python bench/planted_errors.py [--data DIR] [--sets A,B,…] [--answers N] [--seed N] [--show KIND]

100 offline answers with citations: 20 to questions on carol, 40 on qmsum and 40 on lihua-world, or so many shared
among other sets, by the method that `auto` chooses. The rules of the checker were written with the three in sight;
other sets show what they are worth elsewhere. First every citation is resolved, and its quote compared with the
document. The answers as they are give the rate of false alarms. Then one error of each kind is put into each answer
that has a place for it, each time into one cited statement drawn by the seed, and counted as found where the checker
objects to just that statement:

number       a number, in figures or words, becomes another
name         a name inside the statement becomes one that another answer holds
speaker      whoever is said to have said it becomes somebody whom another answer holds
negation     a "not" is put in or taken out
swap         two names with words between them (not only those of a list) change places
dangling     the mark becomes a number without a source
other source the mark becomes that of another citation of the same answer
foreign      a statement of another answer stands before the mark
misquoted    a word of the quoted span is dropped
shifted      the span begins and ends 40 characters later, the quote staying

The statements are quotations, lightly trimmed, so the words of a sound one are all in its source: on a model's
paraphrases words alone would object to much that is sound, and a model has to be asked. Answers of another question
are counted by `bench/swapped_answers.py`.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from client import options, source, table
from sensegraph.answering.grounding.checking import Checked, check_answer
from sensegraph.answering.grounding.citations import ByWords, CitedStatement, Reference, split_cited_statements
from sensegraph.answering.grounding.lexical import find_reporter, remove_speaker
from sensegraph.corpus.corpus import Corpus
from sensegraph.language.text import known_form
from sensegraph.types import Answer, Citation, Document

OUT = Path(__file__).resolve().parent / "out" / "planted_errors"
SHARES = {"carol": 0.2, "qmsum": 0.4, "lihua-world": 0.4}
NAME = re.compile(r"(?<=[\w,;:’')] )[A-Z][a-zà-ÿ’'-]+(?: [A-Z][a-zà-ÿ’'-]+)*")
NUMBER = re.compile(r"(?<![\w.,-])\d+(?![\w.,]*\d)|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b")
WORDS = "two three four five six seven eight nine ten twelve".split()
AUXILIARY = re.compile(
    r"\b(is|are|was|were|has|have|had|can|could|will|would|should|do|does|did|may|might|must)\b(?! not|n['’]t)"
)
DENIED = re.compile(r" not\b| never\b")


@dataclass(frozen=True, slots=True)
class Case:
    """An answer with the documents of its corpus, and the same of the other answers to draw from."""

    answer: Answer
    documents: Mapping[str, Document]
    names: tuple[str, ...]
    speakers: tuple[str, ...]
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A cited statement that stands in the answer's text as it is read, and its first mark."""

    said: CitedStatement
    citation: Citation


Planted = tuple[Answer, str]  # the answer with its error, and the statement that holds it
Plant = Callable[[Case, Place, random.Random], Planted | None]


def main() -> None:
    parser = options(__doc__, "")
    parser.add_argument("--sets", default="", help="others than these three, with commas between them")
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", default="", help="print the errors of this kind, or all, that are missed")
    given = parser.parse_args()
    sets = [s for s in given.sets.split(",") if s]
    cases = [
        case
        for name, share in (SHARES if not sets else dict.fromkeys(sets, 1 / len(sets))).items()
        for case in answered(Path(given.data) / name, round(share * given.answers))
    ]
    sound(cases)
    rows, total = [], [0, 0]
    for kind, plant in KINDS.items():
        found = [planted(case, plant, random.Random(f"{given.seed} {kind} {i}")) for i, case in enumerate(cases)]
        tried = [f for f in found if f is not None]
        rows.append([kind, len(tried), sum(hit for hit, _ in tried), percent(sum(h for h, _ in tried), len(tried))])
        total = [total[0] + len(tried), total[1] + sum(hit for hit, _ in tried)]
        if given.show in (kind, "all"):
            print(*(f"missed, {kind}: {text}" for hit, text in tried if not hit), sep="\n")
    table(["error", "planted", "found", "%"], [*rows, ["all", *total, percent(total[1], total[0])]])


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "–"


# ── sound answers ────────────────────────────────────────────────────────────────────────────────────────────────────


def answered(folder: Path, count: int) -> list[Case]:
    """The first `count` answers with citations, in the order of the questions."""
    with Corpus.open(OUT / folder.name, settings={"engine": "offline"}) as corpus:
        corpus.add(source(folder))
        corpus.build()
        documents = {d.id: d for d in corpus.documents()}
        found = list[Answer]()
        for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
            answer = corpus.query(json.loads(line)["text"])
            found += [answer] if answer.citations else []
            if len(found) == count:
                break
    said = [s for a in found for s in split_cited_statements(a.text) if s.references]
    names = tuple(dict.fromkeys(n for s in said for n in NAME.findall(remove_speaker(s.text)) if naming(n)))
    speakers = tuple(dict.fromkeys(w for s in said if (w := find_reporter(s.text))))
    print(f"{folder.name}: {len(found)} answers by {dict(Counter(a.method for a in found))}")
    return [Case(a, documents, names, speakers, tuple(s.text for s in said)) for a in found]


def checked(answer: Answer, documents: Mapping[str, Document]) -> Checked:
    return check_answer(answer, documents.get, ByWords())


def sound(cases: Sequence[Case]) -> None:
    """Whether every quote is its document's, and what the checker says of answers as they are."""
    found = [checked(c.answer, c.documents) for c in cases]
    spans, exact = sum(f.citations for f in found), sum(f.exact for f in found)
    cited = sum(f.statements - len(f.uncited) for f in found)
    wrong = Counter(p.kind for f in found for p in f.problems)
    statements = sum(len({p.statement for p in f.problems}) for f in found)
    print(f"{len(cases)} answers, {sum(f.statements for f in found)} statements, {cited} of them cited")
    print(f"citations that resolve, and quote their document word for word: {exact} of {spans}")
    print(f"false alarms: {statements} of {cited} cited statements ({percent(statements, cited)} %) {dict(wrong)}")
    print(f"answers with a false alarm: {sum(bool(f.problems) for f in found)} of {len(found)}\n")


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def planted(case: Case, plant: Plant, draw: random.Random) -> tuple[bool, str] | None:
    """Whether the error is found, and the statement that holds it; None where the answer has no place for it."""
    listed = places(case.answer)
    draw.shuffle(listed)
    for place in listed:
        if made := plant(case, place, draw):
            answer, statement = made
            problems = checked(answer, case.documents).problems
            mark = f"[{place.citation.marker}]"
            hit = any(p.statement == statement or (p.kind == "misquoted" and mark in p.marks) for p in problems)
            return hit, statement
    return None


def places(answer: Answer) -> list[Place]:
    by_mark = {Reference(c.marker): c for c in answer.citations}
    return [
        Place(s, by_mark[s.references[0]])
        for s in split_cited_statements(answer.text)
        if len(s.references) == 1 and answer.text.count(s.text) == 1 and s.references[0] in by_mark
    ]


def told(case: Case, place: Place, text: str) -> Planted | None:
    """The answer with `text` for the statement; None where nothing changed, or it is not read as that statement."""
    answer = replace(case.answer, text=case.answer.text.replace(place.said.text, text))
    read = [s.text for s in split_cited_statements(answer.text) if place.said.references[0] in s.references]
    return (answer, text) if text != place.said.text and text in read else None


def number(case: Case, place: Place, draw: random.Random) -> Planted | None:
    match = next(iter(draw.sample(found, len(found))), None) if (found := inside(NUMBER, place)) else None
    if match is None:
        return None
    old = match[0]
    new = draw.choice([w for w in WORDS if w != old]) if old in WORDS else str(int(old) + draw.choice([1, 2, 3, 10]))
    return told(case, place, spliced(place, match, new))


def name(case: Case, place: Place, draw: random.Random) -> Planted | None:
    found = inside(NAME, place)
    others = [n for n in case.names if n not in place.said.text]
    return told(case, place, spliced(place, draw.choice(found), draw.choice(others))) if found and others else None


def speaker(case: Case, place: Place, draw: random.Random) -> Planted | None:
    who = find_reporter(place.said.text)
    others = [s for s in case.speakers if who and s not in who and who not in s]
    return told(case, place, place.said.text.replace(who, draw.choice(others), 1)) if others else None


def negation(case: Case, place: Place, draw: random.Random) -> Planted | None:
    if found := inside(DENIED, place):
        return told(case, place, spliced(place, found[0], ""))
    if found := inside(AUXILIARY, place):
        match = draw.choice(found)
        return told(case, place, spliced(place, match, f"{match[0]} not"))
    return None


def swap(case: Case, place: Place, draw: random.Random) -> Planted | None:
    text, found = place.said.text, inside(NAME, place)
    pairs = [
        (a, b)
        for a, b in pairwise(found)
        if a[0] != b[0] and len(re.findall(r"\b(?!and\b)[a-z]{3,}", text[a.end() : b.start()])) > 0
    ]
    if not pairs:
        return None
    a, b = draw.choice(pairs)
    return told(case, place, text[: a.start()] + b[0] + text[a.end() : b.start()] + a[0] + text[b.end() :])


def dangling(case: Case, place: Place, draw: random.Random) -> Planted | None:
    return remarked(case, place, len(case.answer.citations) + draw.randint(1, 90))


def other_source(case: Case, place: Place, draw: random.Random) -> Planted | None:
    others = [c.marker for c in case.answer.citations if c.quote != place.citation.quote]
    return remarked(case, place, draw.choice(others)) if others else None


def foreign(case: Case, place: Place, draw: random.Random) -> Planted | None:
    others = [s for s in case.statements if s not in case.answer.text]
    return told(case, place, draw.choice(others)) if others else None


def misquoted(case: Case, place: Place, draw: random.Random) -> Planted | None:
    words = place.citation.quote.split(" ")
    if len(words) < 3:
        return None
    at = draw.randrange(1, len(words) - 1)
    return recited(case, place, replace(place.citation, quote=" ".join([*words[:at], *words[at + 1 :]])))


def shifted(case: Case, place: Place, draw: random.Random) -> Planted | None:
    c = place.citation
    return recited(case, place, replace(c, start=c.start + 40, end=c.end + 40))


def inside(pattern: re.Pattern[str], place: Place) -> list[re.Match[str]]:
    """Matches in what is said, not in who says it."""
    begin = len(place.said.text) - len(remove_speaker(place.said.text))
    found = [m for m in pattern.finditer(place.said.text) if m.start() >= begin]
    return [m for m in found if pattern is not NAME or naming(m[0])]


def naming(text: str) -> bool:
    """Whether capitalised words are a name, not a common word at the beginning of something."""
    return len(text) > 2 and not re.match(r"I['’]", text) and not known_form(text.casefold())


def spliced(place: Place, match: re.Match[str], text: str) -> str:
    said = place.said.text
    return said[: match.start()] + text + said[match.end() :]


def remarked(case: Case, place: Place, mark: int) -> Planted:
    """The answer with another mark behind the statement."""
    begin = case.answer.text.index(place.said.text) + len(place.said.text)
    old = f"[{place.citation.marker}]"
    rest = case.answer.text[begin:].replace(old, f"[{mark}]", 1)
    return replace(case.answer, text=case.answer.text[:begin] + rest), place.said.text


def recited(case: Case, place: Place, citation: Citation) -> Planted:
    """The answer with another citation in the place of the statement's."""
    listed = tuple(citation if c.marker == citation.marker else c for c in case.answer.citations)
    return replace(case.answer, citations=listed), place.said.text


KINDS: Mapping[str, Plant] = {
    "number": number,
    "name": name,
    "speaker": speaker,
    "negation": negation,
    "swap": swap,
    "dangling": dangling,
    "other source": other_source,
    "foreign": foreign,
    "misquoted": misquoted,
    "shifted": shifted,
}


if __name__ == "__main__":
    main()
