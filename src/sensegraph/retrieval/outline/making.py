"""The outline made from what each document adds: which of its forms a corpus has."""

from __future__ import annotations

from collections.abc import Sequence

from sensegraph.retrieval.outline.forms import group_subjects, is_story, tell_story
from sensegraph.retrieval.outline.notes import Noted
from sensegraph.retrieval.outline.phrases import Gathered
from sensegraph.retrieval.outline.themes import ThemeFinder
from sensegraph.retrieval.outline.values import Outline
from sensegraph.runtime.results import Results

REACHED = 0.5  # share of the units that themes must reach; below, they are separate subjects
FEWEST, SEPARATE = 2, 8  # units that have themes in common; units from which they may be called separate subjects


def outline_notes(notes: Sequence[Noted]) -> Outline:
    """The outline of a corpus in the form that fits, from what each document adds."""
    gathered, keys = Gathered(list(notes)), notes.keys if isinstance(notes, Results) else ()
    units = len(gathered.titles)
    voices = tuple(sorted(gathered.voices.items(), key=lambda x: (-x[1], x[0])))
    found = Outline("", units, gathered.sentences, voices, notes=keys)
    if is_story(gathered):
        cast, parts = tell_story(gathered)
        return Outline("story", units, gathered.sentences, voices, parts, cast, notes=keys) if cast else found
    if units < FEWEST:
        return found
    themes, more, reached = ThemeFinder(gathered).themes()
    if reached < REACHED and units >= SEPARATE:
        return Outline("subjects", units, gathered.sentences, voices, group_subjects(gathered), notes=keys)
    return (
        Outline("themes", units, gathered.sentences, voices, tuple(themes), (), tuple(more), keys) if themes else found
    )
