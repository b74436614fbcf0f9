"""Whether texts bear a statement, by its words alone: *lexical support*.

A statement is borne where every content word and number of it stands in the texts, negated where it is negated there,
and no two names have changed places around a verb. That is exact for answers that quote, and strict for answers in
words of their own: a paraphrase is not recognised. Who is said to have said it is another question (`speaker_of`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

from rapidfuzz.distance import LCSseq

from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import known_form, name_stemmer, split_runs, stem_run, tag_words
from sensegraph.language.word_lists import read_sections

LABEL = "lexical support"

_NOISE = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[*_#`>]+")
_LISTS = read_sections("lexicons/answers")
_FILLERS = frozenset(" ".join(_LISTS["fillers"]).split())
_NEGATIONS = frozenset(" ".join(_LISTS["negations"]).split())
_SAYS = "|".join(_LISTS["says"])
_NUMBERS = {w: str(n) for n, w in enumerate(" ".join(_LISTS["numbers"]).split()) if w != "one"}  # a pronoun
_CONTRACTED = re.compile(
    r"\b(?:ai|are|ca|could|did|does|do|had|has|have|is|might|must|need|sha|should|was|were|wo|would)n['’]t\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_HEAD = re.compile(
    rf"^(?:and|but|while|whereas|yet)?\s*(?:the\s+)?(?P<who>[^\W\d_a-zà-ÿ][^:“”\"!?]{{0,80}}?)\s+(?:also\s+)?(?:{_SAYS})"
    r"(?:\s+that\b[:,]?|\s*[:,])\s*(?P<what>\S.*)$",
    re.DOTALL,
)
_QUOTED = re.compile(r"^(?P<who>[^\W\d_a-zà-ÿ][^:“”\"!?]{0,60}):\s*(?P<what>[“\"].*)$", re.DOTALL)
# danah boyd says: “…”
_LOWER = re.compile(rf"^(?P<who>[^:“”\"!?,]{{1,60}}?)\s+(?:{_SAYS}):\s*(?P<what>[“\"].*)$", re.DOTALL)
_SIGNED = re.compile(r"^(?P<what>[“\"].*[”\"])\s+[—–]\s+(?P<who>[^“”\"]{1,60})$", re.DOTALL)  # “…” — Ann Lee
_LEAD = re.compile(rf"^\W*(?:{'|'.join(_LISTS['leads'])})\s+", re.IGNORECASE)
_TRAIL = re.compile(r"(?:(?<!\s)\s++)?\(replaced\)\W*$")
_NAME = re.compile(r"[^\W\d_a-zà-ÿ][\w.&'’-]*(?:\s+(?:of\s+|the\s+|de\s+|van\s+|von\s+)?[^\W\d_a-zà-ÿ][\w.&'’-]*)*")
_OPENS = re.compile(r"(?:^|[.!?…:][\"'”’)»]*\s)\W*$")
_NO_NAME = frozenset("bgimprv")  # verbs and their forms, prepositions, adverbs: tags of English words
_INITIAL = re.compile(r"(?:^|[\s.])[^\W\d_]\.$")
_OWN = re.compile(r"(?:['’]s?|[&-]+)$")
_REPORTED = re.compile(r"\b(?:that|dass|daß|que|che|dat|что)\b|[:“„«\"]", re.IGNORECASE)
_SPEECH = re.compile(
    r"(?:“[^”]*?|„[^“]*?|«[^»]*?|\"[^\"]*?|(?<![^\W_])['‘](?=[^\W\d_]).*?)(?<=[.,;!?…–—-])[”“»\"'’](?!\w)", re.DOTALL
)  # with a mark before the end: else it is a title, or an apostrophe
_PASSIVE = re.compile(r"\b(?:by|von|par|por)\b", re.IGNORECASE)
_TOGETHER = 3  # texts that may bear a statement together
_LONG, _WINDOW = 600, 3  # characters from which a text is looked through, by so many sentences at a time
_GAIN = 2  # terms more in a text's order by which two names are known to have changed places
_PAIRED = 16  # names of a statement, and words of them, that are looked at in pairs
_FILLED = re.compile(r",?\s*\b(?:you know|I mean)\b,?", re.IGNORECASE)
_APART = re.compile(r"\s+(?=[,.;:!?…])")  # transcripts write blanks before marks
_NO = re.compile(r"\W*(?:no|nein|non|nope)[,.!?…–—-]+\W*$", re.IGNORECASE)
_ENDS = re.compile(r"[.!?…;:][\"'”’)»]*$")
_END = "\n"
_MARK = "￾"  # stands in a text for a contracted negation


@dataclass(frozen=True, slots=True)
class Lack:
    """What a statement says that texts do not bear: a number, a name, a negation, an order of names, or words.

    `words` are as the statement writes them, one for each term that is lacking.
    """

    kind: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{_SAID[self.kind]}: {', '.join(dict.fromkeys(self.words))}"


_SAID = {
    "number": "numbers that what is cited does not hold",
    "name": "names that what is cited does not hold",
    "negation": "denied on one side only",
    "order": "names that have changed places",
    "words": "words that what is cited does not hold",
}


def find_missing_words(statement: str, evidence: Sequence[str]) -> tuple[Lack, ...]:
    """What `statement` says beyond the texts, by kind; empty where they bear it.

    A statement without a content word is borne by nothing: it lacks words.
    """
    said = remove_speaker(statement)
    spoken = name_stemmer(f"{said} {' '.join(evidence)}")
    ours = _Reading(said, spoken)
    if not ours.terms:
        return (Lack("words", (statement.strip() or "(nothing)",)),)
    theirs = [_Reading(text, spoken) for text in evidence]
    return tuple(_find_lacks(ours, theirs))


def find_missing_in_texts(statement: str, texts: Sequence[str]) -> tuple[Lack, ...]:
    """`lacks` for texts of any length and number: words that stand pages apart bear nothing together.

    Of a long text only its three neighbouring sentences count that hold most of the statement. Up to three texts bear
    a statement together; of more, the one that bears most of it alone.
    """
    narrow = [choose_window(statement, text) for text in texts]
    if len(narrow) <= _TOGETHER:
        return find_missing_words(statement, narrow)
    alone = [find_missing_words(statement, [text]) for text in narrow]
    return min(alone, key=lambda found: sum(len(lack.words) for lack in found))


def choose_window(statement: str, text: str) -> str:
    """The neighbouring sentences of a long text that hold most of a statement's words; a short text as it is."""
    if len(text) <= _LONG or not (spans := split_sentences(text)):
        return text
    spoken = name_stemmer(statement)
    terms, numbers = _read_terms(statement, spoken)
    wanted = frozenset(terms) | numbers
    held = []
    for a, b in spans:
        own, figures = _read_terms(text[a:b], spoken)
        held.append(wanted & (own.keys() | figures))
    scores = [len(frozenset().union(*held[i : i + _WINDOW])) for i in range(len(held))]
    best = scores.index(max(scores))
    return text[spans[best][0] : spans[min(best + _WINDOW, len(spans)) - 1][1]]


