"""The offline engine's map and reduce: partial answers from reports or chunks, and the answer from those.

Nothing is invented: every sentence that is shown is a sentence of a source, lightly trimmed, with its exact span; what
connects them (counts, names, headings) is computed from them (classical-engine §5). A question that leans on the one
before it is made whole (N58): words of the earlier one are added where the new one says nothing by itself, or points
to someone without a name. The pronouns are those of English, German, French, Spanish and Chinese.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sensegraph.engines.offline.answers import facts, overviews, questions
from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.outlines import write_outline
from sensegraph.engines.offline.answers.question_text import restore_names
from sensegraph.engines.offline.answers.questions import Question
from sensegraph.engines.offline.answers.relating.forms import FORMS
from sensegraph.engines.offline.answers.source_sentences import (
    HOST,
    RelevantSentence,
    SourceSentence,
    choose_language,
    choose_varied,
    differs_from,
    find_relevant,
    group_by_reference,
    read_source_sentences,
    select_presentable,
    strip_quotation_marks,
    term_weights,
)
from sensegraph.engines.offline.answers.themes import NOTE, begin_with
from sensegraph.engines.offline.reports import sentence_quality
from sensegraph.language.asking.whole_collections import asks_about_collection
from sensegraph.language.text import HAN, WORD
from sensegraph.language.word_lists import read_alternatives
from sensegraph.types import Draft, Inquiry, Passage, Point, Statement

# ── a question that leans on the one before it ────────────────────────────────────────────────────────────────────────

_TURNS = 5  # earlier questions that are looked at
CUES = read_alternatives("cues")
_POINTS = re.compile(rf"\b(?:{CUES['pronouns']})\b|[他她它这那其]", re.IGNORECASE)
_PERSONS = re.compile(rf"\b(?:{CUES['personal-pronouns']})\b|[他她它]", re.IGNORECASE)
_IT = re.compile(r"\b(?:its?|es)\b", re.IGNORECASE)  # often stands for nothing: "when is it best to …"
_WHOLE = re.compile(rf"\b(?:{CUES['asking-for-themes']})\b|主题|主要内容|概述|总结", re.IGNORECASE)
_VOICES = re.compile(
    r"\b(?:guests|speakers|participants|panel(?:l?ists)?|interviewees|everybody|everyone|people)\b", re.I
)
_FEW = 1  # content words up to which "it" is taken to stand for something
_SHORT = 3  # words up to which a question without content goes on with the one before ("Why?", "And then?")


def resolve_history(inquiry: Inquiry) -> Inquiry:
    """The inquiry with a question that can be understood alone; the same where it could be before.

    Without words of its own it borrows all those of the question before it; with a pronoun but no name, its names, or
    all where it has none.
    """
    if not inquiry.history:
        return inquiry
    last = ""
    for question in (*(t.question for t in inquiry.history[-_TURNS:]), inquiry.question):
        own, earlier = (questions.read_wanted_words(text, questions.guess_language(text)) for text in (question, last))
        named = any(weight == questions.NAME for weight in own.weights.values())
        content = sum(weight > questions.EMPTY for weight in own.weights.values())
        borrowed: list[str] = []
        if not content and not _WHOLE.search(question) and not asks_about_collection(question):
            # a question without content words means what was asked before, or else the whole corpus
            if _POINTS.search(question) or len(WORD.findall(question)) <= _SHORT:
                borrowed = _borrow_words(last, earlier, 0.0)
        elif content and not named and (_PERSONS.search(question) or (content <= _FEW and _IT.search(question))):
            borrowed = _borrow_words(last, earlier, questions.NAME) or _borrow_words(last, earlier, 0.0)
        last = question
        if borrowed:
            comma, mark = ("，", "？") if HAN.search(question) else (", ", "?")
            last = comma.join([question.rstrip(" ?？.!。！"), *borrowed]) + mark
    return replace(inquiry, question=last)


def _borrow_words(question: str, wanted: questions.WantedWords, least: float) -> list[str]:
    """The stretches of `question` whose words weigh `least` or more, as they are written."""
    code = questions.guess_language(question)
    if HAN.search(question):
        return questions.find_han_runs(question) if least < questions.NAME else []
    runs: list[list[str]] = [[]]
    for word in questions.TOKEN.findall(question):
        weight = max((wanted.weights.get(t, 0.0) for t in sentence_quality.stem_text(word, code)), default=0.0)
        if weight and weight >= least:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    return list(dict.fromkeys(" ".join(run) for run in runs if run))


# ── short answers ─────────────────────────────────────────────────────────────────────────────────────────────────────

OPENING = 16  # key phrases in the opening of a summary (classical-engine §5.2)
WINDOW, DECAY = 6, 0.8  # sentences on either side that lend relevance, and how it fades (§5.3)
BEHIND = 0.6  # share of the best score below which a sentence adds nothing to a direct answer
ASKED = 2.6  # how much more what somebody says counts whom the question names
LEAST_HERE = 0.05  # quality from which a sentence may stand in a short answer: what answers is often short
FEEDBACK_FROM, FEEDBACK_TERMS = 25, 12


def summarise_text(question: Question, sentences: Sequence[SourceSentence], words: int) -> Iterator[Statement]:
    """A summary of about `words` words: what it was about, then covering sentences in the order of the text."""
    unit = question.unit or "text"
    phrases = [p.text for p in questions.find_key_phrases([s.text for s in sentences], OPENING)]
    opening = ""
    if len(phrases) > 2:
        actors = "group" if sum(bool(s.speaker) for s in sentences) * 2 > len(sentences) else "text"
        opening = f"The {unit} was about {sentence_quality.join_with_and(phrases[:2])}. "
        opening += f"The {actors} discussed {sentence_quality.join_with_and(phrases[2:])}."
        yield Statement(opening)
    chosen = choose_covering(sentences, words - len(opening.split()))
    yield from report_speech(chosen, bool(opening))


def choose_covering(sentences: Sequence[SourceSentence], words: int) -> list[SourceSentence]:
    """Sentences that together cover the terms of the text, up to about `words` words, in its order."""
    counts = Counter(t for s in sentences for t in set(s.terms))
    good = select_presentable(sentences)
    covered: Counter[str] = Counter()
    chosen: list[SourceSentence] = []
    length = 0

    def gain(s: SourceSentence) -> float:
        worth = sum(counts[t] * math.log(1 + len(sentences) / counts[t]) * 0.4 ** covered[t] for t in set(s.terms))
        return worth / (math.sqrt(len(s.terms)) + 2) * s.quality

    while good and length < words:
        best = max(good, key=lambda s: (gain(s), -s.order))
        good = [s for s in good if s is not best]
        if differs_from(best, chosen):
            chosen.append(best)
            covered.update(set(best.terms))
            length += len(best.text.split()) + 3
    return sorted(chosen, key=lambda s: s.order)


def choose_narrow_sentences(
    question: Question, sentences: Sequence[SourceSentence], words: int
) -> list[SourceSentence]:
    """The sentences that answer a narrow question, up to about `words` words, in the order of the text."""
    chosen: list[SourceSentence] = []
    length = 0
    for one, _ in _rank_sentences(question, sentences):
        if length >= words:
            break
        if one.quality >= LEAST_HERE and differs_from(one, chosen):
            chosen.append(one)
            length += len(one.text.split()) + 4
    return sorted(chosen, key=lambda s: s.order)


def choose_direct_sentences(question: Question, sentences: Sequence[SourceSentence], most: int) -> list[SourceSentence]:
    """The at most `most` sentences that answer a question of fact, best first; none far behind the best."""
    ranked = _rank_sentences(question, sentences)
    return choose_varied([one for one, score in ranked if score >= BEHIND * ranked[0][1]], most)


def _rank_sentences(question: Question, sentences: Sequence[SourceSentence]) -> list[tuple[SourceSentence, float]]:
    """The sentences that bear on the question, best first, and how much: by its terms and surroundings (§5.3)."""
    weights = term_weights(question, sentences, strict=False)
    if not weights:
        return []
    forms = {v: w * f for w, vs in weights.values() for v, f in vs.items()}
    own = [sum(forms.get(t, 0.0) for t in set(s.terms)) / (math.sqrt(len(s.terms)) + 2) for s in sentences]
    nearby = (range(max(0, i - WINDOW), min(len(own), i + WINDOW + 1)) for i in range(len(own)))
    around = [sum(own[j] * DECAY ** abs(j - i) for j in near) for i, near in enumerate(nearby)]
    base = [a + b for a, b in zip(_scale_to_one(own), _scale_to_one(around), strict=True)]
    # feedback: overlap with the terms that mark the best sentences off from the rest
    counts = Counter(t for s in sentences for t in set(s.terms))
    best = sorted(range(len(sentences)), key=lambda i: (-base[i], i))[:FEEDBACK_FROM]
    inside = Counter(t for i in best for t in set(sentences[i].terms))
    worth = {t: n * math.log(1 + len(sentences) / counts[t]) for t, n in inside.items() if n > 1}
    top = dict(sorted(worth.items(), key=lambda x: (-x[1], x[0]))[:FEEDBACK_TERMS])
    overlap = [sum(top.get(t, 0.0) for t in set(s.terms)) / (math.sqrt(len(s.terms)) + 2) for s in sentences]
    asked = {name for name in {s.speaker for s in sentences} if names_speaker(question.text, name)}
    scores = (
        (b + 0.3 * f) * (ASKED if s.speaker in asked else 1.0) * (0.25 + 0.75 * s.quality)
        for s, b, f in zip(sentences, base, _scale_to_one(overlap), strict=True)
    )
    pairs = [(s, score) for s, score in zip(sentences, scores, strict=True) if score > 0]
    return sorted(pairs, key=lambda p: (-p[1], p[0].order))


def names_speaker(text: str, speaker: str) -> bool:
    """Whether a text names a speaker: in full, or by the last word of the name that is no initial or short title."""
    if not speaker or speaker.casefold() in text.casefold():
        return bool(speaker)
    words = [word for word in WORD.findall(speaker) if len(word) > 3 and word[0].isupper()]
    return bool(words) and re.search(rf"(?<!\w){re.escape(words[-1])}(?!\w)", text) is not None


def _scale_to_one(values: Sequence[float]) -> list[float]:
    most = max(values, default=0.0)
    return [v / most for v in values] if most else list(values)


def report_speech(chosen: Sequence[SourceSentence], after: bool) -> Iterator[Statement]:
    """Sentences with their speakers, one after another: “… said that …”, “and that …” where one speaker goes on."""
    last = ""
    for sentence in chosen:
        asks = sentence.text.endswith(("?", "？"))
        text, quoted = sentence_quality.end_sentence(sentence.text), sentence_quality.quote_text(sentence.text)
        if sentence.speaker and sentence.speaker == last:
            text = f"and {'asked:' if asks else 'that'} {quoted}"
        elif sentence.speaker:
            text = f"{begin_with(sentence.speaker)} {'asked:' if asks else 'said that'} {quoted}"
        yield sentence.cite(f"{' ' if after else ''}{text}")
        after, last = True, sentence.speaker


LEAST_SCORE = 20.0  # a focused point below this is noise: one common word of several
MOST_SAID = 16  # sentences that a focused point carries
BESIDE = 99.9  # score of what an answer that compares cannot do without
SUMMARY_WORDS = 220
UNSURE = "no sentence is likely to answer this: what comes nearest is shown"
DIRECT = 4  # sentences that answer a question of fact


def rate_inquiries(inquiries: Sequence[Inquiry]) -> list[tuple[Point, ...]]:
    """The map step: partial answers from each context with their usefulness 0–100; none where nothing is relevant.

    Overview questions give a point for every theme of the sentences, or say that an outline answers them; focused ones
    a point for every report or chunk that speaks of what is asked, by relevance.
    """
    rated: list[tuple[Point, ...]] = []
    for inquiry in map(resolve_history, inquiries):
        passages = inquiry.context.passages
        code = choose_language(inquiry.question, passages)
        question = questions.understand_question(inquiry.question, code)
        if any(p.kind == "outline" for p in passages):  # it answers a question about the whole, and nothing else
            whole = question.shape == "overview"
            rated.append(tuple(Point((), 100.0, p.title, p.documents) for p in passages[:1] if whole))
            continue
        sentences = read_source_sentences(passages, code)
        hosts, own = find_report_hosts(sentences), group_by_reference(sentences)
        if question.shape != "overview":
            found, points = find_relevant(question, sentences), []
            for passage in passages:
                bearing = [r for r in found if r.sentence.reference == passage.id]
                score = rate_usefulness(bearing)
                documents = passage.documents if passage.kind == "entity" else len({r.sentence.origin for r in bearing})
                best = [r.sentence for r in bearing[:MOST_SAID]]
                if score < LEAST_SCORE and passage.kind == "entity" and question.shape == "count":
                    best, score = own.get(passage.id, [])[:1], BESIDE  # what the question compares with, by its name
                if best and score >= LEAST_SCORE:
                    points.append(Point(state_sentences(best, hosts), score, passage.title, documents))
            rated.append(tuple(points))
        else:
            themes = ((t, min(100.0, 10.0 * t.passages)) for t in overviews.find_chunk_themes(sentences))
            rated.append(tuple(Point(state_sentences(t.best), score, t.title, t.passages) for t, score in themes))
    return rated


def state_sentences(sentences: Sequence[SourceSentence], hosts: frozenset[str] = frozenset()) -> tuple[Statement, ...]:
    """Sentences as a point carries them: with the speaker's name, marked where that is a host's, a line each."""
    lines = (
        f"{s.speaker}{HOST if s.speaker in hosts else ''}: “{strip_quotation_marks(s.text)}”" if s.speaker else s.text
        for s in sentences
    )
    return tuple(s.cite(("\n" if i else "") + line) for i, (s, line) in enumerate(zip(sentences, lines, strict=True)))


def find_report_hosts(sentences: Sequence[SourceSentence]) -> frozenset[str]:
    """Speakers who lead the talk, seen from many reports, where six or more people speak.

    Guests speak in the reports on their subject, hosts in all: in a fifth of eight reports or more; or in one of
    fourteen, seldom twice in one, and there they present others.
    """
    places: dict[str, set[str]] = {}
    times: Counter[str] = Counter()
    for s in sentences:
        if s.speaker:
            places.setdefault(s.speaker, set()).add(s.reference)
            times[s.speaker] += 1
    size = len({s.reference for s in sentences})
    if len(places) < 6 or size < 8:
        return frozenset()
    wide = {n for n, at in places.items() if len(at) >= max(4, 0.2 * size)}
    spread = {n for n, at in places.items() if len(at) >= max(6, size / 14) and len(at) >= 0.8 * times[n]}
    presents = {s.speaker for s in sentences if s.speaker in spread and sentence_quality.introduces_person(s.raw)}
    return frozenset(wide | presents)


def rate_usefulness(found: Sequence[RelevantSentence]) -> float:
    """0–100 for a set of relevant sentences: the best one, and how well the next two support it."""
    if not found:
        return 0.0
    best = sorted((r.score for r in found), reverse=True)[:3]
    return round(min(100.0, 100 * (0.7 * best[0] + 0.3 * sum(best) / 3)), 1)


def answer_inquiries(inquiries: Sequence[Inquiry]) -> list[Draft]:
    """The reduce step, and answers from chunks: a text of quoted sentences with their spans, in Markdown."""
    return [compose_answer(inquiry) for inquiry in inquiries]


def compose_answer(inquiry: Inquiry, words: int = 0) -> Draft:
    """The answer to one inquiry; `words` asks for a short one of about that length (0: as long as it takes)."""
    asked, inquiry = inquiry, resolve_history(inquiry)
    leaning = f"the question leans on the conversation, and was read as: {inquiry.question}"
    notes = (NOTE, leaning) if inquiry.question != asked.question else (NOTE,)
    passages = inquiry.context.passages
    code = choose_language(inquiry.question, passages)
    question = questions.understand_question(inquiry.question, code)
    if any(p.kind == "outline" for p in passages):
        return Draft(tuple(write_outline(passages, code)), notes=notes)
    texts = tuple(p for p in passages if p.kind == "chunk")
    quoting = tuple(p for p in passages if p.kind != "chunk" and p.quotes)
    asked_for = None
    if not words and (texts or quoting):
        read = read_source_sentences((*texts, *quoting), code)  # a span that a record quotes too is its chunk's
        asked_for = Asked(restore_names(inquiry.question, read), texts, tuple(read), inquiry.counted, quoting)
        for form in FORMS if _asks_for_fact(question, passages) else FORMS[:-1]:
            if written := form(asked_for):
                told = (*notes, UNSURE) if written.nearest else notes
                return Draft(written.statements, notes=told, abstained=written.abstained)
    sentences = read_source_sentences(passages, code)
    if question.shape != "overview":
        statements = _answer_focused(question, inquiry, sentences, words)
    elif words or (question.unit in ("meeting", "book", "chat") and not any(p.kind == "point" for p in passages)):
        statements = list(summarise_text(question, sentences, words or SUMMARY_WORDS))
    else:
        themes = overviews.find_chunk_themes(sentences)
        summary = summarise_text(question, sentences, SUMMARY_WORDS)
        statements = list(overviews.write_overview(question, inquiry, themes) if themes else summary)
    if any(s.sources for s in statements):
        return Draft(tuple(statements), notes=notes)
    if asked_for and (written := facts.answer_fact(asked_for)):
        return Draft(written.statements, notes=notes, abstained=written.abstained)
    # nothing is found on the subject where no sentence has a word of it, else only on the question as a whole
    subject = set(sentence_quality.stem_text(question.subject, code))
    absent = bool(subject) and all(subject.isdisjoint(s.terms) for s in sentences)
    what = f" on {question.subject}" if absent else " that answers this"
    nothing = Statement(f"I find nothing{what} in the sources that I was given.")
    return Draft((nothing,), notes=notes[1:], abstained=True)


def _asks_for_fact(question: Question, passages: Sequence[Passage]) -> bool:
    """Whether the question asks for a fact: not for a count of documents, a side, or what several people say."""
    if question.shape in ("lookup", "decide"):
        return True
    pointed = any(p.kind == "point" for p in passages)
    asks_wide = _VOICES.search(question.text) or _WHOLE.search(question.text)
    many = question.sign or asks_wide or (pointed and not question.names)
    return question.shape == "open" and not many


def _answer_focused(
    question: Question, inquiry: Inquiry, sentences: Sequence[SourceSentence], words: int
) -> list[Statement]:
    """The statements that answer a question about something; none where nothing bears on it."""
    if words:
        return list(report_speech(choose_narrow_sentences(question, sentences, words), False))
    passages = inquiry.context.passages
    compared = (p for p in passages if p.kind == "point" and p.score == BESIDE)
    beside = {p.id for p in compared if not set(question.terms) & set(sentence_quality.stem_text(p.title, "en"))}
    sentences = [s for s in sentences if s.reference not in beside]
    pointed = any(p.kind == "point" for p in passages)
    found = find_relevant(question, sentences, strict=not pointed)
    if not found:
        return []
    others = sorted(((p.title, p.documents) for p in passages if p.id in beside), key=lambda x: (-x[1], x[0]))
    # the documents behind a point whose title is just what is asked about, by its words or its initials
    asked = {t for t in question.terms if t not in question.minor}
    initials = "".join(w[0] for w in question.subject.split()).casefold()
    same = [
        p for p in passages if set(sentence_quality.stem_text(p.title, "en")) == asked or p.title.casefold() == initials
    ]
    named = max((p.documents for p in same if p.kind == "point"), default=0)
    return list(overviews.write_focused_answer(question, found, inquiry.corpus, named, others))
