"""Contract tests for engines, embedders, rerankers, chunkers, stores, executors and methods: what plug-ins keep.

Each contract is a class of tests for pytest. A plugin's test suite inherits it and says how its thing is made:

    class TestMyStore(StoreContract):
        def make(self, folder): return MyStore(folder)

The tests need nothing but pytest's `tmp_path`; no fixture, plugin or mark of ours.
"""

from __future__ import annotations

from sensegraph.testing.engines import EngineContract, JudgeContract, PaperTasksContract
from sensegraph.testing.samples import QUESTION, SAMPLE, sample_brief, sample_chunks, sample_context, sample_link
from sensegraph.testing.stores import CorpusStoreContract, ExecutorContract, StoreContract
from sensegraph.testing.tools import (
    ChunkerContract,
    EmbedderContract,
    MethodContract,
    RerankerContract,
    check_citations,
)

__all__ = [
    "QUESTION",
    "SAMPLE",
    "ChunkerContract",
    "CorpusStoreContract",
    "EmbedderContract",
    "EngineContract",
    "ExecutorContract",
    "JudgeContract",
    "MethodContract",
    "PaperTasksContract",
    "RerankerContract",
    "StoreContract",
    "check_citations",
    "sample_brief",
    "sample_chunks",
    "sample_context",
    "sample_link",
]
