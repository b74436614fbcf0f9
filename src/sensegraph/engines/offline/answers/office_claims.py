"""What sentences say of who holds, begins or ends an office, and when: no list of offices, no names of any corpus.

An office is named by the words of the question, in the singular or plural and with common endings. Words before it
change it: a deputy treasurer is no treasurer, an interim one is one and is marked, a former one is none any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.language.dates.moments import Atom, find_atoms, first_instant
from sensegraph.language.dates.office_questions import OFFICE_PATTERNS as CUES
from sensegraph.language.dates.office_questions import OfficeQuestion
from sensegraph.language.dates.stated_dates import Expression, find_expressions
from sensegraph.language.text import WORD, fold
from sensegraph.language.word_lists import ENGLISH_MONTH, GERMAN_MONTHS, MONTHS, read_lexicon, stop_words
from sensegraph.runtime.keys import document_part
from sensegraph.types import Passage

_NAME = re.compile(
    r"(?<![\w.])[^\W\d_a-zß-öø-ÿ][\w’'\-]*\.?(?:\s+(?:(?:von|van|de|der|den|du|da|di|la|le|af|bin|ibn)\s+)*[^\W\d_a-zß-öø-ÿ][\w’'\-]*)*"
)
_MARKUP = re.compile(r"[*_#`>]")
_RANGE = re.compile(r"(?<=\b[12]\d{3})\s?[-–—]\s?(?=[12]\d{3}\b)")
_OPEN_RANGE = re.compile(r"\b([12]\d{3})\s?[-–—](?=\s*(?:$|[),;]|present|today|now))")
_SHORT_DATE = re.compile(
    rf"\b(?:[0-3]?\d(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?:{ENGLISH_MONTH}|{'|'.join(GERMAN_MONTHS)})|"
    rf"(?:{ENGLISH_MONTH}|{'|'.join(GERMAN_MONTHS)})\s+[0-3]?\d(?:st|nd|rd|th)?|"
    rf"(?<=\b[a-z]{{2}} )(?:{ENGLISH_MONTH})|(?<=\b[a-z]{{4}} )(?:{ENGLISH_MONTH})|(?<=\b[a-z]{{5}} )(?:{ENGLISH_MONTH}))\b(?!\.?,?\s+(?:of\s+)?[12]?\d)",
    re.IGNORECASE,
)
_MONTH_NAMES = frozenset(name for names in MONTHS.values() for name in names)
_END_OF_THING = re.compile(
    r"[,.;:()\[\]]|\s(?:on|in|from|since|until|and|as|is|was|who|when|by|to|for|und|im|seit|bis|ist|war|has|had|will|wurde)\s|\s\d|$"
)
_VERB_FORM = re.compile(r"(?:ed|led|ran|s|te?)$")
_LED = re.compile(
    r"\s+(?:of\s+|at\s+)?(?:the\s+)?(?!(?:on|in|from|since|until|and|as|to|with|for|by|is|was|im|seit|bis)\b)(?=[^\W\d])",
    re.IGNORECASE,
)
_HEADER = 100  # characters of a line that may be one of a document's first ones
_NEAR = 2  # sentences behind one that names the office in which others may take it over

Kind = Literal["holds", "begins", "ends"]


@dataclass(frozen=True, slots=True)
class Claim:
    """That `holder` holds, begins or ends the office: from `first` through `last`; of what holds both may be one moment.

    `seen` says that the date is only one at which it is so; `loose` that the sentence does not name the office.
    """

    holder: str
    kind: Kind
    first: str
    last: str
    sentence: SourceSentence
    seen: bool = False
    temporary: bool = False
    loose: bool = False
    thing: str = ""


@dataclass(frozen=True, slots=True)
class _Line:
    """A sentence made ready to be read: its text with the years that it leaves out, its names, and when it was written."""

    text: str
    names: tuple[tuple[int, int, str], ...]
    written: str
    sentence: SourceSentence


@dataclass(slots=True)
class OfficeReader:
    """Reads the claims on one office out of the sentences of a context."""

    question: OfficeQuestion
    chunks: Sequence[Passage]
    sentences: Sequence[SourceSentence]
    full_names: Mapping[str, str] = field(init=False)
    office: re.Pattern[str] = field(init=False)
    elsewhere: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.office = compile_office(self.question)
        texts = (self._lower_office(_MARKUP.sub(" ", s.raw)) for s in self.sentences)
        self.full_names = complete_names([name for text in texts for _, _, name in find_people(text)])

    def read(self) -> list[Claim]:
        """All claims, in the order of the sentences; the same claim of one sentence once."""
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
            if not claims and (listed or number - last_named <= _NEAR):
                claims = list(_read_entry(line)) if listed else []
            if not claims and not mentions:
                claims = list(_read_loose(line, subject, number - last_named <= _NEAR))
            if mentions:
                last_named, listed = number, not claims or sentence.raw.rstrip().endswith(":")
            elif not claims:
                listed = listed and bool(line.names)
            for claim in claims:
                found.setdefault((claim.holder, claim.kind, claim.first, claim.last, sentence.order), claim)
            subject = next((name for start, _, name in line.names if start < 60), subject)
        return list(found.values())

    def _prepare(self, sentence: SourceSentence, written: str) -> _Line:
        plain = _RANGE.sub("–", " ".join(_MARKUP.sub(" ", sentence.raw).split()))
        plain = _OPEN_RANGE.sub(r"since \1", plain)
        text = add_years(plain, written)
        thing = _fold_words(self.question.thing)
        names = tuple(
            (a, b, self.full_names.get(name, name))
            for a, b, name in find_people(self._lower_office(text))
            if not _fold_words(name) <= thing
        )
        return _Line(text, names, written, sentence)

    def _read_line(self, line: _Line, subject: str) -> Iterator[Claim]:
        """The claims of the sentence's mentions of the office."""
        if self.question.verb and not self._names_thing(line.text):
            return
        for match in self.office.finditer(line.text):
            begin, manner = _find_modifiers(line.text, match.start(), self.question)
            end, thing = self._find_thing(line.text, match.end())
            if manner in ("other", "future") or end < 0 or re.match(r"['’]s?\s+\w", line.text[match.end() :]):
                continue
            for claim in self._read_mention(line, begin, match.start(), end, manner, subject):
                yield replace(claim, thing=thing)

    def _lower_office(self, text: str) -> str:
        """The text with the office and what modifies it in small letters, so that neither is part of a name."""
        shown = self.office.sub(lambda m: m[0] if m[0].isupper() else m[0].lower(), text)
        for match in self.office.finditer(text):
            begin, _ = _find_modifiers(text, match.start(), self.question)
            words = [w for w in re.finditer(r"[\w-]+", text[begin : match.start()]) if CUES["modifier"].fullmatch(w[0])]
            for w in words:
                a, b = begin + w.start(), begin + w.end()
                shown = shown[:a] + shown[a:b].lower() + shown[b:]
        return shown

    def _names_thing(self, text: str) -> bool:
        """Whether a sentence names what is led: its words in small letters, or of a name alone one."""
        first = CUES["of"].split(self.question.thing)[0]
        small = _fold_words(" ".join(w for w in first.split() if w[:1].islower()))
        there = _fold_words(text)
        return small <= there

    def _find_thing(self, text: str, end: int) -> tuple[int, str]:
        """Where the mention ends with the thing that it is an office of, and that; −1 where it is another thing."""
        behind = re.match(
            r"\s+(?:of|at|for|von|vom|des|der)\s+(?:the\s+|our\s+|this\s+|its\s+)?", text[end:], re.IGNORECASE
        )
        if self.question.verb:
            behind = _LED.match(text, end)
            if behind and not _VERB_FORM.search(text[:end]) and not behind[0].strip():
                return end, ""  # a noun, and behind it a name or another noun: "coach Anna Berg"
        if not behind:
            return end, ""
        start = behind.end() if self.question.verb else end + behind.end()
        stop = _END_OF_THING.search(text, start)
        until = stop.start() if stop else len(text)
        said = text[start:until]
        if find_atoms(said) or not said:
            return end, ""
        asked, there = _fold_words(self.question.thing), _fold_words(said)
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
        self, line: _Line, begin: int, start: int, end: int, manner: str, subject: str
    ) -> Iterator[Claim]:
        text, names = line.text, line.names
        before, behind = text[:begin], text[end:]
        temporary = manner == "temporary"
        opened = before.rfind("(")
        if opened > before.rfind(")"):
            holder = next((n for _, b, n in names if b <= opened and not text[b:opened].strip()), "")
            if holder:
                closed = text.find(")", end)
                yield from _date_claims(line, holder, opened, closed if closed > 0 else len(text), manner, True)
            return
        nearest = max((n for n in names if n[1] <= begin), default=None)
        following = min((n for n in names if n[0] >= end), default=None)
        if self.question.verb:
            if nearest and re.fullmatch(
                r"[,\s]*(?:who\s+)?(?:(?:has|had|have|also|then|now)\s+)*", before[nearest[1] :]
            ):
                yield from _date_claims(line, nearest[2], nearest[0], _end_of_clause(text, end), manner, False)
                return
        gap = text[end : following[0]] if following else ""
        if following and (re.fullmatch(r"\s+(?:(?:Mr|Mrs|Ms|Dr)\.?\s+)?", gap) and end == _word_end(text, end)):
            yield from _date_claims(line, following[2], following[1], following[1] + 1, manner, True)
            return
        if nearest and re.fullmatch(
            r"\s*(?:,|[–—-]|,\s*who\s+(?:is|was|has been|had been))\s*(?:as\s+)?", before[nearest[1] :]
        ):
            closed = re.search(r"[,;.)]\s|$", text[end:])
            until = end + (closed.start() if closed else 0)
            relative = "who" in before[nearest[1] :]
            yield from _date_claims(line, nearest[2], nearest[1], until, manner, not relative)
            return
        if (
            following
            and re.fullmatch(r"\s*,\s+", gap)
            and begin < start
            and re.match(r"[,.;)]|$", text[following[1] :])
        ):
            yield from _date_claims(line, following[2], end, following[1], manner, True)
            return
        if following and CUES["tells"].search(gap):
            yield from _date_claims(
                line, following[2], begin, _end_of_clause(text, following[1]), manner, False, head=begin
            )
            return
        yield from _read_verb(line, begin, end, temporary, manner, subject)


