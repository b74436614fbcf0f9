"""How texts are cut for a model that reads few tokens at once, and how pieces run together, with words as tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pytest

from sensegraph.errors import SettingsError
from sensegraph.models.folders import model_folder
from sensegraph.models.folders.model_folder import OnnxModel


@dataclass
class Tokens:
    """A text as it is encoded: a number for each word."""

    ids: list[int]
    offsets: list[tuple[int, int]]
    text: Any
    type_ids: list[int] = field(default_factory=list)

    def truncate(self, most: int) -> None:
        self.ids = self.ids[:most]


class Words:
    """A tokenizer of words: one token begins a text, one more parts a pair; a last word with a plus is two."""

    def encode(self, text: Any, add_special_tokens: bool = True) -> Tokens:
        whole = " ".join(text) if isinstance(text, tuple) else text
        found = list(re.finditer(r"\S+", whole))
        special = (1 + isinstance(text, tuple)) * add_special_tokens
        more = int(bool(found) and found[-1][0].endswith("+"))
        return Tokens([0] * special + [len(m[0]) for m in found] + [9] * more, [m.span() for m in found], text)

    def encode_batch(self, texts: list[Any]) -> list[Tokens]:
        return [self.encode(text) for text in texts]

    def num_special_tokens_to_add(self, pair: bool) -> int:
        return 1 + pair


@dataclass
class Folder:
    """A folder with that tokenizer."""

    window: int
    tokenizer: Words = field(default_factory=Words)

    def refuse(self, what: str, then: str) -> SettingsError:
        return SettingsError(f"{what}; {then}.")


def model(window: int) -> OnnxModel:
    return OnnxModel(cast(Any, Folder(window)))


def words(count: int) -> str:
    return " ".join(f"w{i}" for i in range(count))


@pytest.mark.parametrize(
    ("count", "room", "spans"),
    [
        (0, 8, [None]), (1, 8, [(0, 1)]), (8, 8, [(0, 8)]), (9, 8, [(0, 8), (7, 9)]), (15, 8, [(0, 8), (7, 15)]),
        (16, 8, [(0, 8), (7, 15), (14, 16)]), (5, 5, [(0, 5)]), (6, 5, [(0, 5), (5, 6)]),
        (30, 16, [(0, 16), (14, 30)]), (31, 16, [(0, 16), (14, 30), (28, 31)]), (3, 1, [(0, 1), (1, 2), (2, 3)]),
    ],
)  # fmt: skip
def test_pieces_overlap_by_an_eighth(count: int, room: int, spans: list[tuple[int, int] | None]) -> None:
    text = words(count)
    wanted = [" ".join(text.split()[span[0] : span[1]]) if span else text for span in spans]
    assert model(99).cut_text(text, room) == wanted


@pytest.mark.parametrize("pair", [False, True])
def test_a_text_longer_than_the_window_is_several_pieces_of_one_owner(pair: bool) -> None:
    made, own = model(12), 1 + 1 + pair  # the word before, and what begins and parts
    texts = [words(12 - own), words(12 - own + 1), "", words(30)]
    owners, pieces = made.encode(texts, "before" if pair else "before ", pair=pair)
    room = 12 - own
    cut = [made.cut_text(text, room) for text in texts]
    assert [len(parts) for parts in cut] == [1, 2, 1, 4]
    assert owners == [number for number, parts in enumerate(cut) for _ in parts]
    front = (lambda part: ("before", part)) if pair else (lambda part: "before " + part)
    assert [piece.text for piece in pieces] == [front(part) for parts in cut for part in parts]
    assert max(len(piece.ids) for piece in pieces) == 12


def test_a_piece_that_counts_more_alone_is_cut_at_the_window() -> None:
    texts = [" ".join(["a"] * 9 + ["b+"] + ["c"] * 9)]
    _, pieces = model(11).encode(texts)
    assert [len(piece.ids) for piece in pieces] == [11, 11]
    assert [len(Words().encode(piece.text).ids) for piece in pieces] == [12, 11]


@pytest.mark.parametrize(("window", "refused"), [(5, True), (6, False), (7, False)])
def test_four_tokens_of_a_window_are_left_for_the_text_or_it_is_refused(window: int, refused: bool) -> None:
    if refused:
        with pytest.raises(SettingsError, match="reads 5 tokens at once, of which 2 are taken; shorten what is set"):
            model(window).encode(["one"], "before ")
    else:
        assert model(window).encode(["one"], "before ")[0] == [0]


@pytest.mark.parametrize(
    ("lengths", "alone", "batches"),
    [
        ([], False, []),
        ([3, 2, 3], False, [[1], [0, 2]]),
        ([3, 2, 3], True, [[1], [0], [2]]),
        ([2048] * 3, False, [[0, 1], [2]]),
        ([2049] * 2, False, [[0], [1]]),
        ([9000], False, [[0]]),
        ([1365] * 4, False, [[0, 1, 2], [3]]),
        ([1366] * 4, False, [[0, 1], [2, 3]]),
    ],
)
def test_pieces_of_one_length_run_together_up_to_4096_tokens(
    monkeypatch: pytest.MonkeyPatch, lengths: list[int], alone: bool, batches: list[list[int]]
) -> None:
    made = model(9_999)
    monkeypatch.setattr(OnnxModel, "_loaded", ("session", alone))
    asked: list[Any] = []

    def ask(self: OnnxModel, session: Any, batch: list[Tokens]) -> Any:
        assert self._lock.locked()
        asked.append(session)
        return np.array([len(tokens.ids) for tokens in batch])

    monkeypatch.setattr(model_folder.OnnxModel, "_ask", ask)
    found = list(made.run([Tokens([1] * length, [], "") for length in lengths]))
    assert [positions for positions, _ in found] == batches
    assert [list(rows) for _, rows in found] == [[lengths[i] for i in batch] for batch in batches]
    assert asked == ["session"] * len(batches)
