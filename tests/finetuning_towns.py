"""Passages and questions of invented towns: what tests of fine-tuning data share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sensegraph.lab.finetuning.data.example_types import (
    DataSettings,
    DroppedQuestion,
    MadeExample,
    Passage,
    SourceQuestion,
)
from sensegraph.lab.finetuning.data.sources import Source

_MADE = "salt rope barley lamps pitch sailcloth oars nets anchors candles".split()


def passage(number: int, **given: Any) -> Passage:
    """What one town makes and who keeps its lamp; no two towns share a sentence."""
    text = (
        f"Town {number} lies on bay {number}. It makes {_MADE[number % 10]} of sort {number}. "
        f"Keeper Odd {number} Finch trims the lamp of town {number}."
    )
    return Passage(f"p{number}", text, f"Town {number}", document=f"p{number}", topic=f"t{number % 3}", **given)


def pool(count: int = 40) -> tuple[Passage, ...]:
    return tuple(map(passage, range(count)))


def asked(number: int = 0, golds: int = 1, **given: Any) -> SourceQuestion:
    """Who keeps the lamp of a town; a question of two gold passages asks for two towns."""
    golden = tuple(passage(number + i, oracle=True) for i in range(golds))
    fields = {"answers": (f"Odd {number} Finch",), "type": "keeper", **given}
    return SourceQuestion(f"q{number}", f"Who trims the lamp of town {number}?", oracles=golden, **fields)


def source(questions: Sequence[SourceQuestion | DroppedQuestion], passages: Sequence[Passage] | None = None) -> Source:
    return Source("towns", tuple(questions), pool() if passages is None else passages)


SMALL = DataSettings(max_tokens=400)
NO_PAD = DataSettings(pad=False)


def example(item: MadeExample | DroppedQuestion) -> Any:
    assert isinstance(item, MadeExample), item
    return item.example


def hops(number: int, **given: Any) -> dict[str, Any]:
    """A record in the form of HotpotQA: five pages of two sentences, of which the second and the fourth are gold."""
    context = [[f"Page {number}-{i}", [f"Sentence {number}-{i} one.", f" And {number}-{i} two."]] for i in range(5)]
    facts = [[f"Page {number}-1", 0], [f"Page {number}-3", 1], [f"Page {number}-3", 0]]
    return {"_id": f"h{number}", "question": "Which?", "answer": "one", "type": "bridge"} | {
        "context": context,
        "supporting_facts": facts,
        **given,
    }
