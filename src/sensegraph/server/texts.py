"""Results as text, for hosts that show a model no structured output: places as [grace.txt:40-97]; and the prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sensegraph.errors import InputError
from sensegraph.server.token_budget import JSON, encode_result

_PLACE = {"document", "start", "end", "page"}
_CITATION = {"marker", *_PLACE, "quote"}


def write_result(tool: str, result: JSON) -> str:
    """The text of a tool's result: of an answer the answer itself with its sources, of others JSON."""
    if tool == "ask":
        parts = [result["answer"], *map(_write_places, result["citations"])]
        parts += [f"- {note}" for note in result["notes"]] + [f"- cut: {part}" for part in result.get("cut", ())]
        return "\n".join(map(str, parts))
    if tool == "read":
        place = _write_place(result)
        more = (
            f"\n[{result['length'] - result['end']} more characters from {result['end']}]" if "next" in result else ""
        )
        return f"{place}\n{result['text']}{more}"
    return encode_result(_write_places(result))  # without places, as fetch is, it is the JSON that connectors read


def _write_places(value: Any) -> Any:
    """`value` with its places and citations in text form."""
    if isinstance(value, list):
        return [_write_places(x) for x in value]
    if not isinstance(value, dict):
        return value
    if value.keys() - {"figure"} in (_PLACE, _CITATION):
        place = _write_place(value)
        return f"[{value['marker']}] {place} “{value['quote']}”" if "quote" in value else place
    return {name: _write_places(x) for name, x in value.items()}


def _write_place(place: JSON) -> str:
    page = f", p. {place['page']}" if place.get("page") else ""
    return f"[{place['document']}:{place['start']}-{place['end']}{page}{name_figure(place)}]"


def name_figure(place: JSON) -> str:
    """What stands behind a place that is inside of what a model told of a figure; nothing for others."""
    figure = place.get("figure")
    return f", figure {figure['number']} (described by {figure['described_by']})" if figure else ""


@dataclass(frozen=True, slots=True)
class PromptText:
    """A prompt that a host offers its user; `text` has a field for each of its arguments."""

    name: str
    description: str
    arguments: tuple[str, ...]
    text: str

    def fill(self, given: Mapping[str, str]) -> str:
        """The text with its fields filled. Raises InputError where an argument is missing."""
        if missing := [name for name in self.arguments if not given.get(name)]:
            raise InputError(f"The prompt {self.name} needs {', '.join(missing)}.")
        return self.text.format(**{name: given[name] for name in self.arguments})


_CITED = " Cite the source of each statement in the form [document:start-end], and say what the documents leave open."
PROMPTS = (
    PromptText(
        "brief",
        "A briefing on a topic",
        ("topic",),
        "Write a briefing on {topic}. Call overview and ask, then read what the citations lead to." + _CITED,
    ),
    PromptText(
        "compare",
        "Two things compared",
        ("a", "b"),
        "Compare {a} and {b} by what the corpus says. Call entity for each, then ask where they differ." + _CITED,
    ),
    PromptText(
        "timeline",
        "What happened, in order",
        ("name",),
        "Tell what happened to {name} in time order. Call entity with about=timeline, then read the places." + _CITED,
    ),
    PromptText(
        "check",
        "A text held against the corpus",
        ("text",),
        "Check each statement of the text below against the corpus with search and read. Say of each whether it is "
        "supported, contradicted or not found." + _CITED + "\n\n{text}",
    ),
)
"""The prompts."""
