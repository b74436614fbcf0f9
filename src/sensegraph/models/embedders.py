"""Embedders: texts to unit vectors, by hashed words for machines that have nothing else, or by an endpoint."""

from __future__ import annotations

import hashlib
import math
import re
import threading
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.errors import EndpointError
from sensegraph.language.text import is_unspaced, make_stemmer, name_stemmer, split_runs, stem_run
from sensegraph.language.word_lists import COMMON, ENGLISH, STOP, VERY_COMMON, read_lines
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.protocols import Vectors
from sensegraph.runtime.keys import key
from sensegraph.types import Usage

if TYPE_CHECKING:
    from sensegraph.models.endpoint.client import Endpoint

_RARE, _COMMON, _VERY_COMMON, _PIECE, _COMMON_PIECE = range(5)  # the kind of a term: the three lowest bits of its code
_KIND = 7
_WEIGHTS = np.array([1.0, 0.6, 0.3, 1.0, 0.3])
_PARTICLES = frozenset("的了是在和有也就都与及")  # in most pairs of characters that hold one, Chinese says little
_PAIR = 0.4
_BLOCK = 64  # texts whose terms are sorted at once: so few stay in the caches
_MOST = 4096
_LOGS = np.array([0.0, *(1.0 + math.log(n) for n in range(1, _MOST))])

