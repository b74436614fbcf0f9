"""What English sentences say outright: what a thing is, and what it does; and the questions that this makes.

"Hesiod is a name service that maps names to data" gives its kind, its head and what it does. "Foo uses Hesiod to find
users" leads from Foo to Hesiod. A question is made where each part stands in a sentence of its own right, so that its
grammar is that of the text: fewer questions, which read well.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sensegraph.language.blocks import read_text
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import fold, known_form, tag_words
from sensegraph.language.word_lists import read_lexicon
from sensegraph.types import Chunk

_LISTS = read_lexicon("plain-facts")
_WORDS = (6, 32)  # of a sentence, least and most
_LONG = 18  # words of a clause that is asked with
_BROKEN = re.compile(  # a second subject, or a verb behind a comma
    r", (?:is|are|was|were|has|have|may|can|will)\b"
    r"|\band (?:an? |the )?[A-Z][\w-]*(?: [A-Z][\w-]*)* (?:is|are|was|were|has|have|may|can|will)\b"
)
_SLIPPED = re.compile(r"(?i)(?:in|on|at|for|with|by|to|from|when|while|if|as|but|and|\w+ly|\w+ing)\s+\S")
_LONGEST = 40  # words of a question
_EACH = 3  # comparisons with one thing
_NAME = r"(?:the\s+)?(?P<name>[^\W_][\w.+\-]*(?: [A-Z0-9][\w.+\-]*){0,2})(?:\s*\([^()]{1,30}\))?"
_IS = re.compile(rf"{_NAME} is (?P<article>an?|the) (?P<what>[^()]+)", re.IGNORECASE)
_DOES = re.compile(rf"(?!The ){_NAME} (?P<verb>[a-z]+s) (?P<rest>[^()]+)")
_PASSIVE = re.compile(
    rf"{_NAME} is (?P<verb>based on|built on|written in|implemented in|used by|maintained by|developed by|derived from|"
    r"part of|included in|distributed with|named after|required by|provided by) (?P<rest>[^()]+)"
)
_CLAUSE = re.compile(
    r",? (?P<how>that|which|for|to|used to|used for|designed to|intended to|intended for) (?P<rest>.+)"
)
_ASIDE = re.compile(r"\s*\([^()]*\)")
_PURPOSE = re.compile(
    r" (?P<how>to (?!all|the|an?|any|each|one)[a-z]+ |for (?:the )?[a-z]+ing |instead of )(?P<rest>.+)"
)
_MARKS = re.compile(r"[<>*_`|\\{}\[\]=;:\"“”@#$~^]|(?<!\w)/|/(?!\w)|\.\.|https?|www|--|\bv?\d+\.\d+")
_POINTING = re.compile(
    r"\b(?:he|she|it|its|they|their|them|this|these|those|there|here|such|i|we|us|our|you|your|my|above|below|following|"
    r"preceding|former|latter|another|other|others|same|below|currently|however|therefore|then|section|"
    r"chapter|figure|table|e\.g|i\.e|etc|cf|see|note|please)\b",
    re.IGNORECASE,
)
_NO_NAME = _LISTS["no-names"]
_ENDLESS = re.compile(
    r"\b(?:the|an?|of|in|to|by|for|with|and|or|as|from|on|at|is|are|was|that|which|not|be)$", re.IGNORECASE
)
_HEADS_END = re.compile(
    r" (?:of|in|on|from|with|to|by|at|under|between|based|built|called|named|providing|implementing|using|written) "
)
_VERBS = _LISTS["does"]
_BROAD = _LISTS["broad"]  # verbs that a thing has many objects of
_AUXILIARIES = frozenset("is can has does will aims makes was".split())
_GRANTING = _LISTS["grants"]  # of which "to …" is no purpose
_PLURAL = {"library": "libraries", "utility": "utilities", "directory": "directories", "facility": "facilities"}
_VAGUE = _LISTS["vague"]
_PASSING = re.compile(  # true of one release only: nothing in the question says of which
    r"\b(?:the|a) (?:default|current|latest|newest|upcoming|recommended|preferred)\b|^What will\b"
    r"|\bthe (?:first|second|third|last|initial|final|new|old) (?:revision|version|release|draft|build)s?\b(?! of\b)"
)
_SPLICED = re.compile(r"\d\s*%?, (?!and\b|or\b)[^\W\d]\S*(?: \S+)? by \d")  # by 10%, Small by 9%
_LEGAL = re.compile(r"\b(?:is|are|was) (?:copyright|licensed)\b")


@dataclass(frozen=True, slots=True)
class Described:
    """That `name` is a `what` ("C++ library"), whose last word is the `head`; and the clause behind it.

    `how` begins the clause ("that", "for"), which is empty where there is none. `chunk` says it.
    """

    name: str
    what: str
    head: str
    how: str
    clause: str
    chunk: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Acting:
    """That `name` does something to `object`: `verb` in the third person, `purpose` what follows, or empty."""

    name: str
    verb: str
    object: str
    purpose: str
    chunk: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Worded:
    """A question with the chunks that its answer needs: `answers`, any of which will do, or the `parts` of one.

    A part has the forms that it may have.
    """

    text: str
    answers: tuple[str, ...]
    chunks: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class PlainFacts:
    """What the sentences of some chunks say outright, each thing as the first text describes it."""

    described: Sequence[Described] = ()
    acting: Sequence[Acting] = ()

    @classmethod
    def of(cls, chunks: Iterable[Chunk]) -> PlainFacts:
        """The facts of chunks, in their order; a sentence that several have counts once."""
        described: dict[str, Described] = {}
        acting: dict[str, Acting] = {}
        for chunk in chunks:
            text = read_text(chunk.text)
            for start, end in split_sentences(text):
                sentence = _ASIDE.sub("", " ".join(text[start:end].split()))
                if not _stands_alone(sentence):
                    continue
                if act := _read_act(sentence, chunk):
                    acting.setdefault(fold(sentence), act)
                elif found := _read_description(sentence, chunk):
                    described.setdefault(fold(found.name), found)
        return cls(tuple(described.values()), tuple(acting.values()))

    def ask_local(self) -> Iterator[Worded]:
        """One sentence each: what is what, and what does what."""
        for one in self.described:
            if one.how in ("that", "which"):
                yield Worded(f"Which {one.what} {one.clause}?", (one.name,), (one.chunk,))
            elif one.how == "for":
                yield Worded(f"Which {one.what} is for {one.clause}?", (one.name,), (one.chunk,))
            else:
                answer = _long_kind(one)
                if fold(answer).split() and _LISTS["licence"].issuperset(fold(answer).split()):
                    continue  # how it may be had, and not what it is
                article = "" if answer.startswith("the ") else "an " if answer[0].lower() in "aeiou" else "a "
                yield Worded(f"What is {one.name}?", (f"{article}{answer}",), (one.chunk,))
        often = Counter((fold(act.name), act.verb) for act in self.acting)
        for act in self.acting:
            if not act.purpose and (often[fold(act.name), act.verb] > 1 or act.verb in _BROAD):
                continue  # it does so to several things
            if act.verb.startswith("is "):
                yield Worded(f"What is {act.name} {act.verb[3:]}?", (act.object,), (act.chunk,))
            else:
                base = re.sub(r"ies$", "y", act.verb)  # provides → provide, searches → search, tries → try
                base = re.sub(r"(?<=ch|sh|ss)es$|(?<=x)es$|s$", "", base)
                asked = f"What does {act.name} {base} {act.purpose}".strip()
                yield Worded(f"{asked}?", (act.object,), (act.chunk,))

    def ask_bridges(self) -> Iterator[Worded]:
        """What does something to a thing that another text describes: the description stands for the name."""
        by = {fold(d.name): d for d in self.described}
        for act in self.acting:
            for name in _names_in(act.object, by):
                one = by[name]
                if one.chunk == act.chunk or fold(one.name) in fold(act.name) or fold(act.name) in fold(one.sentence):
                    continue
                said = re.sub(rf"(?i)\b(?:the )?{re.escape(one.name)}\b", f"the {_long_kind(one)}", act.object, count=1)
                rest = f"{said} {act.purpose}".strip()
                if _long_kind(one) != one.head and said.endswith(_long_kind(one)):
                    yield Worded(f"What {act.verb} {rest}?", (act.name,), (act.chunk, one.chunk))
        for one in self.described:
            for name in _names_in(f"{one.what} {one.clause}", by):
                other = by[name]
                inside = re.search(rf"(?i)\b{re.escape(other.name)}\b$", f"{one.what} {one.how} {one.clause}".strip())
                if other.name != one.name and other.chunk != one.chunk and inside and _long_kind(other) != other.head:
                    whole = f"{one.what} {one.how} {one.clause}".strip()
                    text = f"{whole[: inside.start()]}the {_long_kind(other)}"
                    verb = " " if one.how in ("that", "which") else " is "
                    asked = (
                        f"Which {one.what} {text.removeprefix(f'{one.what} {one.how} ')}"
                        if verb == " "
                        else f"What is a {text}"
                    )
                    yield Worded(f"{asked}?", (one.name,), (one.chunk, other.chunk))

    def ask_comparisons(self) -> Iterator[Worded]:
        """Two things of one kind, which different texts describe with what they do or are for."""
        kinds: dict[str, list[Described]] = defaultdict(list)
        for one in self.described:
            if one.clause and one.head:
                kinds[one.head].append(one)
        for head in sorted(kinds):
            used: dict[str, int] = defaultdict(int)
            for a, b in combinations(kinds[head], 2):
                same = fold(a.clause) == fold(b.clause) or fold(a.name)[:3] == fold(b.name)[:3]
                if same or a.chunk == b.chunk or used[a.name] >= _EACH or used[b.name] >= _EACH:
                    continue
                used[a.name] += 1
                used[b.name] += 1
                doing = a.how in ("that", "which") and b.how in ("that", "which")
                asked = "what does each of them do" if doing else "what is each of them for"
                plural = _PLURAL.get(head, f"{head}s")
                yield Worded(
                    f"{a.name} and {b.name} are both described as {plural}: {asked}?",
                    (),
                    (a.chunk, b.chunk),
                    tuple((f"{d.name}: {d.clause}", d.clause) for d in (a, b)),
                )


def _stands_alone(sentence: str) -> bool:
    """Whether a sentence is whole and plain: a point at its end, no signs of code, nothing that points elsewhere.

    Nor is it true of one release only, which it does not name.
    """
    words = sentence.split()
    if not _WORDS[0] <= len(words) <= _WORDS[1] or not sentence.endswith(".") or sentence[0].isspace():
        return False
    if _MARKS.search(sentence[:-1]) or any(sentence.count(a) != sentence.count(b) for a, b in ("()", "‘’")):
        return False
    if _PASSING.search(sentence[:-1]):
        return False
    return "'" not in sentence.replace("'s ", "") and not re.search(r"[.?!] ", sentence) and "?" not in sentence


def _is_name(name: str, document: str) -> bool:
    """Whether it is a name of its own: no word of English, or one with a capital after which its document is called."""
    words = name.split()
    if fold(words[0]) in _NO_NAME or name.endswith(("-", ".", "+-")):
        return False
    if len(words) > 1:  # a heading may have slipped before a name
        return all(w.isupper() or w[0].isdigit() or (w[0].isupper() and not known_form(fold(w))) for w in words)
    plain = fold(words[0])
    called = plain in re.findall(r"[^\W_]+", fold(document)) or plain.startswith("lib")
    own = called if plain == words[0] or known_form(plain) else True  # small letters, or a word of English
    return own and bool(re.search(r"[^\W\d_]{2}", plain)) and (plain != words[0] or not known_form(plain))


def _read_description(sentence: str, chunk: Chunk) -> Described | None:
    match = _IS.fullmatch(sentence.rstrip("."))
    if not match or not _is_name(match["name"], chunk.document):
        return None
    clause = _CLAUSE.search(match["what"])
    what = match["what"][: clause.start()] if clause else match["what"]
    how, rest = (clause["how"], clause["rest"]) if clause else ("", "")
    if not clause:  # "a name service based on …": the rest belongs to the kind
        cut = _HEADS_END.search(f"{what} ")
        base = what[: cut.start()] if cut else what
    else:
        base = _HEADS_END.split(f"{what} ")[0].strip()
    if re.search(r"\b(?:an?|the)\b", base):
        return None
    if how in ("that", "which") and rest.split()[0] not in _VERBS | _AUXILIARIES:
        return None
    head = base.split()[-1].lower() if base.split() else ""
    good = head.isalpha() and tag_words([head]) in ("n", "N") and head not in _VAGUE and not head.endswith("s")
    if not good or not _are_adjectives(base) or len(base.split()) > 7 or len(rest.split()) > _LONG:
        return None
    if _POINTING.search(f"{what} {rest}") or _ENDLESS.search(rest or what) or _ENDLESS.search(what):
        return None
    if rest.count(",") > 3 or re.search(
        r" and (?:is|was|has|can)\b|, (?:but|while|whereas|although|so|and (?:it|is|was))\b", rest
    ):
        return None
    if match["article"].lower() == "the":
        what, head, how, rest = f"the {match['what']}", "", "", ""
    return Described(match["name"], what, head, how, rest, chunk.id, sentence)


def _are_adjectives(base: str) -> bool:
    """Whether what commas and "and" part before the last words of a kind are single adjectives (small, free)."""
    *parts, _ = re.split(r",? and |, ", base)
    return all(
        len(p.split()) == 1 and (tag_words([p.lower()]) == "J" or "-" in p or not known_form(fold(p))) for p in parts
    )


def _read_act(sentence: str, chunk: Chunk) -> Acting | None:
    plain = sentence.rstrip(".")
    if passive := _PASSIVE.fullmatch(plain):
        match, verb = passive, f"is {passive['verb']}"
    elif (found := _DOES.fullmatch(plain)) and found["verb"] in _VERBS:
        match, verb = found, found["verb"]
    else:
        return None
    if not _is_name(match["name"], chunk.document):
        return None
    rest = match["rest"]
    purpose = _PURPOSE.search(rest)
    thing = rest[: purpose.start()] if purpose else rest
    behind = rest[purpose.start() :].strip() if purpose else ""
    if _POINTING.search(rest) or _ENDLESS.search(rest) or _ENDLESS.search(thing) or len(rest.split()) > _LONG:
        return None
    if re.search(r", (?:but|while|whereas|although|so|and)\b| (?:that|which|if|when|because|unless|as) ", rest):
        return None
    if verb in _GRANTING or (behind.startswith("to ") and tag_words(behind.split()[:2])[-1] not in "bn"):
        return None
    if thing.split()[0].lower() in _LISTS["unnamed"] and len(thing.split()) < 3:
        return None
    if thing.split()[0].lower() in ("to", "by", "that", "as", "with", "in", "from", "not") or "," in thing:
        return None
    return Acting(match["name"], verb, thing, behind, chunk.id, sentence)


def _long_kind(one: Described) -> str:
    """What stands for the name: the kind with its clause."""
    return f"{one.what} {one.how} {one.clause}".strip()


def _names_in(text: str, by: Mapping[str, Described]) -> list[str]:
    """The described things that a text names, folded, in the text's order."""
    words = [m[0].strip(".") for m in re.finditer(r"[^\W_][\w.+\-]*", text)]
    runs = [" ".join(words[i : i + n]) for i in range(len(words)) for n in (3, 2, 1)]
    return list(dict.fromkeys(name for name in map(fold, runs) if name in by))


