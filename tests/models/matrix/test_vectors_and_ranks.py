"""Rows 107–122: embeddings and reranking."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator

import numpy as np
import pytest

from models.matrix.rows import Row, Run, cases, check_row, run_row, serving
from scripted_vendors import DIM, Answer, Asked, VendorServer, refuse
from sensegraph.models.embedders import RemoteEmbedder

# ── embeddings ──


def tei_batch(asked: Asked):
    if (count := len(asked.body["input"])) > 32:
        said = f"batch size {count} > maximum allowed batch size 32"
        return Answer(422, {"message": said, "code": 422, "type": "Validation"})
    return asked.calm()


def dashscope_batch(asked: Asked):
    if len(asked.body["input"]) > 10:
        said = "Value error, batch size is invalid, it should not be larger than 10.: input.contents"
        return refuse(400, said, code="InvalidParameter")
    return asked.calm()


def tokens_300000(asked: Asked):
    need = sum(len(t) for t in asked.body["input"]) // 4
    if need > 300:
        return refuse(400, f"Requested {need} tokens, max 300 tokens per request", code="max_tokens_per_request")
    return asked.calm()


def _long(asked: Asked, status: int, said: str):
    if any(len(t) // 4 > 512 for t in asked.body["input"]):
        return Answer(status, {"error": {"code": status, "message": said, "type": "server_error"}})
    return asked.calm()


def emb_too_long_500(asked: Asked):
    said = "input (992 tokens) is too large to process. increase the physical batch size (current batch size: 512)"
    return _long(asked, 500, said)


def emb_too_long_400(asked: Asked):
    return _long(asked, 400, "the input length exceeds the context length")


def emb_base64(asked: Asked):
    reply = asked.calm()
    for row in reply["data"]:
        row["embedding"] = base64.b64encode(struct.pack(f"<{DIM}f", *row["embedding"])).decode()
    return reply


def encoding_refused(asked: Asked):
    if "encoding_format" in asked.body:
        return refuse(400, "encoding_format is not supported", param="encoding_format")
    return asked.calm()


def _changed(asked: Asked, value: object):
    reply = asked.calm()
    reply["data"][3]["embedding"] = value
    return reply


def emb_token_vectors(asked: Asked):
    return _changed(asked, [[0.1] * DIM] * 4)


def emb_nan(asked: Asked):
    return _changed(asked, [None] * DIM)


def emb_zero(asked: Asked):
    return _changed(asked, [0.0] * DIM)


def emb_wrong_order(asked: Asked):
    reply = asked.calm()
    return reply | {"data": reply["data"][::-1]}


def emb_dim_changes(asked: Asked):
    reply = asked.calm()
    if asked.count():
        reply["data"] = [row | {"embedding": row["embedding"][:8]} for row in reply["data"]]
    return reply


def emb_chat_shape(asked: Asked):
    return {"choices": [{"message": {"role": "assistant", "content": "A vector?"}}]}


def prefix_seen(asked: Asked):
    asked.state.setdefault("inputs", []).extend(asked.body["input"])
    return asked.calm()


VECTORS = [
    Row("107", tei_batch, "M", lost=2),
    Row("108", dashscope_batch, "M", lost=8),
    Row("109", tokens_300000, "M", lost=6),
    Row("110", emb_too_long_500, "L", lost=24, differs=True, check=lambda run: _others_are_calm(run)),
    Row("110b", emb_too_long_400, "L", lost=24, differs=True, check=lambda run: _others_are_calm(run)),
    Row("111", emb_base64, "M"),
    Row("112", encoding_refused, "M", lost=1),
    Row("113", emb_token_vectors, "M", fails="several vectors", hurt=(0,)),
    Row("114", emb_nan, "M", fails="Text 3 about"),
    Row("115", emb_zero, "M", fails="Text 3 about"),
    Row("116", emb_wrong_order, "M"),
    Row("117", emb_dim_changes, "M", fails="vectors of length"),
    Row("118", emb_chat_shape, "M", fails="no vectors"),
]


def _others_are_calm(run: Run) -> None:
    rows = np.stack(run.results)
    assert rows.shape == (20, DIM)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-4)


# ── reranking ──


def rerank_tei(asked: Asked):
    if "texts" not in asked.body:
        said = "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 212"
        return Answer(422, {"error": said, "error_type": "Validation"})
    found = Asked(asked.path, asked.body | {"documents": asked.body["texts"]}, {}, (), {}, asked.lock).calm()
    return [{"index": r["index"], "score": r["relevance_score"]} for r in found["results"]]


def rerank_topn(asked: Asked):
    reply = asked.calm()
    return reply | {"results": reply["results"][: asked.body.get("top_n", 10)]}


def rerank_ten_whatever(asked: Asked):
    reply = asked.calm()
    return reply | {"results": reply["results"][:10]}


def rerank_negative(asked: Asked):
    reply = asked.calm()
    return reply | {"results": [r | {"relevance_score": r["relevance_score"] - 9.0} for r in reply["results"]]}


def _rest_is_worst(run: Run) -> None:
    (scores,) = run.results
    assert len(scores) == 12
    assert sum(s == min(scores) for s in scores) >= 2


RANKS = [
    Row("120", rerank_tei, "RR", lost=1),
    Row("121", rerank_topn, "R"),
    Row("121b", rerank_ten_whatever, "R", differs=True, check=_rest_is_worst),
    Row("122", rerank_negative, "R", differs=True, check=lambda run: _all_are_negative(run)),
]


def _all_are_negative(run: Run) -> None:
    assert all(s < 0 for s in run.results[0])


@pytest.fixture(scope="module")
def server() -> Iterator[VendorServer]:
    with serving([*VECTORS, *RANKS, Row("119", prefix_seen)]) as made:
        yield made


@pytest.mark.parametrize("row", cases([r for r in VECTORS if r.number not in ("114", "115", "117", "118")]))
def test_vectors_are_got_in_the_sizes_that_the_server_takes(server: VendorServer, row: Row) -> None:
    check_row(server, row)


@pytest.mark.parametrize("row", cases([r for r in VECTORS if r.number in ("114", "115", "117", "118")]))
def test_what_is_no_vector_is_an_error_that_names_it(server: VendorServer, row: Row) -> None:
    run = run_row(server, row.name, row.do, row.endpoint)
    assert [type(found).__name__ for found in run.results] == ["EndpointError"]
    assert row.fails in str(run.results[0])


@pytest.mark.parametrize("row", cases(RANKS))
def test_scores_are_read_in_every_form(server: VendorServer, row: Row) -> None:
    check_row(server, row)


PREFIXES = [
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("intfloat/multilingual-e5-base", "query: ", "passage: "),
    ("text-embedding-3-small", "", ""),
]


@pytest.mark.parametrize(("model", "query", "passage"), PREFIXES)
def test_119_queries_and_passages_have_the_prefixes_of_their_model(
    server: VendorServer, model: str, query: str, passage: str
) -> None:
    name = "119_prefix_seen"
    made = RemoteEmbedder(run_row(server, name, "", {"embedding_model": model}).endpoint)
    made.embed(["boat"], "query")
    made.embed(["quay"], "document")
    assert [r.body["input"] for r in server.requests(name)] == [[query + "boat"], [passage + "quay"]]
