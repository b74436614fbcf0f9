"""Replies, vectors and scores: the shapes in which they come, and requests in the sizes that an endpoint takes."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sensegraph.errors import EndpointError
from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint.bodies import MOST_NUMBERS
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.outcomes import Kind, Outcome
from sensegraph.models.endpoint.profile import ChatRequest, Profile
from sensegraph.protocols import Vectors

_SHARE = 0.75  # of a window that a text may take by our count, as the endpoint may count more
_LEAST = 16  # tokens of a text below which it is not cut any more


@dataclass(frozen=True, slots=True)
class Reply:
    """One chat reply; `finish_reason` is `length` where it was cut at `max_tokens`, `thoughts` where they came."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: str
    thoughts: str = ""


def estimate_reply(text: str, request: ChatRequest, reason: str) -> Reply:
    """A reply whose tokens we count ourselves."""
    return Reply(text, request.tokens, count_tokens(text), reason)


# ── requests ──


def split_batches(texts: Sequence[str], known: Profile, most: int) -> Iterator[list[str]]:
    """`texts` in calls of at most so many, and of as many tokens as the endpoint is known to take."""
    batch, tokens = list[str](), 0
    for text in texts:
        size = count_tokens(text) if known.batch_tokens else 0
        over = known.batch_tokens and tokens + size > _SHARE * known.batch_tokens
        if batch and (len(batch) >= min(most, known.batch or most) or over):
            yield batch
            batch, tokens = [], 0
        batch, tokens = [*batch, text], tokens + size
    if batch:
        yield batch


def split_long(text: str, most: int) -> list[str]:
    """`text` in parts of at most so many tokens, cut between words; whole where `most` is 0."""
    if not most or count_tokens(text) <= most:
        return [text]
    words = text.split(" ")
    if len(words) < 2:
        words = [text[: len(text) // 2], text[len(text) // 2 :]]
        return [part for word in words for part in split_long(word, most)]
    middle = len(words) // 2
    return [part for half in (words[:middle], words[middle:]) for part in split_long(" ".join(half), most)]


def learn_size(known: Profile, outcome: Outcome, texts: Sequence[str]) -> Profile | None:
    """What a refusal of these texts says of what an endpoint takes; None where nothing can be made smaller."""
    if outcome.kind == Kind.FIELD and outcome.field:
        return known.without(outcome.field) if outcome.field not in known.refused else None
    if outcome.kind == Kind.WINDOW:
        longest = max(map(count_tokens, texts))
        most = min(int(_SHARE * (outcome.most or longest)), int(_SHARE * longest))
        return replace(known, input_tokens=most) if most >= _LEAST else None
    if outcome.kind == Kind.BATCH and outcome.field == "tokens":
        tokens = sum(map(count_tokens, texts))
        most = min(outcome.most or tokens, tokens * 3 // 4) if known.batch_tokens else outcome.most or tokens // 2
        return replace(known, batch_tokens=most) if len(texts) > 1 else None
    if outcome.kind == Kind.BATCH or outcome.status == 413:
        most = outcome.most if 0 < outcome.most < len(texts) else len(texts) // 2
        return replace(known, batch=most) if most else None
    return None


def write_embedding(table: EndpointSettings, known: Profile, texts: Sequence[str]) -> dict[str, Any]:
    """A request for the vectors of texts."""
    body: dict[str, Any] = {"model": table.embedding_model, "input": texts, "encoding_format": "float"}
    body |= {"dimensions": table.embedding_dimensions} if table.embedding_dimensions else {}
    return {n: v for n, v in body.items() if n not in known.refused}


def write_rerank(model: str, known: Profile, question: str, texts: Sequence[str]) -> dict[str, Any]:
    """A request for the relevance of texts: the one of Cohere and Jina, or the one of TEI."""
    body = {"model": model, "query": question, known.ranks: list(texts), "top_n": len(texts)}
    return {n: v for n, v in body.items() if n not in known.refused}


def learn_ranking(known: Profile, outcome: Outcome, sent: Mapping[str, Any]) -> Profile | None:
    """What a refusal to rank says of how an endpoint is asked; None where it says nothing new."""
    if "`texts`" in outcome.words and known.ranks != "texts":
        return replace(known, ranks="texts")
    return known.without(outcome.field) if outcome.field in sent else None


# ── replies ──


def read_vectors(reply: Mapping[str, Any], texts: Sequence[str]) -> Vectors:
    """The vectors of an embedding reply in the order asked for, one row a text, float32.

    Raises EndpointError when they are too few, of different length, or no vectors; it names the text.
    """
    data = reply.get("data")
    if not isinstance(data, list) or not all(isinstance(r, dict) and "embedding" in r for r in data):
        raise EndpointError("The reply to a request for vectors holds no vectors: check endpoint.embedding_model.")
    if len(data) > 2 * len(texts) + 8:  # of which no use can be made
        data = data[: len(texts) + 1]
    places = [place if isinstance(place := row.get("index"), int) else 0 for row in data]
    order = sorted(range(len(data)), key=lambda i: places[i])
    rows = [_read_row(data[i]["embedding"], texts[n] if n < len(texts) else "") for n, i in enumerate(order)]
    sizes = sorted({len(r) for r in rows})
    if len(rows) != len(texts) or len(sizes) != 1:
        raise EndpointError(
            f"Asked for {len(texts)} vectors of one length, got {len(rows)} of lengths {sizes}; try again.", Kind.BROKEN
        )
    return np.stack(rows)


def _read_row(value: Any, text: str) -> Vectors:
    """One vector: numbers, or base64 of little-endian ones. Raises EndpointError for one that says nothing."""
    shown = f"{text[:60]!r}"
    try:
        row = (
            np.frombuffer(base64.b64decode(value, validate=True), "<f4")
            if isinstance(value, str)
            else np.asarray(value)
        )
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            row = row.astype(np.float32)
            length = float(np.linalg.norm(row))
    except (TypeError, ValueError, OverflowError, binascii.Error) as e:
        raise EndpointError(f"The vector of {shown} is no list of numbers.", Kind.BROKEN) from e
    if row.ndim > 1:
        raise EndpointError(
            f"{shown} got several vectors, one for each token: choose a model for sentences.", Kind.BROKEN
        )
    if row.size > MOST_NUMBERS:
        raise EndpointError(f"The vector of {shown} has {row.size:,} numbers; no model's has as many.", Kind.BROKEN)
    if not 0 < length < math.inf:
        raise EndpointError(
            f"The vector of {shown} holds nothing, or what is no number: it could never be found.", Kind.BROKEN
        )
    return row


def read_relevances(reply: Mapping[str, Any], count: int) -> list[float | None]:
    """The scores of a rerank reply in the order of the documents, from the shapes in use; None for one without any.

    Raises EndpointError for a reply of another shape, and for what is no number.
    """
    try:
        listed = reply.get("results") or reply["data"]
        found = [(int(r["index"]), float(r["score" if "score" in r else "relevance_score"])) for r in listed]
    except (KeyError, TypeError, ValueError, OverflowError) as e:
        text = f"A rerank reply without an index and a relevance_score for each document ({e!r})."
        raise EndpointError(text, Kind.BROKEN) from e
    given = dict(found)
    if len(given) != len(found) or not given.keys() <= set(range(count)) or not all(map(math.isfinite, given.values())):
        text = f"Asked for {count} relevance scores, got {len(found)} of which some cannot be used; try again."
        raise EndpointError(text, Kind.BROKEN)
    return [given.get(i) for i in range(count)]
