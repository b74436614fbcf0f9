"""Who wrote a work: the lines that a text opens with, and nobody where they name nobody."""

from __future__ import annotations

import pytest

from sensegraph import Corpus, Document
from sensegraph.types import Answer

FAR = "\n\n".join(f"{n}. The sluice of the mill is opened by hand, as the handbook of sluices says." for n in range(60))
WORKS = {
    "sluice-handbook.txt": (
        "Sluice Handbook\n\nA Handbook for Keepers of Sluices\n\nIda Vrbova\n\nTom Kuhlmann (tom@example.org)\n\n"
        f"This handbook tells how a sluice is kept. Mill Owners and Keepers wrote to us about it.\n\n{FAR}"
    ),
    "paddle-spec.txt": (
        "Paddle Working Group\n\nKarel Nowotny kn12 at example.org\n\n1. Introduction\n\n"
        f"This is the Paddle Format specification.\n\n{FAR}"
    ),
    "weir-rules.txt": f"Weir Rules\n\nGeneral Terms\n\nThe Weir Rules bind Mill Owners and all Other Parties.\n\n{FAR}",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    with Corpus.open(tmp_path_factory.mktemp("works"), settings={"engine": "offline", "index": {"parts": []}}) as made:
        made.add([Document(name, text) for name, text in WORKS.items()])
        made.build()
        yield made


def ask(corpus: Corpus, question: str) -> Answer:
    return corpus.query(question, method="bm25")


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who wrote the Sluice Handbook?", "**Ida Vrbova and Tom Kuhlmann**: "),
        ("Who are the authors of the handbook of sluices?", "**Ida Vrbova and Tom Kuhlmann**: "),
        ("Who is the author of the Paddle Format specification?", "**Karel Nowotny**: "),
    ],
)
def test_the_author_stands_in_the_lines_that_a_text_opens_with(corpus: Corpus, question: str, names: str) -> None:
    answer = ask(corpus, question)
    assert answer.text.startswith(names)
    assert not answer.abstained
    assert answer.citations


def test_headings_and_terms_with_capitals_are_no_authors(corpus: Corpus) -> None:
    answer = ask(corpus, "Who wrote the Weir Rules?")
    assert answer.abstained
    assert "**" not in answer.text