def _read_verb(line: _Line, begin: int, end: int, temporary: bool, manner: str, subject: str) -> Iterator[Claim]:
    """What the verb before the office says: who it is of, and whether it begins or ends."""
    text, names = line.text, line.names
    head = _start_of_clause(text, begin)
    stop = _end_of_clause(text, end)
    found = [
        (m.start(), m.end(), kind)
        for kind in ("yields", "hands", "ends", "begins", "appoints", "holds")
        for m in CUES[kind].finditer(text, head, begin)
    ]
    if not found:
        return
    at, after, kind = max(found, key=lambda f: (f[1], f[0] * -1))
    if CUES["doubt"].search(text[head:begin]):
        return
    ahead, between = _find_subject(line, head, at, subject), [n for n in names if after <= n[0] and n[1] <= begin]
    spoken = text[head:stop]
    if kind == "yields":
        if ahead:
            yield from _make_claims(line, ahead, "ends", head, stop, False)
        if between:
            yield from _make_claims(line, between[0][2], "begins", head, stop, temporary)
        return
    if kind == "hands":
        if ahead:
            yield from _make_claims(line, ahead, "begins", head, stop, temporary)
        return
    if kind == "appoints" or (
        kind in ("holds", "begins") and between and not text[between[-1][1] : begin].strip(" ,") and not ahead
    ):
        if between and kind == "appoints":
            yield from _make_claims(line, between[-1][2], "begins", head, stop, temporary)
        elif between:
            yield from _date_claims(line, between[-1][2], head, stop, manner, False)
        return
    if not ahead:
        return
    if kind == "holds":
        yield from _date_claims(line, ahead, head, stop, manner, False)
    elif not (kind == "ends" and re.search(r"\bas\b", spoken) is None and not between and "," in text[at:begin]):
        yield from _make_claims(line, ahead, "ends" if kind == "ends" else "begins", head, stop, temporary)


