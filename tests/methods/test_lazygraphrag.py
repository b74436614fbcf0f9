"""LazyGraphRAG (N88, N52, G28): what an index costs, how the budget is spent, and what an answer rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_replies import asked_in, task_of
from sensegraph.answering.asking import NOTHING
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError, NotIndexed, SettingsError, UnsupportedTask
from sensegraph.index.index import Index
from sensegraph.methods.lazygraphrag.concepts import CONCEPTS
from sensegraph.methods.lazygraphrag.lazygraphrag import LazyGraphRAG, Trial
from sensegraph.runtime.runtime import Runtime
from sensegraph.testing import SAMPLE, MethodContract, check_citations
from sensegraph.types import Document, Question, Turn
from wired import corpus, finished_corpus, stories

ASKED = "Who wrote to whom, and who paid?"
QUESTION = Question(ASKED)
ONLY: Any = {"parts": ["concepts"]}
Body = dict[str, Any]


class TestLazyGraphRAGContract(MethodContract):
    def make(self) -> LazyGraphRAG:
        return LazyGraphRAG()

    def build(self, folder: Path) -> tuple[Runtime, Index]:
        made = corpus(folder, self.server, index=ONLY)
        made.add(*SAMPLE)
        made.build()
        return made.runtime(), made.index()

    def setup_method(self) -> None:
        self.server = ScriptedServer().__enter__()

    def teardown_method(self) -> None:
        self.server.__exit__()


class TestLazyGraphRAGContractOffline(MethodContract):
    def make(self) -> LazyGraphRAG:
        return LazyGraphRAG()

    def build(self, folder: Path) -> tuple[Runtime, Index]:
        made = Corpus.open(folder, settings={"engine": "offline", "index": ONLY})
        made.add(*SAMPLE)
        made.build()
        return made.runtime(), made.index()


@pytest.fixture
def lazy(tmp_path: Path, server: ScriptedServer) -> Iterator[Corpus]:
    """An index of 20 stories, 40 chunks, with nothing but concepts."""
    with finished_corpus(tmp_path, server, stories(20), index=ONLY) as made:
        script(server)
        yield made


def user(body: Body) -> str:
    return asked_in(body)


def script(server: ScriptedServer, yes: Callable[[str], bool] = lambda prompt: True, parts: str = "[]") -> None:
    """Tests say yes where the prompt meets `yes`; the question is refined to `parts`."""

    def reply(body: Body) -> str | None:
        if task_of(body) == "test":
            return "yes" if yes(user(body)) else "no"
        if task_of(body) == "refinement":
            return f'{{"expanded_question": "{ASKED}", "sub_questions": {parts}, "hypothetical_answer": "A letter."}}'
        return None

    server.reset()
    server.script = Script(keep_bodies=True, reply=reply)


def trials(made: Corpus, **settings: Any) -> tuple[Trial, ...]:
    return LazyGraphRAG(**settings).trials(QUESTION, made.index(), made.runtime())


# ── the index ──


def test_no_model_is_called_to_index(tmp_path: Path, server: ScriptedServer) -> None:
    with corpus(tmp_path, server, index=ONLY) as made:
        made.add(stories(20))
        assert made.build().usage.calls == 0
        assert {c.task for c in server.calls} == {"embedding"}
        assert len(made.index().part(CONCEPTS)) > 10


def test_an_index_without_concepts_says_what_to_do(tmp_path: Path, server: ScriptedServer) -> None:
    with corpus(tmp_path, server, index={"parts": []}) as made:
        made.add(*SAMPLE)
        made.build()
        with pytest.raises(NotIndexed, match="concepts"):
            made.query(ASKED, method="lazygraphrag")


# ── the budget ──


@pytest.mark.parametrize("budget", [1, 3, 7, 20, 39])
@pytest.mark.parametrize("parts", ["[]", '["Who wrote?", "Who paid?", "Who sailed?"]'])
def test_the_budget_bounds_the_calls_on_the_wire(lazy: Corpus, server: ScriptedServer, budget: int, parts: str) -> None:
    script(server, lambda prompt: "paid" in prompt.partition("\n")[2], parts)
    answer = lazy.query(ASKED, method="lazygraphrag", budget=budget)
    assert 0 < len(server.done("test")) <= budget
    assert any(f"{len(server.done('test'))} of {budget} relevance tests" in note for note in answer.notes)


def test_every_test_is_listed_with_its_verdict(lazy: Corpus, server: ScriptedServer) -> None:
    script(server, lambda prompt: "hired" in prompt, '["Who paid?"]')
    listed = trials(lazy, budget=30)
    assert len(listed) == len(server.done("test"))
    assert {t.question for t in listed} == {ASKED, "Who paid?"}
    assert len({(t.chunk, t.question) for t in listed}) == len(listed)
    texts = {name: c.text for name, c in lazy.index().chunks([t.chunk for t in listed]).items()}
    assert all(t.relevant == ("hired" in texts[t.chunk]) for t in listed)


def test_equal_shares_and_what_one_question_leaves_the_next_may_spend(lazy: Corpus, server: ScriptedServer) -> None:
    script(server, lambda prompt: True, '["Who wrote?", "Who paid?"]')
    listed = [t.question for t in trials(lazy, budget=30)]
    assert [listed.count(q) for q in (ASKED, "Who wrote?", "Who paid?")] == [10, 10, 10]
    script(server, lambda prompt: prompt.startswith("Question: Who paid?"), '["Who wrote?", "Who paid?"]')
    listed = [t.question for t in trials(lazy, budget=100, patience=1, tests=1)]
    assert listed.count(ASKED) < 33
    assert listed.count("Who paid?") == 40  # all chunks: more than a third of the budget


def test_with_room_for_every_chunk_every_chunk_is_tested_once(lazy: Corpus, server: ScriptedServer) -> None:
    listed = trials(lazy, budget=1000)
    assert len(listed) > 3
    assert sorted(t.chunk for t in listed) == sorted(c.id for c in lazy.index().catalogue.chunks)


def test_what_was_tested_is_not_paid_again(lazy: Corpus, server: ScriptedServer) -> None:
    few = trials(lazy, budget=10)
    assert len(server.done("test")) == 10
    assert trials(lazy, budget=10) == few
    assert len(server.done("test")) == 10
    more = trials(lazy, budget=30)
    new = {t.chunk for t in more} - {t.chunk for t in few}
    assert len(server.done("test")) == 10 + len(new)


def test_a_verdict_outlasts_changes_elsewhere_in_the_corpus(lazy: Corpus, server: ScriptedServer) -> None:
    before = {t.chunk for t in trials(lazy, budget=1000)}
    lazy.add(Document("new", "Ada Harrow paid Bram Fenwick for a new boat."))
    lazy.build()
    script(server)
    assert {t.chunk for t in trials(lazy, budget=1000)} > before
    assert len(server.done("test")) == 1


def test_equal_texts_are_tested_once_and_share_the_verdict(tmp_path: Path, server: ScriptedServer) -> None:
    with corpus(tmp_path, server, index=ONLY) as made:
        made.add(*SAMPLE, Document("copy", SAMPLE[0].text, SAMPLE[0].title))
        made.build()
        script(server, lambda prompt: "Ada Finch keeps" in prompt)
        found = made.search(ASKED, method="lazygraphrag")
        assert len(server.done("test")) == 3
        assert set(found.documents) == {"keeper", "copy"}


def test_an_unreadable_reply_counts_as_a_test_and_as_no(lazy: Corpus, server: ScriptedServer) -> None:
    server.script = Script(reply=lambda body: "who knows" if task_of(body) == "test" else None)
    listed = trials(lazy, budget=20, refined=False)
    assert listed
    assert not any(t.relevant for t in listed)


# ── evidence and answer ──


def test_evidence_is_the_relevant_chunks_best_ranked_first(lazy: Corpus, server: ScriptedServer) -> None:
    script(server, lambda prompt: "hired" in prompt)
    found = lazy.search(ASKED, method="lazygraphrag", budget=1000, top=99)
    assert all(p.kind == "chunk" and "hired" in p.text for p in found.passages)
    assert {p.id for p in found.passages} == {t.chunk for t in trials(lazy, budget=1000) if t.relevant}
    scores = [p.score for p in found.passages]
    assert scores == sorted(scores, reverse=True)
    nearest = [p.id for p in lazy.search(ASKED, method="naive", top=99).passages]  # as many as its context holds
    both = [p.id for p in found.passages if p.id in nearest]
    assert len(both) > 5
    assert both == [name for name in nearest if name in both]


def test_relevant_chunks_are_mapped_by_community_and_reduced_once(lazy: Corpus, server: ScriptedServer) -> None:
    script(server, lambda prompt: "hired" in prompt)
    answer = lazy.query(ASKED, method="lazygraphrag", budget=1000, context_tokens=600)
    check_citations(answer, {d.id: d.text for d in stories(20)})
    assert len(server.done("points")) > 1
    assert len(server.done("answer")) == 1
    assert {p.kind for p in answer.evidence.passages} == {"point"}
    prompts = "\n".join(user(c.body) for c in server.done("points"))
    relevant = [t.chunk for t in trials(lazy, budget=1000) if t.relevant]
    assert all(prompts.count(c.text) == 1 for c in lazy.index().chunks(relevant).values())


def test_the_expanded_question_is_the_one_that_is_answered(lazy: Corpus, server: ScriptedServer) -> None:
    server.script = Script(keep_bodies=True)  # expands by "In full."
    lazy.query(ASKED, method="lazygraphrag")
    assert all(user(c.body).startswith(f"Question: {ASKED} In full.") for c in server.done("answer"))
    assert server.done("answer")


def test_without_a_relevant_chunk_nothing_is_answered_and_the_tests_are_told(
    lazy: Corpus, server: ScriptedServer
) -> None:
    script(server, lambda prompt: False)
    answer = lazy.query(ASKED, method="lazygraphrag", budget=20)
    assert (answer.text, answer.citations) == (NOTHING, ())
    assert server.done("points") == server.done("answer") == []
    assert any(f"{len(server.done('test'))} of 20 relevance tests" in note for note in answer.notes)


def test_where_no_point_is_drawn_the_chunks_are_read_and_it_is_said(lazy: Corpus, server: ScriptedServer) -> None:
    script(server)
    inner = server.script.reply
    nothing = '{"points": [{"text": "Nothing.", "score": 0}]}'
    server.script = Script(
        keep_bodies=True, reply=lambda body: nothing if task_of(body) == "points" else inner and inner(body)
    )
    answer = lazy.query(ASKED, method="lazygraphrag", budget=10)
    assert {p.kind for p in answer.evidence.passages} == {"chunk"}
    assert any("no statement was drawn" in note for note in answer.notes)


# ── settings ──


def test_refining_shows_the_leading_concepts(lazy: Corpus, server: ScriptedServer) -> None:
    trials(lazy, shown=5, budget=5)
    (asked,) = server.done("refinement")
    leading = lazy.index().part(CONCEPTS).leading(6)
    assert all(name in user(asked.body) for name in leading[:5])
    assert leading[5] not in user(asked.body)


def test_without_refining_the_question_is_searched_as_it_is(lazy: Corpus, server: ScriptedServer) -> None:
    listed = trials(lazy, refined=False, budget=10)
    assert server.done("refinement") == []
    assert {t.question for t in listed} == {ASKED}


def test_a_conversation_ranks_the_chunks_and_is_refined_with_the_question(lazy: Corpus, server: ScriptedServer) -> None:
    asked = Question("And whom did she pay?", (Turn("Who is Ada Harrow?", "A painter."),))
    LazyGraphRAG(budget=5).trials(asked, lazy.index(), lazy.runtime())
    (refined,) = server.done("refinement")
    assert "Who is Ada Harrow?" in str(refined.body["messages"])
    assert any("Who is Ada Harrow?" in text for c in server.done("embedding") for text in c.body["input"])


def test_a_sentence_can_be_tested_in_the_place_of_its_chunk(lazy: Corpus, server: ScriptedServer) -> None:
    trials(lazy, unit="sentence", budget=5)
    chunks = {c.text for c in lazy.index().chunks([c.id for c in lazy.index().catalogue.chunks]).values()}
    assert len(server.done("test")) == 5
    for call in server.done("test"):
        assert user(call.body).count("in the year") == 1
        assert not any(text in user(call.body) for text in chunks)


def test_the_sentence_that_is_tested_holds_most_words_of_the_question_and_is_the_first_of_such(
    tmp_path: Path, server: ScriptedServer
) -> None:
    script(server)
    text = "The boats are old. Ada paid for boats. Ada paid for boats too. Nobody slept."
    with corpus(tmp_path, server, index=ONLY) as made:
        made.add(Document("boats", text))
        made.build()
        server.reset()
        method = LazyGraphRAG(unit="sentence", refined=False, budget=1)
        method.trials(Question("Who paid for the boats of Ada?"), made.index(), made.runtime())
        (call,) = server.done("test")
        assert "Ada paid for boats." in user(call.body)
        assert not any(other in user(call.body) for other in ("old", "too", "Nobody"))


@pytest.mark.parametrize("ranking", ["words", "both"])
def test_words_can_rank_the_chunks(lazy: Corpus, server: ScriptedServer, ranking: str) -> None:
    asked = Question("Olga Stone in the year 1828?")
    method = LazyGraphRAG(refined=False, budget=5, ranking=ranking)  # type: ignore[arg-type]
    first = method.trials(asked, lazy.index(), lazy.runtime())[0].chunk
    words = lazy.index().words
    from sensegraph.language.text import list_stems

    best = [lazy.index().catalogue.chunks[int(i)].id for i in words.top(list_stems(asked.text), 3)[0]]
    assert first in best


def test_a_hypothetical_answer_changes_the_ranks(lazy: Corpus, server: ScriptedServer) -> None:
    plain = [t.chunk for t in trials(lazy, budget=5)]
    assert [t.chunk for t in trials(lazy, budget=5, hypothesis=True)] != plain


def test_an_empty_question_is_refused(lazy: Corpus) -> None:
    with pytest.raises(InputError, match="empty"):
        LazyGraphRAG().retrieve(Question("  "), lazy.index(), lazy.runtime())


def test_an_engine_without_a_needed_task_is_refused_before_any_work(
    lazy: Corpus, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rt = lazy.runtime()
    monkeypatch.setattr(type(rt.engine), "tasks", frozenset({"rate", "answer"}))
    server.reset()
    with pytest.raises(UnsupportedTask, match="refine, test"):
        LazyGraphRAG().answer(QUESTION, lazy.index(), rt)
    assert server.calls == []


@pytest.mark.parametrize(
    "bad",
    [{"budget": 0}, {"questions": 0}, {"tests": 0}, {"batch": 0}, {"patience": 0}, {"best": 0}, {"neighbours": -1},
     {"shown": -1}, {"context_tokens": 0}],
)  # fmt: skip
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(bad))):
        LazyGraphRAG(**bad)
