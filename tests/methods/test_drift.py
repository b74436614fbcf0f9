"""DRIFT (N89): what is asked, in which order, how often, and what the answer rests on. Numbers: drift §8."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_replies import asked_in, task_of
from sensegraph.answering.asking import NOTHING
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.settings import FIXED
from sensegraph.errors import NotIndexed, SettingsError, StepFailed, UnsupportedTask
from sensegraph.index.index import Index
from sensegraph.language.text import count_tokens
from sensegraph.methods.graphrag.drift import Drift, nearest_reports, report_vectors
from sensegraph.questions import Scope
from sensegraph.runtime.runtime import Runtime
from sensegraph.testing import SAMPLE, MethodContract, check_citations
from sensegraph.types import Document, Question, Turn
from served import ServedContract
from wired import corpus, finished_corpus, stories

ASKED = "Who wrote to whom, and who paid?"
QUESTION = Question(ASKED)
KEPT: Any = {"keep_bodies": True, "dim": 1024}  # so many dimensions keep the questions apart
Body = dict[str, Any]


class TestDriftContract(ServedContract):
    def make(self) -> Drift:
        return Drift()


class TestDriftContractOffline(MethodContract):
    def make(self) -> Drift:
        return Drift()

    def build(self, folder: Path) -> tuple[Runtime, Index]:
        made = Corpus.open(folder, settings={"engine": "offline"})
        made.add(*SAMPLE)
        made.build()
        return made.runtime(), made.index()


@pytest.fixture
def asked(tmp_path: Path, server: ScriptedServer) -> Iterator[Corpus]:
    """A finished corpus of its own, so that calls can be counted."""
    server.script = Script(**KEPT)
    with finished_corpus(tmp_path, server, stories(8)) as made:
        server.reset()
        yield made


def user(body: Body) -> str:
    return asked_in(body)


def question_of(body: Body) -> str:
    """The question that a request asks."""
    return user(body).partition("\n")[0].removeprefix("Question: ")


def prompts(server: ScriptedServer, task: str) -> list[str]:
    return [user(c.body) for c in server.done(task)]


def follow_ups(server: ScriptedServer) -> list[str]:
    """The follow-up questions that were asked, in order."""
    return sorted(question_of(c.body) for c in server.done("lead") if question_of(c.body) != ASKED)


def leads(said: Mapping[str, tuple[int, Sequence[str]]]) -> Callable[[Body], str | None]:
    """Replies with these scores and follow-ups by question; questions not named lead nowhere."""

    def reply(body: Body) -> str | None:
        if task_of(body) != "lead":
            return None
        score, more = said.get(question_of(body), (10, ()))
        text = f"On {question_of(body)} [Data: {'Reports' if '# Reports' in user(body) else 'Sources'} (1)]."
        return json.dumps({"answer": text, "score": score, "follow_ups": list(more)})

    return reply


def script(server: ScriptedServer, said: Mapping[str, tuple[int, Sequence[str]]]) -> None:
    server.script = Script(**KEPT, reply=leads(said))


def search(made: Corpus, **settings: Any) -> Any:
    return Drift(**settings).actions(QUESTION, made.index(), made.runtime())


# ── the search ──


def test_reports_then_follow_up_questions_then_one_answer(asked: Corpus, server: ScriptedServer) -> None:
    answer = asked.query(ASKED, method="drift")
    check_citations(answer, {d.id: d.text for d in stories(8)})
    assert len(server.done("refinement")) == len(server.done("answer")) == 1
    primed = [p for p in prompts(server, "lead") if p.startswith(f"Question: {ASKED}\n")]
    assert len(primed) == 5
    assert all("# Reports" in p and "# Sources" not in p for p in primed)
    assert len(follow_ups(server)) == 15
    assert "# Points" in prompts(server, "answer")[0]
    assert {p.kind for p in answer.evidence.passages} == {"point"}


def test_1_equal_corpora_give_equal_actions_and_answers(asked: Corpus, server: ScriptedServer, tmp_path: Path) -> None:
    first, answer = search(asked), asked.query(ASKED, method="drift")
    with corpus(tmp_path / "other", server) as other:
        other.add(stories(8))
        other.build()
        assert search(other) == first
        again = other.query(ASKED, method="drift")
    assert (again.text, again.citations, again.evidence) == (answer.text, answer.citations, answer.evidence)


def test_2_a_local_search_shows_entities_and_relations(asked: Corpus, server: ScriptedServer) -> None:
    search(asked)
    local = [p for p in prompts(server, "lead") if f"About: {ASKED}" in p]
    assert len(local) == 15
    assert all("# Entities" in p and "# Relationships" in p and "# Sources" in p for p in local)


@pytest.mark.parametrize("most", [7, 8, 11, 40, 0])
def test_3_no_more_calls_than_allowed_and_as_many_as_said(asked: Corpus, server: ScriptedServer, most: int) -> None:
    answer = asked.query(ASKED, method="drift", max_calls=most)
    calls = [c for c in server.done() if c.task != "embedding"]
    assert len(calls) == answer.usage.calls == min(most or 22, 22)
    (said,) = [n for n in answer.notes if "the engine was asked" in n]
    assert f"asked {len(calls)} times, {f'at most {most}' if most else 'without a bound'}" in said
    assert f"{len(server.done('lead'))} × ask" in said


def test_3_the_worst_case_of_the_reference_implementation_is_67_calls(asked: Corpus, server: ScriptedServer) -> None:
    def reply(body: Body) -> str | None:
        if task_of(body) != "lead":
            return None
        mark = hashlib.sha256(user(body).encode()).hexdigest()
        more = [f"What of Ada Harrow in {mark[i : i + 8]}?" for i in range(0, 56, 8)]
        return json.dumps({"answer": f"So it is {'and so it goes ' * 100}", "score": 50, "follow_ups": more})

    server.script = Script(**KEPT, reply=reply)
    answer = asked.query(ASKED, method="drift", width=20, max_calls=0)
    assert answer.usage.calls == 67
    # 4: sixty long answers, and the last context is still bounded
    table = prompts(server, "answer")[0].partition("# Points")[2]
    assert 7_000 < count_tokens(table) <= 8_000
    assert answer.evidence.omitted > 30


def test_6_the_prompt_of_the_settings_is_the_one_that_is_sent(tmp_path: Path, server: ScriptedServer) -> None:
    server.script = Script(**KEPT)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "answer.md").write_text('Write in verse. Reply with {"answer": "…"}.', encoding="utf-8")
    with corpus(tmp_path, server, model={"prompts": "own"}) as made:
        made.add(stories(3))
        made.build()
        server.reset()
        made.query(ASKED, method="drift")
    (last,) = server.done("answer")
    assert last.body["messages"][0]["content"].startswith("Write in verse.")


def test_7_a_question_of_two_parents_is_asked_once(asked: Corpus, server: ScriptedServer) -> None:
    shared = "Where is Ada Harrow?"
    script(
        server,
        {
            ASKED: (80, ["Who is Bram?", "Who is Cora?"]),
            "Who is Bram?": (60, [shared]),
            "Who is Cora?": (70, [f" {shared.upper()} "]),
        },
    )
    found = {a.question: a for a in search(asked)}
    assert follow_ups(server) == sorted(["Who is Bram?", "Who is Cora?", next(q for q in found if "ADA" in q.upper())])
    (one,) = [a for q, a in found.items() if "ADA" in q.upper()]
    assert set(one.parents) == {found["Who is Bram?"].id, found["Who is Cora?"].id}
    assert (one.depth, one.priority, one.status) == (2, 70, "done")


def test_8_a_follow_up_that_fails_does_not_end_the_search(asked: Corpus, server: ScriptedServer) -> None:
    told = leads({ASKED: (80, ["Who is Bram?", "Who is Cora?"]), "Who is Cora?": (70, ["Who is Dirk?"])})
    server.script = Script(**KEPT, reply=lambda b: "I cannot." if question_of(b) == "Who is Bram?" else told(b))
    found = {a.question: a for a in search(asked)}
    assert {q: a.status for q, a in found.items()} == {
        ASKED: "done", "Who is Bram?": "failed", "Who is Cora?": "done", "Who is Dirk?": "done",
    }  # fmt: skip
    assert found["Who is Bram?"].score is None
    assert follow_ups(server).count("Who is Bram?") == 1 + 1  # once, and once more for a better reply
    answer = asked.query(ASKED, method="drift")
    assert answer.citations
    assert any("failed and were not asked again: 1 (ItemFailed: ask" in n for n in answer.notes)


def test_a_primer_that_fails_in_part_goes_on_and_one_that_fails_whole_is_an_error(
    asked: Corpus, server: ScriptedServer
) -> None:
    whole = leads({ASKED: (80, ["Who is Bram?"])})
    bad: list[str] = []

    def reply(body: Body) -> str | None:
        first = user(body).partition("# Reports")[2]
        if task_of(body) == "lead" and question_of(body) == ASKED and (not bad or first in bad):
            bad.append(first)
            return "I cannot."
        return whole(body)

    server.script = Script(**KEPT, reply=reply)
    assert [a.status for a in search(asked)] == ["done", "done"]
    server.script = Script(**KEPT, reply=lambda body: "I cannot." if task_of(body) == "lead" else None)
    with pytest.raises(StepFailed, match="primer: 4 of 4 items failed"):
        search(asked, primer_folds=4)


# ── the order of the questions ──


def test_the_most_urgent_questions_are_asked_first(asked: Corpus, server: ScriptedServer) -> None:
    script(
        server,
        {
            ASKED: (50, ["Who is Bram?", "Who is Cora?", "Who is Dirk?"]),
            "Who is Bram?": (90, ["Who is Elsa?"]),
            "Who is Cora?": (30, ["Who is Finn?"]),
            "Who is Dirk?": (20, ["Who is Gwen?"]),
        },
    )
    found = {a.question: a for a in search(asked, width=3, rounds=1)}
    assert {q: a.priority for q, a in found.items() if a.depth == 2} == {
        "Who is Elsa?": 90, "Who is Finn?": 30, "Who is Gwen?": 20,
    }  # fmt: skip
    server.reset()
    search(asked, width=3, rounds=2)
    assert follow_ups(server) == ["Who is Elsa?", "Who is Finn?", "Who is Gwen?"]
    asked.query(ASKED, method="drift", width=3, rounds=2)
    table = prompts(server, "answer")[0].partition("# Points")[2]
    assert [int(n) for n in re.findall(r"^\d+,(\d+),", table, re.MULTILINE)] == [50, 45, 15, 10, 4, 2, 1]


def test_follow_ups_of_one_round_are_those_with_the_highest_priority(asked: Corpus, server: ScriptedServer) -> None:
    more = ["Who is Elsa?", "Who is Finn?"]
    script(
        server,
        {
            ASKED: (50, ["Who is Bram?", "Who is Cora?", "Who is Dirk?"]),
            "Who is Bram?": (90, more),
            "Who is Cora?": (90, more),
            "Who is Dirk?": (90, more),
        },
    )
    found = search(asked, width=1, rounds=3)
    done = [a for a in found if a.status == "done"][1:]
    assert len(done) == 3
    assert len([a for a in done if a.depth == 2]) == 2  # their priority, 90, is above that of the others, 50


@pytest.mark.parametrize("more", [[], [ASKED, f"  {ASKED.lower()} "]])
def test_without_new_questions_the_answer_is_that_of_the_primer(
    asked: Corpus, server: ScriptedServer, more: list[str]
) -> None:
    script(server, {ASKED: (80, more)})
    answer = asked.query(ASKED, method="drift")
    assert follow_ups(server) == []
    assert [p.title for p in answer.evidence.passages] == [ASKED]
    assert answer.text
    assert answer.usage.calls == 7
    assert [a.parents for a in search(asked)] == [()]


def test_the_search_stops_when_a_round_does_not_help_enough(asked: Corpus, server: ScriptedServer) -> None:
    script(server, {ASKED: (80, ["Who is Bram?"]), "Who is Bram?": (40, ["Who is Cora?"])})
    answer = asked.query(ASKED, method="drift", stop_score=50.0)
    assert follow_ups(server) == ["Who is Bram?"]
    assert any("round 1 is below stop_score (50)" in n for n in answer.notes)


def test_when_nothing_helps_there_is_no_last_call(asked: Corpus, server: ScriptedServer) -> None:
    script(server, {ASKED: (0, ["Who is Bram?"]), "Who is Bram?": (0, [])})
    answer = asked.query(ASKED, method="drift")
    assert (answer.text, answer.citations) == (NOTHING, ())
    assert server.done("answer") == []
    assert any("asked 7 times" in n for n in answer.notes)


def test_a_question_in_another_language_is_asked_as_it_is(asked: Corpus, server: ScriptedServer) -> None:
    script(server, {ASKED: (80, ["Wem schrieb Ada Harrow?", "给 Ada 写信的是谁？"])})
    search(asked)
    assert follow_ups(server) == ["Wem schrieb Ada Harrow?", "给 Ada 写信的是谁？"]


# ── the primer ──


def test_the_primer_reads_the_nearest_reports_dealt_out_by_rank(asked: Corpus, server: ScriptedServer) -> None:
    script(server, {})
    search(asked, hyde="off", primer_reports=7, primer_folds=3, depth=9)
    folds = [p.partition("# Reports")[2] for p in prompts(server, "lead")]
    index, rt = asked.index(), asked.runtime()
    near = nearest_reports(rt.embedder.embed([ASKED], "query")[0], report_vectors(9, index, rt, "drift"), 7, index)
    texts = [" ".join(c.text.split()).replace('"', '""') for c in near]
    assert sorted([i for i, t in enumerate(texts) if t in f] for f in folds) == [[0, 3, 6], [1, 4], [2, 5]]


def test_a_part_of_the_primer_that_found_nothing_is_left_out_of_the_first_answer(
    asked: Corpus, server: ScriptedServer
) -> None:
    scores = iter([0, 80, 0, 40, 0])

    def reply(body: Body) -> str | None:
        score = next(scores, 0)
        return json.dumps({"answer": f"Found {score}.", "score": score, "follow_ups": []})

    server.script = Script(**KEPT, reply=reply)
    (root,) = search(asked, hyde="off")
    assert (root.text, root.score) == ("Found 80.\n\nFound 40.", 24)


def test_no_report_is_read_beside_one_above_it(asked: Corpus, server: ScriptedServer) -> None:
    index, rt = asked.index(), asked.runtime()
    vectors = report_vectors(9, index, rt, "drift")
    assert len(vectors) == len(index.hierarchy.clusters)
    found = nearest_reports(rt.embedder.embed([ASKED], "query")[0], vectors, 100, index)
    read = [e for c in found for e in c.entities]
    assert len(read) == len(set(read)) > 0
    assert len({c.depth for c in found}) > 1
    scores = dict(
        zip((c.id for c in index.hierarchy.clusters), vectors @ rt.embedder.embed([ASKED], "query")[0], strict=True)
    )
    assert [scores[c.id] for c in found] == sorted((scores[c.id] for c in found), reverse=True)
    assert max(c.depth for c in nearest_reports(vectors[0], report_vectors(0, index, rt, "drift"), 100, index)) == 0


def test_an_answer_is_imagined_from_an_example_that_the_seed_draws(asked: Corpus, server: ScriptedServer) -> None:
    shown = set()
    for seed in range(6):
        search(asked, seed=seed, rounds=0)
    for prompt in prompts(server, "refinement"):
        shown.add(prompt.partition("Example report:")[2])
    assert len(shown) > 2
    server.reset()
    search(asked, hyde="off", rounds=0)
    assert server.done("refinement") == []


def test_what_cannot_be_imagined_is_said_and_the_question_is_sought_by_itself(
    asked: Corpus, server: ScriptedServer
) -> None:
    plain = asked.search(ASKED, method="drift", hyde="off", top=99)
    server.script = Script(**KEPT, reply=lambda b: "no" if task_of(b) == "refinement" else None)
    found = asked.search(ASKED, method="drift", top=99)
    assert found.passages == plain.passages
    assert any("no answer could be imagined" in n for n in found.notes)


def test_earlier_questions_count_when_reports_are_sought(asked: Corpus, server: ScriptedServer) -> None:
    talk = replace(QUESTION, history=(Turn("Tell me of Olga Millar.", "She paid."),))
    Drift(hyde="off", rounds=0).actions(talk, asked.index(), asked.runtime())
    sent = [t for c in server.done("embedding") for t in c.body["input"]]
    assert any(ASKED in t and "Olga Millar" in t for t in sent)
    assert all("She paid." in p for p in prompts(server, "lead"))


def test_an_index_without_reports_names_what_is_missing(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["graph"]}}) as made:
        made.add(stories(3))
        made.build()
        with pytest.raises(NotIndexed, match="without its part 'reports'"):
            made.query(ASKED, method="drift")


def test_a_filter_that_leaves_no_report_is_said(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as made:
        made.add(*stories(3), Document("bare", "it is so. and then it was not."))
        made.build()
        with pytest.raises(NotIndexed, match="this index has none"):
            made.query(ASKED, method="drift", scope=Scope(documents=("bare",)))


# ── what users see ──


def test_asking_again_calls_no_model(asked: Corpus, server: ScriptedServer) -> None:
    first = asked.query(ASKED, method="drift")
    again = asked.query(ASKED, method="drift")
    assert (again.text, again.citations, again.usage.calls) == (first.text, first.citations, 0)
    found = search(asked)
    assert [c for c in server.done() if c.task != "embedding"][first.usage.calls :] == []
    assert {p.title for p in first.evidence.passages} <= {a.question for a in found}


def test_actions_form_a_graph_from_the_question_down(asked: Corpus) -> None:
    found = search(asked)
    by_id = {a.id: a for a in found}
    root, *others = found
    assert (root.question, root.depth, root.parents, root.status) == (ASKED, 0, (), "done")
    assert all(a.parents and by_id[a.parents[0]].depth == a.depth - 1 for a in others)
    assert all((a.status == "done") == (a.score is not None) == bool(a.evidence) == bool(a.tokens) for a in found)
    assert {a.status for a in found} == {"done", "open"}


def test_progress_is_told_every_round(asked: Corpus) -> None:
    told: list[tuple[str, int, int]] = []
    rt = replace(asked.runtime(), progress=lambda *step: told.append(step))
    Drift(rounds=2).retrieve(QUESTION, asked.index(), rt)
    assert [step for step in told if step[0] == "drift"] == [("drift", n, 3) for n in range(4)]


def test_only_the_last_call_is_told_while_it_is_written(asked: Corpus) -> None:
    pieces: list[str] = []
    answer = asked.query(ASKED, method="drift", hear=pieces.append)
    assert "".join(pieces) == answer.text
    assert answer.usage.calls == 22


def test_documents_are_ranked_by_what_the_best_answers_cite_then_by_what_they_read(
    asked: Corpus, server: ScriptedServer
) -> None:
    def reply(body: Body) -> str | None:
        if task_of(body) != "lead":
            return None
        local = re.findall(r"^(\d+),Story [^5],", user(body), re.MULTILINE)  # of story 5 is what is read first
        text = f"So it is [Data: Sources ({local[-1]})]." if local else "Reports say little."
        return json.dumps({"answer": text, "score": 60, "follow_ups": ["What did Ada Harrow do?"]})

    server.script = Script(**KEPT, reply=reply)
    found = asked.search(ASKED, method="drift", top=99)
    root, action = search(asked)
    assert [len(p.quotes) for p in found.passages] == [0, 1]
    (cited,) = asked.index().documents_of([found.passages[1].quotes[0].source.chunk]).values()
    assert cited not in (root.documents[0], action.documents[0])
    assert found.documents == tuple(dict.fromkeys([cited, *root.documents, *action.documents]))


def test_an_answer_longer_than_the_last_context_loses_its_end(asked: Corpus, server: ScriptedServer) -> None:
    long = " ".join(f"Sentence {i} says so [Data: Reports (1)]." for i in range(60))
    server.script = Script(
        **KEPT,
        reply=lambda b: json.dumps({"answer": long, "score": 9, "follow_ups": []}) if task_of(b) == "lead" else None,
    )
    found = asked.search(ASKED, method="drift", reduce_tokens=100)
    (only,) = found.passages
    assert "Sentence 0" in only.text
    assert "Sentence 59" not in only.text
    assert 50 < found.tokens <= 100
    assert any("longer than reduce_tokens (100): 1" in n for n in found.notes)


def test_reports_without_room_are_counted(asked: Corpus) -> None:
    found = asked.search(ASKED, method="drift", context_tokens=400, rounds=0)
    assert any("room in context_tokens (400): " in n for n in found.notes)


# ── settings ──

OTHER: dict[str, Any] = {
    "primer_reports": 3,
    "primer_folds": 2,
    "rounds": 1,
    "width": 2,
    "depth": 0,
    "hyde": "off",
    "context_tokens": 1_000,
    "text": 0.89,
    "reports": 0.4,
    "top_entities": 2,
    "top_relations": 0,
    "same_question": 0.3,
    "stop_score": 100.0,
    "reduce_tokens": 200,
    "max_calls": 9,
    "seed": 3,
}


def test_5_every_setting_is_tried() -> None:
    assert OTHER.keys() == {f.name for f in fields(Drift)} - set(FIXED)


@pytest.fixture(scope="module")
def plain(built: Corpus) -> tuple[Any, Any]:
    """What a search finds with the defaults, but for a context that is too small for all."""
    return _observed(built)


def _observed(made: Corpus, **settings: Any) -> tuple[Any, Any]:
    drift, index, rt = Drift(**{"context_tokens": 2_000} | settings), made.index(), made.runtime()
    found = drift.retrieve(QUESTION, index, rt)
    return drift.actions(QUESTION, index, rt), (found.passages, found.omitted)


@pytest.mark.parametrize("name", OTHER)
def test_5_every_setting_changes_what_is_found(built: Corpus, plain: tuple[Any, Any], name: str) -> None:
    assert _observed(built, **{name: OTHER[name]}) != plain


@pytest.mark.parametrize(
    "bad",
    [
        {"text": 0.9, "reports": 0.1},  # D5: the shares of the reference implementation
        {"max_calls": 5},
        {"max_calls": 6, "hyde": "on"},
        {"primer_reports": 0},
        {"primer_folds": 0},
        {"width": 0},
        {"rounds": -1},
        {"depth": -1},
        {"reduce_tokens": 0},
        {"same_question": 0.0},
        {"stop_score": 101.0},
    ],
)
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(bad))):
        Drift(**bad)


def test_too_few_calls_are_refused_before_the_first(asked: Corpus, server: ScriptedServer) -> None:
    with pytest.raises(SettingsError, match=r"max_calls \(6\) must be at least 7: 1 to imagine"):
        search(asked, max_calls=6)  # enough for folds and answer, not for the imagined answer that a model is asked for
    assert server.calls == []


def test_an_engine_without_the_tasks_is_refused_before_any_call(asked: Corpus, server: ScriptedServer) -> None:
    rt = asked.runtime()
    rt.engine.tasks = frozenset({"ask", "answer"})  # type: ignore[misc]
    with pytest.raises(UnsupportedTask, match="refine"):
        Drift().actions(QUESTION, asked.index(), rt)
    assert server.calls == []


# ── offline ──


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with Corpus.open(tmp_path_factory.mktemp("offline"), settings={"engine": "offline"}) as made:
        made.add(stories(8))
        made.build()
        yield made


def test_offline_the_same_search_runs_without_an_imagined_answer(offline: Corpus) -> None:
    answer = offline.query("What did Ada Harrow do?", method="drift")
    check_citations(answer, {d.id: d.text for d in stories(8)})
    assert any("× ask, 1 × answer" in n and "refine" not in n for n in answer.notes)
    found = Drift().actions(Question("What did Ada Harrow do?"), offline.index(), offline.runtime())
    done = [a for a in found if a.status == "done"]
    assert max(a.depth for a in done) >= 2
    assert any("related" in a.question for a in found)
    assert all(s.sources for a in done for s in a.answer)
