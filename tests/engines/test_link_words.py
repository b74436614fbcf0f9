"""Which words link two things as subject, verb and object: only where the first is the subject of the verb."""

from __future__ import annotations

import pytest

from sensegraph.engines.offline.extraction.link_words import find_link_words


def link(text: str, one: str, other: str) -> str:
    start = text.index(one)
    end = start + len(one)
    return find_link_words(text, (start, end), text.index(other, end))


@pytest.mark.parametrize(
    ("text", "one", "other", "expected"),
    [
        ("Ada founded Bell", "Ada", "Bell", "founded"),
        ("Bell was founded by Ada.", "Bell", "Ada", "was founded by"),
        ("In 1994 Dorvan signed a treaty with Ulm.", "Dorvan", "Ulm", "signed a treaty with"),
        ("A film directed by Ada Finch.", "film", "Ada Finch", "directed by"),
        ("They met at Bell, which employs Ada.", "Bell", "Ada", "employs"),
        ("Bell no longer employs Ada.", "Bell", "Ada", "no longer employs"),
        ("Ada beat King Bo.", "Ada", "King Bo", "beat"),
        ("Ada never left the harbour.", "Ada", "harbour", "never left"),
        ("The harbours belong to Bell.", "harbours", "Bell", "belong to"),
        ("They say that Ada runs Bell.", "Ada", "Bell", "runs"),
        ("Ada has been captured and released by Ulm.", "Ada", "Ulm", "has been captured and released by"),
        ("Ada could not join Bell.", "Ada", "Bell", "could not join"),
        ("at a firm like Bell that pays Ada", "Bell", "Ada", "pays"),
        (f"Ada {'x' * 55} is Bell", "Ada", "Bell", ""),
        (f"Ada is {'x' * 57} Bell", "Ada", "Bell", ""),
        ("Ada is a one two three four five six seven Bell", "Ada", "Bell", ""),
    ],
)
def test_the_verb_of_the_first_thing_links_it_with_the_second(text: str, one: str, other: str, expected: str) -> None:
    assert link(text, one, other) == expected


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("His record at the hill in Ulm remains the last at Bell.", "Ulm", "Bell"),  # the record remains
        ("The chair of the board left Bell.", "board", "Bell"),
        ("The board's chair left Bell.", "board", "Bell"),
        ("We add an option to make harbours of Ulm.", "option", "harbours"),
        ("There are options that we think concern Bell.", "options", "Bell"),
        ("Support escape sequences.", "Support", "sequences"),
        ("Ada is late because she met Bo.", "Ada", "Bo"),
        ("Ada has a boat now and Bo has none.", "Ada", "Bo"),
        ("The way in which Ada reads names is ruled by Bell.", "Ada", "Bell"),
        ("Ada told – or was telling – Bo.", "Ada", "Bo"),
        ("My teacher, Miss Kelly", "teacher", "Kelly"),
        ("Ada and Bo met.", "Ada", "Bo"),
        ("The song Ada Come On Bell is old.", "Ada", "Bell"),
        ("Ada, Bell", "Ada", "Bell"),
        ("the Harbour Cats lead singer Ada", "Harbour Cats", "Ada"),
        ("We met the team at Bell, who were able to hire Ada.", "Bell", "Ada"),
        ("This Bell set includes Ada.", "Bell", "Ada"),
        ("A boat made by Ada that uses Bell sails.", "Ada", "Bell"),
        ("Not allowing a field goal is a win for Bell.", "goal", "Bell"),
        ("Those who accept the offer will join Bell.", "offer", "Bell"),
        ("Ada Finch said Bo would come.", "Ada Finch", "Bo"),
        ("Files in /tmp created by Bell", "tmp", "Bell"),
        ("An American born sprinter of Jamaican descent", "American", "Jamaican"),
        ("They heard that boats were bad and refused to join Bell.", "boats", "Bell"),
        ("AdaBell", "Ada", "Bell"),
    ],
)
def test_nothing_links_where_another_subject_acts(text: str, one: str, other: str) -> None:
    assert link(text, one, other) == ""


def test_only_the_sentence_is_looked_at_for_what_stands_before_the_first_thing() -> None:
    text = "He thought of Ada left Bell."
    assert find_link_words(text, (14, 17), 23) == ""
    assert find_link_words(text, (14, 17), 23, 14) == "left"
