"""What the offline engine reads, answers, rates and reports in small examples, all of it as it is.

The examples stand in tests/data/offline-examples.jsonl, a line each. Where the engine was meant to change,
`python tests/offline_examples.py` writes what it finds again, so that every change shows; a new example is a line
without "found".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import sensegraph
from form_corpora import CLINIC, CLUB, PROGRAM, ask
from harbour import TEXTS
from outline_examples import write_valley
from sensegraph.engines.offline.answers.composing import compose_answer
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.engines.offline.extraction.corpus_reading import survey_documents
from sensegraph.types import (
    Brief,
    Chunk,
    Context,
    Description,
    Inquiry,
    Passage,
    Point,
    Report,
    Source,
    Statement,
    Turn,
)
from talks import PODCAST, TALKS
from town_corpora import ARCHIVE, INTERVIEWS, PROGRAMS, RAILWAY, TOWN, WORKS

PINNED = Path(__file__).parent / "data" / "offline-examples.jsonl"


def read_demo() -> dict[str, str]:
    """The texts of the demo without its mails."""
    folder = Path(sensegraph.__file__).parent / "data" / "demo"
    return {p.stem: p.read_text(encoding="utf-8") for p in sorted(folder.iterdir()) if p.suffix in (".md", ".txt")}


CORPORA = {
    "talks": TALKS, "harbour": TEXTS, "clinic": CLINIC, "club": CLUB, "program": PROGRAM, "railway": RAILWAY,
    "archive": ARCHIVE, "town": TOWN, "programs": PROGRAMS, "interviews": INTERVIEWS, "works": WORKS,
    "podcast": PODCAST, "valley": write_valley(12), "demo": read_demo(),
}  # fmt: skip
ENGINE = ClassicalEngine()


def read_texts(corpus: str | dict[str, str]) -> dict[str, str]:
    """The texts of a corpus of this name; an example may also give the texts themselves."""
    return CORPORA[corpus] if isinstance(corpus, str) else corpus


def make_chunks(corpus: str | dict[str, str]) -> tuple[Passage, ...]:
    return tuple(
        Passage("chunk", f"p-{name}", text, 1.0 - i / 100, name, (Source(name, 0, len(text)),), (), 1)
        for i, (name, text) in enumerate(read_texts(corpus).items())
    )


def quote_sentences(corpus: str | dict[str, str], *names: str) -> tuple[Description, ...]:
    """The sentences of a corpus that hold all of the names, with their places."""
    found = []
    for document, text in read_texts(corpus).items():
        place = 0
        for sentence in text.replace(".\n", ". ").split(". "):
            said = sentence.strip().rstrip(".") + "."
            if all(name in said for name in names):
                found.append(Description(said, Source(document, place, place + len(said.split(": ")[-1]))))
            place += len(sentence) + 2
    return tuple(found)


def make_community(corpus: str | dict[str, str], names: list[str]) -> Context:
    entities = [
        Passage("entity", f"e{i}", "", float(len(names) - i), name, (), quote_sentences(corpus, name), documents=3)
        for i, name in enumerate(names)
    ]
    relations = [
        Passage("relation", f"r-{a}-{b}", "", float(len(found)), f"{a} — {b}", (), found)
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        if (found := quote_sentences(corpus, a, b))
    ]
    return Context((*entities, *relations), ", ".join(names[:3]))


def make_reports(corpus: str | dict[str, str], groups: list[list[str]]) -> tuple[Passage, ...]:
    found = []
    for number, made in enumerate(ENGINE.report([make_community(corpus, names) for names in groups])):
        said = [*made.summary, *(t for f in made.findings for t in f.statements)]
        quotes = tuple(Description(s.text.strip(), s.sources[0]) for s in said)
        found.append(Passage("report", f"report-{number}", "", made.rating, made.title, (), quotes, 3))
    return tuple(found)


def join_statements(statements: tuple[Statement, ...]) -> str:
    return "".join(s.text for s in statements)


def show_points(points: tuple[Point, ...]) -> list[tuple[float, str, str]]:
    return [(round(p.score, 3), p.title, join_statements(p.statements)) for p in points]


def show_report(report: Report) -> tuple[object, ...]:
    told = [(f.summary, join_statements(f.statements)) for f in report.findings]
    return report.title, round(report.rating, 3), join_statements(report.summary), told


def answer(corpus: str | dict[str, str], question: str, history: list[str]) -> str:
    turns = tuple(Turn(text, "") for text in history)
    (draft,) = ENGINE.answer([Inquiry(question, Context(make_chunks(corpus)), len(read_texts(corpus)), turns)])
    return join_statements(draft.statements)


def form(corpus: str | dict[str, str], question: str) -> list[str]:
    """The form of answers that takes a question, and its lines with what each rests on; of facts the form alone."""
    name, statements = ask(question, read_texts(corpus))
    places = [" ".join(f"{s.chunk}:{s.start}" for s in one.sources) for one in statements]
    shown = [f"{one.text} @ {place}" for one, place in zip(statements, places, strict=True)]
    return [name, *(shown if name != "fact" else [])]


def form_in(texts: dict[str, str], question: str) -> list[str]:
    """The form of answers that takes a question over a few short texts, and its lines with what each rests on."""
    name, statements = ask(question, texts)
    places = [" ".join(f"{s.chunk}:{s.start}-{s.end}" for s in one.sources) for one in statements]
    return [name, *(f"{one.text} @ {place}" for one, place in zip(statements, places, strict=True))]


def answer_in(texts: dict[str, str], question: str, words: int = 0) -> list[str]:
    """The answer from a few short texts, of about so many words if any are given, and what each statement rests on."""
    found = tuple(
        Passage("chunk", f"p-{name}", text, 1.0 - i / 100, name, (Source(name, 0, len(text)),), (), 1)
        for i, (name, text) in enumerate(texts.items())
    )
    inquiry = Inquiry(question, Context(found), len(texts))
    draft = compose_answer(inquiry, words) if words else ENGINE.answer([inquiry])[0]
    return [f"{one.text} @ {' '.join(f'{s.chunk}:{s.start}-{s.end}' for s in one.sources)}" for one in draft.statements]


def short(corpus: str | dict[str, str], question: str, words: int) -> str:
    """A short answer of about so many words."""
    inquiry = Inquiry(question, Context(make_chunks(corpus)), len(read_texts(corpus)))
    return join_statements(compose_answer(inquiry, words).statements)


def rate(corpus: str | dict[str, str], question: str) -> list[tuple[float, str, str]]:
    return show_points(ENGINE.rate([Inquiry(question, Context(make_chunks(corpus)), len(read_texts(corpus)))])[0])


def rate_reports(corpus: str | dict[str, str], question: str, groups: list[list[str]]) -> list[tuple[float, str, str]]:
    return show_points(ENGINE.rate([Inquiry(question, Context(make_reports(corpus, groups)), 40)])[0])


def answer_from_reports(corpus: str | dict[str, str], question: str, groups: list[list[str]]) -> str:
    context = Context((*make_reports(corpus, groups), *make_community(corpus, groups[0]).passages))
    return join_statements(ENGINE.answer([Inquiry(question, context, 40)])[0].statements)


def report(corpus: str | dict[str, str], names: list[str]) -> tuple[object, ...]:
    return show_report(ENGINE.report([make_community(corpus, names)])[0])


def report_above(corpus: str | dict[str, str], groups: list[list[str]], names: list[str]) -> tuple[object, ...]:
    """A report on a community whose parts have reports."""
    context = Context((*make_reports(corpus, groups), *make_community(corpus, names).passages))
    return show_report(ENGINE.report([context])[0])


def summarise(corpus: str | dict[str, str], names: list[str]) -> str:
    return ENGINE.summarise([make_community(corpus, names)])[0]


def aggregate(corpus: str | dict[str, str], names: list[str]) -> tuple[object, ...]:
    return show_report(ENGINE.aggregate([Brief(make_community(corpus, names))])[0])


def relate(corpus: str | dict[str, str], one: list[str], other: list[str]) -> str:
    passages = (*make_community(corpus, one).passages, *make_community(corpus, other).passages)
    links = make_community(corpus, [*one, *other]).passages
    between = tuple(p for p in links if p.kind == "relation" and p not in passages)
    return join_statements(ENGINE.relate([Brief(Context((*passages, *between), f"{one[0]} / {other[0]}"))])[0])


def condense(corpus: str | dict[str, str], words: int) -> str:
    return join_statements(ENGINE.condense([Brief(Context(make_chunks(corpus)), words)])[0])


def lead(corpus: str | dict[str, str], question: str) -> tuple[object, ...]:
    (found,) = ENGINE.ask([Inquiry(question, Context(make_chunks(corpus)), len(read_texts(corpus)))])
    return join_statements(found.statements), round(found.score, 3), found.questions


def refine(question: str) -> str:
    return repr(ENGINE.refine([Inquiry(question, Context(()))])[0])


def check(corpus: str | dict[str, str], question: str) -> tuple[bool, int]:
    inquiry = Inquiry(question, Context(make_chunks(corpus)[:1]))
    return ENGINE.test([inquiry])[0], ENGINE.grade([inquiry])[0]


def cut_text(document: str, text: str, parts: int) -> tuple[Chunk, ...]:
    """A document in so many chunks, each of which begins a little before the one before it ends."""
    size = len(text) // parts + 1
    spans = [(max(0, size * i - 30), min(size * (i + 1), len(text))) for i in range(parts)]
    return tuple(Chunk(f"{document}-{a}", document, a, b, b - a, text[a:b], "") for a, b in spans)


def extract(texts: list[str], parts: int = 1) -> list[dict[str, list[str]]]:
    """What is read in each chunk of a corpus: names with their types and descriptions, relations, and claims."""
    documents = [cut_text(f"d{i}", text, parts) for i, text in enumerate(texts)]
    seen = ENGINE.observe(documents)
    told, _ = survey_documents(seen)
    found = ENGINE.read(list(zip(documents, seen, told, strict=True)))
    return [
        {
            "names": [
                f"{e.name} / {e.type} @ {e.start}:{e.end} {len(e.mentions)}: {e.description}" for e in one.entities
            ],
            "relations": [
                f"{r.source} | {r.label} | {r.target} | {r.strength:g} | {r.description[:40]}" for r in one.relations
            ],
            "claims": [
                f"{c.subject} | {c.type} | {c.object} | {c.status} | {c.starts} | {c.ends}: {c.description[:40]}"
                for c in one.claims
            ],
        }
        for extractions in found
        for one in extractions
    ]


WAYS = (
    extract, form, form_in, answer_in, short, answer, answer_from_reports, rate, rate_reports, report, report_above,
    summarise, aggregate, relate, condense, lead, refine, check,
)  # fmt: skip


def read_examples() -> list[dict[str, Any]]:
    """The examples of the file: the way that is asked, what is given to it, and what it finds."""
    return [json.loads(line) for line in PINNED.read_text(encoding="utf-8").splitlines()]


def run_example(example: dict[str, Any]) -> Any:
    """What is found now, as JSON holds it."""
    ways = {way.__name__: way for way in WAYS}
    return json.loads(json.dumps(ways[example["way"]](*example["given"])))


if __name__ == "__main__":
    made = [e | {"found": run_example(e)} for e in read_examples()]
    PINNED.write_text("".join(json.dumps(e, ensure_ascii=False) + "\n" for e in made), encoding="utf-8")
