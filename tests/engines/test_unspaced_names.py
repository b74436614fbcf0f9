"""Names in Chinese and Japanese, which write no blanks and no capitals."""

from __future__ import annotations

import sys

import pytest

from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.engines.offline.extraction import unspaced_names
from sensegraph.engines.offline.extraction.page_reader import observe_document
from sensegraph.errors import SettingsError
from sensegraph.types import Chunk


def names_in(text: str, way: str = "rules") -> list[str]:
    return [text[a:b] for a, b in unspaced_names.find_unspaced_names(text, 0, len(text), way)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("他在斯坦福大学学习。", ["斯坦福大学"]),
        ("诗人埃德加·爱伦·坡的作品", ["埃德加·爱伦·坡"]),
        ("她住在葡萄牙和法国。", ["葡萄牙", "法国"]),
        ("他读了《红楼梦》和 Nature 杂志。", ["红楼梦", "Nature"]),
        ("我用B站和iPhone看eBay上的MacBook。", ["iPhone", "eBay", "MacBook"]),
        ("我们明天去吃饭，然后回家。", []),
        ("多数人认为这里的科学很重要。", []),
        ("ジョン・スミスさんはコンピュータを買った。", ["ジョン・スミス"]),
        ("トヨタ社の車", ["トヨタ"]),
    ],
)
def test_names_are_found_by_their_sounds_their_marks_and_lists(text: str, names: list[str]) -> None:
    assert names_in(text) == names


def test_jieba_finds_native_names_too() -> None:
    pytest.importorskip("jieba")
    assert names_in("后来王小明在沈阳遇到了她。") == []
    assert names_in("后来王小明在沈阳遇到了她。", "jieba") == ["王小明", "沈阳"]


def test_the_engine_reads_with_jieba_where_it_is_set_and_its_key_says_so() -> None:
    pytest.importorskip("jieba")
    text = "后来王小明在沈阳遇到了她。王小明很高兴，他们一起吃了饭。"
    chunk = Chunk("c", "d", 0, len(text), 0, text)
    rules, jieba = ClassicalEngine(), ClassicalEngine(chinese="jieba")
    assert rules.observe([(chunk,)]) != jieba.observe([(chunk,)])
    assert rules.fingerprint("survey") != jieba.fingerprint("survey")
    assert [text[n.start : n.end] for n in observe_document([chunk], "jieba").names] == ["王小明", "沈阳", "王小明"]


def test_without_the_extra_the_setting_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jieba", None)
    unspaced_names.load_jieba.cache_clear()
    with pytest.raises(SettingsError, match=r"pip install \"sensegraph\[zh\]\""):
        names_in("王小明", "jieba")
