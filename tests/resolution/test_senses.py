"""Which thing a name is in which document: decided by what stands beside it, or left open (N44)."""

from __future__ import annotations

import pytest

from sensegraph.resolution.senses import Owner, Use, find_owners, read_kind, read_region, tell_senses_apart

TREATY = Use("treaty", ("Jordan signed a treaty with Israel.",))
GAME = Use("game", ("Jordan scored 63 points against the Boston Celtics.",))


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Jordan signed a treaty with Israel.", "place"),
        ("The king of Jordan spoke.", "place"),
        ("They live in Jordan.", "place"),
        ("Jordan's government fell.", "place"),
        ("Jordan is a country.", "place"),
        ("Jordan scored 63 points.", "person"),
        ("Jordan's wife was there.", "person"),
        ("Mrs Jordan was there.", "person"),
        ("Jordan knew that he would win with his old friends.", ""),  # a pronoun alone may be another's
        ("Jordan was there.", ""),
        ("Jordan scored in Jordan.", ""),
        ("Mrs Jordan scored in Jordan.", "person"),  # twice as much speaks for it
    ],
)
def test_words_beside_a_name_say_whether_it_is_a_person_or_a_place(said: str, kind: str) -> None:
    assert read_kind("Jordan", (said,)) == kind


@pytest.mark.parametrize(
    ("said", "region"),
    [
        (("Springfield is the capital of Illinois.",), "illinois"),
        (("He moved to Springfield, Ohio, in May.",), "ohio"),
        (("Springfield (Ohio) is old.",), "ohio"),
        (("Springfield in Ohio", "Springfield, Illinois"), ""),
        (("Springfield grew. Ohio is far.",), ""),
        (("Ohio and Springfield",), ""),
    ],
)
def test_a_region_behind_a_name_places_it(said: tuple[str, ...], region: str) -> None:
    assert read_region("Springfield", said) == region


def test_a_country_and_a_player_of_one_name_are_two_things() -> None:
    found = tell_senses_apart(("jordan", "place"), "Jordan", (TREATY, GAME))
    assert found.moved == ((("jordan", "place"), "game", ("jordan", "person")),)
    assert found.made == ((("jordan", "person"), "Jordan"),)
    assert found.open == ()


def test_a_document_that_does_not_say_which_is_meant_stays_apart_from_both_and_is_listed() -> None:
    unsaid = Use("note", ("Jordan was there.",))
    found = tell_senses_apart(("jordan", "place"), "Jordan", (TREATY, GAME, unsaid))
    assert (("jordan", "place"), "note", ("jordan", "other")) in found.moved
    assert found.open == ((("jordan", "place"), "note", ("Jordan (person)", "Jordan (place)")),)


def test_one_kind_alone_is_one_thing() -> None:
    assert tell_senses_apart(("jordan", "place"), "Jordan", (TREATY, Use("note", ("Jordan was there.",)))).moved == ()


def test_what_nothing_else_calls_a_place_is_not_parted_by_the_words_beside_it() -> None:
    uses = (Use("a", ("The Ghost was there. Ghost's wife.",)), Use("b", ("They sat in Ghost.",)))
    assert len(tell_senses_apart(("ghost", "other"), "Ghost", uses).moved) == 2
    assert tell_senses_apart(("ghost", "other"), "Ghost", uses, place=False).moved == ()


def test_towns_of_one_name_in_two_parts_of_a_country_are_two() -> None:
    uses = (Use("a", ("Springfield, Ohio",)), Use("b", ("Springfield in Illinois",)), Use("c", ("to Springfield",)))
    name = ("springfield", "place")
    found = tell_senses_apart(name, "Springfield", uses)
    ohio, illinois = ("springfield (ohio)", "place"), ("springfield (illinois)", "place")
    assert found.moved == ((name, "a", ohio), (name, "b", illinois))
    assert dict(found.made) == {ohio: "Springfield (Ohio)", illinois: "Springfield (Illinois)"}
    assert [document for _, document, _ in found.open] == ["c"]


def test_a_town_of_which_one_document_names_the_state_and_another_the_country_is_one() -> None:
    uses = (Use("a", ("Newport, Ohio",)), Use("b", ("Newport in Wales",)), Use("c", ("Newport, Ohio",)))
    assert tell_senses_apart(("newport", "place"), "Newport", uses[::2]).moved == ()
    assert tell_senses_apart(("newport", "place"), "Newport", uses).moved == ()  # two countries: not told by this alone


ALEXANDRA = Owner(("alexandra chen", "person"), "Alexandra Chen", {"memo": ("Alexandra Chen, hardware lead",)})
ALEXANDER = Owner(
    ("alexander chen", "person"), "Alexander Chen", {"log": ("Alexander Chen, the deputy harbour master, steered.",)}
)
ALEX = ("alex chen", "person")


@pytest.mark.parametrize(
    ("said", "document", "owner"),
    [
        ("Present: Priya Raman, Alex Chen (hardware).", "minutes", ALEXANDRA.name),
        ("His deputy, Alex Chen, said so.", "gazette", ALEXANDER.name),
        ("Alex Chen wrote.", "memo", ALEXANDRA.name),  # the document names her in full
        (
            "Alex Chen steered past the harbour of the deputy.",
            "other",
            ALEXANDER.name,
        ),  # the words are those beside him
        ("Alex Chen wrote.", "other", None),
    ],
)
def test_a_short_name_belongs_to_the_full_name_that_its_document_speaks_of(
    said: str, document: str, owner: tuple[str, str] | None
) -> None:
    found = find_owners(ALEX, "Alex Chen", (Use(document, (said,)),), (ALEXANDRA, ALEXANDER))
    if owner is None:
        assert found.moved == ()
        assert found.open == ((ALEX, document, ("Alexandra Chen", "Alexander Chen")),)
    else:
        assert (found.moved, found.open) == (((ALEX, document, owner),), ())


def test_a_document_that_names_both_in_full_leaves_the_short_name_open() -> None:
    both = (Owner(("a smith", "person"), "Ann Smith", {"d": ("Ann Smith",)}),
            Owner(("b smith", "person"), "Bo Smith", {"d": ("Bo Smith",)}))  # fmt: skip
    found = find_owners(("smith", "person"), "Smith", (Use("d", ("Smith left.",)),), both)
    assert (found.moved, found.open) == ((), ((("smith", "person"), "d", ("Ann Smith", "Bo Smith")),))


def test_what_a_document_says_under_the_short_name_helps_to_find_the_next() -> None:
    jordan = Owner(("michael jordan", "person"), "Michael Jordan", {"bulls": ("Michael Jordan was there.",)})
    uses = (Use("bulls", ("Jordan scored against the Boston Celtics.",)), GAME)
    found = find_owners(("jordan", "person"), "Jordan", uses, (jordan,))
    assert [(document, to) for _, document, to in found.moved] == [("bulls", jordan.name), ("game", jordan.name)]


def test_a_place_belongs_to_no_person() -> None:
    jordan = Owner(("michael jordan", "person"), "Michael Jordan", {"treaty": ("Michael Jordan",)})
    assert find_owners(("jordan", "place"), "Jordan", (TREATY,), (jordan,)).moved == ()