def find_denied_words(question: str, texts: Sequence[str]) -> tuple[str, ...]:
    """The words that a question takes as given and texts only deny; none for a question that itself denies."""
    spoken = name_stemmer(f"{question} {' '.join(texts)}")
    ours, theirs = _Reading(question, spoken), [_Reading(text, spoken) for text in texts]
    if any(True in denied for denied in ours.terms.values()):
        return ()
    return ours.as_written(t for t in ours.terms if {p for r in theirs for p in r.terms.get(t, ())} == {True})


def remove_speaker(statement: str) -> str:
    """The statement without who is said to have said it, and how an answer leads to it.

    "Ada notes that it rains" is about rain.
    """
    match = _match_report(statement)
    return match["what"] if match else _remove_lead(statement)


def _remove_lead(statement: str) -> str:
    return _TRAIL.sub("", _LEAD.sub("", statement.strip()))


def find_reporter(statement: str) -> str:
    """Who is said to have said the statement; empty where it names nobody."""
    match = _match_report(statement)
    return match["who"].strip(" ,").removeprefix("The ").removeprefix("the ") if match else ""


def _match_report(statement: str) -> re.Match[str] | None:
    """The parts of a statement that reports what somebody says."""
    said = _remove_lead(statement)
    matches = (pattern.match(said) for pattern in (_SIGNED, _HEAD, _QUOTED, _LOWER))
    return next((m for m in matches if m and len(m["who"].split()) <= _SPEAKER), None)


