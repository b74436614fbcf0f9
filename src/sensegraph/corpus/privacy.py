"""What a corpus does about personal data: documents are masked when they are read, questions when they are asked.

Nothing behind this sees an original: no chunk, key, vector, prompt, endpoint, cache or journal. What finds and masks
personal data has many patterns: it is imported where the settings ask for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

from sensegraph.corpus.tools import make_describer
from sensegraph.corpus.workspace import MASKED
from sensegraph.documents.images import MASKED as MASKED_IMAGES
from sensegraph.documents.images import NO_MODEL
from sensegraph.errors import SettingsError
from sensegraph.index.manifest import REF
from sensegraph.language.text import split_runs, stem_run
from sensegraph.language.word_lists import SNOWBALL
from sensegraph.personal.personal_settings import (
    PersonalSettings,
    Tally,
    describe_changes,
    fingerprint_settings,
    seeks_people,
    tally_findings,
    write_settings,
)
from sensegraph.types import Chunk, Document, Question, Turn

if TYPE_CHECKING:
    from sensegraph.corpus.workspace import Workspace
    from sensegraph.engines.llm.figure_task import FigureDescriber, FigureReader
    from sensegraph.personal.finding import Named
    from sensegraph.personal.masking import Masker, Survey
    from sensegraph.runtime.stores.corpus_store import CorpusStore

Looking = Literal["", "paid", "foreseen"]  # at images: not at all, by a model, or to say what that would take
_INDEX = "personal/index"  # ref: which index was made of documents that were masked, and by which rules
_RULES = "personal/rules/"  # refs: the settings behind such rules, to say which differ


class Privacy:
    """Masks what comes into a corpus. Raises SettingsError where documents were read under other settings."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._describer: FigureDescriber | None = None  # made on first use

    @property
    def _settings(self) -> PersonalSettings:
        return self._workspace.settings.personal

    @property
    def _store(self) -> CorpusStore:
        return self._workspace.store

    def mask_text(self, text: str) -> str:
        """A text as it would stand in this corpus: with placeholders where the settings mask."""
        return self._masker().text(text, find_people(text, self._settings))[0] if self.masks() else text

    def refuse_masking(self, why: str) -> None:
        """Raise SettingsError where the settings mask, for what cannot be masked: `why` says so."""
        if self.masks():
            raise SettingsError(
                f"personal.mask = mask promises that nothing personal comes into the corpus, and {why}, unmasked; "
                "index the documents instead, or say --set personal.mask=off."
            )

    def masks(self) -> bool:
        """Whether what comes in is masked."""
        return self._settings.mask == "mask"

    def _masker(self, *, make: bool = True, keyed: bool = True) -> Masker:
        """What masks by the settings: with the secret of this corpus, which it may `make`, unless it is not `keyed`."""
        from sensegraph.personal.finding import build_finder
        from sensegraph.personal.masking import Masker, read_secret

        finder = build_finder(self._settings)
        return Masker(finder, read_secret(self._store.root, make=make)) if keyed else Masker(finder)

    def without_personal_data(self, documents: Sequence[Document]) -> tuple[list[Document], Tally]:
        """The documents as the settings want them, and what was found in them."""
        settings = self._settings
        if documents and not self.masks():
            self._refuse_masked_documents()
        if settings.mask == "off":
            return list(documents), Tally()
        masked = self.masks()
        masker = self._masker(keyed=masked)
        found = [masker.document(*row) for row in _find_people_in(documents, masker.settings)]
        tally = tally_findings([counts for _, counts in found], masked=masked)
        return [new if masked else old for old, (new, _) in zip(documents, found, strict=True)], tally

    def figure_reader(self, looking: Looking) -> tuple[FigureReader | None, str]:
        """Who describes the images in documents, and why nobody does; with masking only where the settings say so.

        What is told is masked before it is kept, and no reply is journalled then: an image may show personal data.
        """
        space, masked = self._workspace, self.masks()
        if not space.settings.endpoint.vision_model:
            return None, NO_MODEL
        if not looking or (masked and not space.settings.endpoint.vision_unmasked):
            return None, MASKED_IMAGES if looking else NO_MODEL
        from sensegraph.engines.llm.figure_task import FigureReader

        if self._describer is None:
            by = fingerprint_settings(self._settings) if masked else ""
            told = self.mask_text if masked else str
            self._describer = make_describer(space.settings, space.tools, None if masked else space.journal, told, by)
        assert self._describer is not None

        @contextmanager
        def keep_replies() -> Iterator[None]:
            with space.store.exclusive(space.wait), nullcontext() if masked else space.journal.beside():
                yield

        reader = FigureReader(self._describer, space.asking_runtime(), paid=looking == "paid", kept=keep_replies)
        return reader, ""

    def mask_question(self, asked: Question) -> tuple[Question, tuple[str, ...]]:
        """A question with its conversation as the corpus knows things, and a note where that changed anything."""
        if not self.masks():
            return asked, self._note_unmasked_question()
        masked = self._mask_question_text
        history = tuple(Turn(masked(t.question), masked(t.answer)) for t in asked.history)
        made = replace(asked, text=masked(asked.text), history=history)
        return made, ("the question was masked before it was used",) * (made != asked)

    def _mask_question_text(self, text: str) -> str:
        """A text of a question, masked; names for which documents were masked are known again by their placeholders."""
        from sensegraph.personal.finding import find_possible_names, merge_people

        masker, people = self._masker(), find_people(text, self._settings)
        if seeks_people(self._settings) and self._store.ref(REF):
            self.require_masked_index()
            words = self._workspace.open_index().words
            unknown = words.idf("")  # of a word that no document has

            def known(name: str) -> bool:
                *_, code = split_runs(masker.person(name))  # a document has its stem in the language of the document
                return any(words.idf(stem) < unknown for by in SNOWBALL.values() for stem in stem_run(code, by))

            people = merge_people((n for n in find_possible_names(text) if known(n.name)), people)
        return masker.text(text, people)[0]

    def marks(self, ids: Iterable[str]) -> dict[str, str | None]:
        """Refs that say under which rules these documents were masked; none for those that were not."""
        if not self.masks():
            return {}  # a corpus that holds masked documents takes no others
        now = fingerprint_settings(self._settings)
        marks: dict[str, str | None] = dict.fromkeys((MASKED + name for name in ids), now)
        return marks and {**marks, _RULES + now: self._written()}

    def masked_path(self, path: str) -> str:
        """A path as it is written down: its end is kept, by which files of records are known."""
        return self._masker().keyed("path", path) + PurePath(path).suffix[:8] if self.masks() else path

    def require_masked_documents(self) -> None:
        """Raise SettingsError where documents of the corpus were not read under the rules that hold now."""
        if self.masks() and (old := self._otherwise()):
            raise SettingsError(
                f"{_count_documents(old)} not masked under the settings of [personal]: {self._why(old[0])}. The "
                "originals are not kept: read them again (sensegraph index PATH --sync) or remove them, then run "
                "sensegraph documents purge."
            )

    def _refuse_masked_documents(self) -> None:
        """Raise SettingsError where the corpus holds masked documents: originals must not come in beside them."""
        marks = self._store.refs(MASKED)
        there = self._workspace.document_keys() if marks else {}
        if not (have := [name for name in there if MASKED + name in marks]):
            return
        raise SettingsError(
            f"{_count_documents(have)} masked, and {self._off()}: documents would come in unmasked. "
            f"{self._put_back(have[0])} To have originals in this corpus from now on, first remove all documents "
            "that are masked (sensegraph documents remove), or index them into another folder."
        )

    def _note_unmasked_question(self) -> tuple[str, ...]:
        """A note for who has a masked corpus without its secret. Raises SettingsError for who has the secret."""
        built, index = self._store.ref(_INDEX) or "", self._store.ref(REF)
        if not index or not built.endswith(f" {index}"):
            return ()
        from sensegraph.personal.masking import read_secret

        if not read_secret(self._store.root, make=False):
            return ("the documents are masked and the question was not: the corpus is here without its secret",)
        first = next(iter(self._workspace.document_keys()), "")
        raise SettingsError(
            f"The index was made of masked documents, and {self._off()}: a question would not find whom it names, and "
            f"the name would be kept. {self._put_back(first)}"
        )

    def _off(self) -> str:
        return f'personal.mask is "{self._settings.mask}" here'

    def _put_back(self, name: str) -> str:
        """What to do to mask as this document was masked."""
        changed = self._changed(name)
        more = f", and the settings there that differ as they were: {changed}" if changed else ""
        return f'Put mask = "mask" under [personal] of sensegraph.toml{more}.'

    def _otherwise(self) -> list[str]:
        """Documents that were not masked, or under other rules than those of now."""
        now, marks = fingerprint_settings(self._settings), self._store.refs(MASKED)
        return [name for name in self._workspace.document_keys() if marks.get(MASKED + name) != now]

    def _why(self, name: str) -> str:
        """In what this document differs from one that would be read now."""
        who = repr(self.mask_text(name))
        if not self._store.ref(MASKED + name):
            return f"{who} was read without masking"
        return f"{who} was read under others, which differ in {self._changed(name) or 'a way that is not known'}"

    def _changed(self, name: str) -> str:
        then = self._store.ref(_RULES + (self._store.ref(MASKED + name) or ""))
        return describe_changes(then or "", self._written())

    def _written(self) -> str:
        masker = self._masker(make=False)
        return write_settings(self._settings, lambda value: masker.keyed("setting", value))

    def remember_masked_index(self) -> None:
        """Remember that the index as it is now was made of masked documents, where all are masked by the same rules."""
        if not (marks := self._store.refs(MASKED)):
            return
        by = {marks.get(MASKED + name) for name in self._workspace.document_keys()}
        if len(by) == 1 and (mark := by.pop()):
            self._store.set_refs({_INDEX: f"{mark} {self._store.ref(REF)}"})

    def require_masked_index(self) -> None:
        """Raise SettingsError where the index was not made of documents that were masked by the rules of now."""
        index = self._store.ref(REF) if self.masks() else None
        if not index or self._store.ref(_INDEX) == f"{fingerprint_settings(self._settings)} {index}":
            return
        said = "The index was not made of documents that were masked under the settings of [personal]: "
        if not (old := self._otherwise()):
            raise SettingsError(f"{said}they were read again after it was built. Run sensegraph index.")
        ways = "run sensegraph index PATH, which reads them again"
        if self._store.ref(MASKED + old[0]):
            raise SettingsError(f"{said}{self._why(old[0])}. Set that as it was, or {ways}.")
        raise SettingsError(f"{said}{self._why(old[0])}; {ways}, or use it as it is with --set personal.mask=off.")


