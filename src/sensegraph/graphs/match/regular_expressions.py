"""Regular expressions for `=~`, by RE2: whatever the expression is, matching takes time in proportion to the text.

RE2 reads `\\d`, `\\s` and `\\w` as ASCII. They are rewritten here, so that they mean all scripts, as in Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from sensegraph.errors import InputError

_LONGEST = 500  # characters of an expression
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_PART = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\[:\^?[a-z]+:\]|\\.|[^\]\\])*\]", re.DOTALL)  # quoted, escape, set
_CLASSES: Mapping[str, str] = MappingProxyType({"d": r"\p{Nd}", "s": r"\t-\r\x{85}\x1c-\x20\pZ", "w": r"\pL_\pN"})


def compile_matcher(expression: str) -> Callable[[str], bool]:
    """Whether a whole text matches `expression` (RE2 syntax; `.` is any character; `(?i)` at the start ignores case).

    Raises InputError where the expression cannot be used, or RE2 (the extra `match`) is not installed.
    """
    try:
        import re2
    except ImportError as e:
        raise InputError(
            "=~ needs RE2: pip install 'sensegraph[match]', or search with CONTAINS, STARTS WITH or ENDS WITH."
        ) from e
    if len(expression) > _LONGEST:
        raise InputError(f"a regular expression may have {_LONGEST} characters.")
    options = re2.Options()
    options.dot_nl, options.never_capture, options.log_errors = True, True, False
    try:
        compiled = re2.compile(
            _PART.sub(lambda m: _rewrite_part(m[0]), expression).encode(errors="surrogatepass"), options
        )
    except re2.error as e:
        problem, _, place = e.args[0].decode(errors="replace").partition(": ")
        where = f" ({place})" if place in expression and place else ""
        raise InputError(
            f"this regular expression cannot be used, {problem}{where}; references back and looking around are not "
            "supported."
        ) from e
    return lambda text: compiled.fullmatch(text.encode(errors="surrogatepass")) is not None


def _rewrite_part(part: str) -> str:
    """An escape or a set in brackets, with the classes of characters written out; quoted text as it is."""
    if part.startswith("\\Q"):
        return part
    if part.startswith("["):
        return _ESCAPE.sub(lambda m: _rewrite_escape(m[0], in_set=True), part)
    return _rewrite_escape(part, in_set=False)


def _rewrite_escape(escape: str, *, in_set: bool) -> str:
    kind = escape[1]
    if kind.lower() not in _CLASSES:
        return escape if escape.isascii() else kind
    if kind in _CLASSES:
        return _CLASSES[kind] if in_set else f"[{_CLASSES[kind]}]"
    return _list_complement(kind.lower()) if in_set else f"[^{_CLASSES[kind.lower()]}]"


@cache
def _list_complement(kind: str) -> str:
    """The characters outside a class as ranges, for sets: RE2 has no set in a set."""
    import re2

    every = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000)))).encode()
    runs = [m[0].decode() for m in re2.finditer(f"[^{_CLASSES[kind]}]+".encode(), every)]
    return "".join(f"\\x{{{ord(run[0]):x}}}-\\x{{{ord(run[-1]):x}}}" for run in runs)


__all__ = ["compile_matcher"]
