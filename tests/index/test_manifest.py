"""The manifest: parts by name, whoever brings them, and the lists of parts that older versions wrote."""

from __future__ import annotations

import ast
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sensegraph.index
from asked_in_time import FUNCTIONAL, PARTS, officeholders
from scripted import ScriptedServer
from sensegraph.built_in_parts import BUILT_IN, USUAL
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import NotIndexed, SettingsError
from sensegraph.index.manifest import REF, Manifest
from sensegraph.index.parts import find_part, known_parts, sort_parts
from sensegraph.index.settings import IndexSettings
from sensegraph.methods import METHODS, load_method, parts_needed
from wired import corpus, stories


def flat(manifest: Manifest) -> dict[str, Any]:
    """The manifest as versions before 2026-11 wrote it: a field for every key."""
    fields = msgspec.to_builtins(manifest)
    entries = fields.pop("parts")
    for name, part in BUILT_IN.items():
        entry = entries.get(name, {"key": "", "vectors": {}})
        fields |= {name: entry["key"]} | {
            field: entry["vectors"].get(kind, "") for kind, field in part.old_fields.items()
        }
    return fields  # type: ignore[no-any-return]


def test_an_index_of_before_parts_had_entries_opens_and_builds_without_computing_anything(tmp_path: Path) -> None:
    with officeholders(tmp_path, parts=PARTS) as made:
        manifest = made.index().manifest
        assert manifest.part_names == set(PARTS)
        old = flat(manifest)
        assert old["fact_vectors"] == ""  # the embedder sees words only
        assert old["aggregate_vectors"] == manifest.parts["aggregates"].vectors["aggregate"] != ""
        made.store.write({"old": json.dumps(old).encode()})
        made.store.set_refs({REF: "old"})
    given = {"index": {"temporal": {"functional": FUNCTIONAL}, "parts": PARTS}}
    with Corpus.open(tmp_path, settings=given) as again:
        assert again.index().manifest == manifest
        built = again.build()
        assert not any(built.computed.values())
        assert again.index().manifest == manifest


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_the_table_of_parts_tells_what_the_parts_say_of_themselves(name: str) -> None:
    part = find_part(name)
    assert (part.name, part.needs) == (name, BUILT_IN[name].needs)
    assert sorted(part.kinds) == sorted(BUILT_IN[name].old_fields)
    assert type(part).__module__.split(".")[1] in ("methods", "retrieval")


def test_parts_are_sorted_as_they_are_built() -> None:
    assert sort_parts(reversed(known_parts())) == known_parts()
    assert set(USUAL) < set(known_parts())
    with pytest.raises(SettingsError, match="No index has a part 'runes'; did you mean 'names'"):
        IndexSettings(parts=("graph", "runes"))


def test_no_file_of_the_index_names_a_part_of_a_method() -> None:
    """`relations` are the graph's too, so that their number is a count of every index; `concepts` is a task as well."""
    named = set(BUILT_IN) - {"relations", "concepts"}
    (folder,) = sensegraph.index.__path__
    files = sorted(Path(folder).rglob("*.py"))
    assert len(files) > 20
    for file in files:
        nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        assert not [n.value for n in nodes if isinstance(n, ast.Constant) and n.value in named], file
        imported = [n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)]
        assert not [name for name in imported if name.startswith("sensegraph.methods")], file


def test_a_question_to_an_index_without_the_parts_of_a_method_pays_for_nothing(
    tmp_path: Path, server: ScriptedServer
) -> None:
    with corpus(tmp_path, server, index={"parts": []}) as made:
        made.add(stories(2))
        made.build()
        server.reset()
        for name in sorted(METHODS):
            missing = parts_needed(load_method(name))
            for ask in (made.query, made.search) if missing else ():
                with pytest.raises(NotIndexed, match=rf"'({'|'.join(missing)})'.*sensegraph index --method"):
                    ask("Who sailed with Ada Harrow?", method=name)
        assert server.done() == []
        assert made.query("Who sailed?", method="hybrid").text  # which does without the graph
        assert made.query("Who sailed?", method="lightrag", mode="naive").text


def test_a_manifest_says_which_parts_there_are() -> None:
    base = dict.fromkeys("documents chunks words vectors engine embedder vectors_by settings".split(), "x")
    made = Manifest(**base, counts={}, graph="g")  # type: ignore[arg-type]
    assert made.part_names == {"graph"}
    assert asdict(made)["parts"] == {}
    assert made.stacks == {"chunk": "x", "entity": "", "report": ""}
