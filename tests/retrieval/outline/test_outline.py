"""The outline of a corpus: its themes, separate subjects, or story; as a part of an index and as an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.questions import Scope
from sensegraph.retrieval.outline.notes import note_documents
from sensegraph.retrieval.outline.part import OUTLINE, make_outline
from sensegraph.retrieval.outline.phrases import Gathered
from sensegraph.retrieval.outline.values import Outline
from sensegraph.types import Chunk, Document
from wired import settings

ASKED = "What are the main themes?"
WIND = """The wind turbine at Arnholm makes power for its harbour. Engineers carried a rotor blade up the hill.
A storm broke one rotor blade at Bexley last winter. The old wind turbine stood still until spring came.
People of Corvik own a wind turbine together and share what it earns. Its longest rotor blade came by ship.
Nobody at Dunmere wanted a wind turbine near the church. A rotor blade throws moving shadows on the graves at noon.
Birds fly into the rotor blade of Eskdale more often in fog. The council stops its wind turbine on such mornings.
Farsund sold a worn rotor blade to a school as a bench. Its pupils draw the wind turbine.""".split("\n")
SEALS = """Volunteers count the grey seals of Arnholm from a small boat. The museum pays volunteers for fuel and bread.
More grey seals than ever were born on the beach at Bexley. Some volunteers slept in tents to guard them.
Fishermen of Corvik say that grey seals eat too much cod. Two volunteers measured how much fish is left.
A sickness killed many grey seals near Dunmere two years ago. Doctors trained volunteers to find sick animals early.
Visitors at Eskdale may watch grey seals from a tower only. It was built by volunteers with wood from a wreck.
Pictures of grey seals hang in the town hall of Farsund. They were taken by volunteers in the long light nights.
""".strip().split("\n")
TEXTS = {f"w{i}": text for i, text in enumerate(WIND)} | {f"s{i}": text for i, text in enumerate(SEALS)}
STORY = (
    "'You are late again, Cranbury,' said old Tobin, and shut the heavy door behind him. Cranbury looked at the fire "
    "and warmed his cold hands for a long while. 'The coach broke down upon the hill, sir,' answered Cranbury, 'and I "
    "walked here through all that snow.' Tobin thought of the money that he had lent to the coachman. "
)


def as_chunks(texts: Mapping[str, str], titles: Mapping[str, str] | None = None) -> list[tuple[Chunk, ...]]:
    """One chunk for each text."""
    return [(Chunk(f"{k}-0", k, 0, len(v), 0, v, (titles or {}).get(k, k)),) for k, v in texts.items()]


def outline_of(documents: Sequence[tuple[Chunk, ...]]) -> Outline:
    """The outline of these documents."""
    return make_outline.fn([note_documents.fn(documents)])[0]


def built(root: Path, texts: Mapping[str, str]) -> Corpus:
    """A corpus of these texts, indexed without a model."""
    corpus = Corpus.open(root, settings={"engine": "offline"})
    corpus.add([Document(name, text, name) for name, text in texts.items()])
    corpus.build()
    return corpus


def labels(found: Outline) -> str:
    """All that the themes are called."""
    return " ".join([*(w for t in found.themes for w in (t.label, *t.beside)), *found.more])


# ── themes ──


def test_what_many_documents_speak_of_are_themes_with_their_number() -> None:
    found = outline_of(as_chunks(TEXTS))
    assert (found.form, found.units) == ("themes", 12)
    counted = {t.label: t.units for t in found.themes}
    assert counted.get("wind turbine") == 6 or counted.get("rotor blade") == 6
    assert counted.get("grey seals") == 6 or counted.get("volunteers") == 6


def test_the_order_of_documents_does_not_matter() -> None:
    found, turned = outline_of(as_chunks(TEXTS)), outline_of(list(reversed(as_chunks(TEXTS))))
    assert found.themes
    assert turned == found


def test_records_with_one_title_count_once() -> None:
    titles = {name: "Wind" if name in ("w0", "w1", "w2") else name for name in TEXTS}
    found = outline_of(as_chunks(TEXTS, titles))
    assert found.units == 10
    gathered = Gathered(note_documents.fn(as_chunks(TEXTS, titles)))
    assert len(gathered.phrases["wind", "turbin"].units) == 4
    assert max(t.units for t in found.themes) <= 6
    assert all(t.units <= 4 for t in found.themes if "turbine" in t.label)


def test_what_is_repeated_everywhere_is_no_theme() -> None:
    notice = " You may copy this pamphlet under the quarto licence agreement of the publishing house."
    found = outline_of(as_chunks({k: v + notice for k, v in TEXTS.items()}))
    assert found.themes
    assert found.sentences == 36
    assert "quarto" not in labels(found)
    assert "pamphlet" not in labels(found)
    assert "turbine" in labels(found)
    gathered = Gathered(note_documents.fn(as_chunks({k: v + notice for k, v in TEXTS.items()})))
    words = {stem for stems in gathered.phrases for stem in stems}
    assert "turbin" in words
    assert "quarto" not in words


def test_stage_directions_and_addresses_are_no_phrases() -> None:
    text = "[MUSIC] The grey seals came ashore at night. Write to ada@x.example."
    (note,) = note_documents.fn(as_chunks({"a": text}))
    assert "grey seals" in note.phrases
    assert not [p for p in note.phrases if "MUSIC" in p or "ada" in p or "example" in p]


def test_a_word_by_its_initials_counts_with_the_whole() -> None:
    told = """A plant at Arnholm is for tidal energy storage. The TES runs on moonlit nights.
