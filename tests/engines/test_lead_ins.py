"""What stands around a sentence that makes it an answer, by worked examples."""

from __future__ import annotations

import pytest

from sensegraph.engines.offline.answers.asked import list_led_commands, list_led_in
from sensegraph.engines.offline.answers.lists.versions import find_version
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.reports.sentence_quality import end_sentence, tidy_sentence
from sensegraph.types import Source


def sentences(*lines: str, passages: str = "") -> list[SourceSentence]:
    """Lines of one passage, or of those named by a letter for each line."""
    of = passages or "p" * len(lines)
    return [SourceSentence(t, "", Source(of[i], i * 100, i * 100 + len(t)), of[i], (), i) for i, t in enumerate(lines)]


@pytest.mark.parametrize(
    ("lines", "passages", "led"),
    [
        (("The options are:", "- red", "- green", "The end of it all."), "", [1, 2]),
        (("The options are:", "- red", "- green"), "ppq", [1]),  # another passage is no part of the list
        (("The options are plain.", "- red"), "", []),
        (("Unpack it like this:", "xz -dc a.xz | tar xf -", "It takes a while."), "", [1]),
        (("Unpack it in one go.", "$ tar xf a.tar", "$ rm a.tar"), "", [1]),
        (("$ tar xf a.tar", "$ rm a.tar"), "", []),  # a command leads in to nothing
        (("They are:", *(f"- number {n}" for n in range(9))), "", [1, 2, 3, 4, 5, 6]),
        (("It is this:", "word " * 31), "", []),
    ],
)
def test_a_colon_leads_in_to_a_list_and_a_sentence_to_the_command_behind_it(
    lines: tuple[str, ...], passages: str, led: list[int]
) -> None:
    every = sentences(*lines, passages=passages)
    assert [every.index(one) for one in list_led_in(every, 0)] == led


def test_a_sentence_leads_in_to_commands_and_a_command_to_none() -> None:
    every = sentences("Put it back:", "$ tool reset", "$ tool start", "- red")
    assert list_led_commands(every, 0) == every[1:3]
    assert list_led_commands(every, 1) == []


def test_the_version_of_a_change_is_that_of_the_heading_above_it() -> None:
    asked = "Which version brought the option --sparse?"
    every = sentences("Version 2.4", "New option --fast.", "Version 2.3", "New option --sparse.")
    assert find_version(asked, every, 3) == ("2.3", every[2])
    assert find_version(asked, every, 1) == ("2.4", every[0])
    assert find_version("Who wrote the option --sparse?", every, 3) is None
    assert find_version(asked, sentences("Version 2.3", "New in version 2.5: --sparse."), 1) is None  # it says its own
    assert find_version(asked, sentences("Version 2.3", "New option --sparse.", passages="pq"), 1) is None


def test_a_command_and_a_name_that_begins_with_a_point_are_shown_as_they_stand() -> None:
    assert end_sentence("xz -dc foo.tar.xz | tar xf -") == "xz -dc foo.tar.xz | tar xf -"
    assert end_sentence("It unpacks files -") == "It unpacks files."
    assert tidy_sentence("The .xz suffix was free , and short .") == "The .xz suffix was free, and short."


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("knitd 1.14.10 (2023-09-01) =========", "knitd 1.14.10 (2023-09-01)"),
        ("Reels ----- o The spool has been widened.", "Reels: The spool has been widened."),
        ("libknit: mend a stitch.", "libknit: mend a stitch."),
        ("knitd-measure is a new tool.", "knitd-measure is a new tool."),
        ("well-known people came - by boat.", "Well-known people came - by boat."),
        ("co-founder of it was Ada.", "Co-founder of it was Ada."),
        ("note: it is late.", "Note: it is late."),
        ("It extracts when . and .. are closed.", "It extracts when . and .. are closed."),
    ],
)
def test_rules_below_headings_are_not_shown_and_names_of_programs_begin_small(raw: str, shown: str) -> None:
    assert tidy_sentence(raw) == shown
