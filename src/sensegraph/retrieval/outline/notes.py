"""What each document adds to the outline: its sentences, and the noun phrases that they hold."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from zlib import crc32

import msgspec

from sensegraph.language.noun_phrases import Reader
from sensegraph.language.sentences import split_sentences
from sensegraph.language.speakers import Label, find_labels
from sensegraph.language.text import detect_language, known_word, tag_words
from sensegraph.language.transcripts import Talk, add_talks, observe_talk
from sensegraph.language.word_lists import never_names, read_list
from sensegraph.runtime.results import step
from sensegraph.types import Chunk

LONGEST = 3  # words of a phrase
_HEAD = 80  # characters of a heading
SHORTEST = 20  # characters of a sentence that is read
_GRAM = 5  # words whose return tells that a sentence is repeated
_BEGINNING = 2000  # characters that tell the language of a document
_TOKEN = re.compile(r"\w++(?:[’'\-]\w++)*+|[^\s\w]")
_ASIDE = re.compile(
    r"\[[^\[\]\n]{0,60}\]|\{[^{}\n]{0,60}\}|\S*(?:_\w|@|://|\.\./|\.(?:txt|md|html?|pdf|docx?)\b)\S*"
)  # stage directions, addresses, names of files
_RUN = re.compile(r"[JnNX]+g?")
_FIELD = re.compile(r"\W{0,3}[\w-]+(?: [\w-]+){0,2}:(?:\s|$)")
_HEADING = re.compile(
    r"\W{0,3}(?:chapter|stave|part|book|act|scene|kapitel|teil|chapitre|canto)\b[^.!?]{0,60}\.?\W*$", re.I
)
_SPEECH = re.compile(r"“[^”]{2,}”|„[^“]{2,}“|\"[^\"\n]{2,}\"|(?<!\w)['‘](?=\w)(?:[^'’\n]|['’](?=\w)){2,}['’](?!\w)")
_SAYS = re.compile(
    r"\b(?:said|says|asked|replied|answered|cried|exclaimed|whispered|murmured|added|explained|reported|thought)\b"
)
_BEFORE = re.compile(r"((?:[A-Z][\w’'-]+ ){1,3})$")
_AFTER = re.compile(r"\s+(?:(?:the|old|poor|young|Mr\.?|Mrs\.?|Miss) )*([A-Z][\w’'-]+(?: [A-Z][\w’'-]+)?)")
_LEANING = re.compile(
    r"\W*(?:and|but|or|so|this|that|these|those|it|he|she|they|his|her|their|its|such|then|however|also|thus|because|which|"
    r"well|yeah|yes|no|oh|okay|right|like|there|here|what|how|why|who|where|when|now|do|did|is|are|can|we|you|i|my|me|our|"
    r"not|if|instead|another|thank|thanks)\b",
    re.I,
)


class Line(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A sentence: where it stands in which chunk, hashes of stretches of its words, and how well it stands alone."""

    chunk: int
    start: int
    end: int
    marks: tuple[int, ...] = ()
    worth: float = 0.0


