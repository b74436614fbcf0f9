"""Questions to a corpus: evidence, answers with citations, and whether an answer keeps to its sources."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from sensegraph.answering.asking import Patient, count_words, rerank_evidence, settle_asking
from sensegraph.corpus.workspace import Builder, Workspace
from sensegraph.errors import InputError, NotIndexed, ResultGone, SettingsError
from sensegraph.index.index import Index
from sensegraph.index.restricted.moment import ask_in_time, restrict_to_time, time_notes
from sensegraph.index.restricted.scope import check_scope
from sensegraph.language.text import count_tokens
from sensegraph.methods import ALIASES, load_method, parts_needed
from sensegraph.methods.auto import Able, Choice, choose_method, find_names_with
from sensegraph.questions import Scope
from sensegraph.runtime.activity import StopToken, begin_activity, tell_stage
from sensegraph.types import Answer, Document, Evidence, Question, WordCounts

if TYPE_CHECKING:
    from sensegraph.answering.grounding.checking import Checked
    from sensegraph.answering.grounding.citations import By
    from sensegraph.corpus.privacy import Privacy
    from sensegraph.protocols import Method

A = TypeVar("A")
Hear = Callable[[str], None]
_BLANKS = re.compile(r"(\s)\s{2,}")
_OF_REPORTS = {"depth": "a depth", "report_tokens": "a bound for reports"}  # options that ask for them


class AnswerStream:
    """An answer while it is written: an iterator of pieces of its text, which joined are the text of `answer`.

    The question is asked in a thread of its own, which begins at once. `close`, leaving a `with`, and dropping the
    stream ask it to stop; a method that does not write piece by piece gives its text at the end.
    """

    def __init__(self, ask: Callable[[Hear], Answer]) -> None:
        self._pieces, self._stop, context = SimpleQueue[str | None](), StopToken(), copy_context()

        def work(pieces: SimpleQueue[str | None], stop: StopToken) -> Answer:
            with begin_activity(stop):
                return ask(lambda piece: pieces.put(piece) if piece else None)

        worker = ThreadPoolExecutor(thread_name_prefix="sensegraph-answer")
        pieces = self._pieces
        self._answer: Future[Answer] = worker.submit(context.run, work, pieces, self._stop)
        self._answer.add_done_callback(lambda _: pieces.put(None))
        worker.shutdown(wait=False)

    def __iter__(self) -> AnswerStream:
        return self

    def __next__(self) -> str:
        piece = self._pieces.get()
        if piece is None:
            self._pieces.put(None)  # so that asking again ends again
            self._answer.result()
            raise StopIteration
        return piece

    @property
    def answer(self) -> Answer:
        """The whole answer, when it is written. Raises what asking raised."""
        return self._answer.result()

    def close(self) -> None:
        """Ask for the answer to be given up, where it is not written yet."""
        self._stop.stop()

    def __enter__(self) -> AnswerStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class Asker:
    """Asks the index of a corpus, and checks what was answered."""

    def __init__(self, workspace: Workspace, privacy: Privacy, builder: Builder) -> None:
        self._workspace, self._privacy, self._builder = workspace, privacy, builder

    def method(
        self, name: str = "auto", question: str = "", *, index: Index | None = None, **options: Any
    ) -> tuple[Method, Choice | None]:
        """The method `name` with the settings of its table and `options` (None means not given), and the choice of it.

        `auto` is the method that the corpus was opened with; without one it chooses by the question and the index. A
        `depth`, or a bound on their tokens, asks for reports, which GraphRAG reads.
        """
        if not isinstance(name, str):
            raise InputError(f"method is the name of one, not {name!r}; give a value to `Corpus.open(method=…)`.")
        given = {k: v for k, v in options.items() if v is not None}
        own, settings = self._workspace.given.method, self._workspace.settings
        if own is not None and name in ("auto", own.name):
            try:
                return (replace(own, **given) if given else own), None  # type: ignore[type-var]
            except TypeError as e:
                raise SettingsError(f"The method {own.name} cannot take {', '.join(given)}: {e}.") from e
        wanted, choice = name if name != "auto" else settings.method, None
        wanted = ALIASES.get(wanted, wanted)
        if wanted == "auto":
            if asked_for := [what for name, what in _OF_REPORTS.items() if name in given]:
                choice = Choice("graphrag", f"{asked_for[0]} was given", "global", "whole")
            else:
                choice = choose_method(question, index or self._builder.index(), self._able)
            wanted = choice.method
        return load_method(wanted, **settings.method_settings(wanted, given)), choice

    @property
    def _able(self) -> Able:
        """What is at hand for an answer."""
        rt = self._workspace.runtime()
        return Able(settle_asking("auto", rt, model="model", rules="rules") == "model", rt.engine.tasks)

    def query(self, question: Question, scope: Scope, method: str, hear: Hear | None, **options: Any) -> Answer:
        """Answer a question with citations; see `Corpus.query`."""
        heard: list[str] = []

        def tell(piece: str) -> None:
            if hear:
                heard.append(piece)
                hear(piece)

        with begin_activity():
            return _ask_again(
                lambda: self._answer(question, scope, method, tell if hear else None, **options), unless=heard
            )

    def stream(self, question: Question, scope: Scope, method: str, **options: Any) -> AnswerStream:
        """The answer to a question while it is written; see `Corpus.stream`.

        Raises at once, and not with the first piece, for a question, scope, method or option that cannot be, a scope
        without any document, and an index that is not there or lacks what the method reads.
        """
        _require_words(question)
        check_scope(scope)
        own, settings = self._workspace.given.method, self._workspace.settings
        fixed = method != "auto" or own is not None or settings.method != "auto"  # else question and index choose
        chosen = self.method(method, question.text, **options)[0] if fixed else None
        inside = _ask_again(lambda: restrict_to_time(self._builder.index(), scope))
        inside.check_parts(parts_needed(chosen) if chosen else ())
        return AnswerStream(lambda hear: self.query(question, scope, method, hear, **options))

    def _answer(self, question: Question, scope: Scope, method: str, hear: Hear | None, **options: Any) -> Answer:
        space = self._workspace
        rt, read = space.asking_runtime(), space.settings.index.temporal.questions
        posed, masked = self._privacy.mask_question(_require_words(question))
        asked, index = ask_in_time(posed, self._builder.index(), scope, rt, read=read)
        chosen, choice = self.method(method, asked.text, index=index, **options)
        index.check_parts(parts_needed(chosen))
        before, said, started = space.usage(), space.engine.notes(), time.perf_counter()
        tell_stage("method", chosen.name)
        reason = f"method: {choice.method} ({choice.reason})" if choice else ""
        plain = all(options.get(name) is None for name in _OF_REPORTS)
        again = choice is not None and choice.aspect == "whole" and plain
        patient = Patient(hear) if hear and again and chosen.name == "graphrag" else hear
        answer = chosen.answer(asked, index, replace(rt, hear=patient))
        if again and chosen.name == "graphrag" and not answer.citations:
            reason += "; the reports hold nothing on it: passages were read"
            chosen, _ = self.method(find_names_with(index))
            answer = chosen.answer(asked, index, replace(rt, hear=hear))
        elif again and choice and self._able.model and _rests_on_one(answer, index):
            reason += "; that answer rests on one passage"
            if choice.others and not hear:  # what was heard cannot be taken back
                reason += f": {choice.others[0]} was asked"
                chosen, _ = self.method(choice.others[0])
                answer = chosen.answer(asked, index, rt)
        usage = replace(space.usage() - before, seconds=time.perf_counter() - started)
        notes = (*masked, *self._notes(reason, index), *time_notes(answer, index), *rt.noted, *answer.notes)
        notes = (*notes, *space.notes_since(said))
        return replace(answer, usage=usage, notes=notes, method=chosen.name, engine=space.engine.name)

    def search(self, question: Question, scope: Scope, method: str, top: int, **options: Any) -> Evidence:
        """The evidence for a question, without an answer: at most `top` passages and documents, best first."""
        with begin_activity():
            return _ask_again(lambda: self._retrieve(question, scope, method, top, **options))

    def _retrieve(self, question: Question, scope: Scope, method: str, top: int, **options: Any) -> Evidence:
        if not isinstance(top, int) or top < 1:
            raise InputError(f"top must be at least 1, not {top!r}.")
        asked, masked = self._privacy.mask_question(_require_words(question))
        rt, index = self._workspace.asking_runtime(), restrict_to_time(self._builder.index(), scope)
        own = self._workspace.given.method
        wanted = find_names_with(index) if method == "auto" and own is None else method
        chosen, _ = self.method(wanted, question.text, **options)
        index.check_parts(parts_needed(chosen))
        found = rerank_evidence(asked, chosen.retrieve(asked, index, rt), index, rt)
        kept = found.passages[:top]
        omitted = found.omitted + len(found.passages) - len(kept)
        size = sum(count_tokens(p.text) for p in kept)
        notes = (*masked, *index.notes(), *rt.noted, *found.notes)
        return replace(found, passages=kept, documents=found.documents[:top], tokens=size, omitted=omitted, notes=notes)

    def _notes(self, reason: str, index: Index) -> tuple[str, ...]:
        manifest, engine, notes = index.manifest, self._workspace.engine, [reason] if reason else []
        notes += index.notes()
        if manifest.engine != engine.name:
            notes.append(f"the index was built by the engine {manifest.engine}, the question answered by {engine.name}")
        if waiting := len(self._workspace.pending()):
            notes.append(f"{waiting} documents were added, changed or removed since the last build")
        return tuple(notes)

    def check(self, answers: Sequence[Answer], *, by: By = "auto", questions: Sequence[str] = ()) -> list[Checked]:
        """Answers against the documents that they cite; what a model is asked is stored, so that it is paid for once.

        Where their `questions` are given, one for each, it is also compared whether each answer answers its own.

        Support is judged by the engine where it can (`auto`), by it alone (`model`), or by the words (`words`). Raises
        UnsupportedTask where a model is asked for in vain.
        """
        from sensegraph.answering.grounding.checking import check_answers
        from sensegraph.answering.grounding.citations import choose_supporter
        from sensegraph.answering.grounding.unanswered import PosedQuestion

        supporter = choose_supporter(self._workspace.runtime(), by)
        posed = [PosedQuestion(q, self._count(q)) for q in questions]
        return check_answers(answers, self._cited, supporter, posed=posed)

    def _count(self, question: str) -> WordCounts | None:
        """How rare the words of a question are in the index; None where there is none."""
        try:
            return count_words(Question(question), self._builder.index())
        except NotIndexed:
            return None

    def _cited(self, name: str) -> Document | None:
        """A document of the index; None where there is none of this id."""
        try:
            return self._builder.index().document(name)
        except NotIndexed:
            return None


def _ask_again(ask: Callable[[], A], unless: Sequence[str] = ()) -> A:
    """What `ask` finds: asked again where another process removed results that it read, unless something was heard."""
    for _ in range(2):
        try:
            return ask()
        except ResultGone:
            if unless:
                raise
    return ask()


def _require_words(question: Question) -> Question:
    """The question without long runs of blanks, which say nothing. Raises InputError for one that is empty."""
    if not question.text.strip():
        raise InputError("The question is empty; ask something.")
    return replace(question, text=_BLANKS.sub(r"\1", question.text))


def _rests_on_one(answer: Answer, index: Index) -> bool:
    """Whether an answer cites one passage alone, of an index that has more."""
    return len({(c.document, c.start) for c in answer.citations}) == 1 and len(index.catalogue.chunks) > 1
