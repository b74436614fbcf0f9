"""Answers to how many choices there are where a text lists them without a number: quoted values, or `a | b | c`."""

from __future__ import annotations

from itertools import pairwise

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence
from sensegraph.engines.offline.answers.lists.weighing import Weigher
from sensegraph.engines.offline.answers.question_text import split_question
from sensegraph.language.asking.enumerations import list_choices
from sensegraph.language.asking.kinds import read_asked_kind
from sensegraph.language.asking.related_words import find_related
from sensegraph.language.text import stem_run

HELD = 0.6  # share of the question that the text around the choices must hold


def answer_option_count(asked: Asked) -> Written | None:
    """How many choices there are of what the question names, with their list; None where no text lists them."""
    kind = read_asked_kind(asked.question)
    if kind is None or not kind.counts or len(split_question(asked.question)) > 1:
        return None
    whole = Weigher(asked, asked.question)
    found = []
    for before, one in pairwise((None, *asked.sentences)):
        choices = list_choices(one.raw) if one else []
        if not one or not choices:
            continue
        near = before if before and before.reference == one.reference else None
        around = [one.document, one.raw, *([near.raw] if near else [])]
        share = whole.share(*around)
        if share >= HELD and _names_kind(kind.noun, around[1:], whole.spoken):
            found.append((share, -one.order, one, near, choices))
    if not found:
        return None
    _, _, one, near, choices = max(found, key=lambda f: f[:2])
    first = one.cite(f"**{len(choices)}**: {show_sentence(one)}")
    if near and not whole.find_held(one.raw) and len(near.raw) < len(one.raw) + 200:
        return Written((first, near.cite(f"\n\n- {show_sentence(near)}")))
    return Written((first,))


def _names_kind(noun: str, texts: list[str], spoken: str) -> bool:
    """Whether a text names the kind, or something near it: a type, a kind; or its values."""
    wanted = set(stem_run(noun, spoken))
    held = {stem for text in texts for word in text.split() for stem in stem_run(word.strip(".,;:()[]“”\"'`"), spoken)}
    near = {other for stem in wanted for other in find_related(stem, held, spoken)}
    return bool(held & (wanted | near | _VALUES))


_VALUES = frozenset(stem for word in "value one either mode choice".split() for stem in stem_run(word, "english"))
