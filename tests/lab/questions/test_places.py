"""Where a question can be grounded, place by place: what is taken, and what is left out beside it."""

from __future__ import annotations

import pytest

from sensegraph.lab.questions import grounds
from sensegraph.lab.questions.grounds import Ground, Material, find_grounds, find_looser_grounds, remove_date
from sensegraph.lab.questions.question_files import Kind
from sensegraph.lab.questions.stated_facts import Told, is_heading
from sensegraph.types import Claim, Cluster, Entity, Source, Statement


def thing(
    name: str, kind: str = "place", chunks: tuple[str, ...] = (), degree: int = 1, **more: tuple[str, ...]
) -> Entity:
    return Entity(name, name, kind, "", (), chunks or (f"own {name}",), 1, degree, **more)


A, B, C, D, E, F = (thing(f"{letter}{letter.lower()}rn") for letter in "ABCDEF")


def tell(one: Entity, other: Entity, chunk: str, rest: str = "", head: str = "saw", *, named: bool = True) -> Told:
    said = rest or f"saw {other.name}"
    return Told(one, other, f"{one.name} {said}.", said, chunk, head, "", named)


def places(kind: Kind, material: Material, *, looser: bool = False) -> list[tuple[str, ...]]:
    """The chunks of each ground, and what it is about."""
    found = (find_looser_grounds if looser else find_grounds)(kind, material)
    assert {g.kind for g in found} <= {kind}
    return [(*g.chunks, *(e.name[:1] for e in g.entities), *([g.other] if g.other else [])) for g in found]


def test_a_sentence_is_one_place_with_the_thing_that_can_be_described() -> None:
    told = [tell(A, B, "c1", "saw it all", head=""), tell(A, C, "c1", "saw it all"), tell(A, D, "c1", "saw it all")]
    assert places("local", Material(told)) == [("c1", "A", "C")]
    assert places("local", Material(told[:1])) == [("c1", "A", "B")]
    gap = tell(E, E, "c9")
    assert places("local", Material((), gaps=[gap], ties=told), looser=True) == [("c9", "E", "E")]
    assert places("intersection", Material((), gaps=[gap], ties=told), looser=True) == []


CHAIN = [tell(A, B, "c1"), tell(B, C, "c2"), tell(C, D, "c3"), tell(D, E, "c4"), tell(E, F, "c5")]


def chains(told: list[Told], hops: int = 4) -> list[str]:
    """The chunks of each chain from the first thing."""
    found = find_grounds("bridge", Material(told, hops=hops))
    return [" ".join(g.chunks) for g in found if not g.other and g.entities[0] is A]


@pytest.mark.parametrize(
    ("hops", "wanted"),
    [(1, []), (2, ["c1 c2"]), (3, ["c1 c2 c3", "c1 c2"]), (4, ["c1 c2 c3 c4", "c1 c2 c3", "c1 c2"])],
)
def test_a_chain_has_so_many_sentences_at_most_and_the_longest_comes_first(hops: int, wanted: list[str]) -> None:
    assert chains(CHAIN, hops) == wanted


def test_a_chain_takes_no_chunk_twice_returns_to_nothing_and_does_not_name_what_is_asked_for() -> None:
    assert chains([tell(A, B, "c1"), tell(B, C, "c1")]) == []
    assert chains([tell(A, B, "c1"), tell(B, A, "c2")]) == []
    assert chains([tell(A, B, "c1"), tell(B, C, "c2", f"took {C.name} from {A.name}")]) == []
    assert chains([tell(A, B, "c1", head=""), tell(B, C, "c2")]) == []  # its name cannot give way
    assert chains([tell(A, B, "c1"), tell(B, C, "c2", head="")]) == ["c1 c2"]
    many = [tell(A, B, "c1"), *(tell(B, thing(f"X{i}rn"), f"d{i:02}", f"saw number {i}") for i in range(12))]
    assert len(chains(many)) == 8


def links(told: list[Told]) -> list[tuple[str, ...]]:
    found = find_grounds("bridge", Material(told))
    return [(*g.chunks, *(e.name[:1] for e in g.entities)) for g in found if g.other == "link"]


