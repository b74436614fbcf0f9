"""The offline engine's asking half: leads to follow, parts of a question, and whether a passage bears on it.

All of it is lexical. A lead's statements are sentences of the sources, its questions name the things and links of the
context that the question does not mention; nothing is imagined: there is no hypothetical answer (drift §7,
lazygraphrag §6, graphrag §4.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sensegraph.engines.offline.answers import composing, questions, source_sentences
from sensegraph.engines.offline.answers.source_sentences import RelevantSentence, SourceSentence
from sensegraph.engines.offline.reports.report_parts import names_nothing, show_natural_case, split_title
from sensegraph.engines.offline.reports.sentence_quality import stem_text
from sensegraph.language.text import HAN, WORD, detect_language, tag_words
from sensegraph.language.word_lists import read_list
from sensegraph.types import Inquiry, Lead, Passage, Refinement, Statement

# ── questions to ask next (drift §7) ──────────────────────────────────────────────────────────────────────────────────

MOST = 5  # questions of one context (drift §3)
PAIRS = 3  # of them on how two things are related
PHRASES = 6  # key phrases of the text that count as things of it
LONGEST = 6  # words of a thing's name; a longer title is a clause
READ = 40  # sentences in which things are looked for: the most relevant
BEARING = 3.0  # what standing in the sentences that bear on the question counts, beside strength
LINK = 0.25  # what a link's weight adds to the worth of its ends, and as much if the question names one
STRONGER = 0.7  # share of the worthier end in the worth of a link
BETWEEN = " — "  # stands between the ends in the title of a relation

Ranked = tuple[tuple[str, ...], float]  # one name or two, and what asking about them is worth

_ASKS: Mapping[str, tuple[str, str]] = {
    "en": ("How are {0} and {1} related?", "What is said about {0}?"),
    "de": ("Wie hängt {0} mit {1} zusammen?", "Was wird über {0} gesagt?"),
    "fr": ("Quel est le lien entre {0} et {1} ?", "Que dit-on de {0} ?"),
    "es": ("¿Cómo se relaciona {0} con {1}?", "¿Qué se dice de {0}?"),
    "it": ("Che rapporto c'è tra {0} e {1}?", "Che cosa si dice di {0}?"),
    "nl": ("Hoe hangt {0} samen met {1}?", "Wat wordt er over {0} gezegd?"),
    "pt": ("Como se relaciona {0} com {1}?", "O que se diz de {0}?"),
    "zh": ("{0}与{1}有什么关系？", "关于{0}说了什么？"),
}
_OWN = tuple(
    re.compile("^" + re.escape(ask).replace(r"\{0\}", "(.+?)").replace(r"\{1\}", "(.+)") + "$")
    for asks in _ASKS.values()
    for ask in asks
)
_ARTICLE = re.compile(r"^(?:the|an?) (?=[^\W_])", re.IGNORECASE)
_PROPER = re.compile(r"(?<=[\w,] )[^\W\d_a-zß-öø-ÿ][\w’'\-]+(?: (?:of |de |van |von )?[^\W\d_a-zß-öø-ÿ][\w’'\-]+){0,3}")


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that may be asked about: its name, its stems, its strength in the context (0–1)."""

    name: str
    stems: tuple[str, ...]
    strength: float


def strip_asking_words(question: str) -> str:
    """The things that a question of ours names, without its words of asking; any other question as it is."""
    match = next((m for own in _OWN if (m := own.match(question.strip()))), None)
    return f"{', '.join(match.groups())}?" if match else question


