from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.runtime import keys
from sensegraph.runtime.keys import encode_canonical, key

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcdeü", max_size=3), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Thing:
    name: str
    size: int = 1


@given(plain)
def test_the_canonical_form_says_all_of_a_plain_value(value: Any) -> None:
    assert json.loads(encode_canonical(value)) == value


@given(st.dictionaries(st.text(max_size=3), st.integers(), min_size=2))
def test_the_order_in_which_a_dict_was_filled_does_not_matter(value: dict[str, int]) -> None:
    assert key(dict(reversed(value.items()))) == key(value)


@given(st.sets(st.text(max_size=4)))
def test_a_set_has_one_form_whatever_its_order(value: set[str]) -> None:
    assert encode_canonical(value) == encode_canonical(sorted(value))


@given(st.lists(st.text(max_size=3), max_size=4), st.lists(st.text(max_size=3), max_size=4))
def test_different_parts_have_different_keys(one: list[str], other: list[str]) -> None:
    assert (key(*one) == key(*other)) == (one == other)


def test_a_key_is_40_hex_digits_and_never_changes() -> None:
    assert key("step", 1, {"b": 2, "a": [1.5, None, True]}, Thing("ü")) == "f542c058a45994c4575bf4569db5470c1dfb1eef"


def test_every_field_of_a_dataclass_is_in_its_key() -> None:
    assert len({key(Thing("a")), key(Thing("b")), key(Thing("a", 2))}) == 3
    assert key(Thing("a")) == key({"name": "a", "size": 1})


def test_what_has_no_canonical_form_is_named() -> None:
    with pytest.raises(TypeError, match="object has no canonical form"):
        encode_canonical(object())


@pytest.mark.slow
def test_keys_are_equal_in_another_process_with_another_hash_seed() -> None:
    program = "from sensegraph.runtime.keys import key; print(key({'x', 'y', 'zz'}, {'b': 1, 'a': 2}))"
    made = [
        subprocess.run([sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True)
        for seed in ("1", "2")
    ]
    assert made[0].stdout == made[1].stdout == key({"x", "y", "zz"}, {"b": 1, "a": 2}) + "\n"


drawn_keys = st.lists(st.binary(min_size=20, max_size=20).map(bytes.hex), min_size=1, max_size=9)


@given(drawn_keys, st.slices(9))
def test_packed_keys_are_those_of_a_tuple(listed: list[str], some: slice) -> None:
    packed, plain = keys.PackedKeys(bytes.fromhex("".join(listed))), tuple(listed)
    assert list(packed) == listed
    assert len(packed) == len(listed)
    assert packed[some] == plain[some]
    assert [packed[i] for i in range(-len(listed), len(listed))] == [*listed, *listed]
    assert packed == plain
    assert packed == keys.PackedKeys(bytes.fromhex("".join(listed)))
    assert packed != plain[:-1]
    assert packed != listed
    assert hash(packed) == hash(plain)
    with pytest.raises(IndexError):
        packed[len(listed)]


def test_very_many_keys_are_packed_where_they_are_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "_MANY", 3)
    three = [key(i) for i in range(3)]
    packed = keys.pack_keys(three)
    assert isinstance(packed, keys.PackedKeys)
    assert keys.pack_keys(packed) is packed
    assert tuple(packed) == tuple(three)
    for others in (three[:2], [*three, ""], [*three, "x" * 40], [*three, three[0].upper()], [*three, "ab"]):
        assert keys.pack_keys(others) == tuple(others)
    named = keys.NamedKeys("first", three)
    assert keys.pack_keys(named) is named
    made = tuple(key("first", name) for name in three)
    assert (tuple(named), named[1], named[1:], named == made) == (made, made[1], made[1:], True)
    assert hash(named) == hash(made)


def test_very_many_packed_keys_are_made_texts_some_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "_AT_ONCE", 2)
    three = [key(i) for i in range(3)]
    assert list(keys.PackedKeys(bytes.fromhex("".join(three)))) == three