def _find_subject(line: _Line, head: int, at: int, subject: str) -> str:
    """Who a verb at `at` is of: the last name before it in its clause that no other name or preposition governs."""
    ahead = [n for n in line.names if head <= n[0] and n[1] <= at] or [n for n in line.names if n[1] <= at][-1:]
    free = [
        n
        for n in ahead
        if not re.search(r"\b(?:of|by|for|at|from|with|to|after|before|von|nach|vor)\s+(?:the\s+)?$", line.text[: n[0]])
    ]
    plain = [
        n for i, n in enumerate(free)
        if not (i and re.fullmatch(r",\s+(?:the\s+)?", line.text[free[i - 1][1] : n[0]]) and line.text[n[1] : n[1] + 1] == ",")
    ]  # fmt: skip
    if plain:
        return plain[-1][2]
    return subject if CUES["pronoun"].search(line.text[head:at].lstrip() or line.text) else ""


def _read_loose(line: _Line, subject: str, near: bool) -> Iterator[Claim]:
    """What a sentence without the office says: that somebody leaves on a day, or close behind one with it, takes over."""
    text = line.text
    for start, _, name in line.names:
        if CUES["removes"].search(text[:start]):
            ended = _make_claims(
                line, name, "ends", _start_of_clause(text, start), _end_of_clause(text, start), False, loose=True
            )
            yield from (c for c in ended if c.last)
            return
    for kind in ("yields", "hands", "begins", "ends"):
        match = CUES[kind].search(text)
        if not match or (kind != "ends" and not near) or re.search(r"\b(?:as|als)\s", text[match.end() :]):
            continue
        head, stop = _start_of_clause(text, match.start()), _end_of_clause(text, match.end())
        if CUES["doubt"].search(text[head : match.start()]):
            continue
        who = _find_subject(line, head, match.start(), subject)
        behind = text[match.end() :]
        if kind == "yields":
            after = next((n for n in line.names if n[0] >= match.end()), None)
            if who:
                yield from _make_claims(line, who, "ends", head, stop, False, loose=True)
            if after:
                yield from _make_claims(line, after[2], "begins", head, stop, False, loose=True)
            return
        whom = any(n[0] - match.end() < 2 for n in line.names if n[0] >= match.end())
        if who and (kind == "ends" or CUES["nothing"].match(behind) or (kind == "hands" and whom)):
            dated = list(_make_claims(line, who, "ends" if kind == "ends" else "begins", head, stop, False, loose=True))
            yield from (c for c in dated if kind != "ends" or c.last)
            return


