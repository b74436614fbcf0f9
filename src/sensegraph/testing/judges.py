"""What every engine that judges keeps."""

from __future__ import annotations

from dataclasses import replace

from sensegraph.protocols import LanguageEngine
from sensegraph.testing.paper_tasks import able_engine
from sensegraph.testing.samples import QUESTION, SAMPLE
from sensegraph.trials import Check, Excerpt, Trial, Wish

_TRIAL = Trial(QUESTION, "directness", "How plainly is it said?", ("Ada Finch.", SAMPLE[0].text))


class JudgeContract:
    """What an engine keeps of the tasks of `lab.tasks.JudgingEngine`; those that it lacks are not asked for."""

    def make(self) -> LanguageEngine:
        """The engine under test."""
        raise NotImplementedError

    def test_a_verdict_names_a_place_or_none(self) -> None:
        """A winner is 1, 2, 0 for a tie, or None; 0 only where ties are allowed, and None with a reason."""
        engine = able_engine(self.make(), "judge")
        if engine is None:
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
        engine = able_engine(self.make(), "score")
        if engine is None:
            return
        for low, high in ((1, 10), (0, 1)):
            (found,) = engine.score([replace(_TRIAL, answers=_TRIAL.answers[:1], low=low, high=high)])
            assert found.winner is None
            assert len(found.scores) <= 1
            assert all(low <= s <= high for s in found.scores)
            assert found.scores or found.reason

    def test_a_contrast_tells_something_of_two_answers(self) -> None:
        """Statements are not empty; of equal answers neither says anything alone."""
        engine = able_engine(self.make(), "contrast")
        if engine is None:
            return
        told, same = engine.contrast([_TRIAL, replace(_TRIAL, answers=_TRIAL.answers[:1] * 2)])
        assert all(s.strip() for s in (*told.common, *told.first, *told.second))
        assert (*same.first, *same.second) == ()

    def test_lines_are_new_and_no_more_than_asked_for(self) -> None:
        """At most `count` lines, none twice, none known, none empty."""
        engine = able_engine(self.make(), "propose")
        if engine is None:
            return
        wish = Wish("question", 2, "Letters of a harbour town", "A teacher who reads them.", "Finding out who wrote.")
        (first,) = engine.propose([wish])
        (second,) = engine.propose([replace(wish, known=first)])
        assert max(len(first), len(second)) <= wish.count
        assert len({*first, *second}) == len(first) + len(second)
        assert all(line.strip() for line in (*first, *second))

    def test_a_stage_keeps_one_sentence_or_none_and_claims_are_not_repeated(self) -> None:
        """Selection and disambiguation give at most one sentence; decomposition no claim twice."""
        engine = able_engine(self.make(), "claim")
        if engine is None:
            return
        excerpt = Excerpt("select", QUESTION, "Ada Finch keeps the lighthouse of Skerry Point.")
        kept, clear, claims = engine.claim(
            [excerpt, replace(excerpt, stage="disambiguate"), replace(excerpt, stage="decompose")]
        )
        assert max(len(kept), len(clear)) <= 1
        assert len(set(claims)) == len(claims)
        assert all(text.strip() for text in (*kept, *clear, *claims))

    def test_a_statement_without_a_text_is_not_borne_out(self) -> None:
        """Nothing bears nothing; other verdicts are true, false, or None with a reason."""
        engine = able_engine(self.make(), "support")
        if engine is None:
            return
        found, nothing = engine.support([Check("Ada Finch keeps it.", (SAMPLE[0].text,)), Check("She does.", ())])
        assert found.holds in (True, False, None)
        assert found.reason or found.holds is not None
        assert nothing.holds is not True
