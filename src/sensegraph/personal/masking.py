"""Placeholders for what was found: the same for the same thing throughout a corpus, and not to be guessed.

A placeholder is a hash of the thing's plain form under a secret of the corpus: who does not have the secret cannot
try out which address or number gives it. A report has counts, and examples of which only the shape is shown.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from sensegraph.errors import StoreError
from sensegraph.personal.finding import Finder, Named, RepeatedNames, fold_name
from sensegraph.personal.labels import find_names_in_id, find_names_in_title
from sensegraph.personal.normalising import normalise_signs
from sensegraph.personal.personal_settings import PersonalSettings, Span, order_kinds, seeks_people
from sensegraph.runtime.keys import key
from sensegraph.types import Document, Scalar

SECRET = "personal.secret"
_SIZE = 32  # bytes
_NAMED = frozenset(
    "author authors name sender from to creator editor contact speaker employee patient customer owner".split()
)
_NOBODY = RepeatedNames({})


@dataclass(frozen=True, slots=True)
class Masker:
    """Replaces what its finder finds; without a `secret` by kinds alone, as in a report."""

    finder: Finder
    secret: bytes = b""

    @property
    def settings(self) -> PersonalSettings:
        """What is looked for and how it is replaced."""
        return self.finder.settings

    def document(
        self, d: Document, people: Sequence[Named] = (), titled: Sequence[Named] = ()
    ) -> tuple[Document, Counter[str]]:
        """The document with everything personal replaced, in id, title and metadata too; and counts by kind.

        `people` are persons whom its text names, `titled` those of its title.
        """
        counts: Counter[str] = Counter()
        known = RepeatedNames.of(d.text, people)
        plain, last = self._split_id(d)
        found = self.finder.find(d.text, [*_person_spans(people), *known.spans(d.text)])
        counts.update(s.kind for s in found)
        told = [*_list_words(d.text, people), *_list_words(d.title, titled)]

        def stays(word: str) -> bool:
            """Whether the text has a folded word, in any case, somewhere where nothing is masked."""
            places = re.finditer(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", d.text, re.IGNORECASE)
            return any(not any(s.start < m.end() and m.start() < s.end for s in found) for m in places)

        in_id, words = self._names_in_id(plain, told, stays)
        text = self._replaced(d.text, found)
        in_title = [*known.spans(d.title, loose=True), *find_names_in_title(d.title, words, plain, stays)]
        title = self._text(d.title, counts, [*_person_spans(titled), *in_title], known)
        metadata = tuple(
            (self._text(k, counts, (), _NOBODY), self._scalar(k, v, counts, known, words)) for k, v in d.metadata
        )
        named = self.finder.find(plain, [*known.spans(plain, loose=True), *in_id])
        counts.update(s.kind for s in named)
        name = self._replaced(plain, named, exact=True) + (f"#{self.keyed('record', last)[7:]}" if last else "")
        return Document(name, text, title, metadata, d.time), counts

    def text(self, text: str, people: Sequence[Named] = ()) -> tuple[str, Counter[str]]:
        """A text with everything personal replaced, and what was found by kind."""
        counts: Counter[str] = Counter()
        return self._text(text, counts, _person_spans(people), _NOBODY), counts

    def found(self, text: str, people: Sequence[Named] = ()) -> list[Span]:
        """What is personal in a text, in order."""
        return self.finder.find(text, [*_person_spans(people), *RepeatedNames.of(text, people).spans(text)])

    def person(self, name: str) -> str:
        """The placeholder of a person by name, whatever the style."""
        return self.keyed("person", fold_name(name))

    def keyed(self, kind: str, value: str) -> str:
        """The placeholder of a thing of this kind, whatever the style."""
        digest = hashlib.blake2b(f"{kind}\0{value}".encode(), key=self.secret, digest_size=8).hexdigest()
        return f"{kind.upper()}-{'abcdef'[int(digest[0], 16) % 6]}{digest[1:10]}"  # a letter first: never a number

    # ── how ──

    def _text(self, text: str, counts: Counter[str], spans: Sequence[Span], known: RepeatedNames) -> str:
        found = self.finder.find(text, [*spans, *known.spans(text)])
        counts.update(s.kind for s in found)
        return self._replaced(text, found)

    def _replaced(self, text: str, found: Sequence[Span], *, exact: bool = False) -> str:
        parts, at = [], 0
        for s in found:
            value = text[s.start : s.end] if exact else s.value
            short = not self.secret or (self.settings.style == "kind" and not exact)
            made = f"[{s.kind.upper()}]" if short else self.keyed(s.kind, value)
            if not exact:  # a word of its own, also in a script that is written without spaces
                before, after = text[max(0, s.start - 1) : s.start], text[s.end : s.end + 1]
                made = f"{' ' * before.isalnum()}{made}{' ' * after.isalnum()}"
            made += "\f" * text.count("\f", s.start, s.end)  # pages are counted by them
            parts += [text[at : s.start], made]
            at = s.end
        return "".join((*parts, text[at:]))

    def _scalar(
        self, name: str, value: Scalar, counts: Counter[str], known: RepeatedNames, named: frozenset[str]
    ) -> Scalar:
        """A value of metadata, which its name helps to understand (`ssn: 078051120`); a number may become a text."""
        if value is None or isinstance(value, bool):
            return value
        said, before = str(value), f"{name}: "
        whole = before + said
        more = [*known.spans(whole, loose=True), *find_names_in_title(whole, named)]
        words = said.split()
        like_a_name = 1 <= len(words) <= 4 and all(w[0].isupper() for w in words) and not any(map(str.isdigit, said))
        if seeks_people(self.settings) and name.casefold() in _NAMED and like_a_name:
            more.append(Span("person", len(before), len(whole), fold_name(said)))
        found = [
            replace(s, start=s.start - len(before), end=s.end - len(before))
            for s in self.finder.find(whole, more)
            if s.start >= len(before)
        ]
        counts.update(s.kind for s in found)
        return self._replaced(said, found) if found else value

    def _split_id(self, d: Document) -> tuple[str, str]:
        """An id without the hash of its content, which is empty where there is none.

        The id of a record that has none ends with such a hash, which could be guessed from: it is keyed.
        """
        name, mark, last = d.id.rpartition("#")
        guessable = bool(mark and self.secret) and last == key(d.text, d.title, d.metadata)[:12]
        return (name, last) if guessable else (d.id, "")

    def _names_in_id(
        self, name: str, known: Iterable[str], stays: Callable[[str], bool]
    ) -> tuple[list[Span], frozenset[str]]:
        """The names in an id, and all words of names of its document, folded; none where names are not looked for.

        `known` are words of names that its text and its title tell; `stays` says what stands in its text unmasked.
        """
        if not seeks_people(self.settings):
            return [], frozenset()
        words = frozenset(known)
        found = list(find_names_in_id(name, words, stays))
        return found, words.union(*(s.value.split() for s in found))


def _list_words(text: str, people: Sequence[Named]) -> Iterator[str]:
    """The words of the names of people, folded; none that is short."""
    for p in people:
        for word in re.findall(r"[^\W\d_]{3,}", f"{normalise_signs(text[p.start : p.end]).text} {p.name}"):
            yield word.casefold()


def _person_spans(people: Sequence[Named]) -> list[Span]:
    return [Span("person", p.start, p.end, fold_name(p.name)) for p in people]


def read_secret(folder: Path, *, make: bool = True) -> bytes:
    """The secret of the corpus whose store is in `folder`; made there when there is none, for its owner alone to read.

    Raises StoreError for a file that is no secret. Without `make`, a missing one is empty.
    """
    path = folder / SECRET
    if not path.exists():
        if not make:
            return b""
        _write_secret(path)
    found = path.read_bytes()
    if len(found) != _SIZE:
        raise StoreError(
            f"{path} does not hold {_SIZE} bytes, and placeholders cannot be made alike without it: bring it back from "
            "a copy, or remove it and add all documents again."
        )
    return found


def _write_secret(path: Path) -> None:
    """Write a new secret whole, unless another process is first."""
    number, name = tempfile.mkstemp(dir=path.parent, prefix=SECRET)  # readable by its owner alone
    with os.fdopen(number, "wb") as f:
        f.write(secrets.token_bytes(_SIZE))
    try:
        os.link(name, path)
    except FileExistsError:
        pass
    except OSError:  # a disk without links
        with contextlib.suppress(FileExistsError), path.open("xb") as f:
            f.write(Path(name).read_bytes())
        path.chmod(0o600)
    finally:
        os.unlink(name)


_NAMES = (
    "names of people: `person` is not among personal.kinds",
    "of the names of people nicknames, single names in passing, names in small letters of which no part is known, and "
    "names in languages without capitals",
)  # where they are not looked for, and where they are
_UNFOUND = (
    "numbers without check digits and without a word before them that says what they are (customers, "
    "plates); give a pattern of your own",
    "telephone numbers without + from countries that are not in personal.regions; local numbers without an area code",
    "postal addresses without a street and its number, or written in other orders than those of English, German, "
    "French, Spanish, Italian, Portuguese and Dutch",
    "what tells who somebody is without naming them: a post, a place, an illness, a date",
    "letters of another script that only look alike, and numbers that are spelt in words",
    "what is in pictures and scans",
)
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Survey:
    """Counts by kind, and by document and kind; examples by kind, as shapes; what was `unfound` by design."""

    counts: Mapping[str, int]
    documents: Mapping[str, Mapping[str, int]]
    examples: Mapping[str, tuple[str, ...]]
    read: int
    unfound: tuple[str, ...]


def survey_personal_data(
    read: Iterable[tuple[Document, Sequence[Named], Sequence[Named]]], settings: PersonalSettings
) -> Survey:
    """What is personal in documents, each with the persons whom its text and its title name. Their ids are masked."""
    from sensegraph.personal.finding import build_finder

    masker = Masker(build_finder(settings))
    total: Counter[str] = Counter()
    documents: dict[str, Mapping[str, int]] = {}
    shapes: dict[str, dict[str, None]] = {}
    number = 0
    for number, (d, people, titled) in enumerate(read, start=1):  # noqa: B007
        masked, counts = masker.document(d, people, titled)
        total.update(counts)
        if counts:
            same = (f"{masked.id} ({n})" for n in count(2))  # names may differ only in what is hidden
            documents[masked.id if masked.id not in documents else next(n for n in same if n not in documents)] = (
                order_kinds(counts)
            )
        for span in masker.found(d.text, people):
            shapes.setdefault(span.kind, {}).setdefault(mask_shape(d.text[span.start : span.end]))
    examples = {kind: tuple(shapes[kind])[:_SHOWN] for kind in order_kinds(Counter(shapes.keys()))}
    return Survey(order_kinds(total), documents, examples, number, (_NAMES[seeks_people(settings)], *_UNFOUND))


def mask_shape(text: str) -> str:
    """How a text is written, and nothing of what it says: letters as `a` and `A`, digits as `9`."""
    text = re.sub(r"\d", "9", text)
    text = re.sub(r"[^\W\d_]", lambda m: "A" if m[0].isupper() else "a", text)
    return re.sub(r"\s+", " ", text)[:60]
