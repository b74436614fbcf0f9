"""What every form of an answer is written from: a question, the texts that were found for it, and their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.reports.sentence_quality import end_sentence
from sensegraph.language.word_lists import ENGLISH_MONTHS
from sensegraph.types import Passage, Statement, WordCounts


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the chunks that were found for it, best first, and all their sentences in order.

    `counted` tells how rare the question's words are in the corpus, where that is known; `quoting` are records that
    quote sentences of other chunks, which stand behind those of the chunks.
    """

    question: str
    chunks: tuple[Passage, ...]
    sentences: tuple[SourceSentence, ...]
    counted: WordCounts | None = None
    quoting: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """The statements of an answer, and whether that is no answer."""

    statements: tuple[Statement, ...]
    abstained: bool = False


def show_sentence(one: SourceSentence) -> str:
    """A sentence, in quotation marks with its speaker where somebody says it: there in the source's own words."""
    if not one.speaker:
        whole = one.text.count("*") % 2 == 0 and one.text.count("**") % 2 == 0
        return end_sentence(one.text if whole else one.text.strip("* "))  # it holds one end of what is emphasized
    said = " ".join(one.raw.split()).replace("“", "‘").replace("”", "’").replace('"', "'")
    return f"“{said}” — {one.speaker}"


def list_sentences(chosen: Sequence[SourceSentence], lead: str = "") -> list[Statement]:
    """Sentences as an answer shows them: the first in its own line behind `lead`, the others as a list, all cited."""
    return list_shown([(one, show_sentence(one)) for one in chosen], lead)


def list_shown(shown: Sequence[tuple[SourceSentence, str]], lead: str) -> list[Statement]:
    """Sentences, each with the text that shows it, as `list_sentences` lays them out."""
    begin = ("\n\n- ", "\n- ")
    return [one.cite((lead if i == 0 else begin[i > 1]) + text) for i, (one, text) in enumerate(shown)]


def write_date(moment: str) -> str:
    """A day, month or year in words: 30 June 2023."""
    parts = moment.split("-")
    if not moment or len(parts) > 3 or not parts[0]:
        return moment
    words = [str(int(parts[2][:2]))] if len(parts) > 2 else []
    words += [ENGLISH_MONTHS[int(parts[1]) - 1].title()] if len(parts) > 1 else []
    return " ".join([*words, str(int(parts[0]))])
