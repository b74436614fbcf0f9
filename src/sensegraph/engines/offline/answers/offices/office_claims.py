"""What sentences say of who holds, begins or ends an office, and when: no list of offices, no names of any corpus.

An office is named by the words of the question, in the singular or plural and with common endings. Words before it
change it: a deputy treasurer is no treasurer, an interim one is one and is marked, a former one is none any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sensegraph.engines.offline.answers.offices.office_sentences import (
    Claim,
    OfficeLine,
    find_clause_end,
    find_clause_start,
)
from sensegraph.engines.offline.answers.offices.office_words import (
    add_years,
    compile_office,
    complete_names,
    date_documents,
    find_modifiers,
    find_people,
    fold_content_words,
)
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.language.dates.moments import find_atoms
from sensegraph.language.dates.office_questions import OFFICE_PATTERNS as CUES
from sensegraph.language.dates.office_questions import OfficeQuestion
from sensegraph.language.text import WORD, detect_language
from sensegraph.types import Passage

_MARKUP = re.compile(r"[*_#`>]")
_RANGE = re.compile(r"(?<=\b[12]\d{3})\s?[-–—]\s?(?=[12]\d{3}\b)")
_OPEN_RANGE = re.compile(r"\b([12]\d{3})\s?[-–—](?=\s*(?:$|[),;]|present|today|now))")
_END_OF_THING = re.compile(
    r"[,.;:()\[\]]|\s(?:on|in|from|since|until|and|as|is|was|who|when|by|to|for|und|im|seit|bis|ist|war|has|had|will|wurde)\s|\s\d|$"
)
_LEADING = re.compile(r"[,\s]*(?:who\s+)?(?:(?:has|had|have|also|then|now)\s+)*")
_VERB_FORM = re.compile(r"(?:ed|led|ran|s|te?)$")
_OF = re.compile(r"\s+(?:of|at|for|von|vom|des|der)\s+(?:(?:the|our|this|its)\s+)?", re.IGNORECASE)
_LED = re.compile(
    r"\s+(?:of\s+|at\s+)?(?:the\s+)?(?!(?:on|in|from|since|until|and|as|to|with|for|by|is|was|im|seit|bis)\b)(?=[^\W\d])",
    re.IGNORECASE,
)
_NEAR = 2  # sentences behind one that names the office in which others may take it over


class OfficeReader:
    """Reads the claims on one office out of the sentences of a context; `elsewhere` are things of others' offices."""

    def __init__(
        self, question: OfficeQuestion, chunks: Sequence[Passage], sentences: Sequence[SourceSentence]
    ) -> None:
        self.question, self.chunks, self.sentences = question, chunks, sentences
        self.office = compile_office(question)
        self.full_names: Mapping[str, str] = {}
        self.elsewhere = set[str]()

    def read(self) -> list[Claim]:
        """All claims, in the order of the sentences; the same claim of one sentence once."""
        if not self._is_named():
            return []
        texts = (" ".join(_MARKUP.sub(" ", self._lower_office(s.raw)).split()) for s in self.sentences)
        self.full_names = complete_names([name for text in texts for _, _, name in find_people(text)])
        written = date_documents(self.chunks)
        held = sorted(self.sentences, key=lambda s: (s.source.chunk, s.source.start, -s.source.end))
        found: dict[tuple[object, ...], Claim] = {}
        last_named, topic, listed, subject = -9, "", False, ""
        for number, sentence in enumerate(held):
            if sentence.chunk != topic:
                topic, last_named, listed, subject = sentence.chunk, -9, False, ""
            line = self._prepare(sentence, written.get(sentence.origin, ""))
            claims = list(self._read_line(line, subject))
            mentions = bool(self.office.search(line.text))
            if not claims and listed:
                claims = list(line.read_list_entry())
            if not claims:
                loose = list(line.read_loose(subject, not mentions and number - last_named <= _NEAR))
                claims = [replace(c, loose=not mentions) for c in loose if not mentions or c.kind == "ends"]
            if mentions:
                last_named, listed = number, not claims or sentence.raw.rstrip().endswith(":")
            elif not claims:
                listed = listed and bool(line.names)
            for claim in claims:
                found.setdefault((claim.holder, claim.kind, claim.first, claim.last, sentence.order), claim)
            subject = next((name for start, _, name in line.names if start < 60), subject)
        return list(found.values())

    def _is_named(self) -> bool:
        """Whether a sentence names the office: in small letters, where it may be a name ("Who is Anna?")."""
        asked = self.question
        name = asked.office.istitle() and not asked.thing and asked.kind in ("now", "order") and not asked.person
        for s in self.sentences:
            if (match := self.office.search(s.raw)) and not (
                name and match[0].istitle() and detect_language(s.raw) != "de"
            ):
                return True
        return False

    def _prepare(self, sentence: SourceSentence, written: str) -> OfficeLine:
        plain = _RANGE.sub("–", " ".join(_MARKUP.sub(" ", sentence.raw).split()))
        plain = _OPEN_RANGE.sub(r"since \1", plain)
        text = add_years(plain, written)
        thing = fold_content_words(self.question.thing)
        names = tuple(
            (a, b, self.full_names.get(name, name))
            for a, b, name in find_people(self._lower_office(text))
            if not fold_content_words(name) <= thing
        )
        return OfficeLine(text, names, written, sentence)

    def _read_line(self, line: OfficeLine, subject: str) -> Iterator[Claim]:
        """The claims of the sentence's mentions of the office."""
        if self.question.verb and not self._names_thing(line.text):
            return
        if self.office.search(line.text) and (listed := list(line.read_bracketed_list())):
            yield from listed
            return
        for match in self.office.finditer(line.text):
            begin, manner = find_modifiers(line.text, match.start(), self.question)
            end, thing = self._find_thing(line.text, match.end())
            if manner in ("other", "future") or end < 0 or re.match(r"['’]s?\s+\w", line.text[match.end() :]):
                continue
            for claim in self._read_mention(line, begin, match.start(), end, manner, subject):
                yield replace(claim, thing=thing)

    def _lower_office(self, text: str) -> str:
        """The text with the office and what modifies it in small letters, so that neither is part of a name."""
        shown = self.office.sub(lambda m: m[0] if m[0].isupper() else m[0].lower(), text)
        for match in self.office.finditer(text):
            begin, _ = find_modifiers(text, match.start(), self.question)
            words = [w for w in re.finditer(r"[\w-]+", text[begin : match.start()]) if CUES["modifier"].fullmatch(w[0])]
            for w in words:
                a, b = begin + w.start(), begin + w.end()
                shown = shown[:a] + shown[a:b].lower() + shown[b:]
        return shown

    def _names_thing(self, text: str) -> bool:
        """Whether a sentence names what is led: its words in small letters, or of a name alone one."""
        first = CUES["of"].split(self.question.thing)[0]
        small = fold_content_words(" ".join(w for w in first.split() if w[:1].islower()))
        there = fold_content_words(text)
        return small <= there

    def _find_thing(self, text: str, end: int) -> tuple[int, str]:
        """Where the mention ends with the thing that it is an office of, and that; −1 where it is another thing."""
        behind = (_LED if self.question.verb else _OF).match(text, end)
        if not behind:
            return end, ""
        if self.question.verb and not _VERB_FORM.search(text[:end]) and not behind[0].strip():
            return end, ""  # a noun, and behind it a name or another noun: "coach Anna Berg"
        start = behind.end()
        stop = _END_OF_THING.search(text, start)
        until = stop.start() if stop else len(text)
        said = text[start:until]
        if find_atoms(said) or not said:
            return end, ""
        asked, there = fold_content_words(self.question.thing), fold_content_words(said)
        named = said if not said.islower() else ""
        shared = any(
            a == b or (min(len(a), len(b)) > 4 and a[: len(b) - 1] == b[: len(b) - 1]) for a in asked for b in there
        )
        if not asked or shared:
            return until, named
        own = any(w[:1].isupper() for w in WORD.findall(self.question.thing))
        # of a thing with a name the common word for it may be said: "director of the museum"
        if own and not named:
            return until, ""
        self.elsewhere.update([named] if named else [])
        return -1, ""

    def _read_mention(
        self, line: OfficeLine, begin: int, start: int, end: int, manner: str, subject: str
    ) -> Iterator[Claim]:
        text, names = line.text, line.names
        before = text[:begin]
        temporary = manner == "temporary"
        opened = before.rfind("(")
        if opened > before.rfind(")"):
            holder = next((n for _, b, n in names if b <= opened and not text[b:opened].strip()), "")
            if holder:
                closed = text.find(")", end)
                yield from line.date_claims(holder, opened, closed if closed > 0 else len(text), manner, True)
            return
        nearest = max((n for n in names if n[1] <= begin), default=None)
        following = min((n for n in names if n[0] >= end), default=None)
        if self.question.verb and nearest and _LEADING.fullmatch(before[nearest[1] :]):
            yield from line.date_claims(nearest[2], nearest[0], find_clause_end(text, end), manner, False)
            return
        gap = text[end : following[0]] if following else ""
        if following and (re.fullmatch(r"\s+(?:(?:Mr|Mrs|Ms|Dr)\.?\s+)?", gap)):
            yield from line.date_claims(following[2], following[1], following[1], manner, True)  # no date of its own
            return
        if nearest and re.fullmatch(
            r"\s*(?:,|[–—-]|,\s*who\s+(?:is|was|has been|had been))\s*(?:as\s+)?", before[nearest[1] :]
        ):
            ended = re.search(r"[,;.)]\s|$", text[end:])
            until = end + (ended.start() if ended else 0)
            relative = "who" in before[nearest[1] :]
            yield from line.date_claims(nearest[2], nearest[1], until, manner, not relative)
            return
        if (
            following
            and re.fullmatch(r"\s*,\s+", gap)
            and begin < start
            and re.match(r"[,.;)]|$", text[following[1] :])
        ):
            yield from line.date_claims(following[2], end, following[1], manner, True)
            return
        if following and CUES["tells"].search(gap):
            head, stop = find_clause_start(text, begin), find_clause_end(text, following[1])
            if not CUES["goal"].search(gap):
                yield from line.date_claims(following[2], head, stop, manner, False)
                return
            if giver := line.find_subject(head, begin, subject):
                yield from line.make_change_claims(giver, "ends", head, stop, False)
            yield from line.make_change_claims(following[2], "begins", head, stop, temporary)
            return
        yield from line.read_verb(begin, end, temporary, manner, subject)
