"""What `tune data` needs before it can write: questions with passages, of a folder or a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from typer import BadParameter

from sensegraph.cli.options import open_settled
from sensegraph.cli.progress import Report
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.settings import FOLDER, load_settings
from sensegraph.errors import InputError
from sensegraph.index.parts import parts_with_needs
from sensegraph.lab.finetuning.data import index_source, sources
from sensegraph.lab.finetuning.data.example_types import SourceQuestion
from sensegraph.lab.finetuning.data.sources import Source
from sensegraph.lab.retrieval import JudgedSet
from sensegraph.methods import auto, load_method
from sensegraph.personal.finding import build_finder
from sensegraph.personal.masking import Masker
from sensegraph.personal.personal_settings import PersonalSettings

_HERE = Path(".")
_AUTO, _NONE = "auto", "none"
_FINDER = "walk"  # whose errors are taken where nothing else is said: the default of `search`


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """What to make data of: the corpus, where its questions are, who finds near passages, and the settings given.

    `write_answers` has the engine answer what has no answer; `mask` takes personal data out.
    """

    corpus: Path
    questions: Path | None
    from_graph: int
    near: str
    split: str
    topic: str
    given: Mapping[str, Any]
    write_answers: bool = False
    mask: bool = False


@contextmanager
def open_question_source(place: SourceRequest, seed: int, progress: Report) -> Iterator[Source]:
    """The questions of a corpus, by what kind of thing it is. Raises InputError for what is none."""
    _check_flags(place)
    judged_there = (place.corpus / "corpus.jsonl").is_file()
    if place.corpus.is_dir() and not judged_there:
        with Corpus.open(place.corpus, settings=place.given, progress=progress, create=False) as corpus:
            index, name = corpus.index(), place.corpus.resolve().name
            if place.questions:
                found = index_source.read_question_source(index, place.questions, name, place.topic)
                found = index_source.answer_questions(found, index, corpus.runtime()) if place.write_answers else found
            else:
                drawn = index_source.draw_graph_questions(index, place.from_graph, seed, place.topic)
                found = replace(drawn, name=name)
            if place.near != _NONE:
                method, _ = corpus.asker.method(auto.find_names_with(index) if place.near == _AUTO else place.near)
                found = index_source.add_wrong_chunks(found, method, index, corpus.runtime())
            yield _mask_by_settings(found, corpus.settings.personal) if place.mask else found
        return
    if judged_there:
        judged, found = sources.read_judged_source(place.corpus, place.split, place.topic)
        found = found if place.near == _NONE else _add_retrieval_errors(judged, found, place, progress)
    else:
        found = sources.read_hotpot_source(place.corpus, seed)
    yield _mask_by_settings(found, load_settings(_HERE, place.given).personal) if place.mask else found


def _mask_by_settings(found: Source, settings: PersonalSettings) -> Source:
    """`found` without the personal data that rules find; names of people are masked when an index is built."""
    kinds = tuple(k for k in settings.kinds if k != "person")
    masker = Masker(build_finder(replace(settings, kinds=kinds)))
    return sources.mask_source(found, lambda text: masker.text(text)[0], (*kinds, *settings.patterns))


def _check_flags(place: SourceRequest) -> None:
    """Raise where the flags do not fit the kind of corpus: nothing that was asked for is passed over."""
    corpus = place.corpus
    if not corpus.exists():
        raise InputError(f"{corpus} does not exist; name a folder or a file.")
    indexed_one = corpus.is_dir() and not (corpus / "corpus.jsonl").is_file()
    asked = bool(place.questions) + bool(place.from_graph)
    if indexed_one and not (corpus / FOLDER).is_dir():
        raise InputError(
            f"{corpus} holds no test collection (corpus.jsonl, queries.jsonl, qrels/) and no index ({FOLDER}); "
            f"make one by `sensegraph index PATH --root {corpus}`."
        )
    if indexed_one and asked != 1:
        raise BadParameter("an index has no questions: give either --questions FILE or --from-graph N.")
    if not indexed_one and asked:
        raise BadParameter(f"--questions and --from-graph go with an index; {corpus} has questions of its own.")
    if place.write_answers and not place.questions:
        raise BadParameter("--write-answers goes with --questions: only such questions may have no answer.")
    if not corpus.is_dir() and place.near not in (_AUTO, _NONE):
        raise BadParameter("--near goes with a corpus; a file in the form of HotpotQA has distractors of its own.")


# ── a test collection ──


def _add_retrieval_errors(judged: JudgedSet, found: Source, place: SourceRequest, progress: Report) -> Source:
    """`found` with the wrong documents of a method, over an index that goes again."""
    settings, name = load_settings(_HERE, place.given), _FINDER if place.near == _AUTO else place.near
    method = load_method(name, **settings.method_settings(name, {}))
    texts = {a.id: a.question for a in found.questions if isinstance(a, SourceQuestion)}
    with (
        TemporaryDirectory(prefix="sensegraph-") as made,
        closing(open_settled(Path(made), settings, progress=progress)) as corpus,
    ):
        corpus.add(judged.documents)
        corpus.build(parts=parts_with_needs(method.reads))
        ranked = index_source.rank_documents(texts, method, corpus.index(), corpus.runtime())
    return sources.add_near_passages(found, ranked, method.name)