Codes = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class HashedTerms:
    """Texts as weighted bags of word stems and word pairs, hashed into `dim` signed buckets.

    It is lexical, not semantic: texts are near when they share words or names, in any inflection; a paraphrase in
    other words is not near. It is a pure function of the text, fitted to nothing, so adding a document changes no
    other's vector. That costs what a corpus would teach: with no document frequencies, a bundled list of common words
    stands in for them, and plain BM25 finds passages better (`bench/offline_embedding.py` prints both, and what
    other dimensions give; more dimensions find more and take more room). Queries and documents are embedded alike.

    Terms are folded words without function words, stemmed (Snowball; the language is told from the function words or
    the script), pairs of neighbouring terms at 0.4 of their weight, and pairs of characters where no blanks part
    words. A term's weight is 1 + ln(its count), times 0.6 or 0.3 where it is a common or very common English word, or
    0.3 where it holds a Chinese particle.
    Signed hashing: Weinberger et al., Feature Hashing for Large Scale Multitask Learning (2009), §2.
    """

    dim: int = 1024
    name: str = "hashed-terms"
    batch: int = 256
    waits: bool = False
    lexical: bool = True

    @cache  # noqa: B019  an embedder is its fields, and all processes hold but a few
    def fingerprint(self) -> str:
        """The versions of the rules, the stemmer and Unicode, the dimension and the word lists."""
        from Stemmer import version

        lists = [sorted(words) for words in STOP.values()]
        rules = ("hashed terms", 2, self.dim, lists, VERY_COMMON, COMMON, sorted(_PARTICLES), read_lines("spellings"))
        return key(*rules, version(), unicodedata.unidata_version)

    def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
        """Unit vectors, shape `(n, dim)` float32, one row a text; a text without terms is a zero row."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for at in range(0, len(texts), _BLOCK):
            block = texts[at : at + _BLOCK]
            rows[at : at + len(block)] = _embed_codes([_find_codes(text) for text in block], self.dim)
        return rows

    def usage(self) -> Usage:
        """Nothing: it calls no one."""
        return Usage()


# ── from terms to rows ───────────────────────────────────────────────────────────────────────────────────────────────


def _embed_codes(texts: Sequence[bytes], dim: int) -> NDArray[np.float64]:
    """Rows of length 1 (or 0) from the codes of each text's terms, in their order."""
    codes = np.frombuffer(b"".join(texts), "<u8").astype(np.uint64, copy=False)
    owners = np.repeat(np.arange(len(texts)), [len(t) // codes.itemsize for t in texts])
    weights = _WEIGHTS[(codes & np.uint64(_KIND)).astype(np.intp)]
    pairs = (owners[1:] == owners[:-1]) & _mark_pairable(codes[1:]) & _mark_pairable(codes[:-1])
    joined = _pair_codes(codes[:-1][pairs], codes[1:][pairs])
    both = _PAIR * np.sqrt(weights[:-1][pairs] * weights[1:][pairs])
    codes, owners = np.concatenate([codes, joined]), np.concatenate([owners, owners[1:][pairs]])
    return _hash_into_rows(codes, owners, np.concatenate([weights, both]), len(texts), dim)


def _hash_into_rows(
    codes: Codes, owners: NDArray[np.intp], weights: NDArray[np.float64], n: int, dim: int
) -> NDArray[np.float64]:
    """The rows of `n` texts: each distinct code of a text goes, with its sign, into one of `dim` buckets."""
    order = np.argsort(codes)  # of equal ones it does not matter which comes first: they weigh the same
    order = order[np.argsort(owners[order].astype(np.uint16), kind="stable")]  # which is much sooner than lexsort
    codes, owners, weights = codes[order], owners[order], weights[order]
    first = np.ones(len(codes), dtype=bool)
    first[1:] = (codes[1:] != codes[:-1]) | (owners[1:] != owners[:-1])
    starts = np.flatnonzero(first)
    counts = np.diff(np.append(starts, len(codes)))
    values = weights[starts] * _LOGS[np.minimum(counts, _MOST - 1)]
    values *= np.where(codes[starts] >> np.uint64(63), 1.0, -1.0)
    buckets = ((codes[starts] >> np.uint64(3)) & np.uint64(2**48 - 1)) % np.uint64(dim)
    places = owners[starts] * dim + buckets.astype(np.intp)
    summed = np.bincount(places, weights=values, minlength=n * dim)
    rows = np.asarray(summed, np.float64).reshape(n, dim)  # whole numbers when empty
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    np.divide(rows, lengths, out=rows, where=lengths > 0)  # what has no length has no value
    return rows


def _mark_pairable(codes: Codes) -> NDArray[np.bool_]:
    kinds: Codes = codes & np.uint64(_KIND)
    return np.less(kinds, _PIECE, dtype=bool)


def _pair_codes(left: Codes, right: Codes) -> Codes:
    """Codes of ordered pairs: multiply, add, and mix the bits (the finaliser of SplitMix64)."""
    mixed = left * np.uint64(0x9E3779B97F4A7C15) + right
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


# ── from texts to terms ──────────────────────────────────────────────────────────────────────────────────────────────


def _find_codes(text: str) -> bytes:
    """The codes of the terms of `text` in order, without function words unless it has nothing else (The Who)."""
    found = split_runs(text)
    spoken = name_stemmer(text)
    codes = b"".join(map(_remember_codes(spoken), found))
    return codes or b"".join(map(_remember_codes(""), found))


@cache
def _remember_codes(spoken: str) -> Callable[[str], bytes]:
    kinds = _read_common_stems() if spoken in {ENGLISH, ""} else {}

    @lru_cache(maxsize=1 << 18)  # of one value, which is looked up twice as fast
    def code_word(word: str) -> bytes:
        """The codes of one run of letters: none for a function word, several where no blanks part words."""
        if is_unspaced(word):
            pieces = stem_run(word, spoken)
            return b"".join(_hash_term(p, _PIECE if _PARTICLES.isdisjoint(p) else _COMMON_PIECE) for p in pieces)
        return b"".join(_hash_term(stem, kinds.get(stem, _RARE)) for stem in stem_run(word, spoken))

    return code_word


@cache
def _read_common_stems() -> dict[str, int]:
    """The kinds of the common English words, by stem."""
    stem = make_stemmer(ENGLISH).stemWord
    return {stem(w): _COMMON for w in COMMON.split()} | {stem(w): _VERY_COMMON for w in VERY_COMMON.split()}


def _hash_term(term: str, kind: int) -> bytes:
    """64 bits that stand for `term` on every machine, with its kind in the lowest three; the lowest byte is first."""
    digest = hashlib.blake2b(term.encode(), digest_size=8).digest()
    return bytes([digest[0] & ~_KIND | kind]) + digest[1:]


class RemoteEmbedder:
    """An embedder behind `endpoint`; `dim` is 0 until its first call has shown it.

    What stands before queries and documents is what the settings say, else what models of this name learned with.
    Vectors are scaled to length 1; an empty text is a zero row and costs no call. Raises EndpointError when the
    endpoint changes the length of its vectors.
    """

    batch = 64
    waits = True
    lexical = False

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.name = endpoint.settings.embedding_model
        self.prefixes = choose_prefixes(endpoint.settings)
        self.dim = 0
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[RemoteEmbedder], tuple[Endpoint]]:
        return type(self), (self.endpoint,)

    def fingerprint(self) -> str:
        """The model's name and its prefixes; where it runs and whose key pays for it change no vector."""
        size = self.endpoint.settings.embedding_dimensions
        named = [*(self.prefixes if any(self.prefixes) else ()), *([size] if size else [])]
        return key("remote embedder", 1, self.name, *named)

    def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
        """Unit vectors, shape `(n, dim)` float32, one row a text; an empty text is a zero row."""
        asked, before = [i for i, text in enumerate(texts) if text.strip()], self.prefixes[kind == "document"]
        sent = [before + texts[i] for i in asked]
        found = [self._unit(sent[at : at + self.batch]) for at in range(0, len(sent), self.batch)]
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        if found:
            rows[asked] = np.concatenate(found)
        return rows

    def usage(self) -> Usage:
        """What the embedding calls of the endpoint have cost."""
        return self.endpoint.usage("embedding")

    def _unit(self, texts: list[str]) -> Vectors:
        vectors = self.endpoint.embed(texts)
        with self._lock:
            self.dim = self.dim or vectors.shape[1]
        if vectors.shape[1] != self.dim:
            raise EndpointError(
                f"{self.name} gave vectors of length {self.dim} before and of {vectors.shape[1]} now: "
                "check that one model serves this name, and run again."
            )
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


_PREFIXES = (  # by the name of the model: what it was trained with before queries and before documents
    (re.compile(r"nomic-embed"), ("search_query: ", "search_document: ")),
    (re.compile(r"(?:^|[/_-])e5(?!-mistral)(?:[-_:]|$)"), ("query: ", "passage: ")),
    (
        re.compile(r"bge-(?:small|base|large)-en|mxbai-embed|arctic-embed(?!.*v2)"),
        ("Represent this sentence for searching relevant passages: ", ""),
    ),
    (re.compile(r"embedding-?gemma"), ("task: search result | query: ", "title: none | text: ")),
    (
        re.compile(r"qwen3-embedding"),
        ("Instruct: Given a question, retrieve passages that answer it\nQuery: ", ""),
    ),
)


def choose_prefixes(settings: EndpointSettings) -> tuple[str, str]:
    """What stands before queries and before documents: as set, else as models of this name were trained."""
    usual = guess_prefixes(settings.embedding_model)
    given = (settings.embedding_query_prefix, settings.embedding_document_prefix)
    query, document = (own if text == "auto" else text for text, own in zip(given, usual, strict=True))
    return query, document


def guess_prefixes(model: str) -> tuple[str, str]:
    """What models of this name were trained with before queries and before documents."""
    name = model.casefold()
    return next((prefixes for pattern, prefixes in _PREFIXES if pattern.search(name)), ("", ""))
