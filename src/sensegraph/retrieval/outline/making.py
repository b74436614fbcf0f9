"""The outline made from what each document adds: which of its forms a corpus has."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from sensegraph.retrieval.outline.forms import group_subjects, is_story, tell_story
from sensegraph.retrieval.outline.notes import Noted
from sensegraph.retrieval.outline.people import find_shared_opening, list_speakers
from sensegraph.retrieval.outline.phrases import Gathered
from sensegraph.retrieval.outline.themes import ThemeFinder
from sensegraph.retrieval.outline.values import Outline
from sensegraph.runtime.results import Results

REACHED = 0.5  # share of the units that themes must reach; below, they are separate subjects
FEWEST, SEPARATE = 2, 8  # units that have themes in common; units from which they may be called separate subjects


def outline_notes(notes: Sequence[Noted]) -> Outline:
    """The outline of a corpus in the form that fits, from what each document adds."""
    gathered, keys = Gathered(list(notes)), tuple(notes.keys) if isinstance(notes, Results) else ()
    units = len(gathered.titles)
    voices = tuple(sorted(gathered.voices.items(), key=lambda x: (-x[1], x[0])))
    found = Outline("", units, gathered.sentences, voices, notes=keys)
    if is_story(gathered):
        cast, parts = tell_story(gathered)
        return replace(found, form="story", themes=parts, cast=cast) if cast else found
    if units < FEWEST:
        return found
    finder = ThemeFinder(gathered)
    themes, more, reached = finder.themes()
    talks = len({gathered.unit[i] for i in gathered.talks})
    people, opening = list_speakers(gathered), find_shared_opening(gathered)
    found = replace(found, talks=talks, people=people, opening=opening)
    if reached < REACHED and units >= SEPARATE and gathered.have_titles:
        return replace(found, form="subjects", themes=group_subjects(gathered))
    return replace(found, form="themes", themes=tuple(themes), more=tuple(more)) if themes else found