def suggest_follow_ups(
    wanted: questions.WantedWords,
    passages: Sequence[Passage],
    found: Sequence[RelevantSentence],
    sentences: Sequence[SourceSentence],
    code: str,
) -> tuple[str, ...]:
    """At most five questions, most useful first, no thing in two: what is not mentioned, and how things link to it.

    A thing is useful by its strength in the context (degree, rating, order), and by how much the sentences that hold
    it bear on the question. One that the question names is asked about only together with another.
    """
    told = {id(r.sentence) for r in found}
    read = [*found[:READ], *(RelevantSentence(s, 0.0) for s in sentences if id(s) not in told)][:READ]
    share = {p.id: 1.0 for p in passages}  # how far a passage's strength counts, by what it holds of the question
    for p in passages if wanted else ():
        share[p.id] = 0.4 + 0.6 * questions.measure_coverage(wanted, _all_text(p), code).whole
    things = {t.name: t for t in _find_things(passages, share, read, code)}
    worth: dict[str, float] = {}
    known: set[str] = set()  # of which the question speaks: of all their words, or of a part of them by name
    for name, thing in things.items():
        own = set(thing.stems)
        best = sorted((r.score for r in read if own <= set(r.sentence.terms)), reverse=True)[:2]
        worth[name] = thing.strength + BEARING * (sum(best) / 2)
        weights = [wanted.weights.get(stem, 0.0) for stem in thing.stems]
        if all(weights) or any(weight == questions.NAME for weight in weights):
            known.add(name)
    ranked: list[Ranked] = [((name,), worth[name]) for name in things if name not in known]
    ranked += _rank_links(passages, share, things, worth, known)
    how, what = _ASKS.get(code, _ASKS["en"])
    asked: dict[tuple[str, ...], str] = {}
    taken: set[str] = set()
    for names, _ in sorted(ranked, key=lambda item: (-item[1], item[0])):
        own = {stem for name in names if name not in known for stem in things[name].stems}
        full = len(asked) == MOST or (len(names) > 1 and sum(len(n) > 1 for n in asked) == PAIRS)
        if not full and taken.isdisjoint(own):
            taken |= own
            asked[names] = (how if len(names) > 1 else what).format(*(_show_name(name, read, code) for name in names))
    return tuple(asked.values())


def _show_name(name: str, read: Sequence[RelevantSentence], code: str) -> str:
    """A name as the sentences mostly have it: in its own case, and with its article in English."""
    texts = [r.sentence.raw for r in read]
    form = show_natural_case(name, texts) if code == "en" else name
    if code != "en" or form[:1].isupper():
        return form
    alone = re.compile(rf"(\bthe )?\b{re.escape(form)}\b", re.IGNORECASE)
    uses = [match[1] for text in texts for match in alone.finditer(text)]
    return f"the {form}" if 2 * sum(map(bool, uses)) > len(uses) else form


def _rank_links(
    passages: Sequence[Passage],
    share: Mapping[str, float],
    things: Mapping[str, Topic],
    worth: Mapping[str, float],
    known: set[str],
) -> list[Ranked]:
    """Pairs that the context links and the question does not both name, with their worth.

    They are the ends of relations, and the first two names of a report's title.
    """
    written = {name.casefold(): name for name in things}  # as a passage may write it → the name of its thing
    most = max((p.score for p in passages if p.kind == "relation"), default=0.0) or 1.0
    pairs: dict[tuple[str, ...], float] = {}
    for p in passages:
        ends = p.title.split(BETWEEN, 1) if p.kind == "relation" else _list_title(p) if p.kind == "report" else []
        both = [written.get(_strip_marks(end).casefold(), "") for end in ends[:2]]
        if len(both) < 2 or not all(both) or things[both[0]].stems == things[both[1]].stems or known.issuperset(both):
            continue
        weight = share[p.id] * (p.score / most if p.kind == "relation" else p.score / 10)
        pair = (both[1], both[0]) if both[1] in known else (both[0], both[1])
        less, more = sorted((worth[both[0]], worth[both[1]]))
        value = STRONGER * more + (1 - STRONGER) * less + LINK * weight + LINK * (pair[0] in known)
        pairs[pair] = max(pairs.get(pair, 0.0), value)
    return list(pairs.items())


def _list_title(passage: Passage) -> list[str]:
    """The names that a report's title lists; none where the title is a clause."""
    names = split_title(passage.title)
    words = WORD.findall(passage.title)
    letters = tag_words([w.casefold() for w in words]) if detect_language(passage.title) == "en" else ""
    clause = not set("vmo").isdisjoint(letters)
    return [] if clause or any(len(name.split()) > LONGEST for name in names) else names


