"""What a log of changes says of one version: when it was released, and what changed in it."""

from __future__ import annotations

import pytest

from form_corpora import Texts, passages
from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.lists.releases import answer_release
from sensegraph.engines.offline.answers.source_sentences import read_source_sentences

LOGS: Texts = {
    "loomctl.changelog": (
        "loomctl (2.1-2) unstable; urgency=low\n\n  * Mend the pedal.\n\n"
        " -- Ada Finch <ada@example.org>  Mon, 24 Oct 2022 10:34:28 +0200\n\n"
        "loomctl (2.1-1) unstable; urgency=low\n\n  * New upstream release.\n\n"
        " -- Ada Finch <ada@example.org>  Wed, 28 Sep 2022 16:50:07 +0200\n\n"
        "loomctl (2.1~rc1-1) unstable; urgency=low\n\n  * New upstream snapshot 2.1 rc1.\n\n"
        " -- Ada Finch <ada@example.org>  Sun, 17 Jul 2022 14:35:02 +0200\n"
    ),
    "spindle news": (
        "v1.5.2 (Jan 2022)\nperf: the wheel turns faster\nbuild: needs no glue\ndoc: the licence is told\n\n"
        "v1.5.1 (Dec 2021)\nperf: the thread is thinner\napi: the old brake is gone\n\n"
        "v1.4\nbuild: first for boats\n"
    ),
    "reel news": "Changes in reel from 1.0 to 1.1.\n    Added a handle.\n    Fixed the noise.\n",
}


def told(question: str) -> str:
    held = passages(LOGS)
    written = answer_release(Asked(question, held, tuple(read_source_sentences(held, "en"))))
    return "".join(s.text for s in written.statements) if written else ""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was loomctl 2.1 released?", "**28 September 2022**: loomctl (2.1-1) unstable; urgency=low."),
        ("When was version 2.1-2 of loomctl released?", "**24 October 2022**: loomctl (2.1-2) unstable; urgency=low."),
        ("What is the release date of spindle 1.5.1?", "**December 2021**: v1.5.1 (Dec 2021)."),
        ("When was spindle v1.4 released?", ""),  # the log does not say when
        ("When was spindle 2.1 released?", ""),  # the version of another program
        ("When was loomctl 2 released?", ""),
        ("When was Ada Finch born?", ""),
    ],
)
def test_a_version_was_released_when_its_own_entry_says_so(question: str, answer: str) -> None:
    assert told(question) == answer


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        (
            "What changed in spindle v1.5.2?",
            [
                "**v1.5.2 (Jan 2022)**:",
                "- perf: the wheel turns faster.",
                "- Build: needs no glue.",
                "- Doc: the licence is told.",
            ],
        ),
        ("What is new in spindle 1.4?", ["**V1.4**:", "- Build: first for boats."]),
        ("What changed in loomctl 2.1-2?", ["**loomctl (2.1-2) unstable; urgency=low**:", "- Mend the pedal."]),
        ("What was added in reel 1.1?", ["**Changes in reel from 1.0 to 1.1**:", "- Added a handle."]),
        ("What changed in spindle 9.9?", []),
    ],
)
def test_what_changed_in_a_version_is_its_entry_and_no_other_one(question: str, lines: list[str]) -> None:
    assert [line for line in told(question).splitlines() if line][: len(lines) or None] == lines


NOTES: Texts = {
    "shuttle-news": (
        "version 3.2 - Ada Finch, 2021-03-04\n* Oil the axle\n* New option --fast\n* Fix the brake version 3.1 "
        "- Ada Finch, 2020-05-06\n* Remove the horn\n"
    ),
    "heddle-news": (
        "heddle 4.5.6 (2 May 2022) ===========\n\nFixes:\n\n* Mend the frame at the corner.\n\nImprovements:\n\n"
        "* Turn the wheel faster.\n"
    ),
    "Pulley": (
        "This is a terse description of the new features added to pulley-5.2 since the release of pulley-5.1. "
        "As always, see the manual.\n\n1. New Features in the Pulley\n\na. The rope is longer.\n\nb. The hook is red.\n"
    ),
    "Treadle 2.3": "# Treadle 2.3\n\nReleased on 9 May 2024. Treadle 2.3 adds a pedal. Treadle needs oil.",
    "Batten News": "CHANGES WITH 77:\n\n* The seat is soft now.\n\nCHANGES WITH 76:\n\n* The seat is hard.\n",
}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was shuttle 3.1 released?", "**6 May 2020**: Version 3.1 - Ada Finch, 2020-05-06."),
        ("What changed in shuttle 3.1?", "**Version 3.1 - Ada Finch, 2020-05-06**:\n\n- Remove the horn."),
        ("Which bugs were fixed in shuttle 3.2?", "**Version 3.2 - Ada Finch, 2021-03-04**:\n\n- Fix the brake."),
        ("What did shuttle 3.2 add?", "**Version 3.2 - Ada Finch, 2021-03-04**:\n\n- New option --fast."),
        ("Which bug fixes are in heddle 4.5.6?", "**heddle 4.5.6 (2 May 2022)**:\n\n- Mend the frame at the corner."),
        ("What did heddle 4.5.6 improve?", "**heddle 4.5.6 (2 May 2022)**:\n\n- Turn the wheel faster."),
        ("What changed in batten 77?", "**CHANGES WITH 77**:\n\n- The seat is soft now."),
        ("What did treadle 2.3 add?", "**Treadle 2.3**:\n\n- Treadle 2.3 adds a pedal."),
        (
            "What was added in pulley 5.2?",
            "**This is a terse description of the new features added to pulley-5.2 since the release of pulley-5.1**:"
            "\n\n- A. The rope is longer.\n- B. The hook is red.",
        ),
        ("What changed in 77?", ""),
        ("Which mill was added in shuttle 9.1?", ""),
    ],
)
def test_what_a_version_fixed_or_added_are_the_lines_of_its_entry_that_say_so(question: str, answer: str) -> None:
    held = passages(NOTES)
    written = answer_release(Asked(question, held, tuple(read_source_sentences(held, "en"))))
    assert ("".join(s.text for s in written.statements) if written else "") == answer


def test_the_heading_that_a_line_ends_with_is_cited_alone() -> None:
    held = passages(NOTES)
    written = answer_release(Asked("When was shuttle 3.1 released?", held, tuple(read_source_sentences(held, "en"))))
    assert written is not None
    (source,) = written.statements[0].sources
    assert NOTES["shuttle-news"][source.start : source.end] == "version 3.1 - Ada Finch, 2020-05-06"


@pytest.mark.parametrize(("count", "more"), [(10, ""), (12, "And 2 more.")])
def test_ten_changes_are_shown_and_the_others_counted(count: int, more: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "wheel thread brake pedal frame cord hook spool reel crank belt shaft".split()[:count]
    log = "v2.0.1 (May 2023)\n" + "".join(f"perf: the {word} turns faster\n" for word in words)
    monkeypatch.setitem(LOGS, "spindle news", f"{log}\nv1.4\nbuild: first for boats\n")
    lines = [line for line in told("What changed in spindle v2.0.1?").splitlines() if line]
    assert len([line for line in lines if line.startswith("- ")]) == 10
    assert (lines[-1] == more) if more else lines[-1].startswith("- ")