def _count_documents(names: Sequence[str]) -> str:
    return "1 document of this corpus is" if len(names) == 1 else f"{len(names):,} documents of this corpus are"


def survey_documents(documents: Iterable[Document], settings: PersonalSettings) -> Survey:
    """A report of what is personal in these documents, by the kinds of the settings; nothing is changed."""
    from sensegraph.personal.masking import survey_personal_data

    return survey_personal_data(_find_people_in(documents, settings), settings)


def _find_people_in(
    documents: Iterable[Document], settings: PersonalSettings
) -> Iterator[tuple[Document, list[Named], list[Named]]]:
    """Each document with the persons whom its text and its title name."""
    return ((d, find_people(d.text, settings, d.title), find_people(d.title, settings)) for d in documents)


def find_people(text: str, settings: PersonalSettings, title: str = "") -> list[Named]:
    """The persons whom a text names, found in this text alone: no other text changes them.

    They are found by the offline engine and by rules, in the text with its signs as they are usually written.
    """
    if not seeks_people(settings) or not text.strip():
        return []
    from sensegraph.engines.offline.extraction.corpus_reading import read_together
    from sensegraph.personal.finding import Named, find_listed_people, find_named_people, merge_people
    from sensegraph.personal.normalising import join_lines, normalise_signs
    from sensegraph.personal.people import is_no_persons_name, is_part_of_place

    view = normalise_signs(text)
    chunk = Chunk("text", "text", 0, len(view.text), 0, view.text, title)
    ((extraction,),) = read_together([(chunk,)], guesses=True)
    every = "name" in settings.kinds
    people = [
        Named(*view.place(m.start, m.end), e.name)
        for e in extraction.entities
        if e.type == "person" or (every and e.type == "other")
        for m in e.mentions
        if every or not (is_no_persons_name(view.text[m.start : m.end]) or is_part_of_place(view.text, m.start))
    ]
    told = (Named(*view.place(n.start, n.end), n.name) for n in find_named_people(view.text))
    return merge_people(find_listed_people(join_lines(view)), merge_people(told, people))
