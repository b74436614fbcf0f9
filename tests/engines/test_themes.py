"""Which sentences tell most on a theme."""

from __future__ import annotations

from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.answers.themes import choose_telling_sentences
from sensegraph.types import Source


def sentence(n: int, text: str, terms: str, speaker: str = "") -> SourceSentence:
    return SourceSentence(text, speaker, Source(f"d{n}-0", 0, len(text)), "p", tuple(terms.split()), n)


def test_a_sentence_without_the_title_counts_only_where_few_have_it() -> None:
    """Two are enough for one; where there is one, the sentence that holds most of the heavy terms is better."""
    tell = "Steady wind turns the large blades of a modern mill through the whole long winter."
    titled = [
        sentence(1, "Turbines need careful repair by people who know their old machines.", "turbin u v w"),
        sentence(2, "Turbines need a strong foundation in the ground of the valley.", "turbin x y z"),
    ]
    other = sentence(3, tell, "wind blade mill winter", "Ann Lee")
    heavy = [sentence(4 + i, "Short.", "wind blade mill winter") for i in range(6)]
    assert choose_telling_sentences("Turbines", [*titled, other, *heavy], frozenset(), 1)[0] in titled
    assert choose_telling_sentences("Turbines", [titled[0], other, *heavy], frozenset(), 1) == [other]
