"""What every engine keeps that has tasks which single papers ask for: `sensegraph.methods.*.tasks` declare them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sensegraph.protocols import LanguageEngine, Task
from sensegraph.testing.samples import QUESTION, SAMPLE, sample_brief, sample_context, sample_link
from sensegraph.types import Brief, Inquiry, Statement


class PaperTasksContract:
    """What an engine keeps of the tasks that one paper asks for; those that it lacks are not asked for."""

    def make(self) -> LanguageEngine:
        """The engine under test."""
        raise NotImplementedError

    def test_a_group_has_a_name_and_is_told_of_only_what_was_given(self) -> None:
        """A reference is the id of a passage of the brief; a name is not empty, nor is what is said."""
        brief = sample_brief()
        if (engine := able_engine(self.make(), "aggregate")) is not None:
            (report,) = engine.aggregate([brief])
            assert report.title.strip()
            assert _word_count(report.summary)
            assert all(f.summary.strip() for f in report.findings)
            assert _all_known([*report.summary, *(s for f in report.findings for s in f.statements)], brief)
            assert engine.aggregate([]) == []

    def test_every_member_is_in_a_summary_entity(self) -> None:
        """Summary entities have names; they hold members of the brief alone, with strengths of 0–10."""
        brief = sample_brief()
        if (engine := able_engine(self.make(), "abstract")) is not None:
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
        relating, condensing = able_engine(self.make(), "relate"), able_engine(self.make(), "condense")
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
        if (engine := able_engine(self.make(), "grade")) is not None:
            assert engine.grade([Inquiry(QUESTION, sample_context(), len(SAMPLE))])[0] in range(6)


def able_engine(engine: LanguageEngine, task: Task) -> Any:
    """The engine, where it has the task, else None; what a paper or the lab asks of it, no shared protocol says."""
    return engine if task in engine.tasks else None


def _word_count(statements: Sequence[Statement]) -> int:
    """The words of statements."""
    return len("".join(s.text for s in statements).split())


def _all_known(statements: Sequence[Statement], brief: Brief) -> bool:
    """Whether statements refer to passages of the brief alone."""
    return {name for s in statements for name in s.references} <= {p.id for p in brief.context.passages}
