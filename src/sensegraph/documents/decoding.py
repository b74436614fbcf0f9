"""Bytes to text: the encoding is told from the bytes, or the file is refused.

Order of trust: a byte order mark; UTF-16 by its pattern of control bytes; UTF-8, where at most one part in a thousand
or three places may be damaged; the encoding that the file itself declares (html); kana in the two Japanese encodings;
charset-normalizer among the encodings in use. Nothing is guessed below the thresholds that stand here.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from contextlib import suppress
from itertools import islice

from sensegraph.errors import InputError

CONTROLS = bytes(b for b in range(32) if b not in b"\t\n\v\f\r\x1a\x1b") + b"\x7f"
SAMPLE = 1 << 17
MAX_NULS = 0.2
MAX_CONTROLS = 0.01
MAX_DAMAGE = 0.001
MAX_STRAYS = 3  # damaged places that a text of any length may have, if five times as many are whole
MIN_KANA = 0.15
MIN_COHERENCE = 0.2
MIN_EVIDENCE = 24  # bytes beyond ASCII below which two unlike encodings cannot be told apart

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    (b"%PDF-", "a PDF file"),
    (b"PK\x03\x04", "a ZIP archive (or an office document)"),
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ", "xz data"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\xd0\xcf\x11\xe0", "an old office document (OLE)"),
    (b"SQLite format 3", "a SQLite file"),
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ", "a program (Windows)"),
    (b"PAR1", "a Parquet file"),
    (b"RIFF", "audio or video (RIFF)"),
    (b"ID3", "audio (MP3)"),
)
_EMPTY = "is empty; there is nothing to read in it."
# Preferred first where charset-normalizer finds no difference: the encodings in use, by how common they are.
_LEGACY = tuple(
    (
        "cp1252 cp1250 cp1251 gb18030 cp932 big5 cp949 euc_jp koi8_r cp1253 cp1254 cp1255 cp1256 cp1257 "
        "iso8859_2 iso8859_5 iso8859_7 cp1258 tis_620"
    ).split()
)
# What the web means by these names (WHATWG Encoding, §4.2): each is a subset of what is really used.
_HIGH = re.compile(rb"[\x80-\xff]")
# What a terminal acts on and no reader sees: colours, a letter struck over another, other control characters.
_UNSEEN = re.compile("\x1b\\[[0-9;?]*[A-Za-z]|[^\n]\x08|[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")  # one of which all that has; found much sooner
_SEPARATORS = "\x1c\x1d\x1e\x1f"
_ALIASES = {"iso8859-1": "cp1252", "ascii": "cp1252", "shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030"}


def decode_text(data: bytes, declared: str = "") -> tuple[str, str]:
    """The text of `data`, and a note on damaged bytes that were replaced by U+FFFD (else empty).

    `declared` is the encoding that the file names for itself. Raises InputError for what is empty, binary, or in no
    encoding that can be told.
    """
    if not data.strip(b"\0"):
        raise InputError(_EMPTY)
    if data.startswith(b"%PDF-"):
        raise InputError(_explain_binary(data))
    marked = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), None)
    if marked:
        text, note = _decode_damaged(data[len(marked[0]) :], marked[1])
    else:
        text, note = _decode_unmarked(data, declared)
    if not text.strip():
        raise InputError(_EMPTY)
    return text, note


def _decode_unmarked(data: bytes, declared: str) -> tuple[str, str]:
    """The text of bytes without a mark, and a note, by the first encoding that fits."""
    controls = len(data) - len(data.translate(None, CONTROLS))
    utf16 = _decode_utf16(data) if controls else None
    if utf16 is not None:
        return clean_text(utf16), ""
    # control bytes may be strays in a text, or the sign of something binary
    nuls = data.count(0)
    if controls and not (nuls <= MAX_NULS * len(data) and controls - nuls <= MAX_CONTROLS * len(data)):
        raise InputError(_explain_binary(data))
    text = _decode_strict(data, "utf-8")
    if text is None:
        # UTF-8 but for a few damaged places, far fewer than its good characters beyond ASCII
        replaced = data.decode("utf-8", "replace")
        lost = replaced.count("\ufffd")
        beyond = sum(not c.isascii() for c in islice(replaced, SAMPLE * 8))
        if lost <= max(MAX_STRAYS, MAX_DAMAGE * len(replaced) + 1) and beyond - lost >= 5 * lost:
            return _decode_damaged(data, "utf-8")
        text = _decode_strict(data, _find_codec(declared)) or _guess_encoding(data)
    if text is None:
        raise InputError(_explain_binary(data, "is in no encoding that can be told; save it as UTF-8."))
    return clean_text(text), ""


def clean_text(text: str) -> str:
    """`text` as every document holds it: \\r\\n as \\n, no byte order mark, no control characters, no half pairs."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\0", "")
    text = _UNSEEN.sub("", text) if _CONTROL.search(text) else text
    for separator in _SEPARATORS:
        text = text.replace(separator, " ")
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a pair, from a JSON escape: no encoding can store it
        text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


def _decode_strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding) if encoding else None
    except ValueError:
        return None


