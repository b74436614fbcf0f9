"""The offline engine: the tasks of a language engine by classical language processing, with no model and no key.

It is no imitation of a model: it reads values, not prompts, shows sentences of the sources, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sensegraph import types
from sensegraph.errors import UnsupportedTask
from sensegraph.protocols import Task
from sensegraph.runtime.keys import key

_VERSION = 50  # raise when any result of this engine changes: it is part of every key
_VERSIONS: Mapping[Task, str] = MappingProxyType({})  # where results of one task alone changed


@dataclass(frozen=True, slots=True)
class ClassicalEngine:
    """A `SurveyingEngine` without a model. Deterministic; every sentence it shows has its span."""

    name: str = "offline"
    tasks: frozenset[Task] = frozenset({
        "survey", "extract", "summarise", "report", "aggregate", "relate", "abstract", "condense",
        "rate", "answer", "ask", "refine", "test", "grade",
    })  # fmt: skip
    batch: int = 32
    looks: int = 5  # at the corpus: see `corpus_reading`
    waits: bool = False
    quotes: bool = True
    named: tuple[tuple[str, str], ...] = ()  # names with their types, which win over what the engine finds
    chinese: str = "rules"  # or "jieba", which the extra `zh` brings

    def fingerprint(self, task: Task) -> str:
        """The version of this engine's rules, and for reading what the user set."""
        own = (self.named, self.chinese) if self.named or self.chinese != "rules" else ()
        own = own if task in ("survey", "extract") else ()
        return key("classical", _VERSIONS.get(task, _VERSION), task, *own)

    def observe(self, documents: Sequence[tuple[types.Chunk, ...]]) -> list[bytes]:
        """What each document shows by itself."""
        from sensegraph.engines.offline.extraction import corpus_reading

        return corpus_reading.observe_documents(documents, self.chinese)

    def count(self, items: Sequence[tuple[bytes, Mapping[str, str]]], look: int) -> list[tuple[Sequence[str], bytes]]:
        """What each document counts for a look, and the terms that it asks for."""
        from sensegraph.engines.offline.extraction import corpus_reading

        return corpus_reading.count_documents(items, look)

    def learn(self, counts: Iterable[bytes], look: int, known: Mapping[str, str]) -> Mapping[str, str]:
        """What the whole corpus shows, by term."""
        from sensegraph.engines.offline.extraction import corpus_reading

        return corpus_reading.learn_corpus(counts, look, known, dict(self.named))

    def read(
        self, items: Sequence[tuple[tuple[types.Chunk, ...], bytes, Mapping[str, str]]]
    ) -> list[tuple[types.Extraction, ...]]:
        """The extractions of each document, one per chunk."""
        from sensegraph.engines.offline.extraction import corpus_reading

        return corpus_reading.read_documents(items)

    def extract(self, chunks: Sequence[types.Chunk]) -> list[types.Extraction]:
        """Extractions of chunks that know nothing of one another: each is its own corpus."""
        from sensegraph.engines.offline.extraction import corpus_reading

        return [x for c in chunks for x in corpus_reading.read_together([(c,)], dict(self.named), self.chinese)[0]]

    def summarise(self, contexts: Sequence[types.Context]) -> list[str]:
        """One description from several, in the sources' words."""
        from sensegraph.engines.offline.reports import community_reports

        return community_reports.summarise_contexts(contexts)

    def report(self, contexts: Sequence[types.Context]) -> list[types.Report]:
        """Reports made of chosen sentences, each with its span."""
        from sensegraph.engines.offline.reports import community_reports

        return community_reports.report_communities(contexts)

    def aggregate(self, briefs: Sequence[types.Brief]) -> list[types.Report]:
        """Groups named after their most central members, described and supported by sentences with their spans."""
        from sensegraph.engines.offline.reports import group_reports

        return group_reports.aggregate_groups(briefs)

    def relate(self, briefs: Sequence[types.Brief]) -> list[tuple[types.Statement, ...]]:
        """How many relations link two groups, by which verbs, and the best sentence that says so."""
        from sensegraph.engines.offline.reports import group_reports

        return group_reports.relate_groups(briefs)

    def abstract(self, briefs: Sequence[types.Brief]) -> list[tuple[types.SummaryEntity, ...]]:
        """One summary entity for each group, with all its members."""
        from sensegraph.engines.offline.reports import group_reports

        return group_reports.abstract_groups(briefs)

    def condense(self, briefs: Sequence[types.Brief]) -> list[tuple[types.Statement, ...]]:
        """The most central sentences, whole, in the order of the text."""
        from sensegraph.engines.offline.reports import source_lines

        return source_lines.condense_texts(briefs)

    def rate(self, inquiries: Sequence[types.Inquiry]) -> list[tuple[types.Point, ...]]:
        """Themes or relevant sentences, scored for the question."""
        from sensegraph.engines.offline.answers import composing

        return composing.rate_inquiries(inquiries)

    def answer(self, inquiries: Sequence[types.Inquiry]) -> list[types.Draft]:
        """An extractive answer."""
        from sensegraph.engines.offline.answers import composing

        return composing.answer_inquiries(inquiries)

    def ask(self, inquiries: Sequence[types.Inquiry]) -> list[types.Lead]:
        """Relevant sentences, their usefulness, and questions about what else stands there."""
        from sensegraph.engines.offline.answers import asking_tasks

        return asking_tasks.find_leads(inquiries)

    def refine(self, inquiries: Sequence[types.Inquiry]) -> list[types.Refinement]:
        """The question with its names and noun phrases; no hypothesis."""
        from sensegraph.engines.offline.answers import asking_tasks

        return asking_tasks.refine_questions(inquiries)

    def test(self, inquiries: Sequence[types.Inquiry]) -> list[bool]:
        """Whether a passage holds enough of the question's words."""
        from sensegraph.engines.offline.answers import asking_tasks

        return asking_tasks.test_passages(inquiries)

    def grade(self, inquiries: Sequence[types.Inquiry]) -> list[int]:
        """How much of the question's words a report holds, in fifths."""
        from sensegraph.engines.offline.answers import asking_tasks

        return asking_tasks.grade_reports(inquiries)

    def judge(self, *_: object) -> None:
        """Raise UnsupportedTask: rules have no preferences."""
        raise UnsupportedTask("a judgement", self.name, frozenset({"judge"}))

    def usage(self) -> types.Usage:
        """Nothing: this engine costs only the machine's time."""
        return types.Usage()

    def notes(self) -> tuple[str, ...]:
        """Nothing: what it leaves out, its results say themselves."""
        return ()
