"""The small tables of the settings: what puts passages in order, makes vectors, keeps results, and runs the work."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from sensegraph.plugins import Kind, plugin_names


@dataclass(frozen=True, slots=True)
class Names:
    """The words that a setting may be: our own, and the names of installed plug-ins of a kind."""

    kind: Kind | Literal[""]
    own: tuple[str, ...]

    def known(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(dict.fromkeys((*self.own, *(plugin_names(self.kind) if self.kind else ()))))


@dataclass(frozen=True, slots=True)
class RerankTable:
    """Who puts the passages that a method found in a better order, reading each together with the question.

    Nobody, `endpoint.rerank_model`, the model that answers (`engine`), or a model on this machine: in ONNX form in the
    folder `model` (`folder`, by the extra `onnx`), or a cross-encoder by torch, whose folder or name is `model` (the
    extra `rerank`). The first `top` chunks are read.
    """

    by: Annotated[str, Names("rerankers", ("none", "endpoint", "engine", "folder", "cross-encoder"))] = "none"
    top: int = 50
    model: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddingTable:
    """A local embedding model, by the extra `onnx`: for embedder = "folder", or "auto" where it is set.

    `folder` holds tokenizer.json and a model in ONNX form (model.onnx) or a table of vectors (model.safetensors). What
    stands before queries and documents is what the folder says, or what its name suggests, where it is `auto`.
    """

    folder: str = ""
    query_prefix: str = "auto"
    document_prefix: str = "auto"


@dataclass(frozen=True, slots=True)
class StoreTable:
    """Where what was computed is kept: in a file beside the corpus, or in PostgreSQL, which several machines share.

    `url` is that of a database, by the extra `postgres`: postgresql://USER@HOST/DATABASE?schema=NAME, where the schema
    holds one corpus (`sensegraph` where none is named). Its password stands in SENSEGRAPH_STORE_PASSWORD. `replica` is
    the URL of a read replica of it, from which questions read, with the same password. `arrays` is a
    bucket (s3://BUCKET/FOLDER, gs://, az://) or a shared folder (file:///FOLDER) for vectors and other arrays, by the
    extra `bucket`; they lie in the database where none is named. `cache` is a folder of this machine for copies of
    arrays, by default below the user's folder of caches. `kind` may name a plug-in.
    """

    kind: Annotated[str, Names("stores", ("auto",))] = "auto"
    url: str = field(default="", repr=False)
    replica: str = field(default="", repr=False)
    arrays: str = ""
    cache: str = ""


@dataclass(frozen=True, slots=True)
class ExecutorTable:
    """Who runs the work of a build: threads and processes of this machine, a Ray cluster, or a plug-in.

    With `ray` (the extra `distributed`) `address` says which cluster: HOST:6379, `auto` for the one that this machine
    belongs to, or nothing for one on this machine alone, which ends with the program. Calls of models stay here. In a
    build of more than 262,144 documents or results what is work for one process is done by processes of this machine,
    one after the other, that end with it and so give their memory back.
    """

    kind: Annotated[str, Names("executors", ("local", "ray"))] = "local"
    address: str = ""