def _find_things(
    passages: Sequence[Passage], share: Mapping[str, float], read: Sequence[RelevantSentence], code: str
) -> Iterator[Topic]:
    """The entities, the ends of relations, the names in titles of reports, and names and phrases of the sentences.

    Left out is what says too little to be asked about: a number, a span of time, a word about the corpus.
    """
    most = max((p.score for p in passages if p.kind == "entity"), default=0.0) or 1.0
    names: list[tuple[str, float]] = []
    for p in passages:
        if p.kind == "entity":
            names.append((p.title, share[p.id] * (0.5 + 0.5 * p.score / most)))
        elif p.kind == "relation" and BETWEEN in p.title:
            names += ((end, share[p.id] * 0.4) for end in p.title.split(BETWEEN, 1))
        elif p.kind == "report":
            names += ((n, share[p.id] * (0.5 + p.score / 20 - 0.1 * i)) for i, n in enumerate(_list_title(p)))
    texts = [r.sentence.text for r in read]
    # names written with capitals inside a sentence; in German only those of several words
    names += ((name, 0.2) for t in texts for name in _PROPER.findall(t) if code != "de" or " " in name)
    if code == "en":
        names += ((phrase.text, 0.3) for phrase in questions.find_key_phrases(texts, PHRASES))
    seen: set[tuple[str, ...]] = set()
    for name, strength in names:
        clean = _strip_marks(name)
        own = tuple(dict.fromkeys(stem_text(clean, code)))
        han = HAN.search(clean) is not None
        if not own or own in seen or len(clean.split()) > LONGEST or (len(clean) > 20 and han):
            continue
        if not names_nothing(clean) and (han or questions.says_subject(clean)):
            seen.add(own)
            yield Topic(clean, own, strength * max(questions.weigh_rarity(stem, code) for stem in own))


def _strip_marks(name: str) -> str:
    """A name without marks around it, and without an English article."""
    return _ARTICLE.sub("", name.strip(" .,;:'\"“”"))


ENOUGH = 0.4  # share of the question's weight that a window of a relevant passage holds
ENOUGH_HAN = 0.3  # the same for pairs of characters, of which many only adjoin the words
LINKED = 0.1  # share by which less is enough where a concept linked to the question's stands there too
MOST_PARTS = 5  # parts of a question
GRADES = 5  # the highest grade of a report (graphrag §4.2)
EACH = 3  # statements of each theme of an overview

_INSIDE = frozenset("of the to in on for de des von van der la le du".split())  # may stand inside a name


# ── ask ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def find_leads(inquiries: Sequence[Inquiry]) -> list[Lead]:
    """The best relevant sentences of each context, their usefulness 0–100, and up to five questions to follow up.

    Where no sentence of a question of fact is relevant, what comes nearest; of an overview, the weightiest themes.
    """
    leads = []
    for inquiry in map(composing.resolve_history, inquiries):
        passages = inquiry.context.passages
        code = source_sentences.choose_language(inquiry.question, passages)
        text = strip_asking_words(inquiry.question)
        if HAN.search(text) and not _asks_about_all(text, code):
            # without the characters that only ask: as pairs they would count as words that nothing holds
            text = "，".join(questions.find_han_runs(text)) or text
        question = questions.understand_question(text, code)
        sentences = source_sentences.read_source_sentences(passages, code)
        found: list[RelevantSentence] = []
        if question.shape == "overview":
            points = sorted(composing.rate_inquiries([inquiry])[0], key=lambda p: -p.score)
            kept = [s for point in points for s in point.statements[:EACH]][: composing.MOST_SAID]
            lines = (("\n" if i else "") + s.text.lstrip() for i, s in enumerate(kept))
            statements = tuple(Statement(line, s.references, s.sources) for line, s in zip(lines, kept, strict=True))
            score = points[0].score if points else 0.0
        else:
            found = source_sentences.find_relevant(question, sentences)
            score = composing.rate_usefulness(found)
            if score >= composing.LEAST_SCORE:
                chosen = source_sentences.choose_varied([one.sentence for one in found], composing.MOST_SAID)
            else:
                factual = question.shape in ("lookup", "decide")
                near = factual and source_sentences.sum_known_shares(question, sentences) >= source_sentences.KNOWN
                chosen = composing.choose_direct_sentences(question, sentences, composing.DIRECT) if near else []
                score = composing.LEAST_SCORE / 2 if chosen else 0.0
            statements = composing.state_sentences(chosen, composing.find_report_hosts(sentences))
        asks = suggest_follow_ups(questions.read_wanted_words(text, code), passages, found, sentences, code)
        leads.append(Lead(statements, score, asks))
    return leads


# ── refine ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def refine_questions(inquiries: Sequence[Inquiry]) -> list[Refinement]:
    """Each question with its names and noun phrases as parts, and no hypothesis: none is imitated.

    A common word alone is no part; a question of one part has none beside itself.
    """
    refined = []
    for question in (composing.resolve_history(inquiry).question for inquiry in inquiries):
        code = questions.guess_language(question)
        wanted = questions.read_wanted_words(question, code)
        runs = _find_question_phrases(question, code, wanted)
        found = list(dict.fromkeys(questions.find_han_runs(question) if HAN.search(question) else runs))
        whole = [p for p in found if not any(p != q and p in q for q in found)]
        weight = {p: sum(wanted.weights.get(t, 0.0) for t in dict.fromkeys(stem_text(p, code))) for p in whole}
        parts = sorted((p for p in whole if weight[p] >= questions.RARE), key=lambda p: (-weight[p], whole.index(p)))
        refined.append(Refinement(question, tuple(parts[:MOST_PARTS]) if len(parts) > 1 else ()))
    return refined