class Noted(msgspec.Struct, frozen=True, array_like=True):
    """What a document adds: `titled` are the phrases of its title, `phrases` the lines that hold each noun phrase, as
    it is written; `words` count the words of such phrases by sentences. `size` and `spoken` are characters, of all
    sentences and of those in quotation marks. `labels` are those that may name who speaks: (line, place behind it, key,
    name; "" for none). `says` counts whom the text names as saying something; `heads` are headings of parts: (first
    line behind it, heading).
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


@step("outline.note", version=4)
def note_documents(documents: Sequence[tuple[Chunk, ...]]) -> list[Noted]:
    """What each document adds to the outline of the corpus."""
    return [_DocumentReader(chunks).note() for chunks in documents]


class _DocumentReader:
    """Reads one document, chunk by chunk."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.chunks = chunks
        self.language = detect_language("".join(c.text for c in chunks[:3])[:_BEGINNING])
        self.lines, self.heads, self.talks = list[Line](), list[tuple[int, str]](), list[Talk]()
        self.labels = list[tuple[int, int, str, str]]()
        self.phrases, self.words, self.sayers = defaultdict[str, list[int]](list), list[str](), list[str]()
        self.reader = Reader("proper")
        self.size = self.spoken = 0

    def note(self) -> Noted:
        """All that the document adds."""
        covered = 0
        for number in range(len(self.chunks)):
            covered = self._read_chunk(number, covered)
        title = self.chunks[0].title.strip() if self.chunks else ""
        return Noted(
            title or (self.chunks[0].document if self.chunks else ""),
            tuple(read_english(_TOKEN.findall(title))[0]) if self.language == "en" else (),
            self.language,
            tuple(c.id for c in self.chunks),
            tuple(self.lines),
            {phrase: tuple(held) for phrase, held in self.phrases.items()},
            dict(sorted(Counter(self.words).items())),
            self.size,
            self.spoken,
            add_talks(self.talks),
            tuple(self.labels),
            dict(sorted(Counter(self.sayers).items())),
            tuple(self.heads),
        )

    def _read_chunk(self, number: int, covered: int) -> int:
        """Read the sentences that no chunk before has; how far the document is read then."""
        chunk = self.chunks[number]
        text, following = chunk.text, self.chunks[number + 1].start if number + 1 < len(self.chunks) else chunk.end
        labels, found = find_labels(text), list[tuple[int, int, Label | None]]()
        self.talks.append(observe_talk(text))
        marked = {label.start: label for label in labels}
        spans = split_sentences(text)
        for i, (start, end) in enumerate(spans):
            cut = i and i + 1 == len(spans) and following <= chunk.start + start  # the next chunk has the whole of it
            if chunk.start + start >= covered and not cut:
                covered = chunk.start + end
                raw = text[start:end]
                label = marked.get(start)
                if len(raw) < _HEAD and _HEADING.match(raw):
                    self.heads.append((len(self.lines) + len(found), " ".join(raw.split())))
                elif end - start >= SHORTEST or label:  # shorter ones name nothing: "Yes, exactly."
                    found.append((start, end, label))
        self._read_sentences(number, found)
        if not labels:  # where speakers are labelled, nobody tells who says what
            self.sayers += find_sayers(text)
            self.spoken += sum(len(m[0]) for m in _SPEECH.finditer(text))
        return covered

    def _read_sentences(self, number: int, found: Sequence[tuple[int, int, Label | None]]) -> None:
        """Read sentences of a chunk, by their spans and the labels that open them."""
        text, english = self.chunks[number].text, self.language == "en"
        raws = [text[label.end : end].strip() if label else text[start:end] for start, end, label in found]
        bares = [
            _ASIDE.sub(" ", raw).strip() if "[" in raw or "{" in raw or "_" in raw or "@" in raw or "/" in raw else raw
            for raw in raws
        ]
        split = list(map(_TOKEN.findall, bares))
        if english:
            read = read_sentences(split)
        else:
            forms = ([find_written_form(phrase, bare) for phrase in self.reader.phrases(bare)] for bare in bares)
            read = [(known, {word for phrase in known for word in phrase.split()}, "") for known in forms]
        for (start, end, label), raw, bare, tokens, (known, own, letters) in zip(
            found, raws, bares, split, read, strict=True
        ):
            place = len(self.lines)
            if label:
                name = text[label.start : label.name_end]
                self.labels.append((place, label.end, label.key if label.named else "", name))
            if len(bare) < len(raw) or (label and not label.named):
                worth = 0.0
            elif english:
                worth = rate_line(bare, len(letters) - letters.count("."), letters)
            else:
                worth = float(8 <= len(tokens) <= 45 and bare[-1:] in ".!。！”" and not bare[:1].islower())
            for phrase in dict.fromkeys(known):
                self.phrases[phrase].append(place)
            self.words += own
            self.size += len(raw)
            self.lines.append(Line(number, start, end, hash_stretches(tokens), round(worth, 2)))


