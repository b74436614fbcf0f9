"""What installed distributions register: found by kind and name, and loaded from its place."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.errors import SettingsError
from sensegraph.plugins import KINDS, Plugin, installed_plugins, list_plugins, load_plugin, plugin_names


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Entry points of two distributions and of one that is not known by name."""
    one, two = SimpleNamespace(name="one", version="1.2"), SimpleNamespace(name="two", version="0.1")
    entries = {
        "sensegraph.methods": [
            ("zeta", "json:dumps", one),
            ("alpha", "json.decoder:JSONDecoder.decode", one),
            ("alone", "json:loads", None),
        ],
        "sensegraph.engines": [("twice", "json:dumps", two), ("twice", "json:dumps", one)],
        "sensegraph.chunkers": [("gone", "json:nowhere", one), ("lost", "no_such_module:cut", two)],
    }  # fmt: skip

    def entry_points(group: str) -> list[Any]:
        return [SimpleNamespace(name=n, value=v, dist=d) for n, v, d in entries.get(group, ())]

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    installed_plugins.cache_clear()
    yield
    installed_plugins.cache_clear()


def test_plug_ins_are_listed_by_kind_then_name_with_where_they_come_from(registered: None) -> None:
    assert list_plugins("methods") == [
        Plugin("methods", "alone", "json:loads", "", ""),
        Plugin("methods", "alpha", "json.decoder:JSONDecoder.decode", "one", "1.2"),
        Plugin("methods", "zeta", "json:dumps", "one", "1.2"),
    ]
    assert [p.origin for p in list_plugins("methods")] == ["", "one 1.2", "one 1.2"]
    assert [p.origin for p in list_plugins("engines")] == ["one 1.2", "two 0.1"]
    assert list_plugins("chunkers", "engines") == [*list_plugins("chunkers"), *list_plugins("engines")]
    assert list_plugins() == [p for kind in KINDS for p in list_plugins(kind)]
    assert len(list_plugins()) == 7
    assert (plugin_names("engines"), plugin_names("stores")) == (("twice",), ())


def test_a_plug_in_is_what_stands_at_its_place(registered: None) -> None:
    import json

    assert load_plugin("methods", "zeta") is json.dumps
    assert load_plugin("methods", "alpha") is json.JSONDecoder.decode


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        (
            "methods",
            "twice",
            "No plug-in for methods is called 'twice'; `sensegraph show methods --plugins` lists them.",
        ),
        (
            "engines",
            "twice",
            "'twice' is registered for engines by one 1.2 and two 0.1; uninstall all but one of them.",
        ),
        ("chunkers", "gone", "The plug-in 'gone' of one 1.2 cannot be loaded from json:nowhere (module 'json' has no"),
        ("chunkers", "lost", "The plug-in 'lost' of two 0.1 cannot be loaded from no_such_module:cut (No module named"),
    ],
)
def test_a_plug_in_that_cannot_be_taken_is_told_with_what_to_do(
    registered: None, kind: Any, name: str, said: str
) -> None:
    with pytest.raises(SettingsError) as error:
        load_plugin(kind, name)
    assert str(error.value).startswith(said)
