"""Communities keep their names from one build to the next (N92)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.hierarchy.communities import count_fates, read_lineage
from sensegraph.types import Document
from wired import content, corpus, stories, story


@pytest.fixture
def made(tmp_path: Path, server: ScriptedServer) -> Iterator[Corpus]:
    with corpus(tmp_path / "corpus", server) as opened:
        opened.add(stories())
        opened.build()
        yield opened


def ids(made: Corpus) -> set[str]:
    return {g.id for g in made.index().communities.groups}


def test_a_first_build_has_nothing_to_tell_and_names_communities_by_their_ids(made: Corpus) -> None:
    assert read_lineage(made.store).names == {}
    assert made.build().fates == ()


def test_every_community_of_before_and_of_now_has_a_fate(made: Corpus) -> None:
    before = ids(made)
    made.add(
        Document("story-06", story(2, 99)), Document("far-away", story(4, 7) + " Quill Ode paid Ruth Ode in 1901.")
    )
    fates = made.build().fates
    assert {i for f in fates for i in f.before} == before
    assert {i for f in fates for i in f.now} == ids(made)
    assert sum(count_fates(fates).values()) == len(fates)
    assert count_fates(fates)["kept"] > 0
    for f in fates:
        assert (len(f.before) == 1 and f.before == f.now) or f.kind != "kept"


def test_a_name_outlives_changes_and_earlier_ids_lead_to_the_community_of_now(made: Corpus) -> None:
    first = ids(made)
    seen: dict[str, str] = {}
    for seed in (50, 51, 52):
        made.add(replace(stories()[0], text=story(0, seed)))
        for fate in made.build().fates:
            if fate.before and fate.now:
                seen |= dict.fromkeys(fate.before, fate.name)
    known = read_lineage(made.store)
    assert set(known.names) <= ids(made) - first  # what was never touched has the name that it had
    assert set(known.now.values()) <= ids(made)
    changed = {early: late for early, late in known.now.items() if early in first}
    assert changed
    assert all(known.names.get(late, late) == early or seen[early] != early for early, late in changed.items())
    assert ids(made) & first


def test_what_comes_back_is_found_under_the_id_that_it_had(made: Corpus) -> None:
    before = ids(made)
    made.add(Document("story-06", story(2, 99)))
    made.build(fresh=True)
    made.remove("story-06")
    made.build(fresh=True)
    assert ids(made) == before
    assert not set(read_lineage(made.store).now) & before  # an id of now leads nowhere else


def test_names_are_beside_the_index_which_equals_one_built_afresh(
    made: Corpus, server: ScriptedServer, tmp_path: Path
) -> None:
    made.add(Document("story-06", story(2, 99)))
    made.build()
    made.build(fresh=True)
    with corpus(tmp_path / "fresh", server) as other:
        other.add(stories(), Document("story-06", story(2, 99)))
        other.build()
        assert content(made) == content(other)
        assert made.manifest() == other.manifest()
        assert made.collect().total.objects > 0
    assert set(read_lineage(made.store).names) <= ids(made)