_SPEAKER = 8  # words that a speaker's name and office may have


_Named = tuple[str, list[str]]  # as written, and its terms


@dataclass(frozen=True)
class _Reading:
    """A text as its terms with what negates them, its numbers, and its names in their order."""

    text: str
    spoken: str

    @cached_property
    def terms(self) -> dict[str, set[bool]]:
        """Every term with whether it is denied, both where both occur."""
        return _read_terms(self.text, self.spoken)[0]

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers, as figures without marks between thousands."""
        return _read_terms(self.text, self.spoken)[1]

    @cached_property
    def written(self) -> dict[str, str]:
        """Each term as it is written where it first occurs: terms themselves are stems."""
        found: dict[str, str] = {}
        for word in split_runs(_NOISE.sub(" ", self.text)):
            for term in stem_run(word, self.spoken):
                found.setdefault(term, word)
        return found

    def as_written(self, terms: Iterable[str]) -> tuple[str, ...]:
        """The word for each of these terms, equal words where they are terms of one."""
        return tuple(self.written.get(term, term) for term in terms)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Runs of capitalised words, in order; not a verb or preposition that only its sentence writes so."""
        plain = _NOISE.sub(" ", self.text)
        return tuple(m[0] for m in _NAME.finditer(plain) if not _is_opening_word(plain, m))


def _is_opening_word(text: str, match: re.Match[str]) -> bool:
    """Whether a capitalised word is one that only its sentence writes so: According, Despite, Recently."""
    word = match[0].casefold()
    return bool(_OPENS.search(text[: match.start()])) and known_form(word) and tag_words([word]) in _NO_NAME


Read = tuple[dict[str, set[bool]], frozenset[str]]


@lru_cache(maxsize=1 << 15)
def _read_terms(text: str, spoken: str) -> Read:
    terms: dict[str, set[bool]] = {}
    numbers, denied, last = set[str](), False, ""
    plain = _CONTRACTED.sub(f" {_MARK} ", _APART.sub("", _FILLED.sub(" ", _NOISE.sub(" ", text))))
    numbers.update(map(_normalise_figure, _FIGURE.findall(plain)))
    for word in _words_and_ends(plain):
        lower = word.casefold()
        if word == _END:  # a denial does not reach into the next sentence: it is of what came last
            if denied and last:
                terms[last].add(True)
                terms[last].discard(False)
            denied, last = False, ""
        elif lower == _MARK or lower in _NEGATIONS:
            denied = True
        elif lower in _NUMBERS:
            numbers.add(_NUMBERS[lower])
        elif lower not in _FILLERS and not word[0].isdigit():
            for term in stem_run(word, spoken):
                terms.setdefault(term, set()).add(denied)
                denied, last = False, term
    return terms, frozenset(numbers)


def _words_and_ends(plain: str) -> Iterator[str]:
    """The words of a text, and the ends of its sentences; an answer of "no" before a comma denies nothing."""
    for part in plain.split():
        if part == _MARK:
            yield part
        elif not _NO.match(part):
            yield from split_runs(part)
        if _ENDS.search(part):
            yield _END
    yield _END


def _normalise_figure(text: str) -> str:
    """A number as figures: "1,669" is 1669, "4.50" is 4.5."""
    bare = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", text) if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", text) else text
    whole, dot, rest = bare.replace(",", ".").rpartition(".")
    rest = rest.rstrip("0") if dot else rest
    return (f"{whole}.{rest}" if rest else whole) if dot else str(int(rest)) if rest.isdecimal() else rest