def _read_entry(line: _Line) -> Iterator[Claim]:
    """A line of a list: a name with nothing but the dates of its time."""
    found = find_expressions(line.text)
    if len(line.names) != 1 or not found:
        return
    rest = line.text
    for start, end in sorted([line.names[0][:2], *((e.start, e.end) for e in found)], reverse=True):
        rest = rest[:start] + rest[end:]
    if not re.fullmatch(r"[\s\d.,:;()|•–—-]*(?:interim|acting)?[\s.,:;()|–—-]*", rest):
        return
    one = found[0]
    temporary = bool(CUES["temporary"].search(line.text))
    if one.kind in ("since", "until", "span"):
        kind: Kind = "holds" if one.first and one.last else "begins" if one.first else "ends"
        yield Claim(line.names[0][2], kind, one.first, one.last, line.sentence, temporary=temporary)


def _date_claims(
    line: _Line, holder: str, begin: int, stop: int, manner: str, apposed: bool, head: int = -1
) -> Iterator[Claim]:
    """That somebody holds the office: from and until when `text[begin:stop]` says, or when it was written."""
    found = _find_dates(line, begin, stop)
    first, last = (
        next((e.first for e in found if e.kind in ("since", "span")), ""),
        next((e.last for e in reversed(found) if e.kind in ("until", "span")), ""),
    )
    temporary = manner == "temporary"
    here = line.text[max(0, head if head >= 0 else begin) : stop]
    if first or last:
        kind: Kind = "holds" if first and last else "begins" if first else "ends"
        yield Claim(holder, kind, first, last, line.sentence, temporary=temporary)
    elif manner == "past":
        yield Claim(holder, "holds", "", "", line.sentence, temporary=temporary)
    elif found and not apposed:
        one = found[0]
        if CUES["begins"].search(here):
            yield Claim(holder, "begins", one.first, "", line.sentence, temporary=temporary)
        else:
            yield Claim(holder, "holds", one.first, one.last, line.sentence, True, temporary)
    else:
        was = not apposed and re.search(
            r"\b(?:was|were|had been|war|waren|led|headed|ran|chaired|held|served|acted)\b", here
        )
        moment = "" if was else line.written
        yield Claim(holder, "holds", moment, moment, line.sentence, bool(moment), temporary)


def _make_claims(
    line: _Line, holder: str, kind: Kind, begin: int, stop: int, temporary: bool, loose: bool = False
) -> Iterator[Claim]:
    """That somebody begins or ends at the date of the clause; without one, that it is so when it was written."""
    found = _find_dates(line, begin, stop)
    if kind == "begins":
        since = next((e for e in found if e.kind in ("since", "span")), None) or next(
            (e for e in found if e.kind == "at"), None
        )
        last = next((e.last for e in found if e.kind in ("until", "span")), "")
        if since and since.first:
            yield Claim(
                holder, "holds" if last else "begins", since.first, last, line.sentence, False, temporary, loose
            )
        elif not loose:
            kept: Kind = "begins" if line.written else "holds"
            yield Claim(holder, kept, line.written, line.written, line.sentence, bool(line.written), temporary)
    else:
        until = next((e.last for e in reversed(found) if e.kind in ("until", "at", "span") and e.last), "")
        since = next((e for e in found if e.kind == "since"), None)
        if until or not loose:
            yield Claim(holder, "ends", "", until or (since.first if since else ""), line.sentence, False, False, loose)