def _find_codec(declared: str) -> str:
    """Python's name for the encoding that a file declares, or nothing where it is unknown or no text encoding."""
    try:
        name = codecs.lookup(declared).name if declared.isascii() and declared else ""
        name = _ALIASES.get(name, name)
        with suppress(ValueError):
            b" ".decode(name or "ascii")  # LookupError where a codec is not of texts: of no bytes it says nothing
    except LookupError:
        return ""
    return name if not name.startswith(("utf", "unicode", "raw")) else ""


def _decode_damaged(data: bytes, encoding: str) -> tuple[str, str]:
    """`data` in an encoding that is certain, with what is damaged replaced and counted."""
    text = _decode_strict(data, encoding)
    if text is not None:
        return clean_text(text), ""
    text = data.decode(encoding, "replace")
    lost = text.count("\ufffd") - data.count("\ufffd".encode(encoding))
    if lost > len(text) * MAX_NULS:
        raise InputError(_explain_binary(data, f"says that it is {encoding.upper()} but is not; save it as UTF-8."))
    where = text.count("\n", 0, text.index("\ufffd")) + 1
    what = f"{lost} damaged {'place is' if lost == 1 else 'places are'} no {encoding.upper()}"
    return clean_text(text), f"{what} (first in line {where}), read as U+FFFD; all else was read."


def _decode_utf16(data: bytes) -> str | None:
    """The text of UTF-16 without a mark, which shows in control bytes that no other text has; else None.

    Where the bytes are valid UTF-8 as well, the NULs must lie on one side of the pairs, as they do in Latin text.
    """
    sides = data[0::2].count(0), data[1::2].count(0)
    one_sided = sum(sides) >= len(data) / 5 and min(sides) <= sum(sides) / 10
    if len(data) % 2 or (not one_sided and _decode_strict(data[: SAMPLE // 2], "utf-8") is not None):
        return None
    order = ("utf-16-be", "utf-16-le") if sides[0] > sides[1] else ("utf-16-le", "utf-16-be")
    for name in order:
        text = _decode_strict(data, name)
        if text is None:
            continue
        # every character is assigned and public, and, but in Latin, some are blanks or common punctuation
        start = text[:4096]
        odd = any(unicodedata.category(c) in {"Cn", "Co", "Cs", "Cc"} and c not in "\t\n\v\f\r" for c in start)
        if not odd and (one_sided or any(c in " \n,.。，、" for c in start)):
            return text
    return None


def _guess_encoding(data: bytes) -> str | None:
    """`data` in Shift-JIS or EUC-JP where it is valid and holds much kana, which no other reading gives.

    Else in the encoding that charset-normalizer finds the least messy; the commoner one on a tie.
    """
    for name in ("cp932", "euc_jp"):
        text = _decode_strict(data, name)
        if text is not None:
            beyond = [c for c in text[:SAMPLE] if not c.isascii()]
            if sum("\u3040" <= c <= "\u30ff" for c in beyond) > MIN_KANA * len(beyond):
                return text
    from charset_normalizer import from_bytes

    sample = _sample_lines(data)
    found = list(from_bytes(sample, cp_isolation=list(_LEGACY)))
    evidence = len(sample) - len(sample.translate(None, bytes(range(128, 256))))
    if not found or (evidence < MIN_EVIDENCE and not found[0].coherence):
        # Windows-1252, where that reads as single accented letters and quotes amid ASCII
        western = _decode_strict(sample, "cp1252") or "\x80"
        beyond = [c for c in western if not c.isascii()]
        pairs = len(re.findall("[À-ÿªº]{2}", western))
        if all(c.isalpha() or c in "‘’‚“”„–—…€«»°§·©®" for c in beyond) and pairs * 10 <= len(beyond):
            return _decode_strict(data, "cp1252")
        found = [m for m in from_bytes(sample) if m.coherence >= MIN_COHERENCE]
    if not found:
        return None
    best = found[0]
    close = [m for m in found if m.chaos <= best.chaos + 0.05 and m.coherence >= best.coherence - 0.05]
    rank = {name: i for i, name in enumerate(_LEGACY)}
    close.sort(key=lambda m: rank.get(m.encoding, len(rank)))
    return next((t for t in (_decode_strict(data, m.encoding) for m in close) if t is not None), None)


def _sample_lines(data: bytes) -> bytes:
    """The lines of `data` that hold more than ASCII, up to a limit, cut where no character is cut."""
    parts: list[bytes] = []
    at = size = 0
    while size < SAMPLE and (high := _HIGH.search(data, at)):
        start = max(at, high.start() - 200)
        line_end = data.find(b"\n", high.start(), start + SAMPLE)
        part = data[start : line_end + 1] if line_end >= 0 else data[start : start + SAMPLE]
        if line_end < 0:  # up to the last blank or low punctuation mark, never the second half of a character
            cut = max(part.rfind(bytes([mark])) for mark in b" \t,.-()\"'!") + 1
            part = part[:cut] if cut > len(part) // 2 else part
        parts.append(part)
        at, size = start + len(part), size + len(part)
    return b"".join(parts)


def _explain_binary(data: bytes, otherwise: str = "is binary, not text; remove it, or convert it to text.") -> str:
    """Why `data` is no text: what its first bytes say, else `otherwise`."""
    kind = next((kind for magic, kind in _MAGIC if data.startswith(magic)), "")
    return f"looks like {kind}, not text; give it its proper extension, or convert it to text." if kind else otherwise
