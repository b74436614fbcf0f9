"""A template in its parts: what never changes, the form of the reply, worked examples as turns, and the message.

    what the task is, and its rules: the same bytes for every call, so that providers can keep them in their caches
    === form
    the form of the reply in JSON, which is shown only where the endpoint does not enforce it
    === example
    a message as a user would send it; any number of examples, each with its reply
    === reply
    what should be replied to it
    === message
    what each call adds: {{input}}, and what differs from call to call, such as {{language}}

A template without parts is of the first edition: all of it are instructions, and the message is the input alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from sensegraph.errors import SettingsError

INPUT, LANGUAGE = "{{input}}", "{{language}}"
_PART = re.compile(r"^=== (form|example|reply|message)[ \t]*$\n?", re.MULTILINE)
_MARKER = re.compile(r"^(?==== )", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Template:
    """A template in its parts, each filled but for what only a call knows; `turns` are messages with their replies."""

    instructions: str
    form: str = ""
    turns: tuple[tuple[str, str], ...] = ()
    message: str = INPUT

    def write(self) -> str:
        """The template as a file holds it."""
        parts = [self.instructions, f"=== form\n{self.form}"] if self.form else [self.instructions]
        parts += [f"=== example\n{asked}\n\n=== reply\n{reply}" for asked, reply in self.turns]
        return "\n\n".join([*parts, f"=== message\n{self.message}"]) + "\n"


def split_template(name: str, text: str) -> Template:
    """The parts of a template. Raises SettingsError where an example has no reply, or a part stands twice."""
    first, *rest = _PART.split(text)
    parts = list(zip(rest[::2], (part.strip() for part in rest[1::2]), strict=True))
    order = [kind for kind, _ in parts]
    single = {kind: part for kind, part in parts if kind in ("form", "message")}
    turns = [part for kind, part in parts if kind in ("example", "reply")]
    kinds = [kind for kind in order if kind in ("example", "reply")]
    if kinds != ["example", "reply"] * (len(kinds) // 2) or any(order.count(kind) > 1 for kind in single):
        raise SettingsError(
            f"The parts of the prompt {name}.md are in a wrong order: {', '.join(order)}; each `=== example` is "
            "followed by its `=== reply`, and there is one `=== form` and one `=== message` at most."
        )
    message = single.get("message", INPUT)
    message = message if INPUT in message else f"{INPUT}\n\n{message}".rstrip()
    pairs = tuple(zip(turns[::2], turns[1::2], strict=True))
    return Template(first.strip(), single.get("form", ""), pairs, message)


def fill_parts(name: str, found: Template, values: Mapping[str, str], language: str) -> Template:
    """`found` with each `{{placeholder}}` replaced. Raises SettingsError for one that is not in `values`.

    In the message the input stays, and so does the language where no sentence says which one it is.
    """
    of_call = {"input": INPUT, "language": language or LANGUAGE}

    def fill(text: str, values: Mapping[str, str]) -> str:
        return fill_text(name, text, values)

    turns = tuple((fill(asked, values), fill(reply, values)) for asked, reply in found.turns)
    message = fill(found.message, {**values, **of_call})
    return Template(fill(found.instructions, values), fill(found.form, values), turns, message)


def fill_text(name: str, text: str, values: Mapping[str, str]) -> str:
    """`text` with each `{{placeholder}}` replaced. Raises SettingsError for one that is not in `values`."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            known = ", ".join(sorted(values))
            raise SettingsError(f"The prompt {name}.md has an unknown placeholder {match[0]}; known are: {known}.")
        return values[match[1]]

    return re.sub(r"\n{3,}", "\n\n", _PLACEHOLDER.sub(value, text)).strip()


def write_message(message: str, given: str, language: str) -> str:
    """The message of a call: its part of the template, with what is `given` and the sentence on the language."""
    before, _, after = message.partition(INPUT)
    return f"{before.replace(LANGUAGE, language)}{given}{after.replace(LANGUAGE, language)}".strip()


def defuse_text(text: str) -> str:
    """`text` without what a template would take for a placeholder or for the beginning of a part."""
    return _MARKER.sub(" ", text.replace("{{", "{ {").replace("}}", "} }"))


# ── earlier editions ──


def is_earlier_edition(name: str, text: str) -> bool:
    """Whether `text` is a packaged template of an earlier version, as `init` copied it, and nobody has edited it."""
    digest = sha256(text.replace("\r\n", "\n").encode()).hexdigest()[:16]
    return digest in _earlier_digests().get(name, ())


@cache
def _earlier_digests() -> Mapping[str, frozenset[str]]:
    """The digests of the packaged templates of earlier versions, by name."""
    lines = files("sensegraph.engines.llm").joinpath("earlier-prompts.txt").read_text("utf-8").splitlines()
    split = (line.split() for line in lines if not line.startswith("#"))
    return {name: frozenset(digests) for name, *digests in split}
