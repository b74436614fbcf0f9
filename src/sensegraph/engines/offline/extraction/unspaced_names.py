"""Names in Chinese and Japanese text: written by sound, in Latin letters, in title marks, or listed.

A foreign name is a run of the characters that sounds are written with, at least two of them hardly used otherwise;
in Japanese, words in Katakana joined by a middle dot, or before a title. A head behind it ("大学") belongs to the name.
With the extra `zh`, jieba cuts the text into words and tells which of them are names.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from functools import cache
from typing import Any

from sensegraph.errors import SettingsError
from sensegraph.language.word_lists import read_lexicon

_LATIN = re.compile(r"(?<![A-Za-z0-9])[a-z]*[A-Z][A-Za-z0-9&.\-]*[A-Za-z0-9](?: [A-Z][A-Za-z0-9&.\-]*[A-Za-z0-9])*")
_TITLE = re.compile(r"《([^《》\n]{1,40})》|『([^『』\n]{1,40})』")
_JOINTS = "·・‧•"
_KATAKANA = "[\u30a1-\u30fa\u30fc]"
_TAGS = frozenset({"nr", "ns", "nt", "nz", "nrt", "nrfg"})
_LONGEST = 40


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """What a name by sound may be, a listed place, the heads behind both, and a name in Katakana."""
    lists = read_lexicon("chinese")
    heads, japanese, places = (
        "|".join(sorted(lists[name], key=lambda w: (-len(w), w))) for name in ("heads", "japanese-heads", "places")
    )
    long = "|".join(sorted(w for w in lists["heads"] if len(w) > 1))  # "大" is a sound, but not in "大学"
    sounds = f"(?:(?!{long})[{''.join(sorted(lists['sounds'] | lists['sounds-in-words']))}])+"
    return (
        re.compile(f"{sounds}(?:[{_JOINTS}]{sounds})*"),
        re.compile(f"(?:{places})"),
        re.compile(f"(?:{heads})"),
        re.compile(f"{_KATAKANA}{{2,}}(?:[{_JOINTS}]{_KATAKANA}{{2,}})+|{_KATAKANA}{{2,}}(?=(?:{japanese}))"),
    )


def find_unspaced_names(text: str, start: int, end: int, segmenter: str = "rules") -> list[tuple[int, int]]:
    """The spans of the names of one sentence, in order, without overlaps: those in marks first."""
    marked = (m.span(m.lastindex or 0) for pattern in (_TITLE, _LATIN) for m in pattern.finditer(text, start, end))
    found = [s for s in marked if s[1] - s[0] > 1]
    heads = _patterns()[2]
    spans = {*_find_by_sound(text, start, end), *(_find_by_jieba(text, start, end) if segmenter == "jieba" else ())}
    joined: list[tuple[int, int]] = []
    for a, b in sorted(spans):
        if (head := heads.match(text, b, end)) is not None:
            b = head.end()
        if joined and a < joined[-1][1]:  # both ways see a part of it
            joined[-1] = joined[-1][0], max(b, joined[-1][1])
        else:
            joined.append((a, b))
    taken = found.copy()
    found += [(a, b) for a, b in joined if 1 < b - a <= _LONGEST and all(b <= c or d <= a for c, d in taken)]
    return sorted(found)


def _find_by_sound(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    by_sound, listed, _, katakana = _patterns()
    strong = read_lexicon("chinese")["sounds"]
    for match in katakana.finditer(text, start, end):
        yield match.span()
    for match in by_sound.finditer(text, start, end):
        clear = sum(c in strong for c in match[0])
        joined = any(c in _JOINTS for c in match[0])
        if clear >= 2 and (joined or 3 * clear >= len(match[0])):
            yield match.span()
    for match in listed.finditer(text, start, end):
        yield match.span()


def _find_by_jieba(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The words that jieba tags as names, joined over middle dots and with what joins them there."""
    runs: list[tuple[int, int]] = []
    at = start
    for word, tag in load_jieba().cut(text[start:end]):
        first, at = at, at + len(word)
        if runs and first == runs[-1][1] + 1 and text[first - 1] in _JOINTS and text[first].isalpha():
            runs[-1] = (runs[-1][0], at)
        elif tag in _TAGS and word[0].isalpha():
            runs.append((first, at))
    yield from runs


@cache
def load_jieba() -> Any:
    """What cuts Chinese into words with their tags. Raises SettingsError where the extra is missing."""
    try:
        import jieba
        import jieba.posseg
    except ImportError as e:
        raise SettingsError('offline.chinese = "jieba" needs the extra zh: pip install "sensegraph[zh]".') from e
    jieba.setLogLevel("ERROR")
    words = jieba.Tokenizer()
    with tempfile.TemporaryDirectory() as folder:  # its cache is a file that anybody could have laid into /tmp
        words.tmp_dir = folder
        words.initialize()
    return jieba.posseg.POSTokenizer(words)
