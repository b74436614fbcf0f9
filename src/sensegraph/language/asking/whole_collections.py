"""Questions about a collection as a whole: what it is about, holds or says, without a word on anything in it."""

from __future__ import annotations

import re
from functools import lru_cache

from sensegraph.language.word_lists import read_cues


@lru_cache(1 << 8)
def asks_about_collection(question: str) -> bool:
    """Whether `question`, in English or German, is one about a collection as a whole and about nothing else.

    `What are these documents about?` and `Summarize this folder` are such; `What do these documents say on prices?` is
    not.
    """
    pattern = rf"\W*(?:{read_cues('whole collection')})\W*"
    return re.fullmatch(pattern, question, re.IGNORECASE | re.VERBOSE) is not None