def reads_well(question: str, answers: Sequence[str] = ()) -> bool:
    """Whether an English question that a template made is a sentence: a finite verb behind its question word, whole.

    What is quoted in it may say what it likes. It speaks of no release that it does not name (the default; What will),
    splices no figures by commas, and asks for nobody by What. None of its `answers` begins with an adverb, a
    preposition or a form of a verb that slipped into a name.
    """
    if any(_SLIPPED.match(a) and known_form(fold(a.split()[0])) for a in answers):
        return False
    plain = re.sub(r"“[^”]*”", "this", question)
    asked = re.match(r"(?:Who|What) (?P<first>[^\s?]+)(?P<rest>[^?]*)\?$", plain)
    if len(plain.split()) > _LONGEST or _BROKEN.search(plain) or re.search(r";|\b(?:however|e\.g|i\.e)\b", plain):
        return False
    if _ENDLESS.search(plain.rstrip("?").strip()) or re.search(r"[<>*`|\\{}\[\]=~^]|\.\.|\(\d\)", plain):
        return False
    if _PASSING.search(plain) or _SPLICED.search(plain) or _LEGAL.search(plain):
        return False
    if asked and plain.startswith("What ") and asked["first"] in _LISTS["of-persons"]:
        return False
    return not asked or tag_words([asked["first"]]) not in ("b", "N", "n", "i", "d", "J")