def _find_lacks(ours: _Reading, theirs: Sequence[_Reading]) -> Iterator[Lack]:
    held: dict[str, set[bool]] = {}
    for reading in theirs:
        for term, polarities in reading.terms.items():
            held.setdefault(term, set()).update(polarities)
    numbers = sorted(ours.numbers - {n for r in theirs for n in r.numbers} - ({"1"} if "one" in held else set()))
    if numbers:
        yield Lack("number", tuple(numbers))
    missing = [t for t in ours.terms if t not in held]
    named = [n for n in ours.names if any(t in missing for w in split_runs(n) for t in stem_run(w, ours.spoken))]
    if named:
        yield Lack("name", tuple(map(_bare_name, dict.fromkeys(named))))
    other = [t for t in missing if not any(t in stem_run(w, ours.spoken) for n in named for w in split_runs(n))]
    if other:
        yield Lack("words", ours.as_written(other))
    denied = [t for t, p in ours.terms.items() if t in held and not p <= held[t]]
    if denied:
        yield Lack("negation", ours.as_written(denied))
    if swapped := next(_find_swapped_names(ours, theirs), None):
        yield Lack("order", swapped)


def _find_swapped_names(ours: _Reading, theirs: Sequence[_Reading]) -> Iterator[tuple[str, str]]:
    """Pairs of names that stand in each other's place: with the two exchanged, far more words are in a text's order.

    A sentence turned into the passive changes the places of its names rightly: it is left alone.
    """
    words, names = _terms_in_order(ours.text, ours.spoken)
    texts = [(_terms_in_order(t.text, ours.spoken)[0], t.text) for t in theirs]
    named = {i for begin, end, _ in names for i in range(begin, end)}
    alone = ours.as_written(words)
    names = names[:_PAIRED]
    singly = [(i, i + 1, alone[i]) for begin, end, _ in names for i in range(begin, end) if end - begin > 1][:_PAIRED]
    for (a, b, one), (c, d, other) in (*combinations(names, 2), *combinations(sorted([*names, *singly]), 2)):
        if b > c or named.issuperset(range(b, c)):
            continue  # one is part of the other, or they stand in a list
        turned = [*words[:a], *words[c:d], *words[b:c], *words[a:b], *words[d:]]
        gains = [(LCSseq.similarity(turned, t) - LCSseq.similarity(words, t), text) for t, text in texts]
        gain, text = max(gains, key=lambda found: found[0], default=(0, ""))
        alike = bool(_PASSIVE.search(ours.text)) == bool(_PASSIVE.search(text))
        if gain >= _GAIN and alike and not _is_reported_speech(ours, (one, words[a:b]), (other, words[c:d]), text):
            yield _bare_name(one), _bare_name(other)


def _is_reported_speech(ours: _Reading, teller: _Named, named: _Named, text: str) -> bool:
    """Whether the statement says that the first name said something of the second, and the text quotes it so.

    A text may put who speaks behind what is said: then the names stand otherwise without having changed places.
    """
    (who, own), (whom, others) = teller, named
    if not _REPORTED.search(ours.text[ours.text.find(who) + len(who) : ours.text.rfind(whom)]):
        return False
    inside = {t for quote in _SPEECH.findall(text) for t in _stem_terms(quote, ours.spoken)}
    outside = set(_stem_terms(_SPEECH.sub(" ", text), ours.spoken))
    return inside.isdisjoint(own) and outside.issuperset(own) and outside.isdisjoint(others)


def _bare_name(name: str) -> str:
    """A name without the mark that ends its sentence, and without the ending of what is its own."""
    ended = name.removesuffix(".") if not _INITIAL.search(name) else name
    return _OWN.sub("", ended) or name


def _terms_in_order(text: str, spoken: str) -> tuple[list[str], list[tuple[int, int, str]]]:
    """The terms of a text in order, and where among them its names stand."""
    plain, terms, names = _NOISE.sub(" ", text), list[str](), list[tuple[int, int, str]]()
    end = 0
    for match in _NAME.finditer(plain):
        terms += _stem_terms(plain[end : match.start()], spoken)
        own = _stem_terms(match[0], spoken)
        names += [(len(terms), len(terms) + len(own), match[0])] if own else []
        terms += own
        end = match.end()
    return terms + _stem_terms(plain[end:], spoken), names


def _stem_terms(text: str, spoken: str) -> list[str]:
    return [t for w in split_runs(text) for t in stem_run(w, spoken)]
