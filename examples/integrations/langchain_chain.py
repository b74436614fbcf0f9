"""LangChain's chain of retriever, prompt and model, over a corpus of sensegraph; every passage leads to its source.

python examples/integrations/langchain_chain.py      needs: pip install 'sensegraph[langchain]'

A stand-in that repeats the first sentence of the context answers, so that the program runs without a key. Put a model
of your own in its place, such as `ChatOpenAI(model="gpt-5-mini")` of langchain-openai.
"""

from __future__ import annotations

import tempfile
from importlib.resources import as_file, files
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, SimpleChatModel
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough

from sensegraph import Corpus
from sensegraph.integrations.langchain import SensegraphRetriever

PROMPT = ChatPromptTemplate.from_template("Answer from this context alone.\n\n{context}\n\nQuestion: {question}")


class RepeatFirstSentence(SimpleChatModel):
    """The stand-in: what the context says first."""

    @property
    def _llm_type(self) -> str:
        return "repeat-first-sentence"

    def _call(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> str:
        context = str(messages[-1].content).split("\n\n", 1)[1]
        return context.split(". ")[0].strip() + "."


def join_documents(documents: list[Document]) -> str:
    """The context: each passage under the place that it is from."""
    return "\n\n".join(f"[{d.metadata['source']}] {d.page_content.strip()}" for d in documents)


def main(model: BaseChatModel) -> None:
    with tempfile.TemporaryDirectory() as root, Corpus.open(root, settings={"engine": "offline"}) as corpus:
        with as_file(files("sensegraph") / "data" / "demo") as folder:
            corpus.add(folder)
        corpus.build()
        retriever = SensegraphRetriever(corpus=corpus, k=3)
        inputs = {"context": retriever | join_documents, "question": RunnablePassthrough()}
        chain = inputs | PROMPT | model | StrOutputParser()
        question = "Who voted for the offer of Ardent Marine?"
        print(chain.invoke(question))
        texts = {d.id: d.text for d in corpus.documents()}
        for document in retriever.invoke(question):
            source, start, end = (document.metadata[name] for name in ("source", "start", "end"))
            print(f"{source}, characters {start} to {end}: {' '.join(texts[source][start:end].split())[:80]} …")


if __name__ == "__main__":
    main(RepeatFirstSentence())
