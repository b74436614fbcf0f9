"""What two runs of `equality_runner.py` left behind, item by item, and where it first differs.

An item is a name and bytes: a stored object, a table, an array, a ref, an exported file, an answer, what a command
printed. Stores are read as files, not through the package, whose two versions would each read their own way.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from sensegraph.index.restricted.arrivals import PLACE
from sensegraph.runtime.stores.packs import list_objects
from sensegraph.runtime.stores.sqlite import SqliteStore

SHOWN = 160  # characters of each side of a difference
STEPS = ("build", "questions", "commands", "changes")
STORES = ("corpus", "updated", "imported")
_OF_THE_RUN = ("built", "documents", "settled")  # refs that hold the moment of the run, or a value drawn for it
_TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_KEY = re.compile(r"\b[0-9a-f]{40}\b")
Items = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Listed:
    """A deliberate difference: the items whose name `pattern` finds (case/section/item).

    With `old`, a regular expression, and `new` the base's items are rewritten before they are compared, and nothing
    else may differ in them; without, the items may differ in any way.
    """

    commit: str
    reason: str
    pattern: str
    old: str = ""
    new: str = ""

    def covers(self, name: str) -> bool:
        return re.search(self.pattern, name) is not None

    def rewrite(self, value: bytes) -> bytes:
        try:
            return re.sub(self.old, self.new, value.decode("utf-8")).encode("utf-8")
        except UnicodeDecodeError:
            return value


@dataclass(frozen=True, slots=True)
class Difference:
    """An item that differs, and the first place where it does."""

    name: str
    first: str
    listed: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """What came of comparing one section of one case; `used` are the listed differences that had an effect."""

    name: str
    items: int
    differences: tuple[Difference, ...] = ()
    used: frozenset[Listed] = field(default_factory=frozenset)

    @property
    def unlisted(self) -> list[Difference]:
        return [d for d in self.differences if not d.listed]


def read_listed(path: Path) -> tuple[str, tuple[Listed, ...]]:
    """The commit to compare with and the deliberate differences since. Raises TypeError for an unknown field."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return table["base"], tuple(Listed(**entry) for entry in table.get("difference", ()))


# ── comparing ──


def compare_cases(name: str, base: Path, tree: Path, listed: Sequence[Listed] = ()) -> list[Section]:
    """The sections of one case, from the folders of two runs."""
    return [
        compare_items(f"{name}/{section}", before, after, listed)
        for (section, before), (_, after) in zip(read_sections(base), read_sections(tree), strict=True)
    ]


def compare_items(section: str, base: Items, tree: Items, listed: Sequence[Listed] = ()) -> Section:
    """Two versions of the items of a section."""
    found, used = [], set[Listed]()
    names = [*base, *(n for n in tree if n not in base)]
    for name in names:
        before, after = base.get(name), tree.get(name)
        if before == after:
            continue
        mine = [entry for entry in listed if entry.covers(f"{section}/{name}")]
        for entry in mine:
            if entry.old and before is not None and (changed := entry.rewrite(before)) != before:
                before = changed
                used.add(entry)
        if before == after:
            continue
        free = [entry for entry in mine if not entry.old]
        used.update(free)
        found.append(Difference(name, first_difference(before, after), bool(free)))
    return Section(section, len(names), tuple(found), frozenset(used))


