"""The Snowball stemmers, each made once."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def load_stemmer(language: str) -> Any:
    """The Snowball stemmer of a language, by its English name ("german")."""
    import Stemmer  # an extension module: loaded on first use

    return Stemmer.Stemmer(language)
