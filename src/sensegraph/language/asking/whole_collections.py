"""Questions about a collection as a whole: what it is about, holds or says, without a word on anything in it."""

from __future__ import annotations

import re
from functools import cache

from sensegraph.language.word_lists import read_cues


@cache
def _read_pattern() -> re.Pattern[str]:
    return re.compile(rf"\W*(?:{read_cues('whole collection')})\W*", re.IGNORECASE | re.VERBOSE)


def asks_about_collection(question: str) -> bool:
    """Whether `question`, in English or German, is one about a collection as a whole and about nothing else.

    `What are these documents about?` and `Summarize this folder` are such; `What do these documents say on prices?` is
    not.
    """
    return _read_pattern().fullmatch(question) is not None
