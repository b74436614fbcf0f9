"""Other forms of the names of countries: what is said of their people and things, and how they are abbreviated."""

from __future__ import annotations

from types import MappingProxyType

from sensegraph.language.word_lists import read_lines

_LINES = (line.split(": ") for line in read_lines("countries"))
COUNTRY = MappingProxyType({form: name for name, forms in _LINES for form in forms.split(", ")})
"""The name of the country for each of its other forms, both folded: `danish` → `denmark`, `u s` → `united states`."""