def _find_question_phrases(question: str, code: str, wanted: questions.WantedWords) -> Iterator[str]:
    """Runs of words that name something; a small word stands between two of them, not at an end.

    A run in capitals is a part by itself: "film Straw Hat" is a film, and a name.
    """
    run: list[str] = []
    for word in [*questions.TOKEN.findall(question), "?"]:
        own = word[0].isalnum() and word.casefold() not in questions.FRAME | read_list("verbs")
        if own and any(t in wanted.weights for t in stem_text(word, code)):
            if run and code != "de" and word[0].isupper() != run[0][0].isupper():
                yield _trim_run(run)
                run = []
            run.append(word)
        elif run and word.casefold() in _INSIDE and run[0][0].isupper():
            run.append(word)
        elif run:
            yield _trim_run(run)
            run = []


def _trim_run(run: Sequence[str]) -> str:
    """The words of a run without the small ones at its end."""
    words = list(run)
    while words and words[-1] in _INSIDE:
        words.pop()
    return " ".join(words)


# ── test ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_passages(inquiries: Sequence[Inquiry]) -> list[bool]:
    """Whether a passage of each context holds enough of the question: two fifths of its weight, or a whole name.

    Passages of kind concept are no text to be judged, but concepts linked to the question's: where one of them stands
    beside a word of the question, less is enough. Any text will do for a question about the whole.
    """
    results = []
    for inquiry in map(composing.resolve_history, inquiries):
        passages = [p for p in inquiry.context.passages if p.kind != "concept"]
        linked = [p.title or p.text for p in inquiry.context.passages if p.kind == "concept"]
        results.append(any(bears_on_question(inquiry.question, passage, linked) for passage in passages))
    return results


def bears_on_question(question: str, passage: Passage, linked: Sequence[str]) -> bool:
    """Whether a passage holds enough of a question, or a part of it and a whole linked concept."""
    text = _all_text(passage)
    code = questions.guess_language(passage.text)
    wanted = questions.read_wanted_words(question, code)
    if not wanted or _asks_about_all(question, code):
        return bool(text.strip())
    there = questions.measure_coverage(wanted, text, code)
    least = ENOUGH_HAN if HAN.search(question) else ENOUGH
    if there.named or there.near >= least:
        return True
    if not there.content or there.near < least - LINKED:
        return False
    concepts = (frozenset(stem_text(concept, code)) - wanted.weights.keys() for concept in linked)
    rest = (questions.WantedWords(dict.fromkeys(sorted(concept), 1.0)) for concept in concepts if concept)
    return any(questions.measure_coverage(words, text, code).whole == 1.0 for words in rest)


@lru_cache(maxsize=1 << 8)
def _asks_about_all(question: str, code: str) -> bool:
    """Whether the question is about the whole corpus."""
    return questions.understand_question(question, code).shape == "overview"


def _all_text(passage: Passage) -> str:
    """All that a passage says: its title, its text, its quotes."""
    return "\n".join(part for part in (passage.title, passage.text, *(q.text for q in passage.quotes)) if part)


# ── grade ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def grade_reports(inquiries: Sequence[Inquiry]) -> list[int]:
    """0–5 for each context: fifths of the question's weight that its best passage holds, 1 for any word that names.

    A question about the whole grades reports by half their rating, at least 1, so that none is lost.
    """
    grades = []
    for inquiry in map(composing.resolve_history, inquiries):
        best = 0
        for passage in (p for p in inquiry.context.passages if p.kind != "concept"):
            code = questions.guess_language(passage.text)
            wanted = questions.read_wanted_words(inquiry.question, code)
            if not wanted or _asks_about_all(inquiry.question, code):
                best = max(best, min(GRADES, max(1, round(passage.score / 2))))
                continue
            there = questions.measure_coverage(wanted, _all_text(passage), code)
            best = max(best, max(1, round(GRADES * there.whole)) if there.content else 0)
        grades.append(best)
    return grades
