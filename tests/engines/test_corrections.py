"""What a later document says it corrects: the later sentence first, the earlier one behind it as replaced."""

from __future__ import annotations

import pytest

from office_corpora import Texts, passages
from sensegraph.engines.offline.answers.corrections import list_preferred, prefer_corrections
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, read_source_sentences

FIRE: Texts = {
    "Report F-7": (
        "Report of 3 May 2018\n\nThe kiln was lit by a faulty switch in the cellar. 14 pots were broken in the fire."
    ),
    "Report F-7, second version": (
        "Report of 20 May 2018\n\nThis version replaces that of 3 May. The fire was not caused by the switch. "
        "A candle had been left on the shelf.\n\n17 pots were broken in the fire."
    ),
    "Diary": "Diary, 1 June 2018\n\n12 pots were sold in the shop after the fire.",
}
CENSUS: Texts = {
    "Count": "Count of 4 March 2020\n\n41 swans live on the lake.",
    "Letter": (
        "Letter of 9 March 2020\n\nThe lake has 43 swans. The 41 swans of the first count left out a pair in the reeds."
    ),
    "Poster": "Poster, 1 April 2020\n\nMore than 60 swans live on our lake.",
}


def held(texts: Texts) -> list[SourceSentence]:
    return read_source_sentences(passages(texts), "en")


def shown(texts: Texts, *begin: str) -> list[str]:
    """What is shown where the sentences that begin so were chosen."""
    sentences = held(texts)
    chosen = [next(s for s in sentences if s.raw.startswith(b)) for b in begin]
    return [s.text.strip() for s in list_preferred(prefer_corrections(chosen, sentences))]


@pytest.mark.parametrize(
    ("texts", "begin", "expected"),
    [
        (
            FIRE,
            "The kiln was",
            [
                "The fire was not caused by the switch.",
                "- A candle had been left on the shelf.",
                "- Earlier: The kiln was lit by a faulty switch in the cellar. (replaced)",
            ],
        ),
        (
            FIRE,
            "14 pots",
            ["17 pots were broken in the fire.", "- Earlier: 14 pots were broken in the fire. (replaced)"],
        ),
        (
            CENSUS,
            "41 swans",
            [
                "The lake has 43 swans.",
                "- The 41 swans of the first count left out a pair in the reeds.",
                "- Earlier: 41 swans live on the lake. (replaced)",
            ],
        ),
    ],
)
def test_what_a_later_document_corrects_stands_behind_it(texts: Texts, begin: str, expected: list[str]) -> None:
    assert shown(texts, begin) == expected


@pytest.mark.parametrize(
    ("texts", "begin"), [(FIRE, "12 pots"), (CENSUS, "More than 60"), (FIRE, "17 pots"), (CENSUS, "The lake has")]
)
def test_what_nobody_corrects_stays_as_it_is(texts: Texts, begin: str) -> None:
    """Documents that only differ contradict each other, and none of them corrects the other."""
    assert len(shown(texts, begin)) == 1


def test_a_correction_that_was_chosen_too_is_shown_once() -> None:
    assert shown(FIRE, "14 pots", "17 pots", "12 pots") == [
        "17 pots were broken in the fire.",
        "- Earlier: 14 pots were broken in the fire. (replaced)",
        "- 12 pots were sold in the shop after the fire.",
    ]


def test_the_order_of_the_documents_makes_no_difference() -> None:
    back = dict(reversed(FIRE.items()))
    assert [shown(back, b) for b in ("The kiln was", "14 pots")] == [
        shown(FIRE, b) for b in ("The kiln was", "14 pots")
    ]


def test_an_earlier_document_corrects_no_later_one() -> None:
    texts = {
        "Count": FIRE["Report F-7, second version"],
        "Later": "Report of 2 June 2018\n\n19 pots were broken in the fire.",
    }
    assert len(shown(texts, "19 pots")) == 1