def test_what_alone_links_two_things_that_no_chunk_names_together() -> None:
    pair = [tell(A, B, "c1"), tell(B, C, "c2")]
    assert links(pair) == [("c1", "c2", "B", "A", "C")]
    assert links([tell(A, B, "c1", named=False), pair[1]]) == []
    assert links([pair[0], tell(B, C, "c2", named=False)]) == []
    assert links([*pair, tell(A, D, "c3"), tell(D, C, "c4")]) == []  # two of them link both
    together = thing("Ccrn", chunks=(A.chunks[0],))
    assert links([pair[0], tell(B, together, "c2")]) == []
    assert len(links([pair[0], tell(B, C, "c2"), tell(B, D, "c3")])) == 1  # one for each fact


def test_two_sentences_of_one_thing_are_of_different_chunks_and_tell_of_different_things() -> None:
    one, other = tell(A, B, "c1", "built a mill by the sea"), tell(A, C, "c2", "sold his old grey horse")
    assert places("intersection", Material([one, other])) == [("c1", "c2", "A")]
    assert places("intersection", Material([one, tell(A, C, "c1", "sold his old grey horse")])) == []
    assert places("intersection", Material([one, tell(A, B, "c2", "sold his old grey horse")])) == []
    assert places("intersection", Material([one, tell(A, C, "c2", "built a mill by the lake")])) == []
    many = [tell(A, thing(f"X{i}rn"), f"c{i}", f"word{i} thing{i} matter{i}") for i in range(6)]
    assert len(places("intersection", Material(many))) == 8  # of fifteen pairs


@pytest.mark.parametrize(("shared", "compared"), [(2, 1), (12, 8), (13, 0)])
def test_things_that_share_something_are_compared_unless_too_many_do(shared: int, compared: int) -> None:
    told = [tell(thing(f"X{i:02}rn"), B, f"c{i}") for i in range(shared)]
    assert len(places("comparison", Material(told))) == compared


def test_only_named_things_of_one_telling_type_and_of_two_chunks_are_compared() -> None:
    one = tell(A, B, "c1")
    assert places("comparison", Material([one, tell(C, B, "c2")])) == [("c1", "c2", "A", "C", "B")]
    for other in (
        tell(C, B, "c1"), tell(A, B, "c2"), tell(C, B, "c2", named=False), tell(C, D, "c2"),
        tell(thing("Ccrn", "person"), B, "c2"),
    ):  # fmt: skip
        assert places("comparison", Material([one, other])) == []
    for vague in ("", "other", "concept"):
        told = [tell(thing("Aarn", vague), B, "c1"), tell(thing("Ccrn", vague), B, "c2")]
        assert places("comparison", Material(told)) == []


def claim(name: str, subject: Entity, starts: str, ends: str, chunk: str, about: str = "NONE") -> Claim:
    said = f"{subject.name} left the harbour {name}."
    return Claim(name, subject.id, about, "FACT", "TRUE", said, starts, ends, Source(chunk, 0, 1))


def temporal(*claims: Claim) -> list[tuple[str, ...]]:
    return places("temporal", Material((), entities=[A, B, C], claims=claims))


def test_claims_are_ordered_where_one_ends_before_the_next_begins_in_another_chunk() -> None:
    first = claim("once", A, "1990", "1991", "c1")
    assert temporal(first, claim("again", A, "1992", "1992", "c2")) == [("c1", "c2", "A")]
    assert temporal(claim("again", A, "1992", "1992", "c2"), first) == [("c1", "c2", "A")]
    assert temporal(first, claim("again", A, "1991", "1992", "c2")) == []
    assert temporal(first, claim("again", A, "1992", "1992", "c1")) == []
    assert temporal(first, claim("again", A, "1992", "", "c2")) == []
    assert temporal(first, claim("again", A, "", "1992", "c2")) == []
    assert temporal(first, claim("again", D, "1992", "1992", "c2")) == []  # of a thing that is not there
    assert temporal(first, claim("in ship 1992 again", A, "1992", "1992", "c2")) == []  # a year stays in it
    assert temporal(first, claim("again", B, "1992", "1992", "c2")) == [("c1", "c2", "A", "B")]
    shared = [claim("once", A, "1990", "1990", "c1", "Mill"), claim("again", B, "1992", "1992", "c2", "mill")]
    assert temporal(*shared) == [("c1", "c2", "A", "B")]


