"""Which sentences of an element an engine that quotes is given."""

import random

from sensegraph.index.hierarchy.packing import list_elements
from sensegraph.types import Description, Entity, Graph, Source

WHOLE = "The spike protein number {} binds to a receptor on the surface of the cell."


def quoted(said: list[Description]) -> list[Description]:
    entity = Entity("e", "protein", "concept", "", tuple(said), tuple(d.source.chunk for d in said), len(said), 0)
    documents = {d.source.chunk: d.source.chunk[0] for d in said}
    return list(list_elements(Graph((entity,)), documents, quotes=True).entity["e"].passage.quotes)


def said(text: str, chunk: str) -> Description:
    return Description(text, Source(chunk, 0, len(text)))


def test_a_short_list_is_given_whole_and_in_order() -> None:
    few = [said("Why?", "a0"), said(WHOLE.format(1), "b0")]
    assert quoted(few) == few


def test_whole_sentences_are_given_before_fragments_and_questions() -> None:
    poor = [said(f"and then the protein {i}", f"a{i}") for i in range(30)]
    asked = [said(f"What is it that the spike protein number {i} binds to in the cell?", f"b{i}") for i in range(30)]
    good = [said(WHOLE.format(i), f"c{i}") for i in range(12)]
    assert set(good) < set(quoted([*poor, *asked, *good]))


def test_the_quotes_are_spread_over_the_documents() -> None:
    many = [said(WHOLE.format(i), f"a{i}") for i in range(60)]
    others = [said(WHOLE.format(f"{i} of {d}"), f"{d}{i}") for d in "bcd" for i in range(3)]
    assert set(others) < set(quoted([*many, *others]))


def test_a_text_that_recurs_is_given_once_while_there_are_others() -> None:
    again = [said(WHOLE.format(0), f"a{i}") for i in range(40)]
    others = [said(WHOLE.format(i), f"b{i}") for i in range(1, 30)]
    given = quoted([*again, *others])
    assert len({d.text for d in given}) == len(given) > 3


def test_the_order_of_the_sentences_does_not_change_which_are_given() -> None:
    many = [said(WHOLE.format(i), f"{'abc'[i % 3]}{i}") for i in range(60)]
    mixed = random.Random(1).sample(many, len(many))
    assert len(quoted(many)) > 3
    assert set(quoted(mixed)) == set(quoted(many))
