"""The prompt that a model was tuned on, and answers asked with it, in this process or at any endpoint.

A tuned model writes plain text, so that what an answer cites is found afterwards: the passages that hold its words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sensegraph.errors import SettingsError
from sensegraph.language.text import fold
from sensegraph.models.endpoint.client import Reply
from sensegraph.types import Draft, Inquiry, Passage, Statement

MANIFEST = "sensegraph-tuning.json"  # what a tuned folder says of itself
_PLACEHOLDER = re.compile(r"\{\{(question|passages)\}\}")
_NO_HISTORY = "The conversation was not shown: the prompt that the model was trained on has no place for it."
_NO_SOURCE = "The answer cites nothing: no passage holds its words."
_CUT = "The answer was cut off at the limit of its length."


@dataclass(frozen=True, slots=True)
class Layout:
    """The prompt that a model was trained on, with a place for the question and one for the passages."""

    template: str

    def prompt(self, question: str, passages: Sequence[str]) -> str:
        """The prompt for one question over the texts of its passages."""
        given = {"question": question, "passages": "\n\n".join(passages)}
        return _PLACEHOLDER.sub(lambda found: given[found[1]], self.template)


def read_layout(path: Path) -> Layout:
    """The prompt of a training: from a tuned folder, its manifest, or a file that holds the template itself.

    Raises SettingsError where there is no such file, no prompt in it, or a prompt without both places.
    """
    file = path / MANIFEST if path.is_dir() else path
    try:
        text = file.read_text("utf-8")
        template = str(json.loads(text).get("prompt") or "") if file.suffix == ".json" else text
    except (OSError, ValueError, AttributeError) as e:
        raise SettingsError(
            f"model.trained_prompt: {file} cannot be read ({e}); name the folder of a tuned model, its {MANIFEST}, or "
            "a file with the template."
        ) from e
    if set(_PLACEHOLDER.findall(template)) != {"question", "passages"}:
        raise SettingsError(
            f"model.trained_prompt: the prompt in {file} needs {{{{question}}}} and {{{{passages}}}}, which stand for "
            "what is asked and what is shown."
        )
    return Layout(template)


def answer_as_trained(layout: Layout, inquiry: Inquiry, complete: Callable[[str], Reply], notice: str) -> Draft:
    """An answer to the prompt of the training; `complete` continues it, `notice` is what every answer has noted."""
    passages = inquiry.context.passages
    reply = complete(layout.prompt(inquiry.question, [format_passage(p.title, p.text) for p in passages]))
    said = reply.text.strip()
    cited = tuple(p.id for p in passages if rests_on(said, p))
    lost = ((_CUT, reply.finish_reason == "length"), (_NO_HISTORY, bool(inquiry.history)), (_NO_SOURCE, not cited))
    return Draft((Statement(said, cited),), notes=(notice, *(note for note, is_so in lost if is_so)))


def format_passage(title: str, text: str) -> str:
    """A passage as training data shows it."""
    return f"{title}\n{text}" if title else text


def rests_on(answer: str, passage: Passage) -> bool:
    """Whether the passage holds the answer's words, or the answer quotes it; both folded."""
    said, text = fold(answer).rstrip(" ."), fold(f"{passage.title} {passage.text}")
    return bool(said) and said in text
