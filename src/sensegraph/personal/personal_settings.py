"""What is looked for in texts that may be personal, and what is found."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from sensegraph.errors import SettingsError
from sensegraph.runtime.keys import encode_canonical, key

Kind = Literal["email", "phone", "url", "ip", "iban", "card", "identity", "birthday", "address", "person", "name"]
KINDS: tuple[str, ...] = get_args(Kind)
RULED: tuple[Kind, ...] = ("email", "phone", "url", "ip", "iban", "card", "identity", "birthday", "address")
_VERSION = 4  # raise it when the same text is masked differently
_NAME = re.compile(r"[a-z]{2,20}")


@dataclass(frozen=True, slots=True)
class PersonalSettings:
    """What becomes of personal data in documents that are read: nothing, a count (`report`), or placeholders (`mask`).

    `kinds` are looked for; there to be added are `person`, names of people, and `name`, all names that may be those of
    people: more of them are found then, and more that are none. `regions` (ISO 3166) are the countries
    whose telephone numbers are known without their country's prefix. `allow` are texts that stay (`*@example.org`).
    `patterns` are regular expressions of your own by a name for their kind. `style` says what stands in a text's place:
    `keyed`, the same for the same thing throughout a corpus (`EMAIL-c41f0a92d7`), or its `kind` alone (`[EMAIL]`).
    """

    mask: Literal["off", "report", "mask"] = "off"
    style: Literal["keyed", "kind"] = "keyed"
    kinds: tuple[Kind, ...] = RULED
    regions: tuple[str, ...] = ("US", "GB", "DE", "FR")
    allow: tuple[str, ...] = ()
    patterns: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Span:
    """Personal data at `start:end` of a text; `value` is its plain form, equal for two ways of writing one thing."""

    kind: str
    start: int
    end: int
    value: str


@dataclass(frozen=True, slots=True)
class Tally:
    """What was found by kind, in how many documents, and whether it was masked or only counted."""

    counts: Mapping[str, int] = field(default_factory=dict)
    documents: int = 0
    masked: bool = False

    def __bool__(self) -> bool:
        return bool(self.counts)


def tally_findings(found: list[Counter[str]], *, masked: bool) -> Tally:
    """The sums of what was found in each document, kinds in their order, those of the user last."""
    total: Counter[str] = Counter()
    for counts in found:
        total.update(counts)
    return Tally(order_kinds(total), sum(map(bool, found)), masked)


def order_kinds(counts: Counter[str]) -> dict[str, int]:
    """Counts by kind, kinds in their order, those of the user last; none that is 0."""
    order = [*KINDS, *sorted(counts.keys() - set(KINDS))]
    return {kind: counts[kind] for kind in order if counts[kind]}


def seeks_people(settings: PersonalSettings) -> bool:
    """Whether names of people are looked for."""
    return "person" in settings.kinds or "name" in settings.kinds


def compile_patterns(settings: PersonalSettings) -> dict[str, re.Pattern[str]]:
    """The user's own patterns by kind. Raises SettingsError for one that is wrong, naming it."""
    made = {}
    for name, pattern in settings.patterns.items():
        if not _NAME.fullmatch(name):
            raise SettingsError(
                f"personal.patterns.{name}: name a pattern with 2 to 20 small letters, such as employee."
            )
        try:
            made[name] = re.compile(pattern)
        except re.error as e:
            raise SettingsError(f"personal.patterns.{name} is no regular expression: {e}.") from e
        if made[name].search(""):
            raise SettingsError(f"personal.patterns.{name} fits an empty text, which is everywhere; make it say more.")
    return made


def fingerprint_settings(settings: PersonalSettings) -> str:
    """What tells the settings apart under which the same document may come out differently."""
    return key("personal", _VERSION, settings)[:16]


def write_settings(settings: PersonalSettings, hidden: Callable[[str], str]) -> str:
    """The settings as JSON, to tell later which of them differ; `hidden` stands for those that may name somebody."""
    plain = {"version": _VERSION, "style": settings.style, "kinds": settings.kinds, "regions": settings.regions}
    named = {"allow": settings.allow, "patterns": settings.patterns}
    return json.dumps(plain | {name: hidden(encode_canonical([name, value]).decode()) for name, value in named.items()})


def describe_changes(then: str, now: str) -> str:
    """Which settings differ between two that were `written`, for people; empty for equal ones and unknown ones."""
    if not then:
        return ""
    was, is_ = json.loads(then), json.loads(now)
    changes = list[str]()
    for name in was:
        before, after = was[name], is_[name]
        if before == after:
            continue
        if isinstance(before, list) and isinstance(after, list):
            gone, new = [x for x in before if x not in after], [x for x in after if x not in before]
            moved = [f"{when} also {', '.join(some)}" for when, some in (("then", gone), ("now", new)) if some]
            changes.append(f"{name} ({', '.join(moved) or 'in another order'})")
        else:
            changes.append(f"style (then {before}, now {after})" if name == "style" else name)
    return "; ".join(changes)
