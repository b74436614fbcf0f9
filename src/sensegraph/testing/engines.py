"""What engines keep: the tasks that all share, those that single papers ask for, and those of judging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sensegraph.protocols import LanguageEngine, StreamingEngine, Task
from sensegraph.testing.samples import (
    QUESTION,
    SAMPLE,
    sample_brief,
    sample_chunks,
    sample_context,
    sample_inquiry,
    sample_link,
)
from sensegraph.trials import Check, Excerpt, Trial, Wish
from sensegraph.types import Brief, Statement, Usage


class _TasksContract:
    def make(self) -> LanguageEngine:
        """The engine under test."""
        raise NotImplementedError

    def able(self, task: Task) -> Any:
        """The engine, where it has the task, else None; what a paper or the lab asks of it no shared protocol says."""
        engine = self.make()
        return engine if task in engine.tasks else None


class PaperTasksContract(_TasksContract):
    """What an engine keeps of the tasks that one paper asks for; those that it lacks are not asked for."""

    def test_a_group_has_a_name_and_is_told_of_only_what_was_given(self) -> None:
        """A reference is the id of a passage of the brief; a name is not empty, nor is what is said."""
        brief = sample_brief()
        if (engine := self.able("aggregate")) is not None:
            (report,) = engine.aggregate([brief])
            assert report.title.strip()
            assert _word_count(report.summary)
            assert all(f.summary.strip() for f in report.findings)
            assert _all_known([*report.summary, *(s for f in report.findings for s in f.statements)], brief)
            assert engine.aggregate([]) == []

    def test_every_member_is_in_a_summary_entity(self) -> None:
        """Summary entities have names; they hold members of the brief alone, with strengths of 0–10."""
        brief = sample_brief()
        if (engine := self.able("abstract")) is not None:
            (found,) = engine.abstract([brief])
            members = {p.id for p in brief.context.passages if p.kind == "entity"}
            assert {m.id for e in found for m in e.members} == members
            assert all(0 <= m.strength <= 10 for e in found for m in e.members)
            assert all(
                e.name.strip() and _word_count(e.description) and _all_known(e.description, brief) for e in found
            )
            assert engine.abstract([]) == []

    def test_what_is_asked_for_in_so_many_words_has_no_more(self) -> None:
        """Links between groups and condensed texts say something, within the words of the brief."""
        relating, condensing = self.able("relate"), self.able("condense")
        for words in (12, 40):
            link, text = sample_link(words), Brief(sample_context(), words)
            if relating is not None:
                (said,) = relating.relate([link])
                assert 0 < _word_count(said) <= words
                assert _all_known(said, link)
            if condensing is not None:
                (said,) = condensing.condense([text])
                assert 0 < _word_count(said) <= words
                assert _all_known(said, text)

    def test_a_grade_is_a_number_from_0_to_5(self) -> None:
        """One grade for each inquiry."""
        if (engine := self.able("grade")) is not None:
            assert engine.grade([sample_inquiry()])[0] in range(6)


def _word_count(statements: Sequence[Statement]) -> int:
    """The words of statements."""
    return len("".join(s.text for s in statements).split())


def _all_known(statements: Sequence[Statement], brief: Brief) -> bool:
    """Whether statements refer to passages of the brief alone."""
    return {name for s in statements for name in s.references} <= {p.id for p in brief.context.passages}


_TRIAL = Trial(QUESTION, "directness", "How plainly is it said?", ("Ada Finch.", SAMPLE[0].text))


class JudgeContract(_TasksContract):
    """What an engine keeps of the tasks of `lab.tasks.JudgingEngine`; those that it lacks are not asked for."""

    def test_a_verdict_names_a_place_or_none(self) -> None:
        """A winner is 1, 2, 0 for a tie, or None; 0 only where ties are allowed, and None with a reason."""
        if (engine := self.able("judge")) is None:
            return
        trials = [_TRIAL, replace(_TRIAL, answers=_TRIAL.answers[::-1]), replace(_TRIAL, tie=False)]
        found = engine.judge(trials)
        assert len(found) == len(trials)
        assert all(v.winner in (None, 0, 1, 2) for v in found)
        assert found[2].winner != 0
        assert all(v.reason for v in found if v.winner is None)
        assert engine.judge([]) == []

    def test_a_score_lies_on_its_scale(self) -> None:
        """One score from `low` to `high`, or none with a reason, and no winner."""
        if (engine := self.able("score")) is None:
            return
        for low, high in ((1, 10), (0, 1)):
            (found,) = engine.score([replace(_TRIAL, answers=_TRIAL.answers[:1], low=low, high=high)])
            assert found.winner is None
            assert len(found.scores) <= 1
            assert all(low <= s <= high for s in found.scores)
            assert found.scores or found.reason

    def test_a_contrast_tells_something_of_two_answers(self) -> None:
        """Statements are not empty; of equal answers neither says anything alone."""
        if (engine := self.able("contrast")) is None:
            return
        told, same = engine.contrast([_TRIAL, replace(_TRIAL, answers=_TRIAL.answers[:1] * 2)])
        assert all(s.strip() for s in (*told.common, *told.first, *told.second))
        assert (*same.first, *same.second) == ()

    def test_lines_are_new_and_no_more_than_asked_for(self) -> None:
        """At most `count` lines, none twice, none known, none empty."""
        if (engine := self.able("propose")) is None:
            return
        wish = Wish("question", 2, "Letters of a harbour town", "A teacher who reads them.", "Finding out who wrote.")
        (first,) = engine.propose([wish])
        (second,) = engine.propose([replace(wish, known=first)])
        assert max(len(first), len(second)) <= wish.count
        assert len({*first, *second}) == len(first) + len(second)
        assert all(line.strip() for line in (*first, *second))

    def test_a_stage_keeps_one_sentence_or_none_and_claims_are_not_repeated(self) -> None:
        """Selection and disambiguation give at most one sentence; decomposition no claim twice."""
        if (engine := self.able("claim")) is None:
            return
        excerpt = Excerpt("select", QUESTION, "Ada Finch keeps the lighthouse of Skerry Point.")
        kept, clear, claims = engine.claim(
            [excerpt, replace(excerpt, stage="disambiguate"), replace(excerpt, stage="decompose")]
        )
        assert max(len(kept), len(clear)) <= 1
        assert kept or clear or claims
        assert len(set(claims)) == len(claims)
        assert all(text.strip() for text in (*kept, *clear, *claims))

    def test_a_statement_without_a_text_is_not_borne_out(self) -> None:
        """Nothing bears nothing; other verdicts are true, false, or None with a reason."""
        if (engine := self.able("support")) is None:
            return
        found, nothing = engine.support([Check("Ada Finch keeps it.", (SAMPLE[0].text,)), Check("She does.", ())])
        assert found.holds in (True, False, None)
        assert found.reason or found.holds is not None
        assert nothing.holds is not True


_BY = {"survey": "observe"}  # the methods that do tasks of other names


class EngineContract(PaperTasksContract, JudgeContract):
    """What every language engine keeps. Override `make`, and `make_other`: the same with another model or rule."""

    def make_other(self) -> LanguageEngine | None:
        """An engine whose results differ in some task, or None where there is none."""
        return None

    def test_an_engine_satisfies_the_protocol(self) -> None:
        """Names, batch and flags are there and of the right kind, and a method for every task."""
        engine = self.make()
        assert isinstance(engine, LanguageEngine)
        assert engine.name
        assert engine.batch >= 1
        assert [task for task in sorted(engine.tasks) if not callable(getattr(engine, _BY.get(task, task), None))] == []

    def test_fingerprints_are_stable_and_one_for_each_task(self) -> None:
        """Two engines made alike have equal fingerprints; two tasks have different ones."""
        one, other = self.make(), self.make()
        prints = {task: one.fingerprint(task) for task in sorted(one.tasks)}
        assert prints
        assert prints == {task: other.fingerprint(task) for task in sorted(other.tasks)}
        assert len(set(prints.values())) == len(prints)

    def test_another_engine_has_another_fingerprint(self) -> None:
        """What can change a result changes the fingerprint."""
        engine, other = self.make(), self.make_other()
        if other is not None:
            assert any(engine.fingerprint(t) != other.fingerprint(t) for t in sorted(engine.tasks & other.tasks))

    def test_results_have_the_length_and_order_of_the_items(self) -> None:
        """Each result belongs to its own item, whatever stands beside it in the batch."""
        engine, chunks = self.make(), sample_chunks()
        alone = [engine.extract([c])[0] for c in chunks]
        assert engine.extract(chunks) == alone
        assert engine.extract(chunks[::-1]) == alone[::-1]
        assert engine.extract([]) == []

    def test_what_is_extracted_has_names_and_spans_inside_the_chunk(self) -> None:
        """Names are not empty; a mention is the text at its span; ends of relations differ."""
        engine, chunks = self.make(), sample_chunks()
        extracted = engine.extract(chunks)
        assert any(found.entities for found in extracted)
        for chunk, found in zip(chunks, extracted, strict=True):
            assert all(e.name.strip() for e in found.entities)
            assert all(r.source.strip() and r.target.strip() for r in found.relations)
            spans: list[Any] = [*found.entities, *found.relations, *found.claims]
            assert all(0 <= s.start <= s.end <= len(chunk.text) for s in spans)
            assert all(m.surface == chunk.text[m.start : m.end] for e in found.entities for m in e.mentions)

    def test_reports_points_and_answers_refer_only_to_what_they_were_given(self) -> None:
        """A reference is the id of a passage of the context; ratings are 0–10, scores 0–100."""
        engine, inquiry = self.make(), sample_inquiry()
        known, said = {p.id for p in inquiry.context.passages}, []
        if "report" in engine.tasks:
            (report,) = engine.report([inquiry.context])
            assert 0 <= report.rating <= 10
            said += [*report.summary, *(s for f in report.findings for s in f.statements)]
        if "rate" in engine.tasks:
            (points,) = engine.rate([inquiry])
            assert all(0 <= p.score <= 100 for p in points)
            said += [s for p in points for s in p.statements]
        if "answer" in engine.tasks:
            (draft,) = engine.answer([inquiry])
            said += draft.statements
        assert {name for s in said for name in s.references} <= known

    def test_names_that_are_one_thing_are_sets_of_what_was_given(self) -> None:
        """The sets hold ids of the brief, two or more each, and no id twice; one entity alone is no set."""
        brief = sample_brief()
        if (engine := self.able("resolve")) is not None:
            (sets,) = engine.resolve([brief])
            ids = [name for found in sets for name in found]
            assert len(ids) == len(set(ids))
            assert set(ids) <= {p.id for p in brief.context.passages}
            assert all(len(found) > 1 for found in sets)
            assert engine.resolve([]) == []

    def test_a_document_is_read_by_the_entries_of_its_own_terms(self) -> None:
        """Whether it is told these alone, or all entries; counts in another order teach the same."""
        if (engine := self.able("survey")) is None:
            return
        documents = [(chunk,) for chunk in sample_chunks()]
        seen, known = engine.observe(documents), dict[str, str]()
        assert engine.observe(documents[::-1]) == seen[::-1]
        told: list[dict[str, str]] = [{} for _ in seen]
        for look in range(engine.looks):
            counted = engine.count(list(zip(seen, told, strict=True)), look)
            assert engine.count([(one, known) for one in seen], look) == counted
            learned = engine.learn([count for _, count in counted], look, known)
            assert engine.learn([count for _, count in counted[::-1]], look, known) == learned
            known |= learned
            for one, (terms, _) in zip(told, counted, strict=True):
                one.update((term, known[term]) for term in terms if term in known)
        read = engine.read(list(zip(documents, seen, told, strict=True)))
        assert [len(found) for found in read] == [1] * len(documents)
        assert engine.read([(*pair, known) for pair in zip(documents, seen, strict=True)]) == read

    def test_leads_refinements_and_tests_have_their_ranges(self) -> None:
        """Scores are 0–100, verdicts true or false; references are ids of what was given."""
        engine, inquiry = self.make(), sample_inquiry()
        if "ask" in engine.tasks:
            (lead,) = engine.ask([inquiry])
            assert 0 <= lead.score <= 100
            assert {name for s in lead.statements for name in s.references} <= {p.id for p in inquiry.context.passages}
        if "refine" in engine.tasks:
            assert engine.refine([inquiry])[0].question.strip()
        if "test" in engine.tasks:
            assert engine.test([inquiry])[0] in (True, False)

    def test_what_is_told_while_it_is_written_is_what_would_be_answered(self) -> None:
        """Statements told, in order, are those of the draft, and the draft is that of `answer`."""
        engine, told = self.make(), list[Statement]()
        if isinstance(engine, StreamingEngine):
            draft = engine.stream(sample_inquiry(), told.append)
            assert tuple(told) == draft.statements == engine.answer([sample_inquiry()])[0].statements

    def test_an_engine_travels_to_another_process(self) -> None:
        """A copy by pickle does the same work."""
        import pickle

        engine = self.make()
        copy = pickle.loads(pickle.dumps(engine))
        assert engine.tasks
        assert [copy.fingerprint(t) for t in sorted(engine.tasks)] == [
            engine.fingerprint(t) for t in sorted(engine.tasks)
        ]

    def test_usage_never_falls(self) -> None:
        """Each figure of usage stays or rises with work."""
        engine = self.make()
        before = engine.usage()
        assert len(engine.extract(sample_chunks()[:1])) == 1
        spent = engine.usage() - before
        assert all(getattr(spent, name) >= 0 for name in Usage.__slots__)