def test_a_thing_of_documents_of_different_years_is_asked_for_over_time() -> None:
    times = {"c1": "1990-05-01", "c2": "1990-07-01", "c3": "1992", "c4": ""}
    for chunks, wanted in (
        (("c3", "c1", "c2"), [("c1", "c3", "X", ("1990", "1992"))]), (("c1", "c2"), []), (("c3",), []),
        (("c1", "c4"), []), (("c9", "c1", "c3"), [("c1", "c3", "X", ("1990", "1992"))]),
    ):  # fmt: skip
        found = find_grounds("temporal", Material((), entities=[thing("Xrn", chunks=chunks)], times=times))
        assert [(*g.chunks, g.entities[0].name[:1], g.times) for g in found] == wanted


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Ada left early.", "Ada left early"), ("Ada left.", ""), ("Ada left in 1990.", ""),
        ("Ada left the harbour in May 1990.", "Ada left the harbour"),
        ("Ada left the harbour on 3 May 1990 and sailed.", "Ada left the harbour and sailed"),
        ("Ada left the harbour. Bo stayed.", ""), ("Ada left them there.", ""),
        (f"Ada {'often ' * 23}left.", f"Ada {'often ' * 23}left"), (f"Ada {'often ' * 24}left.", ""),
        ("Ada left ship 1990 behind.", ""), ("Ada left ship 199 behind.", "Ada left ship 199 behind"),
    ],
)  # fmt: skip
def test_a_claim_without_its_date_has_three_to_twenty_five_words(said: str, left: str) -> None:
    assert remove_date(Claim("k", "Ada", "NONE", "FACT", "TRUE", said, "1", "2", Source("c", 0, 1))) == left


# ── names, clusters, exchanged objects ──


def test_things_of_one_name_are_told_apart_by_what_only_one_is_told_with() -> None:
    one, other = (
        Entity(f"j{i}", "Jordan", kind, "", (), (f"c{i}",), 1, 1) for i, kind in enumerate(("river", "place"))
    )
    told = [tell(one, B, "c0"), tell(other, C, "c1"), tell(one, D, "c0"), tell(other, D, "c1")]
    assert places("disambiguation", Material(told, entities=[one, other])) == [
        ("c0", "J", "B", "J", "jordan"), ("c1", "J", "C", "J", "jordan"),
    ]  # fmt: skip
    assert places("disambiguation", Material(told[2:], entities=[one, other])) == []  # both are told with it
    assert places("disambiguation", Material(told, entities=[one])) == []
    wide = Entity("j9", "Jordan", "river", "", (), tuple(f"d{i:02}" for i in range(13)), 1, 1)
    marked = [tell(wide, B, "d00"), tell(other, C, "c1")]
    assert [p[0] for p in places("disambiguation", Material(marked, entities=[wide, other]))] == ["c1"]
    within = Entity("j8", "Jordan", "river", "", (), ("c1",), 1, 1)
    assert [p[0] for p in places("disambiguation", Material(told, entities=[one, within]))] == ["c0"]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Ada Finch", ["ada", "finch"]), ("Ada", []), ("Ada de Finch", ["ada", "finch"]), ("Ada of Ye", ["ada"]),
        ("ada Finch", ["finch"]), ("Ada B-52", ["ada"]), ("Finch Finch", ["finch"]),
    ],
)  # fmt: skip
def test_the_parts_of_a_name_are_its_first_and_last_word_where_they_are_names(name: str, parts: list[str]) -> None:
    assert grounds._name_parts(thing(name)) == parts


def cluster(*members: Entity, cited: tuple[str, ...] = ()) -> Cluster:
    said = (Statement("They met.", (), tuple(Source(c, 0, 1) for c in cited)),)
    return Cluster("k", 0, 0, "", (), tuple(e.id for e in members), title="The mills", summary=said)


