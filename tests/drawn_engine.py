"""What the offline engine writes of groups that are drawn from many small corpora, and answers from drawn passages.

The examples of tests/offline_examples.py are chosen by hand, a way each. Here a seed draws names, scores with ties,
types, lengths and passages, so that rules meet what nobody thought of. A row is one draw: how many texts are written,
a digest of them with all that they rest on, and what the numbers come to. Where the engine was meant to change,
`python tests/drawn_engine.py` writes the rows again.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from demo_runs import condense
from form_corpora import ask
from laws.corpora import CORPORA as LAWS
from offline_examples import CORPORA, ENGINE, cut_text, make_chunks, make_community, make_reports, read_examples
from pinned_rows import PinnedRows
from sensegraph.engines.offline.extraction.corpus_reading import survey_documents
from sensegraph.types import Brief, Context, Inquiry, Passage, Turn
from whole_runs import PINNED

NAME = re.compile(r"[A-ZÄÖÜ][\w-]+(?: [A-ZÄÖÜ][\w-]+)*")
HAN = re.compile(r"[一-龥]{2,4}(?=[在的和是了]|公司)")
CHINESE = {
    "一": "海城公司在港口建造新船。王明是海城公司的经理。李华和王明在会议上讨论了港口的问题。",
    "二": "港口的工人支持李华。王明在2021年离开了海城公司。因为风暴,新船推迟了三个月。",
    "三": "李华是港口的新负责人。海城公司的收入在2022年增长了百分之五。王明的报告说明了原因。",
}
TEXTS: Mapping[str, dict[str, str]] = {
    **CORPORA,
    **{name: {d.id: d.text for d in LAWS[name].documents} for name in ("office", "rathaus")},
    "chinese": CHINESE,
}
DRAWS = {"groups": 8, "answers": 9, "reading": 9, "forms": 68}
FILLING = ("grey", "and", "quietly", "the", "of 2021", "Ada Finch", "not", "was,")
TYPES = ("", "person", "person", "organisation", "Ort", "place")
ASKED = (
    "Who is {a}?", "What did {a} do?", "When did {a} leave?", "How is {a} related to {b}?", "Why did {a} change?",
    "What do {a} and {b} have in common?", "How many times is {a} mentioned?", "What are the main themes?",
    "Compare {a} and {b}.", "What happened before {a}?", "List everything about {a}.", "Where is {a}?",
    "Who succeeded {a}?", "What is the difference between {a} and {b}?", "Did {a} agree with {b}?", "Wer ist {a}?",
    "Was geschah mit {a} und {b}?", "What happened in 2021?", "Which documents name {a}?", "{a}是谁?",
    "What caused {a}?", "What led from {a} to {b}?", "Who worked with {a} before {b}?", "What was next after {a}?",
)  # fmt: skip


@cache
def list_names(corpus: str) -> list[str]:
    """The names of a corpus, those that are said most first."""
    whole = "\n".join(TEXTS[corpus].values())
    found = Counter((HAN if corpus == "chinese" else NAME).findall(whole))
    return [name for name, _ in sorted(found.items(), key=lambda one: (-one[1], one[0]))][:60]


def draw_names(corpus: str, drawn: random.Random, most: int) -> list[str]:
    names = list_names(corpus)
    size = min(drawn.randint(1, most), len(names))
    return sorted(drawn.sample(names[: max(size, drawn.choice((8, 20, 60)))], size), key=names.index)


def draw_group(corpus: str, drawn: random.Random, most: int = 14) -> tuple[Passage, ...]:
    """Passages about drawn names: their scores have ties or are missing, and some names share a document."""
    scores = drawn.choice(((0.0,), (1.0,), (1.0, 2.0, 2.0, 5.0), (0.5, 3.0, 9.0, 40.0)))
    made = make_community(TEXTS[corpus], draw_names(corpus, drawn, most)).passages
    return tuple(replace(p, score=drawn.choice(scores), documents=drawn.randint(0, 4)) for p in made)


def write_of_group(corpus: str, drawn: random.Random) -> list[Any]:
    """All that the engine writes of one drawn group, whole and as a part of another."""
    passages = draw_group(corpus, drawn)
    below = drawn.random() < 0.4
    if below:
        passages = (*make_reports(TEXTS[corpus], [draw_names(corpus, drawn, 4) for _ in range(3)]), *passages)
    context = Context(passages, "a title", omitted=drawn.choice((0, 0, 3)))
    types = tuple(drawn.choice(TYPES) for _ in passages)
    brief = Brief(context, drawn.choice((0, 12, 40, 120)), drawn.choice(((), types)))
    other = [replace(p, id=f"x{p.id}") for p in draw_group(corpus, drawn, 4)]
    between = [p for p in make_community(TEXTS[corpus], draw_names(corpus, drawn, 8)).passages if p.kind == "relation"]
    linked = Brief(Context((*passages, *other, *between), "one / other"), brief.words)
    asked = Inquiry(draw_question(corpus, drawn), context, 40)
    return [
        ENGINE.report([context]), ENGINE.aggregate([brief]), ENGINE.abstract([brief]), ENGINE.relate([linked]),
        ENGINE.summarise([context]), ENGINE.rate([asked]), ENGINE.answer([asked]),
        ENGINE.ask([asked]), ENGINE.test([asked]), ENGINE.grade([asked]),
    ]  # fmt: skip


def draw_question(corpus: str, drawn: random.Random) -> str:
    names = list_names(corpus)[:20]
    return drawn.choice(ASKED).format(a=drawn.choice(names), b=drawn.choice(names))


def answer_drawn(corpus: str, drawn: random.Random) -> list[Any]:
    """What the engine makes of a drawn question and passages of a corpus."""
    chunks = list(make_chunks(disturb_texts(corpus, drawn)))
    context = Context(tuple(chunks[: drawn.randint(1, 12)]), "", omitted=drawn.choice((0, 2)))
    history = tuple(Turn(draw_question(corpus, drawn), "") for _ in range(drawn.choice((0, 0, 1))))
    inquiry = Inquiry(draw_question(corpus, drawn), context, len(chunks), history)
    return [
        ENGINE.answer([inquiry]), ENGINE.rate([inquiry]), ENGINE.ask([inquiry]), ENGINE.refine([inquiry]),
        ENGINE.test([inquiry]), ENGINE.grade([inquiry]),
        ENGINE.condense([Brief(context, drawn.choice((0, 15, 60, 200)))]),
    ]  # fmt: skip


def read_drawn(corpus: str, drawn: random.Random) -> list[Any]:
    """What is read in drawn documents of a corpus, cut in drawn places."""
    texts = list(disturb_texts(corpus, drawn).items())
    texts = drawn.sample(texts, min(len(texts), drawn.randint(1, 4)))
    documents = [cut_text(name, text[:2500], drawn.randint(1, 3)) for name, text in texts]
    seen = ENGINE.observe(documents)
    told, _ = survey_documents(seen)
    return [ENGINE.read(list(zip(documents, seen, told, strict=True)))]


@cache
def list_questions() -> dict[str, list[str]]:
    """The questions of the examples of forms of answers, by the corpus that they are asked of."""
    found: dict[str, list[str]] = defaultdict(list)
    for example in read_examples():
        if example["way"] == "form" and example["given"][0] not in ("demo", "harbour"):
            found[example["given"][0]].append(example["given"][1])
    return dict(found)


def disturb_texts(corpus: str, drawn: random.Random) -> dict[str, str]:
    """Some texts of a corpus in another order; in some, words are put in or left out, and one may be there twice."""
    names = list(TEXTS[corpus])
    names = drawn.sample(names, max(1, len(names) - drawn.choice((0, 0, 1, 2))))
    texts: dict[str, str] = {}
    for name in names:
        words = TEXTS[corpus][name].split(" ")
        for _ in range(drawn.choice((0, 1, 4, 12))):
            at = drawn.randint(0, len(words))
            words[at : at + drawn.choice((0, 0, 1))] = [drawn.choice(FILLING)] * drawn.randint(0, 6)
        texts[name] = " ".join(words)
    if drawn.random() < 0.3:
        texts[f"{names[0]}-again"] = texts[names[0]]
    return texts


def answer_form(corpus: str, drawn: random.Random, number: int) -> list[Any]:
    """The form of answers that takes a question of the examples, over disturbed texts, and all that it says."""
    questions = list_questions()[corpus]
    return list(ask(questions[number % len(questions)], disturb_texts(corpus, drawn)))


@cache
def find_rows(group: str) -> list[Any]:
    """What the draws of one group come to, a row each; a group is what is drawn and the corpus."""
    kind, _, corpus = group.partition(" ")
    found: list[Any] = []
    for number in range(DRAWS[kind]):
        drawn = random.Random(f"{group} {number}")
        match kind:
            case "groups":
                found.append(write_of_group(corpus, drawn))
            case "answers":
                found.append(answer_drawn(corpus, drawn))
            case "reading":
                found.append(read_drawn(corpus, drawn))
            case _:
                found.append(answer_form(corpus, drawn, number))
    return [condense(one) for one in found]


def list_groups() -> list[str]:
    return [f"{kind} {corpus}" for kind in DRAWS for corpus in (list_questions() if kind == "forms" else TEXTS)]


DRAWN_ROWS = PinnedRows(PINNED / "drawn-engine.jsonl", list_groups(), find_rows)

if __name__ == "__main__":
    DRAWN_ROWS.write()