def first_difference(base: bytes | None, tree: bytes | None) -> str:
    """Where two values first differ: the place in JSON, the line of a text, the byte of anything else."""
    if base is None or tree is None:
        return "only in the working tree" if base is None else "only in the base"
    try:
        texts = base.decode("utf-8"), tree.decode("utf-8")
    except UnicodeDecodeError:
        at = next((i for i, (a, b) in enumerate(zip(base, tree, strict=False)) if a != b), min(len(base), len(tree)))
        return f"byte {at:,} of {len(base):,} and {len(tree):,}"
    try:
        pairs = zip_longest(*(flat_values("", json.loads(text)) for text in texts), fillvalue=("", "nothing"))
        place, a, b = next((p or q, a, b) for (p, a), (q, b) in pairs if (p, a) != (q, b))
    except (ValueError, StopIteration):
        lines = zip_longest(*(text.splitlines(keepends=True) for text in texts), fillvalue="")
        place, a, b = next((f"line {n}", a, b) for n, (a, b) in enumerate(lines, 1) if a != b)
    start = max(0, next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), 0) - SHOWN // 2)
    cut = [("…" if start else "") + text[start : start + SHOWN] for text in (a, b)]
    return f"{place}: {cut[0]!r} → {cut[1]!r}"


def flat_values(place: str, value: Any) -> Iterator[tuple[str, str]]:
    """Each plain value inside a JSON value with its place, in order."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from flat_values(f"{place}.{name}", inner)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from flat_values(f"{place}[{at}]", inner)
    else:
        yield place, json.dumps(value, ensure_ascii=False)


# ── reading ──


def read_sections(folder: Path) -> Iterator[tuple[str, Items]]:
    """What a run left in its folder, by section."""
    for name in STEPS:
        yield name, read_lines(folder / f"{name}.jsonl")
    exports = folder / "exports"
    yield "exports", {str(p.relative_to(exports)): p.read_bytes() for p in sorted(exports.rglob("*")) if p.is_file()}
    for root in STORES:
        yield f"store of {root}", read_store(folder / root / ".sensegraph")


def read_lines(path: Path) -> Items:
    """The items of a file of the runner: lines [name, value]."""
    found: Items = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line:
                name, value = json.loads(line)
                found[name] = json.dumps(value, ensure_ascii=False).encode()
    return found


def read_store(folder: Path) -> Items:
    """Everything in a store: objects and tables by key, arrays, refs, the ledger.

    Excluded or masked, because they hold the moment of the run: what stands for the state of the documents; the times
    since when a document has been known, and the seconds of the ledger. The manifest is compared as it is stored, and
    by the keys that it holds, in whatever form.
    """
    store = SqliteStore(folder, readonly=True)
    try:
        found = dict(read_objects(store))
        for (key,) in store.select("SELECT key FROM part WHERE key <> '-' ORDER BY key"):
            table = store.rows(key)
            assert table is not None
            found |= {
                f"tables {key} {i} {n}": v for i, (n, v) in enumerate(zip(table.ids(), table.scan(), strict=True))
            }
        for name, value in store.refs().items():
            if name not in _OF_THE_RUN:
                masked = name.startswith(PLACE)
                found[f"refs {name}"] = _TIME.sub(b"(a time)", value.encode()) if masked else value.encode()
        for step, spent in store.ledger().items():
            found[f"ledger {step}"] = json.dumps(asdict(replace(spent, seconds=0.0))).encode()
    finally:
        store.close()
    return found | {f"arrays {p.stem}": p.read_bytes() for p in sorted((folder / "arrays").glob("*.npy"))}


def read_objects(store: SqliteStore) -> Iterator[tuple[str, bytes]]:
    """The stored objects by step and key; of manifests the one that readers see."""
    for step, key in sorted((step, key) for key, step, _ in list_objects(store)):
        value = store.read([key])[key]
        if step != "index":
            yield f"objects {step} {key}", value
    name = store.ref("index") or ""
    manifest = store.read([name])[name]
    yield "manifest", manifest
    yield "keys in the manifest", "\n".join(sorted(set(_KEY.findall(manifest.decode("utf-8"))))).encode()


def sums(sections: Sequence[Section]) -> Mapping[str, int]:
    """How many items are equal, differ as listed, and differ."""
    listed = sum(d.listed for s in sections for d in s.differences)
    unlisted = sum(len(s.unlisted) for s in sections)
    return {"equal": sum(s.items for s in sections) - listed - unlisted, "listed": listed, "differ": unlisted}
