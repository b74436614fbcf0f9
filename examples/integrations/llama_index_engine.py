"""LlamaIndex's query engine over a corpus of sensegraph, and its retriever of paths over the graph of the same corpus.

python examples/integrations/llama_index_engine.py      needs: pip install 'sensegraph[llama-index]'

A stand-in answers, so that the program runs without a key: it names the people of the question, and repeats the first
sentence of the context. Put a model of your own in its place.
"""

from __future__ import annotations

import re
import tempfile
from importlib.resources import as_file, files
from typing import Any

from llama_index.core import PropertyGraphIndex
from llama_index.core.indices.property_graph import LLMSynonymRetriever
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.query_engine import RetrieverQueryEngine

from sensegraph import Corpus
from sensegraph.integrations.llama_index import SensegraphGraphStore, SensegraphRetriever


class StandIn(CustomLLM):
    """The stand-in: names for the retriever of paths, else what the context says first."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="stand-in")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        if "---------------------" in prompt:  # the context of LlamaIndex's prompt for answers
            context = prompt.split("---------------------")[1]
            return CompletionResponse(text=context.strip().split(". ")[0] + ".")
        question = next(line for line in reversed(prompt.splitlines()) if line.startswith("QUERY:"))
        return CompletionResponse(text="^".join(re.findall(r"[A-Z][a-z]+(?: [A-Z][a-z]+)+", question)))

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        yield self.complete(prompt, formatted)


def main(llm: CustomLLM) -> None:
    with tempfile.TemporaryDirectory() as root, Corpus.open(root, settings={"engine": "offline"}) as corpus:
        with as_file(files("sensegraph") / "data" / "demo") as folder:
            corpus.add(folder)
        corpus.build()

        engine = RetrieverQueryEngine.from_args(SensegraphRetriever(corpus, similarity_top_k=3), llm=llm)
        response = engine.query("Who voted for the offer of Ardent Marine?")
        print(response)
        texts = {d.id: d.text for d in corpus.documents()}
        for found in response.source_nodes:
            source, start, end = found.node.ref_doc_id, found.node.start_char_idx, found.node.end_char_idx
            print(f"{source}, characters {start} to {end}: {' '.join(texts[source][start:end].split())[:80]} …")

        store = SensegraphGraphStore(corpus)
        index = PropertyGraphIndex.from_existing(store, llm=llm, embed_kg_nodes=False)
        paths = index.as_retriever(sub_retrievers=[LLMSynonymRetriever(store, llm=llm, include_text=False)])
        for found in paths.retrieve("Whom does Priya Raman work with?")[:5]:
            print(found.node.get_content())


if __name__ == "__main__":
    main(StandIn())
