"""Whether an answer keeps to its sources: each statement against what it cites, each citation against its document.

Four things are found: citations that lead nowhere, quoted spans that are not the document's words, statements that
their citations do not bear, and speakers that the cited documents do not name. What cites nothing is listed apart.
An answer may keep to its sources and answer another question: where it is given, the two are compared (`unanswered`).

And whether an answer says that it has none, where it should: the wording is matched, in English and a few other
languages; an answer that abstains at length, or goes on to answer all the same, is told by its first two sentences
only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sensegraph.answering.grounding.citations import (
    MOST,
    Citations,
    CitedStatement,
    Reference,
    Supporter,
    remove_marks,
    score_citations,
    split_cited_statements,
)
from sensegraph.answering.grounding.lexical import find_reporter
from sensegraph.answering.grounding.unanswered import AnswerTexts, PosedQuestion, find_unanswered
from sensegraph.extractions import Shortened
from sensegraph.language.blocks import read_text
from sensegraph.language.sentences import split_sentences
from sensegraph.language.speakers import find_labels
from sensegraph.language.text import fold
from sensegraph.language.transcripts import find_speakers, observe_talk
from sensegraph.language.word_lists import read_sections
from sensegraph.types import Answer, Citation, Document

_FIRST = 2  # sentences at the beginning in which an answer says that it has none
_LONG, _CITED = 4, 2  # sentences from which an answer does answer, whatever it begins with; one that cites
_REFERENCE_MARK = re.compile(r"\[\s*(?:\d|Data:)")
_NEAREST = re.compile("|".join(read_sections("lexicons/answers")["leads"]))
_NONE = re.compile("|".join(read_sections("lexicons/answers")["no answer"]), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Abstention:
    """How often answers abstained: on questions with an answer, and on those without."""

    answerable: int
    refused: int
    unanswerable: int
    abstained: int

    @property
    def rate(self) -> float | None:
        """Abstentions ÷ questions without an answer, 0 to 1; None without such a question."""
        return self.abstained / self.unanswerable if self.unanswerable else None

    @property
    def false_rate(self) -> float | None:
        """Abstentions ÷ questions with an answer, 0 to 1; None without such a question."""
        return self.refused / self.answerable if self.answerable else None

    @property
    def precision(self) -> float | None:
        """Abstentions on questions without an answer ÷ all abstentions, 0 to 1; None without one."""
        total = self.refused + self.abstained
        return self.abstained / total if total else None


def says_no_answer(text: str) -> bool:
    """Whether a short answer says in its first two sentences that the sources give none; an empty one does.

    What stands behind words such as "Most likely:" is an answer where nothing stands before them, else only near one.
    """
    text = text.strip()
    opening = _NEAREST.match(text)
    text = _NEAREST.split(text[opening.end() :].strip() if opening else text)[0]
    spans = split_sentences(text)
    most = _CITED if _REFERENCE_MARK.search(text) else _LONG
    return not spans or (len(spans) < most and _NONE.search(text[: spans[:_FIRST][-1][1]]) is not None)


def count_abstentions(answers: Iterable[tuple[bool, str]]) -> Abstention:
    """Counts over (has an answer, text of the answer)."""
    told = [(has, says_no_answer(text)) for has, text in answers]
    return Abstention(
        sum(has for has, _ in told),
        sum(has and none for has, none in told),
        sum(not has for has, _ in told),
        sum(not has and none for has, none in told),
    )


Kind = Literal["dangling", "misquoted", "unsupported", "speaker"]
Fetch = Callable[[str], Document | None]

_MARK = re.compile(r"\[(\d+)\]")
_NEAR = 1000  # characters around a span that may tell what it is about
_AROUND = 2  # sentences around a span that those who read are given as well


@dataclass(frozen=True, slots=True)
class Problem:
    """Something of an answer that its sources do not bear out: the statement, what is wrong, and with which marks."""

    kind: Kind
    statement: str
    reason: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Checked(Shortened):
    """An answer against its sources; `by` says who judged support.

    `statements` counts those of the answer, `supported` those that their citations bear, `unjudged` those without a
    verdict; `uncited` are those that cite nothing. Of `citations`, `exact` quote their document word for word. `recall`
    and `precision` are those of citations (see `citations`), 0 to 1, None for an answer that abstains or says nothing.
    An answer that abstains may cite what comes nearest: then `statements` are those that cite something.
    `unanswered` are the reasons why the answer does not seem to answer its question (see `unanswered`); none where it
    does, where it abstains, and where no question is given.
    """

    by: str
    statements: int
    supported: int
    unjudged: int
    uncited: tuple[str, ...]
    citations: int
    exact: int
    recall: float | None
    precision: float | None
    problems: tuple[Problem, ...]
    abstained: bool = False
    unanswered: tuple[str, ...] = ()


def check_answer(
    answer: Answer, fetch: Fetch, by: Supporter, most: int = MOST, posed: PosedQuestion | None = None
) -> Checked:
    """`answer` against its documents and its question; `fetch` gives a document by its id, or None for no such."""
    return check_answers([answer], fetch, by, most, [posed])[0]


def check_answers(
    answers: Sequence[Answer],
    fetch: Fetch,
    by: Supporter,
    most: int = MOST,
    posed: Sequence[PosedQuestion | None] = (),
) -> list[Checked]:
    """Several answers, so that what is asked of a model is asked at once; `posed` are their questions, or empty."""
    documents = {c.document: fetch(c.document) for a in answers for c in a.citations}
    said = [_split_answer(a) for a in answers]
    # what each citation says: its quote, and for those who read what stands around it
    texts = [
        {Reference(c.marker): _widen_quote(c, documents[c.document]) if by.wide else c.quote for c in a.citations}
        for a in answers
    ]
    found = score_citations(list(zip(said, texts, strict=True)), by, most)
    asked = posed or [None] * len(answers)
    return [
        _check_statements(a, q, s, f, documents, by.name)
        for a, q, s, f in zip(answers, asked, said, found, strict=True)
    ]


def _compare_with_question(
    answer: Answer, posed: PosedQuestion | None, documents: Mapping[str, Document | None]
) -> tuple[str, ...]:
    """Why the answer does not seem to answer its question; nothing where it says that it has no answer."""
    if posed is None or answer.abstained or says_no_answer(remove_marks(answer.text)):
        return ()
    cited = [(c, d) for c in answer.citations if (d := documents[c.document])]
    near = tuple(d.text[max(0, c.start - _NEAR) : c.end + _NEAR] for c, d in cited)
    around = tuple(_widen_quote(c, d) for c, d in cited)
    titles = tuple(dict.fromkeys(f"{d.title} {d.time}".strip() for _, d in cited))
    quotes = tuple(c.quote for c in answer.citations)
    return find_unanswered(posed, AnswerTexts(answer.text, quotes, titles, around, near))


def _widen_quote(citation: Citation, document: Document | None) -> str:
    """The quote with the sentences around it, where it stands in the document."""
    if document is None or not _quotes_exactly(citation, document):
        return citation.quote
    spans = split_sentences(read_text(document.text))
    inside = [i for i, (a, b) in enumerate(spans) if a < citation.end and citation.start < b]
    if not inside:
        return citation.quote
    first, last = spans[max(0, inside[0] - _AROUND)], spans[min(len(spans) - 1, inside[-1] + _AROUND)]
    return document.text[min(first[0], citation.start) : max(last[1], citation.end)]


def _drop_quoted_marks(answer: Answer) -> str:
    """The answer's text without marks that are no mark of its own but the words of what it quotes: a source's notes."""
    known = {c.marker for c in answer.citations}
    quoted = {m for c in answer.citations for m in _MARK.findall(c.quote) if int(m) not in known}
    return _MARK.sub(lambda mark: "" if mark[1] in quoted else mark[0], answer.text)


def _split_answer(answer: Answer) -> tuple[CitedStatement, ...]:
    """The statements of an answer; of one that abstains only what it cites."""
    said = tuple(split_cited_statements(_drop_quoted_marks(answer)))
    return tuple(s for s in said if s.references) if _answer_abstains(answer) else said


def _answer_abstains(answer: Answer) -> bool:
    return answer.abstained or says_no_answer(answer.text)


def _quotes_exactly(citation: Citation, document: Document | None) -> bool:
    return document is not None and document.text[citation.start : citation.end] == citation.quote


def _check_statements(
    answer: Answer,
    posed: PosedQuestion | None,
    said: Sequence[CitedStatement],
    found: Citations,
    documents: Mapping[str, Document | None],
    by: str,
) -> Checked:
    problems: list[Problem] = []
    for s, verdict in zip(said, found.verdicts, strict=True):
        if verdict is not None and verdict.holds is False:
            problems.append(Problem("unsupported", s.text, verdict.reason, tuple(map(str, s.references))))
    known = {Reference(c.marker) for c in answer.citations}
    for s in said:
        if lost := tuple(str(r) for r in s.references if r not in known):
            problems.append(Problem("dangling", s.text, f"the answer has no source {', '.join(lost)}", lost))
        problems += _find_wrong_speakers(s, answer, documents)
    wrong = [c for c in answer.citations if not _quotes_exactly(c, documents[c.document])]
    for c in wrong:  # words that are not those of the document
        mark, where = Reference(c.marker), f"{c.document}:{c.start}-{c.end}"
        statement = next((s.text for s in said if mark in s.references), "")
        lacking = documents[c.document] is None
        why = f"there is no document {c.document}" if lacking else f"{where} reads otherwise"
        problems.append(Problem("misquoted", statement, why, (str(mark),)))
    abstains = _answer_abstains(answer)
    return Checked(
        by,
        len(said),
        found.supported,
        found.unjudged,
        tuple(s.text for s in said if not s.references and not s.more),
        len(answer.citations),
        len(answer.citations) - len(wrong),
        None if abstains else found.recall,
        None if abstains else found.precision,
        tuple(problems),
        abstains,
        _compare_with_question(answer, posed, documents),
    )


def _find_wrong_speakers(
    said: CitedStatement, answer: Answer, documents: Mapping[str, Document | None]
) -> Iterator[Problem]:
    """A speaker who did not say it: another's label stands before the span, or no cited document names the speaker."""
    who = fold(find_reporter(said.text))
    read = [(c, d) for c in answer.citations if Reference(c.marker) in said.references and (d := documents[c.document])]
    if not who or not read:
        return
    others = []
    for citation, document in read:
        # what may be labels of speakers before the span or at its beginning, the nearest last; those of `who` are
        text = read_text(document.text)
        found = find_labels(text)
        labels = [x.key for x in found if (x.named or x.key == who) and x.start <= citation.start]
        if any(label in who or who in label for label in labels[-1:]):
            return
        # the document shows that it is a speaker's
        if labels and labels[-1] in find_speakers(observe_talk(text)):
            others.append(labels[-1])
    marks = tuple(map(str, said.references))
    if others:
        reason = f"in what is cited, it is said by {', '.join(dict.fromkeys(others))}"
        yield Problem("speaker", said.text, reason, marks)
    elif not any(who in fold(f"{d.title} {d.text}") for _, d in read):
        yield Problem("speaker", said.text, f"the cited documents name no {who}", marks)