def test_a_cluster_is_asked_about_where_it_has_three_things_and_two_chunks() -> None:
    three = (thing("Aarn", degree=1), thing("Bbrn", degree=5), thing("Ccrn", degree=3))
    whole = Material((), entities=[*three, thing("low", degree=9)])

    def asked(made: Cluster) -> list[tuple[str, ...]]:
        return places("global", Material((), entities=whole.entities, clusters=[made]))

    assert asked(cluster(*three)) == [("own Bbrn", "own Ccrn", "own Aarn", "B", "C", "A")]
    assert asked(cluster(*three, cited=("c2", "c1", "c2"))) == [("c2", "c1", "B", "C", "A")]
    assert asked(cluster(*three, cited=("c1",))) == []
    assert asked(cluster(*three[:2])) == []
    assert asked(cluster(*three[:2], thing("gone"))) == []
    assert asked(cluster(*three, whole.entities[3]))[0][-3:] == ("B", "C", "A")  # a name before what is none
    (found,) = find_grounds("global", Material((), entities=whole.entities, clusters=[cluster(*three)]))
    assert found.texts == ("The mills\nThey met.",)
    spread = [thing(f"X{i}rn", chunks=tuple(f"c{i}{j}" for j in range(6))) for i in range(3)]
    (most,) = find_grounds("global", Material((), entities=spread, clusters=[cluster(*spread)]))
    assert len(most.chunks) == 12


def test_an_exchanged_object_is_of_the_same_type_and_nothing_tells_it() -> None:
    told = [tell(A, B, "c1", head="saw"), tell(C, D, "c2", head="fought")]
    assert places("adversarial", Material(told)) == [("c1", "A", "D", D.name), ("c2", "C", "B", B.name)]
    assert places("adversarial", Material(told[:1])) == []
    alike = [told[0], tell(C, D, "c2", head="saw")]  # of its wording both are told
    assert places("adversarial", Material(alike)) == []
    other = [told[0], tell(C, thing("Ddrn", "person"), "c2", head="fought")]
    assert places("adversarial", Material(other)) == []
    known = [*told, tell(D, A, "c3", head="met")]  # told the other way round
    assert ("c1", "A", "D", D.name) not in places("adversarial", Material(known))
    beside = [told[0], tell(C, thing("Ddrn", chunks=A.chunks), "c2", head="fought")]  # one chunk names both
    assert [p[0] for p in places("adversarial", Material(beside))] == ["c2"]


def test_a_ground_is_the_same_where_all_that_it_rests_on_is() -> None:
    one = Ground("local", ("c1",), (A, B), (tell(A, B, "c1"),))
    assert one.id == Ground("local", ("c1",), (A, B), (tell(A, B, "c1"),)).id
    others = [
        Ground("bridge", ("c1",), (A, B), one.told), Ground("local", ("c2",), (A, B), one.told),
        Ground("local", ("c1",), (A, C), one.told), Ground("local", ("c1",), (A, B)),
        Ground("local", ("c1",), (A, B), one.told, times=("1990",)),
        Ground("local", ("c1",), (A, B), one.told, other="x"),
        Ground("local", ("c1",), (A, B), one.told, (claim("k", A, "1", "2", "c1"),)),
    ]  # fmt: skip
    assert len({one.id, *(other.id for other in others)}) == 8


@pytest.mark.parametrize(
    ("name", "kind", "heading"),
    [
        ("INSTALL", "other", True),
        ("Requirements", "concept", True),
        ("DAMAGES OR OTHER LIABILITY", "other", True),
        ("IN CONNECTION WITH THE SOFTWARE", "", True),
        ("Liability, Claims", "other", True),
        ("TPM", "other", False),
        ("Requirements", "organization", False),
        ("Lantern Hill", "other", False),
        ("Pango", "other", False),
    ],
)
def test_headings_and_runs_of_capitals_are_no_names_to_ask_about(name: str, kind: str, heading: bool) -> None:
    one = thing(name, kind, ("c1", "c2"), 9)
    assert is_heading(one) is heading
    others = [thing(n, "other", ("c1", "c2")) for n in ("Arn", "Brn", "Crn")]
    (ground,) = find_grounds("global", Material((), entities=[one, *others], clusters=[cluster(one, *others)]))
    assert (one in ground.entities) is not heading
