"""The walk: second hops without shared words, one of several of a name, filters, meaning where there is some (N43)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import NotIndexed, SettingsError
from sensegraph.index.index import Index
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.language.text import count_tokens
from sensegraph.methods.basic.bm25 import BM25
from sensegraph.methods.lazygraphrag.concepts import CONCEPTS
from sensegraph.methods.walk.naming import NAMES
from sensegraph.methods.walk.walk import Walk, ask_names
from sensegraph.questions import Scope
from sensegraph.runtime.runtime import Runtime
from sensegraph.testing import SAMPLE, MethodContract
from sensegraph.types import Document, Question
from wired import corpus, stories

OFFLINE: Any = {"engine": "offline", "index": {"parts": ["names"]}}
FILMS = {
    "Dark River (1990 film)": "Dark River is a film directed by Ada Harrow.",
    "Dark River (2017 film)": "Dark River is a film directed by Finn Stone.",
    "Ada Harrow": "Ada Harrow (born 1950) grew up in Quay.",
    "Finn Stone": "Finn Stone (born 1980) grew up in Millar.",
    "Quay": "Quay has a lighthouse and four mills.",
    "Millar": "Millar has a castle and two churches.",
    "Storm": "A storm is a wind, and the director of the film of the year grew up in it. The birth year is the year.",
    "Lamp": "A lamp gives light to the film, whose director wanted it in every year.",
}
ASKED = Question("In which year was the director of the 2017 film Dark River born?")


class TestWalkContract(MethodContract):
    def make(self) -> Walk:
        return Walk()

    def build(self, folder: Path) -> tuple[Runtime, Index]:
        made = Corpus.open(folder, settings=OFFLINE)
        made.add(*SAMPLE)
        made.build()
        return made.runtime(), made.index()


@pytest.fixture
def films(tmp_path: Path) -> Iterator[Corpus]:
    with Corpus.open(tmp_path, settings=OFFLINE) as made:
        made.add([Document(title, text, title) for title, text in FILMS.items()])
        made.build()
        yield made


def ranked(films: Corpus, question: Question = ASKED, **settings: Any) -> list[str]:
    return list(Walk(**settings).retrieve(question, films.index(), films.runtime()).documents)


def test_names_lead_to_what_shares_no_word_with_the_question(films: Corpus) -> None:
    by_words = BM25().retrieve(Question("What town is the director of the 2017 film Dark River from?"),
                               films.index(), films.runtime()).documents  # fmt: skip
    found = ranked(films, Question("What town is the director of the 2017 film Dark River from?"))
    assert "Millar" not in by_words
    assert found.index("Millar") < found.index("Quay")
    assert set(found[:2]) == {"Dark River (2017 film)", "Finn Stone"}


def test_a_parenthesis_in_the_title_tells_which_of_a_name_is_meant(films: Corpus) -> None:
    assert ranked(films)[:2] == ["Dark River (2017 film)", "Finn Stone"]
    assert ranked(films, Question(ASKED.text.replace("2017", "1990")))[:2] == ["Dark River (1990 film)", "Ada Harrow"]


def test_bridges_lead_to_what_is_left_open(films: Corpus) -> None:
    with_words = ranked(films, steps=1)
    assert with_words.index("Finn Stone") <= ranked(films, steps=1, bridge=0.0).index("Finn Stone")
    scores = {p.sources[0].chunk: p.score for p in _passages(films, bridge=0.0)}
    more = {p.sources[0].chunk: p.score for p in _passages(films)}
    assert all(more[chunk] >= score - 1e-9 for chunk, score in scores.items())
    assert sum(more.values()) > sum(scores.values())


def _passages(films: Corpus, **settings: Any) -> Any:
    return Walk(**settings).retrieve(ASKED, films.index(), films.runtime()).passages


def test_scores_fall_and_the_context_is_filled_as_far_as_it_goes(films: Corpus) -> None:
    found = Walk(context_tokens=30).retrieve(ASKED, films.index(), films.runtime())
    following = Walk().retrieve(ASKED, films.index(), films.runtime()).passages[len(found.passages)]
    scores = [p.score for p in found.passages]
    assert scores == sorted(scores, reverse=True)
    assert 0 < found.tokens <= 30 < found.tokens + count_tokens(following.text)
    assert found.omitted > 0


def test_a_filter_hides_what_is_outside(films: Corpus) -> None:
    inside = restrict_to_scope(films.index(), Scope(documents=("Quay", "Millar", "Ada Harrow", "Storm")))
    found = Walk().retrieve(ASKED, inside, films.runtime())
    assert set(found.documents) <= {"Quay", "Millar", "Ada Harrow", "Storm"}
    assert "Storm" in found.documents
    whole = restrict_to_scope(films.index(), Scope(documents=("*",)))
    assert Walk().retrieve(ASKED, whole, films.runtime()) == Walk().retrieve(ASKED, films.index(), films.runtime())


def test_the_order_of_documents_does_not_matter(films: Corpus, tmp_path: Path) -> None:
    renamed = [Document(f"{9 - i}", text, title) for i, (title, text) in enumerate(FILMS.items())]
    with Corpus.open(tmp_path / "other", settings=OFFLINE) as other:
        other.add(renamed)
        other.build()
        titles = {d.id: d.title for d in renamed}
        assert [titles[d] for d in ranked(other)][:6] == ranked(films)[:6]


def test_nothing_is_found_where_nothing_is_shared(films: Corpus) -> None:
    found = Walk().retrieve(Question("zeppelin"), films.index(), films.runtime())
    assert found.passages == ()
    assert "Storm" in ranked(films, Question("storm"))


def test_a_word_in_lower_case_is_a_name_only_if_the_corpus_writes_it_so(films: Corpus) -> None:
    assert ranked(films, Question("what is in quay?"))[0] == "Quay"


def test_indexing_asks_no_engine_and_nothing_but_texts(films: Corpus) -> None:
    assert not [step for step in films.store.ledger() if "extract" in step]
    assert films.index().manifest.graph == ""
    with pytest.raises(NotIndexed, match="concepts"):
        films.index().part(CONCEPTS)


def test_an_index_without_names_says_what_to_do(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": []}}) as made:
        made.add(stories(2))
        made.build()
        with pytest.raises(NotIndexed, match="'names'"):
            made.search("Who paid?", method="walk")


def test_an_embedder_that_knows_meaning_has_a_share_of_the_start(tmp_path: Path, server: ScriptedServer) -> None:
    with corpus(tmp_path, server, index={"parts": ["names"]}) as made:
        made.add(stories(4))
        made.build()
        index, rt, asked = made.index(), made.runtime(), Question("Who wrote to Ada Harrow?")
        by_both = Walk().rank(asked, index, rt)
        lexical = replace(rt, embedder=_Lexical(rt.embedder))
        by_words = Walk().rank(asked, index, lexical)
        assert by_both.scores.tolist() != by_words.scores.tolist()
        assert len(Walk().rank(Question("zeppelin"), index, rt).positions) > 0
        assert len(Walk().rank(Question("zeppelin"), index, lexical).positions) == 0


class _Lexical:
    """An embedder that says of itself that it sees words alone."""

    lexical = True

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def test_where_everybody_is_named_everywhere_the_walk_stays_near_the_words(tmp_path: Path) -> None:
    random = Random(0)
    said = ["the boat is late", "we need paint", "bring the lamp", "the storm is near", "I found a key", "eat well"]
    talks = [
        Document(f"t{i:02}", "\n".join(f"{who}: Well, {random.choice(said)}." for who in ("Ada", "Finn", "Gwen")))
        for i in range(40)
    ]
    with Corpus.open(tmp_path, settings=OFFLINE) as made:
        made.add(talks)
        made.build()
        index, rt, asked = made.index(), made.runtime(), Question("Did Ada tell Finn about the lamp?")
        assert index.part(NAMES).hubs > 0.5
        gated = Walk().rank(asked, index, rt)
        same = Walk(damping=0.3, bridge=0.3, dialogue=1.0).rank(asked, index, rt)
        assert np.allclose(gated.scores, same.scores)
        assert not np.allclose(gated.scores, Walk(dialogue=1.0).rank(asked, index, rt).scores)


def test_a_large_corpus_is_ranked_alike_from_what_walk_and_words_lead_to(
    films: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Walk().rank(ASKED, films.index(), films.runtime())
    monkeypatch.setattr("sensegraph.methods.walk.walk._ALL", 0)
    part = Walk().rank(ASKED, films.index(), films.runtime())
    assert part.positions.tolist() == whole.positions.tolist()
    assert np.allclose(part.scores, whole.scores)


@pytest.mark.parametrize(
    "wrong", [{"steps": 0}, {"top": 0}, {"damping": 1.5}, {"borne": -0.1}, {"k1": float("nan")}, {"bridges": -1}]
)
def test_settings_out_of_range_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        Walk(**wrong)


def test_a_word_that_a_question_says_twice_weighs_twice(films: Corpus) -> None:
    once, twice = (
        ask_names(text, films.index(), 1.2, 0.6).words for text in ("lighthouse castle", "castle lighthouse castle")
    )
    castle = ask_names("castle", films.index(), 1.2, 0.6).words
    assert castle.max() > 0
    assert np.allclose(twice - once, castle)
