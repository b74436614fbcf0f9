"""What each document adds to the outline: its sentences, and the noun phrases that they hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from zlib import crc32

import msgspec

from sensegraph.language.noun_phrases import Reader
from sensegraph.language.sentences import split_sentences
from sensegraph.language.speakers import find_labels
from sensegraph.language.text import HAN, WORD, detect_language, known_word, tag_words
from sensegraph.language.transcripts import Talk, add_talks, observe_talk
from sensegraph.language.word_lists import never_names, read_lexicon, read_list
from sensegraph.runtime.results import step
from sensegraph.types import Chunk

LONGEST = 3  # words of a phrase
SHORTEST = 20  # characters of a sentence that is read
_GRAM = 5  # words whose return tells that a sentence is repeated
_BEGINNING = 2000  # characters that tell the language of a document
_TOKEN = re.compile(r"\w+(?:[’'\-]\w+)*|[^\s\w]")
_ASIDE = re.compile(r"\[[^\[\]\n]{0,60}\]|\S*(?:_\w|@|://|\.\./|\.(?:txt|md|html?|pdf|docx?)\b)\S*")  # stage directions, addresses, names of files
_RUN = re.compile(r"[JnNX]+g?")
_FIELD = re.compile(r"\W{0,3}[\w-]+(?: [\w-]+){0,2}:(?:\s|$)")
_HEADING = re.compile(r"\W{0,3}(?:chapter|stave|part|book|act|scene|kapitel|teil|chapitre|canto)\b[^.!?]{0,60}\.?\W*$", re.I)
_SPEECH = re.compile(r"“[^”]{2,}”|„[^“]{2,}“|\"[^\"\n]{2,}\"|(?<!\w)['‘](?=\w)(?:[^'’\n]|['’](?=\w)){2,}['’](?!\w)")
_SAYS = re.compile(r"\b(?:said|says|asked|replied|answered|cried|exclaimed|whispered|murmured|added|explained|reported|thought)\b")
_BEFORE = re.compile(r"((?:[A-Z][\w’'-]+ ){1,3})$")
_AFTER = re.compile(r"\s+(?:(?:the|old|poor|young|Mr\.?|Mrs\.?|Miss) )*([A-Z][\w’'-]+(?: [A-Z][\w’'-]+)?)")
_LEANING = re.compile(
    r"\W*(?:and|but|or|so|this|that|these|those|it|he|she|they|his|her|their|its|such|then|however|also|thus|because|which|"
    r"well|yeah|yes|no|oh|okay|right|like|there|here|what|how|why|who|where|when|now|do|did|is|are|can|we|you|i|my|me|our|"
    r"not|if|instead|another|thank|thanks)\b",
    re.I,
)


class Line(msgspec.Struct, frozen=True, array_like=True):
    """A sentence: where it stands in which chunk, hashes of stretches of its words, and how well it stands alone."""

    chunk: int
    start: int
    end: int
    marks: tuple[int, ...] = ()
    worth: float = 0.0


class Noted(msgspec.Struct, frozen=True, array_like=True):
    """What a document adds: `titled` are the phrases of its title, `phrases` are the lines that hold each noun phrase, as written; `words` count the words of
    such phrases by sentences. `labels` are those that may name who speaks: (line, place behind it, key, name; "" for
    none). `says` counts who says, asks or answers; `heads` are headings of parts: (first line behind it, heading). `spoken` characters stand in quotation marks.
    """

    title: str
    titled: tuple[str, ...]
    language: str
    chunks: tuple[str, ...]
    lines: tuple[Line, ...]
    phrases: dict[str, tuple[int, ...]]
    words: dict[str, int]
    size: int
    spoken: int
    talk: Talk
    labels: tuple[tuple[int, int, str, str], ...]
    says: dict[str, int]
    heads: tuple[tuple[int, str], ...]


@step("outline.note", version=1)
def note_documents(documents: Sequence[tuple[Chunk, ...]]) -> list[Noted]:
    """What each document adds to the outline of the corpus."""
    return [_note_document(chunks) for chunks in documents]


def _note_document(chunks: Sequence[Chunk]) -> Noted:
    language = detect_language("".join(c.text for c in chunks[:3])[:_BEGINNING])
    title = chunks[0].title.strip() if chunks else ""
    lines, heads, labels, talks = list[Line](), list[tuple[int, str]](), list[tuple[int, int, str, str]](), list[Talk]()
    phrases, words, says = dict[str, list[int]](), Counter[str](), Counter[str]()
    reader = Reader("proper")
    covered = size = spoken = 0
    for number, chunk in enumerate(chunks):
        following = chunks[number + 1].start if number + 1 < len(chunks) else chunk.end
        text = chunk.text
        found = find_labels(text)
        talks.append(observe_talk(text, found))
        marked = {label.start: label for label in found}
        spans = split_sentences(text)
        for i, (start, end) in enumerate(spans):
            cut = i and i + 1 == len(spans) and following <= chunk.start + start  # the next chunk has the whole of it
            if chunk.start + start < covered or cut:
                continue
            covered = chunk.start + end
            raw = text[start:end]
            if _HEADING.match(raw) and len(raw) < 80:
                heads.append((len(lines), " ".join(raw.split())))
                continue
            if end - start < SHORTEST and start not in marked:
                continue  # it names nothing: "Yes, exactly."
            label = marked.get(start + len(raw) - len(raw.lstrip()))
            if label:
                labels.append((len(lines), label.end, label.key if label.named else "", text[label.start : label.name_end]))
                raw = text[label.end : end]
            bare = _ASIDE.sub(" ", raw).strip() if "[" in raw or "_" in raw or "@" in raw or "/" in raw else raw.strip()
            tokens = _TOKEN.findall(bare)
            if language == "en":
                known, own, letters = _read_english(tokens)
                worth = 0.0 if label and not label.named or len(bare) < len(raw.strip()) else _rate(bare, len(letters) - letters.count("."), letters)
            else:
                known = [_as_written(phrase, bare) for phrase in reader.phrases(bare)] if bare else []
                own = {w for phrase in known for w in phrase.split()}
                worth = float(8 <= len(tokens) <= 45 and bare[-1:] in ".!。！”" and not bare[:1].islower())
            place = len(lines)
            for phrase in known:
                held = phrases.get(phrase)
                if held is None:
                    phrases[phrase] = [place]
                elif held[-1] != place:
                    held.append(place)
            words.update(own)
            size += len(raw)
            lines.append(Line(number, start, end, _hash_stretches(tokens), round(worth, 2)))
        if not found:  # where speakers are labelled, nobody tells who says what
            says.update(_find_sayers(text))
            spoken += sum(len(m[0]) for m in _SPEECH.finditer(text))
    return Noted(
        title or (chunks[0].document if chunks else ""),
        tuple(_read_english(_TOKEN.findall(title))[0]) if language == "en" else (),
        language,
        tuple(c.id for c in chunks),
        tuple(lines),
        {phrase: tuple(held) for phrase, held in phrases.items()},
        dict(sorted(words.items())),
        size,
        spoken,
        add_talks(talks),
        tuple(labels),
        dict(sorted(says.items())),
        tuple(heads),
    )


class _NamesSomething(dict[str, bool]):
    """Whether a phrase may begin or end with a word: not with a function word, a number, or part of one."""

    def __missing__(self, word: str) -> bool:
        folded = word.casefold()
        barred = folded in read_list("en") or folded in never_names() or not {"_", "'", "’"}.isdisjoint(word)
        self[word] = found = len(word) > 1 and word[0].isalpha() and not barred
        return found


_names_something = _NamesSomething()


def _read_english(tokens: list[str]) -> tuple[list[str], set[str], str]:
    """The noun phrases of a sentence as they are written, the words of such phrases, and its parts of speech."""
    if not tokens:
        return [], set(), ""
    first = tokens[0]
    named = len(tokens) > 1 and tokens[1][0].isupper()
    opened = first[1:].islower() and known_word(first.casefold()) and not named  # the capital only begins the sentence
    tokens = [first.casefold() if opened else first, *tokens[1:]]
    letters = tag_words([first.casefold() if first[1:].islower() else first, *tokens[1:]])
    phrases, words = list[str](), set[str]()
    for match in _RUN.finditer(letters):
        start, stop = match.span()
        run = tokens[start:stop]
        words.update(run)
        if stop - start == 1:
            if letters[start] != "J" and _names_something[run[0]]:
                phrases += run
            continue
        good = [_names_something[word] for word in run]
        for end in range(1, len(run) + 1):
            last = letters[start + end - 1]
            if good[end - 1] and last != "J":
                begins = range(max(0, end - LONGEST), end if last != "g" else end - 1)
                phrases += [" ".join(run[begin:end]) for begin in begins if good[begin]]
    return phrases, words, letters


def _find_sayers(text: str) -> Iterator[str]:
    """Capitalised words beside verbs of saying."""
    for verb in _SAYS.finditer(text):
        found = _BEFORE.search(text[max(0, verb.start() - 60) : verb.start()]) or _AFTER.match(text, verb.end())
        if found:
            yield found[1].strip()


def _as_written(phrase: str, text: str) -> str:
    """A folded phrase as the text writes it, if it does so in one piece."""
    at = text.lower().find(phrase)
    return text[at : at + len(phrase)] if at >= 0 else phrase


def _rate(text: str, count: int, letters: str) -> float:
    """How well an English sentence stands alone, from 0: by its length, its ends, and its opening."""
    whole = text[0].isupper() or text[0] in "“\"‘" if text else False
    if not 8 <= count <= 70 or not whole or text[-1] not in ".!”\"’" or "v" not in letters and "m" not in letters:
        return 0.0
    return (0.25 if _LEANING.match(text) or _FIELD.match(text) else 1.0) * (0.3 if count > 40 else 1.0)


def _hash_stretches(words: list[str]) -> tuple[int, ...]:
    """Hashes of five words in a row around the longest word and the first one by the alphabet.

    Sentences that are mostly alike share them.
    """
    if len(words) < _GRAM:
        return ()
    inner = words[2:-2]
    places = {inner.index(max(inner, key=len)), inner.index(min(inner))}
    return tuple(crc32(" ".join(words[i : i + _GRAM]).casefold().encode("utf-8", "replace")) for i in sorted(places))
