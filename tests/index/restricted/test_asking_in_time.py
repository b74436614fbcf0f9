"""What a question and the index become where a time is asked about, and which spans of chunks citations touch."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.index.restricted import moment
from sensegraph.questions import Scope
from sensegraph.types import Question, Source


@pytest.mark.parametrize(
    ("scope", "read", "dates", "when"),
    [
        (Scope(), True, "d", "asked"),
        (Scope(), False, "d", None),
        (Scope(), True, "", None),
        (Scope(as_of="2022"), True, "d", None),
    ],
)
def test_the_time_is_read_from_the_question_where_the_scope_has_none(
    monkeypatch: pytest.MonkeyPatch, scope: Scope, read: bool, dates: str, when: str | None
) -> None:
    monkeypatch.setattr(moment, "when_asked", lambda text, today: "asked")
    monkeypatch.setattr(moment, "restrict_to_time", lambda index, scope, when: (index, when))
    index: Any = SimpleNamespace(manifest=SimpleNamespace(dates=dates))
    rt: Any = SimpleNamespace(engine=SimpleNamespace(quotes=False))
    question = Question("Who kept the lamp in 2020?")
    assert moment.ask_in_time(question, index, scope, rt, read=read) == (question, (index, when))


@pytest.mark.parametrize(
    ("as_of", "dated"),
    [
        ("2022", "Who is the mayor of Ostrau in 2022?"),
        ("2022-03", "Who is the mayor of Ostrau in 2022-03?"),
        ("2022-03-05", "Who is the mayor of Ostrau on 2022-03-05?"),
        ("2022-03-05T10:00", "Who is the mayor of Ostrau on 2022-03-05?"),
    ],
)
def test_who_held_an_office_then_is_asked_with_the_day(monkeypatch: pytest.MonkeyPatch, as_of: str, dated: str) -> None:
    monkeypatch.setattr(moment, "read_office_question", lambda text: SimpleNamespace(kind="now"))
    monkeypatch.setattr(moment, "restrict_to_time", lambda index, scope, when: "inside")
    index: Any = SimpleNamespace(manifest=SimpleNamespace(dates="d"))
    rt: Any = SimpleNamespace(engine=SimpleNamespace(quotes=True))
    question, inside = moment.ask_in_time(Question("Who is the mayor of Ostrau?"), index, Scope(as_of=as_of), rt)
    assert (question.text, question.search, inside) == (dated, "Who is the mayor of Ostrau?", "inside")


def test_a_citation_touches_the_chunks_that_hold_some_of_it() -> None:
    """Chunks of ten characters, of which the second begins at 8."""
    chunks = {
        "a1": SimpleNamespace(id="a1", document="A", start=0, text="x" * 10),
        "a2": SimpleNamespace(id="a2", document="A", start=8, text="x" * 10),
        "b1": SimpleNamespace(id="b1", document="B", start=0, text="x" * 10),
    }
    entries = [SimpleNamespace(id=name, document=chunk.document) for name, chunk in chunks.items()]
    index: Any = SimpleNamespace(
        whole=SimpleNamespace(
            catalogue=SimpleNamespace(chunks=entries), chunks=lambda ids: {name: chunks[name] for name in ids}
        )
    )
    places = [("A", 0, 8), ("A", 8, 10), ("A", 9, 12), ("A", 10, 12), ("A", 18, 20), ("B", 2, 4)]
    answer: Any = SimpleNamespace(citations=[SimpleNamespace(document=d, start=a, end=b) for d, a, b in places])
    assert list(moment._touched_spans(answer, index)) == [
        [Source("a1", 0, 8)],
        [Source("a1", 8, 10), Source("a2", 0, 2)],
        [Source("a1", 9, 12), Source("a2", 1, 4)],
        [Source("a2", 2, 4)],
        [],
        [Source("b1", 2, 4)],
    ]
