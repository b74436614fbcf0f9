"""Extractions and aliases that property tests draw."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from sensegraph.language.text import fold
from sensegraph.resolution.aliases import NO_ALIASES, Aliases, with_groups
from sensegraph.types import Chunk, ExtractedClaim, ExtractedEntity, ExtractedRelation, Extraction, Mention

_SAID = ("Ann", "Bob", "Cy", "Dee", "Eve Ann")
_TYPES = ("person", "org")
_DOCUMENTS = ("d0", "d1", "d2", "d3")


@st.composite
def drawn_extractions(draw: st.DrawFn) -> list[tuple[Chunk, Extraction]]:
    """A few chunks with what they say of few names."""
    names, labels = st.sampled_from(_SAID), st.sampled_from("xy")
    made = []
    for i in range(draw(st.integers(1, 5))):
        entities = [
            ExtractedEntity(n, draw(st.sampled_from(_TYPES)), f"{n} {i}.", mentions=(Mention(n, 0, 3),) * k)
            for n, k in draw(st.lists(st.tuples(names, st.integers(0, 3)), max_size=3))
        ]
        links = [
            ExtractedRelation(a, b, f"{a}-{b} {i}.", draw(st.sampled_from((1.0, 2.5))), label=draw(labels))
            for a, b in draw(st.lists(st.tuples(names, names), max_size=3))
        ]
        claims = [ExtractedClaim(n, "", "t", "TRUE", f"{n} did {i}.") for n in draw(st.lists(names, max_size=2))]
        at = Chunk(f"c{i}", draw(st.sampled_from(_DOCUMENTS)), 0, 9, 3, "abcdefghi")
        made.append((at, Extraction(tuple(entities), tuple(links), tuple(claims))))
    return made


@st.composite
def drawn_aliases(draw: st.DrawFn) -> Aliases:
    """A table of aliases of these names."""
    own = [(fold(n), t) for n in _SAID for t in _TYPES]
    picked = draw(st.permutations(own))
    cut = sorted(draw(st.lists(st.integers(0, 6), min_size=2, max_size=2)))
    groups = [sorted(picked[: cut[0]]), sorted(picked[cut[0] : cut[1]])]
    table = with_groups(NO_ALIASES, [g for g in groups if len(g) > 1])
    new = ("ann (2)", "person")
    moved = {(draw(st.sampled_from(own)), d) for d in draw(st.lists(st.sampled_from(_DOCUMENTS), max_size=2))}
    shown = ((draw(st.sampled_from(own)), "Anna"),) if draw(st.booleans()) else ()
    return replace(
        table,
        moved=tuple(sorted((n, d, new) for n, d in moved)),
        made=((new, "Ann (2)"),) if moved else (),
        shown=shown,
    )