def _find_dates(line: _Line, begin: int, stop: int) -> list[Expression]:
    return [
        e for e in find_expressions(line.text, line.written) if begin <= e.start and e.end <= stop + 1 and not e.unread
    ]


def _start_of_clause(text: str, at: int) -> int:
    return max((m.end() for m in CUES["joins"].finditer(text) if m.end() <= at), default=0)


def _end_of_clause(text: str, at: int) -> int:
    return next((m.start() for m in CUES["joins"].finditer(text) if m.start() >= at), len(text))


def _word_end(text: str, at: int) -> int:
    return at


# ── offices, names and dates ──────────────────────────────────────────────────────────────────────────────────────────


def compile_office(question: OfficeQuestion) -> re.Pattern[str]:
    """The office as texts may write it: in the singular or plural, with a German ending, long or by its initials."""
    if question.verb:
        verb = question.office.lower()
        if re.match(r"le[ad]|head|r[au]n|leit|führ", verb):
            listed = r"led|leads?|leading|headed|heads?|ran|runs|leaders?|chair(?:ed|s)?|chair(?:man|woman|person)|direct(?:ed|s|ors?)|leite(?:t|te)|Leiter(?:in)?|führte?"
        else:
            stem = re.sub(r"(?:ed|e?s|te?|t)$", "", verb)
            listed = rf"{re.escape(stem)}(?:|s|es|ed|e|er|ers|or|ors|man|woman|person|in|te|t)"
        return re.compile(rf"(?<![\w-])(?:{listed})(?![\w-])", re.IGNORECASE)
    *words, last = question.office.split()
    bases = {last}
    if not last.isupper() and not last.endswith("ss"):
        bases |= {
            re.sub(ending, new, last)
            for ending, new in (
                (r"s$", ""),
                (r"es$", ""),
                (r"ies$", "y"),
                (r"men$", "man"),
                (r"innen$", ""),
                (r"(?<=[rt])in$", ""),
            )
        }
        bases = {b for b in bases if len(b) > 2}
    elif last.endswith("S") and len(last) > 3:
        bases.add(last[:-1])
    if re.fullmatch(r"[A-Z]{2,}s", last):
        bases = {last[:-1]}
    heads = {re.sub(r"(?<=chair)(?:man|woman|person)$", "", b, flags=re.IGNORECASE) for b in bases} | bases
    endings = r"(?:['’]?s|es|in|innen|n|r|en|man|woman|person)?"
    listed = r"[\s-]?".join(
        [
            *(re.escape(w) for w in words),
            "(?:" + "|".join(sorted(map(re.escape, heads), key=lambda b: (-len(b), b))) + ")",
        ]
    )
    patterns = [rf"{listed}{endings}"]
    short = min(bases, key=len)
    if not words and re.fullmatch(r"(?i:c[a-z]o)", short):
        patterns.append(rf"chief\s+{short[1]}\w+(?:\s+officer)?")
    if len(words) > 1:
        patterns.append(f"(?-i:{''.join(w[0] for w in question.office.split()).upper()})")
    return re.compile(rf"(?<![\w-])(?:{'|'.join(patterns)})(?![\w-])", re.IGNORECASE)


def _find_modifiers(text: str, start: int, question: OfficeQuestion) -> tuple[int, str]:
    """Where the office begins with the words that modify it, and what those make of it: other, temporary, past, future."""
    manner, thing = "", _fold_words(question.thing)
    while match := re.search(r"([\w’'-]+)(\s+|-)$", text[:start]):
        word = match[1]
        bare = re.sub(r"['’]s?$", "", word)
        if CUES["stops"].fullmatch(word) or find_atoms(bare):
            break
        if CUES["different"].fullmatch(word):
            return start, "other"
        for kind in ("temporary", "past", "future"):
            if CUES[kind].fullmatch(word):
                manner = kind
                break
        else:
            if not (CUES["same"].fullmatch(word) or bare.casefold() in thing):
                opens = not text[: match.start()].strip(" -–•") or text[: match.start()].rstrip()[-1:] in ".:;"
                if (word[:1].isupper() and not opens) or bare != word or _is_verb(word):
                    break
                return start, "other"
        start = match.start()
    return start, manner


