"""Observe every law and write docs/laws.md: `python tests/laws/table.py` from the root of the repository."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from laws.asking import LEVELS, Asked
from laws.lawbook import ENGINES, LAWS, REASONS, cells, exceptions
from sensegraph.methods import METHODS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "laws.md"
Cell = tuple[str, str, str, str]  # law, engine, corpus, method
SIGNS = dict(zip(LEVELS, ("=", "a", "s", "1", "–"), strict=True))
_HEAD = """# Laws

Some changes of documents or of a question mean nothing: wrapped lines, other names of files, another order. What must
stay of an answer then, and what may change, is tested for every method (`tests/laws`): with the offline engine on three
small corpora (`harbour`: minutes, letters and newspapers; `office`: mails, notes, a plan and a manual with headings and
lists; `rathaus`: German minutes with speakers, letters and newspapers), and with a scripted model on the first, where
the method and not the model decides. The levels, each of which includes the next:

| level | sign | what is kept |
|---|:---:|---|
| all | = | text and citations of the answer; its evidence, with order and scores |
| answer | a | text and citations of the answer |
| sentences | s | the distinct sentences that it cites |
| some | 1 | at least one of these |
| none | – | nothing |

`python tests/laws/table.py` observes all of it and writes this page.

"""


def page(observed: Mapping[Cell, str]) -> str:
    """The whole page."""
    return _HEAD + "\n".join([*laws_markdown(), "", *exceptions_markdown(), "", *table_markdown(observed), ""])


def laws_markdown() -> Iterator[str]:
    """What each law says."""
    yield "## What holds"
    yield ""
    for name, law in LAWS.items():
        yield f"- **{name}** ({law.keeps}). {law.same} May change: {law.may[0].lower()}{law.may[1:]}"


def exceptions_markdown() -> Iterator[str]:
    """Who need not keep a law, and why."""
    yield "## Who keeps less, and why"
    yield ""
    yield "| law | engine | keeps | methods | why |"
    yield "|---|---|---|---|---|"
    rows: dict[tuple[str, str, str, str], list[str]] = {}
    for law, engine, method, found in exceptions():
        rows.setdefault((law, engine, found.keeps, found.why), []).append(method)
    for (law, engine, keeps, why), methods in rows.items():
        yield f"| {law} | {engine} | {keeps} | {', '.join(methods)} | {REASONS[why]} |"


def table_markdown(observed: Mapping[Cell, str]) -> Iterator[str]:
    """Corpus × law × method, with the signs of the levels."""
    yield "## Corpus × law × method"
    yield ""
    yield f"| law | engine, corpus | {' | '.join(METHODS)} |"
    yield f"|---|---|{':---:|' * len(METHODS)}"
    for law, one in LAWS.items():
        for engine in one.engines:
            for corpus in ENGINES[engine]:
                signs = " | ".join(SIGNS[observed[law, engine, corpus, method]] for method in METHODS)
                yield f"| {law} | {engine}, {corpus} | {signs} |"


def read_table(text: str) -> dict[Cell, str]:
    """The levels that a page shows."""
    levels = {sign: level for level, sign in SIGNS.items()}
    rows = [line.strip("| ").split(" | ") for line in text.split("## Corpus × law × method")[1].splitlines()[4:]]
    return {
        (law, *place.split(", "), method): levels[sign]  # type: ignore[misc]
        for law, place, *signs in rows
        for method, sign in zip(METHODS, signs, strict=True)
    }


def observe_all() -> dict[Cell, str]:
    """The level of every cell."""
    found: dict[Cell, str] = {}
    for engine in ENGINES:
        with tempfile.TemporaryDirectory() as folder:
            asked = Asked(Path(folder), engine)
            for cell in cells():
                if cell[1] == engine:
                    found[cell] = LAWS[cell[0]].observe(asked, *cell[2:])
            asked.close()
    return found


if __name__ == "__main__":
    PAGE.write_text(page(observe_all()), encoding="utf-8")