Storms delayed the tidal energy storage of Bexley. Its TES was late by a year.
Corvik pays for tidal energy storage with a tax on boats. Few people there dislike TES.
Old miners of Dunmere build TES with their hands.
At Eskdale a pupil drew how TES fills a basin."""
    counted = {
        t.label: t.units
        for t in outline_of(as_chunks({f"t{i}": v for i, v in enumerate(told.split("\n"))} | TEXTS)).themes
    }
    assert counted.get("tidal energy storage (TES)") == 5


def test_who_speaks_is_told_of_transcripts_alone() -> None:
    talk = "ANN LEE: I think that wind turbines are good for us, do you?\nBOB RAY: We like grey seals better.\n"
    found = outline_of(as_chunks({f"t{i}": talk * 4 for i in range(3)}))
    assert dict(found.voices) == {"Ann Lee": 3, "Bob Ray": 3}
    assert outline_of(as_chunks(TEXTS)).form
    assert not outline_of(as_chunks(TEXTS)).voices


# ── other forms ──


def test_texts_without_common_themes_are_a_collection() -> None:
    words = "copper basalt lichen trumpet walrus cinnamon glacier velvet mortar orchid falcon saffron".split()
    texts = {
        w: f"The {w} was unknown to most people of the old town. Much was written on {w} in those days." for w in words
    }
    found = outline_of(as_chunks(texts))
    assert found.form == "subjects"
    assert sorted(title for group in found.themes for title in group.beside) == sorted(words)


def test_a_long_text_of_speech_has_a_cast_and_parts() -> None:
    text = "\n\n".join(f"CHAPTER {n}\n\n" + STORY * 30 for n in ("ONE", "TWO", "THREE"))
    found = outline_of(as_chunks({"book": text}))
    assert found.form == "story"
    assert {p.label for p in found.cast} == {"Cranbury", "Tobin"}
    assert [t.label for t in found.themes] == ["CHAPTER ONE", "CHAPTER TWO", "CHAPTER THREE"]


def test_one_document_that_is_no_story_has_no_outline() -> None:
    assert outline_of(as_chunks({"w": WIND[0]})).form == ""


# ── as a part and an answer ──


def test_an_answer_quotes_one_cited_sentence_below_each_theme(tmp_path: Path) -> None:
    with built(tmp_path, TEXTS) as corpus:
        answer = corpus.query(ASKED)
    assert answer.text.startswith("**12 documents, ")
    assert "of 12 documents" in answer.text
    assert answer.citations
    assert all(c.quote in TEXTS[c.document] for c in answer.citations)
    assert "answered from the outline of the corpus" in answer.notes


def test_a_question_about_something_is_not_answered_from_the_outline(tmp_path: Path) -> None:
    with built(tmp_path, TEXTS) as corpus:
        answer = corpus.query("What is said about grey seals?", method="graphrag")
    assert answer.text
    assert "answered from the outline of the corpus" not in answer.notes


def test_a_filter_leaves_nothing_of_what_is_outside(tmp_path: Path) -> None:
    with built(tmp_path, TEXTS) as corpus:
        inside = corpus.query(ASKED, scope=Scope(documents=("w*",)))
        whole = corpus.query(ASKED)
    assert "seals" in whole.text
    assert "6 documents" in inside.text
    assert "seals" not in inside.text


def test_an_update_equals_a_rebuild(tmp_path: Path) -> None:
    few = {k: v for k, v in TEXTS.items() if k != "s5"}
    with built(tmp_path / "a", few) as corpus:
        corpus.add([Document("s5", TEXTS["s5"], "s5")])
        corpus.build()
        updated = corpus.index().manifest
    with built(tmp_path / "b", TEXTS) as corpus:
        assert updated.parts["outline"] == corpus.index().manifest.parts["outline"]
        assert corpus.index().part(OUTLINE).units == 12


def test_an_engine_that_writes_has_an_empty_outline(tmp_path: Path) -> None:
    with ScriptedServer() as server, Corpus.open(tmp_path, settings=settings(server)) as corpus:
        corpus.add([Document(name, text, name) for name, text in TEXTS.items()])
        corpus.build()
        assert corpus.index().part(OUTLINE) == Outline()


def test_an_index_without_the_part_is_answered_from_its_reports(tmp_path: Path) -> None:
    with Corpus.open(
        tmp_path, settings={"engine": "offline", "index": {"parts": ["graph", "reports", "names"]}}
    ) as corpus:
        corpus.add([Document(name, text, name) for name, text in TEXTS.items()])
        corpus.build()
        answer = corpus.query(ASKED)
    assert "method: graphrag" in answer.notes[0]
    assert "answered from the outline of the corpus" not in answer.notes
    assert answer.citations
