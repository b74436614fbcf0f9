"""How many answers of another question the checker of answers finds by words alone, and how often it is wrong.

    python bench/swapped_answers.py [--data DIR] [--sets A,B,…] [--answers N] [--seed N] [--show]

Of each set so many questions are answered offline, evenly drawn, by the method that `auto` chooses; `demo` are those of
the demonstration. An answer is right that cites something and holds the right answer; those to questions that ask for
yes or no are left out. Each right answer is checked with its own question: what is found is a false alarm. Then each
question is checked with right answers of three other questions of its set, drawn by the seed, that do not hold its own.

The same with bare answers, as a model may give them: nothing but the words of the right answer, with the sentence of
each judged document that holds most of them (of `demo`: of each document that the answer rests on). They are harder:
all that tells what such an answer is about stands around what it quotes.
"""

from __future__ import annotations

import json
import random
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from answers import DECIDED, LOOSE, is_right, normalize
from client import options, source, table
from planted_errors import percent
from sensegraph.answering.asking import count_words
from sensegraph.answering.grounding.checking import check_answer
from sensegraph.answering.grounding.citations import ByWords
from sensegraph.answering.grounding.unanswered import PosedQuestion
from sensegraph.corpus.corpus import Corpus
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import list_stems
from sensegraph.types import Answer, Citation, Document, Question

OUT = Path(__file__).resolve().parent / "out" / "swapped_answers"
SETS = "xquad-en,hotpotqa,lihua-world,demo"
DEMO = files("sensegraph") / "data"
DRAWN = 3  # other answers for each question


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the right answer in words, which texts hold it, and the documents that it rests on."""

    text: str
    gold: str
    holds: Callable[[str], bool]
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A question with a right answer to it; `holds` tells whether another is right too."""

    posed: PosedQuestion
    answer: Answer
    holds: Callable[[str], bool]


def main() -> None:
    parser = options(__doc__, "")
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--answers", type=int, default=200, help="questions of each set at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print what is wrong and what is missed")
    given = parser.parse_args()
    rows = []
    for name in given.sets.split(","):
        documents, offline, bare = read_cases(Path(given.data) / name, given.answers)
        for kind, cases in (("offline", offline), ("bare", bare)):
            rows.append([name, kind, *measure(cases, documents, random.Random(given.seed), given.show)])
    table(["set", "answers", "right", "false alarms", "%", "swapped", "found", "%"], rows)


def read_cases(folder: Path, most: int) -> tuple[Mapping[str, Document], list[Case], list[Case]]:
    """The documents of a set, the right ones of the offline answers, and the bare answers."""
    offline, bare = list[Case](), list[Case]()
    with Corpus.open(OUT / folder.name, settings={"engine": "offline"}) as corpus:
        corpus.add(str(DEMO / "demo") if folder.name == "demo" else source(folder))
        corpus.build()
        documents = {d.id: d for d in corpus.documents()}
        asked = list(read_demo() if folder.name == "demo" else read_questions(folder))
        for one in asked[:: max(1, len(asked) // most)][:most]:
            posed = PosedQuestion(one.text, count_words(Question(one.text), corpus.index()))
            answer = corpus.query(one.text)
            if answer.citations and not answer.abstained and one.holds(answer.text):
                offline.append(Case(posed, answer, one.holds))
            if cited := list(cite_best(one, documents)):
                marks = "".join(f"[{c.marker}]" for c in cited)
                bare.append(Case(posed, Answer(f"{one.gold}. {marks}", tuple(cited)), one.holds))
    return documents, offline, bare


def read_questions(folder: Path) -> Iterator[Asked]:
    """The questions of a set in BEIR's layout that have an answer in words."""
    judged = defaultdict[str, list[str]](list)
    for line in (folder / "qrels" / "dev.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, *_ = line.split("\t")
        judged[query].append(document)
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        query = json.loads(line)
        gold = query["metadata"].get("answer") or []
        gold = [gold] if isinstance(gold, str) else gold
        if gold and not any(normalize(a).split()[:1] in DECIDED for a in gold):

            def holds(text: str, gold: Sequence[str] = tuple(gold)) -> bool:
                return is_right(text, gold, folder.name in LOOSE)

            yield Asked(query["text"], gold[0], holds, tuple(judged[query["_id"]]))


def read_demo() -> Iterator[Asked]:
    """The questions of the demonstration that have an answer."""
    listed = tomllib.loads((DEMO / "demo-questions.toml").read_text(encoding="utf-8"))["questions"]
    for one in listed:
        if not one.get("abstains"):

            def holds(text: str, keys: Sequence[Sequence[str]] = one["keys"]) -> bool:
                return all(any(key.casefold() in text.casefold() for key in some) for some in keys)

            yield Asked(one["question"], one["answer"].removesuffix("."), holds, tuple(one["documents"]))


def cite_best(one: Asked, documents: Mapping[str, Document]) -> Iterator[Citation]:
    """Of each document that an answer rests on the sentence that holds most of it, then of the question."""
    gold, asked = set(list_stems(one.gold)), set(list_stems(one.text))
    named = [d for name in one.documents for d in documents.values() if d.id == name or d.id.endswith(f"/{name}")]
    for marker, document in enumerate(named, 1):
        text = document.text

        def worth(span: tuple[int, int], text: str = text) -> int:
            held = set(list_stems(text[span[0] : span[1]]))
            return 3 * len(gold & held) + len(asked & held)

        start, end = max(split_sentences(text), key=worth)
        yield Citation(marker, document.id, start, end, text[start:end])


def measure(
    cases: Sequence[Case], documents: Mapping[str, Document], draw: random.Random, show: bool
) -> list[int | str]:
    """How many answers there are, false alarms among them, swapped ones, and how many of these are found."""

    def find(case: Case, answer: Answer) -> tuple[str, ...]:
        return check_answer(answer, documents.get, ByWords(), posed=case.posed).unanswered

    own = [(case, found) for case in cases if (found := find(case, case.answer))]
    swapped, missed = 0, list[tuple[Case, Answer]]()
    for case in cases:
        others = [c.answer for c in cases if c is not case and not case.holds(c.answer.text)]
        for answer in draw.sample(others, min(DRAWN, len(others))):
            swapped += 1
            missed += [] if find(case, answer) else [(case, answer)]
    if show:
        print(*(f"false alarm: {case.posed.text} {case.answer.text!r} {found}" for case, found in own), sep="\n")
        print(*(f"missed: {case.posed.text} {answer.text!r}" for case, answer in missed), sep="\n")
        print(Counter(reason.split("“")[0][:40] for _, found in own for reason in found))
    found_all = swapped - len(missed)
    return [len(cases), len(own), percent(len(own), len(cases)), swapped, found_all, percent(found_all, swapped)]


if __name__ == "__main__":
    main()
