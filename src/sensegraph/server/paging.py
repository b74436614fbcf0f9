"""Long lists page by page: a cursor is where the next page begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sensegraph.errors import InputError
from sensegraph.server.token_budget import JSON, fit_result

NEXT = 12  # tokens that the cursor of the next page takes at most


def read_cursor(cursor: str) -> int:
    """Where a page begins; the empty cursor is the beginning. Raises InputError for one that no answer gave."""
    if cursor and not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 9):
        raise InputError(f"The cursor {cursor!r} is none: give the `next` of the result before, or leave it out.")
    return int(cursor or 0)


def cut_page(
    found: JSON,
    lists: Sequence[str],
    cursor: str,
    limit: int,
    tokens: int,
    *,
    beside: str = "",
    after: Sequence[str] = (),
) -> JSON:
    """`found` with the page of its `lists` that begins at the cursor, within so many tokens.

    Its lists are shortened together, with the member `beside` them; then those `after` them, one by one.
    """
    first = read_cursor(cursor)
    page = found | {name: found[name][first : first + limit] for name in lists}
    fitted = fit_result(page, tokens - NEXT, [(*lists, beside), *((name,) for name in after)])
    return add_next(fitted, first, {name: len(found[name]) for name in lists})


def add_next(page: JSON, first: int, lengths: Mapping[str, int]) -> JSON:
    """`page` with the cursor of the next one, where its lists of these lengths, shown from `first` on, have more.

    Where not one item of such a list had room there is no next: `cut` says so, and more tokens are needed.
    """
    shown = [len(page[name]) for name, length in lengths.items() if first + len(page[name]) < length]
    fewest = min(shown, default=0)
    return page | {"next": str(first + fewest)} if fewest else page
