"""What the lab makes of the bundled documents and of simulated judges, pinned: questions, examples, verdicts.

Where it was meant to change, `python tests/lab_runs.py` writes all rows again.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from demo_runs import open_demo
from pinned_rows import PinnedRows
from sensegraph.lab.experiments import charts
from sensegraph.lab.finetuning.data.example_files import HeldOutFile, write_examples
from sensegraph.lab.finetuning.data.example_types import FORMS, DataSettings, SourceQuestion
from sensegraph.lab.finetuning.data.index_source import draw_graph_questions
from sensegraph.lab.finetuning.data.report import record_data_report, render_data_page
from sensegraph.lab.finetuning.data.sources import Source
from sensegraph.lab.judging.bias import assess_bias
from sensegraph.lab.judging.criteria import choose_rules
from sensegraph.lab.judging.judgements import (
    Compared,
    Judged,
    Judgements,
    compare_with_counts,
    list_pairs,
    tally_all_pairs,
    winners_by_question,
)
from sensegraph.lab.questions.grounded_questions import Grounds, GroundSettings, word_question
from sensegraph.lab.questions.question_files import KINDS, Kind, Outcome
from sensegraph.lab.questions.question_making import PersonaSettings, Posing, make_question_set
from simulated_judges import (
    Lengths,
    count_words,
    judge_run,
    mostly_count_words,
    mostly_take_first,
    take_first,
    toss_coins,
)
from whole_runs import PINNED, open_run, show_value

ASKED: Mapping[str, GroundSettings] = MappingProxyType(
    {
        "usual": GroundSettings(),
        "few": GroundSettings(each=3, rounds=1, strata=2, seed=4),
        "many": GroundSettings(each=40, rounds=2, hops=3, near=0.7, strata=5),
        "themes": GroundSettings(classes=("global",), each=4),
    }
)
MADE: Mapping[str, DataSettings] = MappingProxyType(
    {
        "usual": DataSettings(),
        "reasoned": DataSettings(oracle_share=0.6, style="cot", seed=2),
        "short": DataSettings(max_tokens=330, hard=0, distractors=(0, 5), most_oracles=1, leak_words=1, seed=3),
        "unpadded": DataSettings(pad=False, hard=4, distractors=(2, 3), answers="all", oracle_share=0.5),
    }
)
JUDGES = (count_words, mostly_count_words, take_first, mostly_take_first, toss_coins)
LENGTHS = (Lengths(), Lengths((270, 330)), Lengths((300, 290), 20), Lengths(ratio=0.3))


def show_outcome(outcome: Outcome) -> list[Any]:
    """What was made of questions: each with all that is known of it, then what was dropped and is missing."""
    return [*map(show_value, outcome.questions), show_value([outcome.dropped, outcome.missing, outcome.notes])]


def list_grounds(kind: Kind) -> list[Any]:
    """The first grounds of a class with the questions for them, plain questions, and chunks as grounds."""
    found = Grounds(open_demo().index(), GroundSettings(each=5, rounds=3))
    rows: list[Any] = []
    listed = found.of(kind)
    for ground in listed[:60]:
        documents = found.documents(ground)
        worded = [word_question(ground, documents, english=english) for english in (True, False)]
        rows.append([ground.id, documents, len(found.texts(ground)), *worded])
    ids = [ground.id for ground in listed], [ground.id for ground in found.of(kind, loosely=False)]
    sampled = [ground.chunks for ground in found.sampled(kind)]
    told = [found.english, len(ids[0]), "".join(ids[0]).encode(), len(ids[1]), repr(sampled).encode()]
    return [show_value(row) for row in (told, *rows, *found.plain(kind))]


def draw_source(count: int, seed: int) -> Source:
    """Questions from the graph of the bundled documents."""
    return draw_graph_questions(open_demo().index(), count, seed, "kind")


def list_examples(name: str) -> list[Any]:
    """What is written of examples in each form, and held out, and what the reports on them say.

    Some questions have wrong passages near them.
    """
    source, rows = draw_source(70, 1), list[Any]()
    near = random.Random(name)
    asked = [
        replace(q, near=tuple(source.pool[near.randrange(len(source.pool))] for _ in range(i % 4)))
        for i, q in enumerate(source.questions)
        if isinstance(q, SourceQuestion)
    ]
    source = replace(source, questions=asked)
    with TemporaryDirectory() as folder:
        for form in FORMS:
            path, held = Path(folder) / f"{form}.jsonl", Path(folder) / f"{form}-held.jsonl"
            apart = HeldOutFile(held, 0.2) if form == FORMS[0] else None
            reports = write_examples(source, MADE[name], form, path, apart)
            texts = [file.read_text(encoding="utf-8") for file in (path, held) if file.exists()]
            rows += [[form, text.count("\n"), text.encode(), text[:200]] for text in texts]
            if apart:
                rows += [list(record_data_report(report).items()) for report in reports if report]
                rows += [render_data_page(report).encode() for report in reports if report]
    return [show_value(row) for row in rows]


def list_verdicts(number: int) -> list[Any]:
    """What is said of simulated judges whose answers are so long."""
    rows = []
    for judge in JUDGES:
        for seed, (questions, both, quality) in enumerate([(30, True, None), (12, False, None), (24, True, 0.8)]):
            run = judge_run(judge, LENGTHS[number], seed, questions, both, quality)
            rows.append([judge.__name__, assess_bias(run)])
    return [show_value(row) for row in rows]


def make_mixed_run(number: int) -> Judgements:
    """Verdicts by two criteria on three conditions, some of them ties or missing, of answers that are often as long."""
    drawn, names = random.Random(number), ("one", "other", "third")
    rules = choose_rules("sensegraph", ["comprehensiveness", "directness"], replicates=2)
    questions, pairs = 10 + 4 * number, list_pairs(names)
    words = {name: tuple(drawn.choice((0, 100, 110, 150, 200)) for _ in range(questions)) for name in names}
    if number == 2:
        words.pop("third")
    given = []
    for question, criterion, pair, turn in product(
        range(questions), ("comprehensiveness", "directness"), pairs, range(4)
    ):
        shown, chance = pair if turn % 2 else pair[::-1], drawn.random()
        winner = None if chance < 0.1 else 0 if chance < 0.3 else 1 if (chance < 0.8) == (shown[0] == "one") else 2
        given.append(Judged(question, criterion, *shown, turn // 2, winner))
    return Judgements(rules, questions, pairs, tuple(given), words)


def list_mixed_verdicts(number: int) -> list[Any]:
    """What is said of such verdicts, counted, and drawn."""
    run = make_mixed_run(number)
    rows: list[Any] = [assess_bias(run), assess_bias(run.one_order()), *tally_all_pairs(run)]
    for criterion in run.criteria:
        rows.append(charts.draw_length_effect(criterion, run).encode())
        counted = {(name, f"q{i}"): float((i * len(name)) % 5) for name in ("one", "other", "third") for i in range(9)}
        compared = [
            Compared(f"q{question}", pair, row)
            for pair in run.pairs
            for question, row in enumerate(winners_by_question(run, criterion, pair))
        ]
        rows.append(compare_with_counts(compared, counted))
    return [show_value(row) for row in rows]


@cache
def find_rows(group: str) -> list[Any]:
    """What is found of one group, as JSON has it."""
    kind, _, name = group.partition(" ")
    match kind:
        case "grounds":
            return list_grounds(name)  # type: ignore[arg-type]
        case "templates":
            corpus = open_demo()
            return show_outcome(make_question_set(Posing(grounds=ASKED[name]), corpus.index(), corpus.runtime()))
        case "drawn":
            source = draw_source(*map(int, name.split()))
            return [show_value(row) for row in (*source.questions, [source.name, source.left_out, source.topics])]
        case "examples":
            return list_examples(name)
        case "modelled":
            corpus = open_run("harbour-scripted").corpus
            posing = Posing("Letters of a harbour", PersonaSettings(3, 2, 3), GroundSettings(each=int(name)))
            return show_outcome(make_question_set(posing, corpus.index(), corpus.runtime()))
        case "mixed":
            return list_mixed_verdicts(int(name))
    return list_verdicts(int(name))


LAB_ROWS = PinnedRows(
    PINNED / "lab.jsonl",
    (
        *(f"grounds {kind}" for kind in KINDS),
        *(f"templates {name}" for name in ASKED),
        *("drawn 60 0", "drawn 9 5"),
        *(f"examples {name}" for name in MADE),
        *("modelled 2", "modelled 5"),
        *(f"verdicts {number}" for number in range(len(LENGTHS))),
        *("mixed 0", "mixed 1", "mixed 2"),
    ),
    find_rows,
)

if __name__ == "__main__":
    LAB_ROWS.write()
