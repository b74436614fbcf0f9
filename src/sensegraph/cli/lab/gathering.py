"""What `tune data` needs before it can write: questions with passages, of a folder or a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from sensegraph.cli.progress import Report
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.settings import FOLDER, load_settings
from sensegraph.errors import InputError
from sensegraph.index.parts import parts_with_needs
from sensegraph.lab.finetuning.data import cleaning, indexed, sources, templates
from sensegraph.lab.finetuning.data.sources import Source
from sensegraph.lab.finetuning.data.values import Asked
from sensegraph.lab.retrieval import JudgedSet
from sensegraph.methods import auto, load
from sensegraph.personal.finding import finder
from sensegraph.personal.masking import Masker
from sensegraph.personal.personal_settings import PersonalSettings

_HERE = Path(".")
_AUTO, _NONE = "auto", "none"
_FINDER = "walk"  # whose errors are taken where nothing else is said: the default of `search`


@dataclass(frozen=True, slots=True)
class Place:
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
def source(place: Place, seed: int, progress: Report) -> Iterator[Source]:
    """The questions of a corpus, by what kind of thing it is. Raises InputError for what is none."""
    _fitting(place)
    if (place.corpus / "corpus.jsonl").is_file():
        judged, found = sources.judged(place.corpus, place.split, place.topic)
        found = found if place.near == _NONE else _with_errors(judged, found, place, progress)
        yield _masked(found, load_settings(_HERE, place.given).personal) if place.mask else found
    elif place.corpus.is_dir():
        with Corpus.open(place.corpus, settings=place.given, progress=progress, create=False) as corpus:
            found = _indexed(corpus, place, seed)
            yield _masked(found, corpus.settings.personal) if place.mask else found
    else:
        found = sources.hotpot(place.corpus, seed)
        yield _masked(found, load_settings(_HERE, place.given).personal) if place.mask else found


def _masked(found: Source, settings: PersonalSettings) -> Source:
    """`found` without the personal data that rules find; names of people are masked when an index is built."""
    kinds = tuple(k for k in settings.kinds if k != "person")
    masker = Masker(finder(replace(settings, kinds=kinds)))
    return cleaning.cleaned(found, lambda text: masker.text(text)[0], (*kinds, *settings.patterns))


def _fitting(place: Place) -> None:
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
        raise typer.BadParameter("an index has no questions: give either --questions FILE or --from-graph N.")
    if not indexed_one and asked:
        raise typer.BadParameter(f"--questions and --from-graph go with an index; {corpus} has questions of its own.")
    if place.write_answers and not place.questions:
        raise typer.BadParameter("--write-answers goes with --questions: only such questions may have no answer.")
    if not corpus.is_dir() and place.near not in (_AUTO, _NONE):
        raise typer.BadParameter(
            "--near goes with a corpus; a file in the form of HotpotQA has distractors of its own."
        )


# ── a test collection ──


def _with_errors(judged: JudgedSet, found: Source, place: Place, progress: Report) -> Source:
    """`found` with the wrong documents of a method, over an index that goes again."""
    settings, name = load_settings(_HERE, place.given), _FINDER if place.near == _AUTO else place.near
    method = load(name, **settings.method_settings(name, {}))
    texts = {a.id: a.question for a in found.questions if isinstance(a, Asked)}
    with (
        TemporaryDirectory(prefix="sensegraph-") as made,
        closing(Corpus.of(Path(made), settings, progress=progress)) as corpus,
    ):
        corpus.add(judged.documents)
        corpus.build(parts=parts_with_needs(method.reads))
        ranked = indexed.rankings(texts, method, corpus.index(), corpus.runtime())
    return sources.with_near(found, ranked, method.name)


def _indexed(corpus: Corpus, place: Place, seed: int) -> Source:
    """Questions of a file or of the graph, with the errors of a method that this index serves."""
    index = corpus.index()
    if place.questions:
        found = indexed.from_file(index, place.questions, place.corpus.resolve().name, place.topic)
        found = indexed.answered(found, index, corpus.runtime()) if place.write_answers else found
    else:
        found = templates.from_graph(index, place.from_graph, seed, place.topic)
        found = replace(found, name=place.corpus.resolve().name)
    if place.near == _NONE:
        return found
    method, _ = corpus.asker.method(auto.finder(index) if place.near == _AUTO else place.near)
    return indexed.wrong_chunks(found, method, index, corpus.runtime())
