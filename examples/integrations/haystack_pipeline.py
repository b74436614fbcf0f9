"""Haystack's pipeline of retriever, prompt and generator, over a corpus of sensegraph.

python examples/integrations/haystack_pipeline.py      needs: pip install 'sensegraph[haystack]'

A stand-in that repeats the first sentence of the context answers, so that the program runs without a key. Put a
generator of your own in its place, such as `OpenAIChatGenerator`.
"""

from __future__ import annotations

import tempfile
from importlib.resources import as_file, files

from haystack import Pipeline, component
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.dataclasses import ChatMessage

from sensegraph import Corpus
from sensegraph.integrations.haystack import SensegraphRetriever

PROMPT = """Answer from this context alone.

{% for document in documents %}[{{ document.meta.source }}] {{ document.content | trim }}

{% endfor %}Question: {{ question }}"""


@component
class RepeatFirstSentence:
    """The stand-in: what the context says first."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, list[ChatMessage]]:
        context = (messages[-1].text or "").split("\n\n", 1)[1]
        return {"replies": [ChatMessage.from_assistant(context.split(". ")[0].strip() + ".")]}


def main() -> None:
    with tempfile.TemporaryDirectory() as root, Corpus.open(root, settings={"engine": "offline"}) as corpus:
        with as_file(files("sensegraph") / "data" / "demo") as folder:
            corpus.add(folder)
        corpus.build()

        pipeline = Pipeline()
        pipeline.add_component("retriever", SensegraphRetriever(corpus, top_k=3))
        pipeline.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user(PROMPT)], required_variables="*"))
        pipeline.add_component("generator", RepeatFirstSentence())
        pipeline.add_component("answer", AnswerBuilder())
        pipeline.connect("retriever.documents", "prompt.documents")
        pipeline.connect("prompt.prompt", "generator.messages")
        pipeline.connect("generator.replies", "answer.replies")
        pipeline.connect("retriever.documents", "answer.documents")
        question = "Who voted for the offer of Ardent Marine?"
        asked = {"retriever": {"query": question}, "prompt": {"question": question}, "answer": {"query": question}}
        (answer,) = pipeline.run(asked)["answer"]["answers"]
        print(answer.data)
        texts = {d.id: d.text for d in corpus.documents()}
        for document in answer.documents:
            source, start, end = (document.meta[name] for name in ("source", "start", "end"))
            print(f"{source}, characters {start} to {end}: {' '.join(texts[source][start:end].split())[:80]} …")


if __name__ == "__main__":
    main()