def _is_verb(word: str) -> bool:
    return any(
        CUES[kind].fullmatch(word) for kind in ("begins", "appoints", "hands", "ends", "holds")
    ) or word in stop_words("xx")


def find_people(text: str) -> list[tuple[int, int, str]]:
    """The names in a text that may be people's: where, and without a title or the first word of a sentence."""
    found = []
    given = read_lexicon("people")["first"]
    stop = (stop_words("en") | stop_words("de")) - given
    for match in _NAME.finditer(text):
        words = [(w.start() + match.start(), w.end() + match.start(), w[0]) for w in re.finditer(r"\S+", match[0])]
        while words and (
            words[0][2].casefold() in stop
            or words[0][2].casefold().strip(".") in _MONTH_NAMES
            or CUES["person"].fullmatch(words[0][2])
        ):
            words.pop(0)
        # a word of a sentence's beginning that no given name is belongs to no name: "Treasurer Anna Berg", "Yesterday Anna Berg"
        while len(words) > 2 and given.isdisjoint({words[0][2].casefold()}) and words[1][2].casefold() in given:
            words.pop(0)
        while words and (words[-1][2].isupper() and len(words[-1][2]) > 1 and len(words) == 1):
            words.pop()
        if not words or any(w.isupper() and len(w) > 1 and "." not in w for _, _, w in words):
            continue
        start, end = words[0][0], words[-1][1]
        name = re.sub(r"['’]s?$", "", text[start:end])
        if name.endswith(".") and not re.search(r"\b[A-Z]\.$", name):
            name = name[:-1]
        if len(name) > 1 and not find_atoms(name) and not (len(words) == 1 and name.casefold() in _MONTH_NAMES):
            found.append((start, start + len(name), " ".join(name.split())))
    return found


def complete_names(names: Sequence[str]) -> dict[str, str]:
    """Each shorter name with the one longer name that it stands for: its first or last word, or its initial."""
    full = sorted({n for n in names if " " in n and not re.match(r"[A-Z]\.", n)})
    found = {}
    for name in sorted(set(names)):
        parts = name.split()
        if len(parts) == 1:
            longer = [f for f in full if name in (f.split()[0], f.split()[-1])]
        elif re.fullmatch(r"[A-Z]\.", parts[0]):
            longer = [f for f in full if f.split()[-1] == parts[-1] and f[0] == name[0]]
        else:
            longer = []
        if len(longer) == 1:
            found[name] = longer[0]
    return found


def date_documents(chunks: Sequence[Passage]) -> dict[str, str]:
    """When each document was written, as far as its title, a header or its first lines say it."""
    found: dict[str, str] = {}
    for chunk in sorted(chunks, key=lambda c: c.id):
        lines = [line.strip() for line in chunk.text.splitlines() if line.strip()]
        head = lines[:12] if lines[:1] in (["---"], ["+++"]) else lines[:6]
        short = [line for line in head if len(line) <= _HEADER and not line.endswith(".")]
        atoms = [
            a
            for line in (chunk.title, *short)
            for a in find_atoms(line)
            if a.first and a.kind in ("iso", "day", "month_day", "pointed", "slashed", "month", "year")
        ]
        if atoms and chunk.sources:
            origin = document_part(chunk.sources[0].chunk)
            atoms = [a for a in atoms if a.first[:4] < "2100"] or atoms[:1]
            best = max(atoms, key=lambda a: (a.first.count("-"), -atoms.index(a)))
            known = found.get(origin, "")
            if best.first.count("-") > known.count("-") or not known:
                found[origin] = best.first
    return found


def add_years(text: str, written: str) -> str:
    """The text with the year of its document behind dates that have none; of what began already, never a later one."""
    if not written:
        return text
    year = int(written[:4])

    def complete(match: re.Match[str]) -> str:
        dated = find_atoms(f"{match[0]} {year}")
        said = next((a for a in dated if a.first), None)
        if said is None:
            return match[0]
        ahead = text[max(0, match.start() - 12) : match.start()].lower()
        late = (
            "-" in written
            and first_instant(said.first) > first_instant(written)
            and re.search(r"\b(?:since|seit)\s+(?:\w+\s+)?$", ahead)
        )
        return f"{match[0]} {year - bool(late)}"

    return _SHORT_DATE.sub(complete, text)


def _fold_words(text: str) -> frozenset[str]:
    return frozenset(fold(w) for w in WORD.findall(text)) - stop_words("xx")


__all__ = ["Claim", "OfficeReader", "replace", "Atom"]