class _NamesSomething(dict[str, bool]):
    """Whether a phrase may begin or end with a word: not with a function word, a number, or part of one."""

    def __missing__(self, word: str) -> bool:
        folded = word.casefold()
        barred = folded in read_list("en") or folded in never_names() or not {"_", "'", "’"}.isdisjoint(word)
        self[word] = found = len(word) > 1 and word[0].isalpha() and not barred
        return found


_names_something = _NamesSomething()


def read_english(tokens: list[str]) -> tuple[list[str], set[str], str]:
    """The noun phrases of a sentence as they are written, the words of such phrases, and its parts of speech."""
    return read_sentences([tokens])[0]


def read_sentences(sentences: Sequence[list[str]]) -> list[tuple[list[str], set[str], str]]:
    """What `read_english` finds in each of several sentences, which are tagged at once."""
    words, bounds = list[str](), [0]
    for tokens in sentences:
        if tokens:
            first = tokens[0]
            words.append(first.casefold() if first[1:].islower() else first)
            words += tokens[1:]
        bounds.append(len(words))
    tagged, found = tag_words(words, bounds), list[tuple[list[str], set[str], str]]()
    for tokens, (begin, end) in zip(sentences, pairwise(bounds), strict=True):
        first = words[begin] if tokens else ""
        if first and first != tokens[0] and known_word(first) and not (end - begin > 1 and tokens[1][0].isupper()):
            tokens = [first, *tokens[1:]]  # the capital only begins the sentence
        phrases, own, letters = list[str](), set[str](), tagged[begin:end]
        for match in _RUN.finditer(letters):
            start, stop = match.span()
            if stop - start == 1:  # as most
                word = tokens[start]
                own.add(word)
                if letters[start] != "J" and _names_something[word]:
                    phrases.append(word)
                continue
            own.update(tokens[start:stop])
            for last in range(start, stop):
                if letters[last] == "J" or not _names_something[tokens[last]]:
                    continue
                for begun in range(max(start, last + 1 - LONGEST), last):
                    if _names_something[tokens[begun]]:
                        phrases.append(" ".join(tokens[begun : last + 1]))
                if letters[last] != "g":
                    phrases.append(tokens[last])
        found.append((phrases, own, letters))
    return found


def find_sayers(text: str) -> Iterator[str]:
    """Capitalised words beside verbs of saying."""
    for verb in _SAYS.finditer(text):
        found = _BEFORE.search(text[max(0, verb.start() - 60) : verb.start()]) or _AFTER.match(text, verb.end())
        if found:
            yield found[1].strip()


def find_written_form(phrase: str, text: str) -> str:
    """A folded phrase as the text writes it, if it does so in one piece."""
    at = text.lower().find(phrase)
    return text[at : at + len(phrase)] if at >= 0 else phrase


def rate_line(text: str, count: int, letters: str) -> float:
    """How well an English sentence stands alone, from 0: by its length, its ends, and its opening."""
    whole = text[0].isupper() or text[0] in '“"‘' if text else False
    if not 8 <= count <= 70 or not whole or text[-1] not in '.!”"’' or ("v" not in letters and "m" not in letters):
        return 0.0
    return (0.25 if _LEANING.match(text) or _FIELD.match(text) else 1.0) * (0.3 if count > 40 else 1.0)


def hash_stretches(words: list[str]) -> tuple[int, ...]:
    """Hashes of five words in a row around the longest word and the first one by the alphabet.

    Sentences that are mostly alike share them.
    """
    if len(words) < _GRAM:
        return ()
    inner = words[2:-2]
    sizes = list(map(len, inner))
    places = {sizes.index(max(sizes)), inner.index(min(inner))}
    return tuple([crc32(" ".join(words[i : i + _GRAM]).casefold().encode("utf-8", "replace")) for i in sorted(places)])
