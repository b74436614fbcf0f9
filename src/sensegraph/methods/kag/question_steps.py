"""A question taken apart into steps by rules, where no model does, and the values in texts that answer a step.

paper: Liang et al. 2024 (KAG) asks a model for a plan, and lets it write the value of a variable. The rules here are
English: relations of relations ("the director of the film that …"), comparisons, judgements on two things, and what two
conditions share; what no rule covers is one step. A value is a name that the graph knows, so that the next step can
start from it, a date or a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sensegraph.index.index import Index
from sensegraph.language.naming_words import HEADS
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import fold, list_stems, tag_words
from sensegraph.language.word_lists import ENGLISH_MONTHS, ENGLISH_WEEKDAYS, read_lexicon, read_sections, stop_words
from sensegraph.methods.kag.calculation import Scalar, read_date, read_number, write_value
from sensegraph.retrieval.signals import entities_named_in
from sensegraph.runtime.results import take_records

MOST_PARTS = 4  # things that a question may leave unnamed
_WORDS = read_lexicon("subquestions")


@dataclass(frozen=True, slots=True)
class Sketch:
    """The lines of a plan, to be parsed, and the rule that made them; `single` where none covers the question."""

    lines: tuple[str, ...]
    rule: str


def sketch_plan(question: str) -> Sketch:
    """The plan that the first rule that fits makes of a question."""
    plain = " ".join(question.split())
    rules = {"comparison": _plan_comparison, "judgement": _plan_judgement, "intersection": _plan_intersection}
    for rule, make in rules.items():
        if lines := make(plain):
            return Sketch(tuple(lines), rule)
    # steps for what is only described, the innermost first, and the question with the results in their places
    steps: list[str] = []
    while len(steps) < MOST_PARTS and (part := _innermost_description(plain)):
        begin, end, asked = part
        rest = f"{plain[:begin]}#{len(steps) + 1}{plain[end:]}"
        words = re.findall(r"[A-Za-z]+", re.sub(r"#\d+", "", rest))
        # nothing is asked for beside the parts that were taken out
        if all(w.casefold() in _WORDS["empty"] for w in words):
            break
        steps.append(asked)
        plain = rest
    return Sketch((*steps, plain), "bridge" if steps else "single")


# ── relations of relations ──


_KIN = "|".join(sorted(_WORDS["kin"]))
_SMALL = r"(?:of|the|and|de|du|in|for|a|an|von|van|la|le|to|on|with|at|und|y|&)"
_WORD = r"(?:[A-ZÀ-ÖØ-Þ0-9][\w.'’&!:/-]*|\([\w\s]+\)|[–&])"
_NAME = rf"(?:#\d+|{_WORD}(?:,?\s+(?:{_SMALL}\s+){{0,2}}{_WORD})*)"
_OWNED = re.compile(rf"(?:\bthe\s+)?(#\d+|{_WORD}(?:,?\s+(?:{_SMALL}\s+){{0,2}}{_WORD})*?)['’]s?\s+({_KIN})\b(?!-)")
_OF = re.compile(
    rf"\b(?:the|an?)\s+((?:[a-z-]+\s+)?(?:{_KIN}))\s+(?:of|for)\s+"
    rf"(?:(?:the\s+)?(?:song|film|movie|book|album|novel|show|series|play|band|work|TV series)\s+)?({_NAME})"
)
_RELATIVE = re.compile(
    r"\b(?:[Tt]he|[Aa]n?)\s+((?:(?!of\b|the\b|in\b|that\b|which\b|who\b|whose\b|where\b)[\w'-]+\s+){1,3}?)"
    r"(that|which|who|whom|whose|where|when|(?:in|to|on|of|from|for|by|at)\s+(?:which|whom)"
    r"|with(?=\s+the))\s+"
)
_BARE = re.compile(rf"\b(?:the|an?)\s+((?:[a-z-]+\s+){{1,2}}?)({_NAME}\s+([a-z]+)\b[^,?]*)")
_BY = re.compile(
    rf"\b(?:[Tt]he|[Aa]n?)\s+([a-z-]+)\s+(([a-z]+ing\s+|([a-z]+)\s+(?:by|in|at|on|for|as|from|after)\s+){_NAME})"
)
_INVERTED = re.compile(r"\b(?:did|does|do|will|would|can|could)\s+(?:the|an?)?\s*$", re.I)


def _innermost_description(text: str) -> tuple[int, int, str] | None:
    """The last description that holds no other, as its span and the question for it."""
    return max(_find_descriptions(text), key=lambda f: (f[0], -f[1]), default=None)


def _find_descriptions(text: str) -> Iterator[tuple[int, int, str]]:
    """Spans that describe something unnamed, and the questions for them: by a clause, then by other phrases."""
    for match in _RELATIVE.finditer(text):
        inverted = _is_inverted(text, match.start())
        clause = _read_clause(text[match.end() :], inverted=inverted, verbless=match[2] == "with")
        if not clause.strip() or _RELATIVE.search(clause):
            continue
        what, pronoun = match[1].strip(), match[2]
        joint = {"whose": "'s", "with": " has"}
        asked = f"Which {what}{joint.get(pronoun, '')} {clause.strip()}?"
        yield match.start(), match.end() + len(clause), asked
    for match in _OF.finditer(text):
        yield match.start(), match.end(), f"Who or what is the {match[1]} of {match[2]}?"
    for match in _OWNED.finditer(text):
        yield match.start(), match.end(), f"Who or what is the {match[2]} of {match[1]}?"
    for match in _BARE.finditer(text):
        if tag_words([match[3]]) in "vp" and not re.search(r"\b(?:that|which|who)\b", match[2]):
            end = match.start(2) + len(_read_clause(match[2], inverted=_is_inverted(text, match.start())))
            yield match.start(), end, f"Which {match[1].strip()} {text[match.start(2) : end].strip()}?"
    for match in _BY.finditer(text):
        if not match[4] or tag_words([match[4]]) in "vp":
            yield match.start(), match.end(), f"Which {match[1]} {match[2]}?"


def _is_inverted(text: str, start: int) -> bool:
    """Whether the description is the subject of a question whose main verb comes after it, in its base form."""
    return _INVERTED.search(text[:start]) is not None


def _read_clause(text: str, *, inverted: bool, verbless: bool = False) -> str:
    """The beginning of `text` that is one clause: up to a comma, the end, or the verb of the clause around it."""
    has_verb, after_verb, named, end = verbless, False, False, len(text.rstrip(" ?."))
    found = [m for m in re.finditer(r"[\w'’-]+|[,;?]", text) if m.start() < end]
    letters = [*(tag_words([m[0]]) for m in found), "."]
    for i, match in enumerate(found):
        word, start, letter, before = match[0], match.start(), letters[i], letters[i - 1] if i else ""
        if word in ",;?":
            following = text[match.end() :].lstrip()
            if has_verb and not re.match(r"[A-ZÀ-Þ]", following):
                return text[:start]
            continue
        plain = word.islower()
        begun = not has_verb and (letter == "b" or (letter == "n" and not i))  # what many do has the base form
        finite = plain and ((letter in "vm" and word[-2:] != "ed") or (not after_verb and (letter in "vmp" or begun)))
        finite = finite or (not has_verb and word.endswith("s") and plain and named)
        named = not plain
        # a noun or adjective may be the verb of the clause around, where neither before nor after it one would stand
        other = letter in "nJ" and not after_verb and before not in "dJsi" and letters[i + 1] in ".itdr#X"
        base = plain and (letter == "b" or other)
        if has_verb and ((finite and not after_verb) or (inverted and base)):
            return text[:start].rstrip()
        has_verb = has_verb or finite
        after_verb = finite or word in ("to", "be", "been", "being") or (after_verb and letter == "r")
    return text[:end]


# ── comparisons, judgements, intersections ──


_OPTIONS = re.compile(r"^(?P<stem>.+?),\s*(?:between\s+)?(?P<a>[^,]+?),?\s+or\s+(?P<b>[^,?]+)\s*\?*$")
_BETWEEN = re.compile(
    r"(?i)^(?P<stem>(?:which|who|what)\b.*?)\s+(?:of|between)\s+(?P<a>[A-Z#][^,?]*?)\s+(?:and|or)\s+(?P<b>[A-Z#][^,?]*?)"
    r"(?P<rest>\s+(?:has|have|had|is|was|were|are)\b[^?]*)?\?*$"
)
_MORE = re.compile(
    r"(?i)\b(?:first|earlier|earliest|later|last|older|oldest|younger|youngest|longer|larger|largest|bigger|taller|higher"
    r"|more|most|fewer|less|recently|lower|smaller|shorter|before|after)\b"
)
_WHEN = re.compile(r"\b(?:older|oldest|younger|youngest|born)\b", re.I)
_MAKER = re.compile(r"\b(director|performer|author|composer|producer|founder|creator|singer|writer)s?\b", re.I)
_BOTH = re.compile(
    r"(?i)^(?P<verb>are|were|is|was|do|did|does|have|has)\s+(?P<a>.+?)\s+and\s+"
    rf"(?P<b>(?:(?:the\s+)?{_MAKER.pattern}\s+of\s+)?.+?)\s+"
    r"(?P<rest>(?:both|from|of|share|have|located|in|the same|based|made|live|work|die|born|directed|released|also)\b"
    r".*?)"
    r"\s*\?*$"
)
_JOIN = re.compile(
    r"(?i)^(?:which|what|name the|list the)\s+(?P<what>[\w-]+(?:\s[\w-]+)?)\s+(?:that\s+|which\s+|who\s+)?"
    r"(?P<one>(?P<verb>\w+)\b.+?)\s+and\s+(?:that\s+|which\s+|who\s+)?(?:also\s+)?"
    r"(?P<two>(?:is|are|was|were|has|have|had|also|[a-z]+ed|[a-z]+s)\s.+?)[\s?.]*$"
)
_ALIKE = re.compile(r"\b(?:both|the same|share|from|located|in|of|have|originate|the (?:director|performer)s?)\b")
_EACH = re.compile(r"^(?:both\s+)?(?:the\s+)?(?:(?:films?|movies?|songs?|bands?|books?|albums?)\b,?\s+)?", re.I)


def _plan_comparison(question: str) -> list[str]:
    """Which of two has more of something: the something of each, then the choice."""
    found = _OPTIONS.match(question) or _BETWEEN.match(question)
    if not found or not _MORE.search(question):
        return []
    stem = f"{found['stem']}{found.groupdict().get('rest') or ''}"
    options = [found["a"].strip(), found["b"].strip()]
    more, maker = _MORE.search(stem), _MAKER.search(stem)
    lines = [f"{o} >> {maker[1]}" for o in options] if maker else []
    subjects = ["#1", "#2"] if maker else options
    if _WHEN.search(stem):
        lines += [f"When was {s} born?" for s in subjects]
    else:
        asked = re.sub(r"^(?:which|who|what)\s+(?:one\s+|of\s+)?", "", stem, flags=re.I)
        asked = asked.replace("{", "").replace("}", "")
        lines += [f"{s}: when or how much, {asked}?" for s in subjects]
    last, measure = len(lines), more[0] if more else "first"
    return [*lines, f"Deduce(op=choice, content=`{measure}: {' | '.join(options)}`, inputs=#{last - 1} #{last})"]


def _plan_judgement(question: str) -> list[str]:
    """Whether two things are alike in something: the something of each, then the judgement."""
    found = _BOTH.match(question)
    if not found:
        return []
    options, rest = [_EACH.sub("", found[n]).strip(" ,") for n in "ab"], found["rest"]
    if maker := _MAKER.search(rest) or _MAKER.search(found["a"]):
        options = [_EACH.sub("", re.sub(rf"^{maker[1]}s?\s+of\s+", "", o, flags=re.I)) for o in options]
    about = " ".join(_ALIKE.sub("", rest).split()) or "kind"
    if maker and not maker[1].casefold().startswith(about.casefold()[:4]):
        lines = [f"{o} >> {maker[1]}" for o in options] + [f"What is the {about} of #{n}?" for n in (1, 2)]
    else:
        lines = [f"What is the {about} of {o}?" for o in options]
    return [*lines, f"Deduce(op=judgement, content=`the same {about}`, inputs=#{len(lines) - 1} #{len(lines)})"]


def _plan_intersection(question: str) -> list[str]:
    """What meets two conditions: what meets each, then what both have."""
    found = _JOIN.match(question)
    if (
        not found
        or tag_words([found["verb"]]) not in "bvp"
        or _innermost_description(found["one"])
        or _innermost_description(found["two"])
    ):
        return []
    what = found["what"]
    return [f"Which {what} {found['one']}?", f"Which {what} {found['two']}?", "Math(content=`both(#1, #2)`)"]


_SECTIONS = read_sections("lexicons/subquestions").items()
_KINDS = {name[5:]: re.compile("|".join(lines), re.I) for name, lines in _SECTIONS if name.startswith("kind ")}
_CUES, _FORMS = (
    {name.removeprefix(kind): words for name, words in _WORDS.items() if name.startswith(kind)}
    for kind in ("cues ", "forms ")
)
_ALSO = {"person": "organization", "place": "organization", "organization": "place"}  # what may stand for it
_BRACKET = re.compile(r"\s*\([^()]*\)\s*$")
_DONE = re.compile(r"(?:e[rd]|or|ing|ion|e|s)$")  # the director directs
_BEGINNING = 4  # letters from which the beginning of a word tells it
_MONTH = re.compile(
    rf"(?i)(?:{'|'.join((*ENGLISH_MONTHS, *ENGLISH_WEEKDAYS))}|north|south|east|west|central|upper|lower|northwest"
    r"|eastern|western)$"
)
_ADJECTIVE = re.compile(r"\w+(?:[^g]ian|can|ean|ish|ese|ench|utch)s?$")


@dataclass(frozen=True, slots=True)
class SaidSentence:
    """A sentence with how well its passage fits, 0–1, and the title that it stands under."""

    text: str
    weight: float
    title: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that may answer, with its share of all that may."""

    value: str
    score: float


def kind_wanted(question: str) -> str:
    """The kind of thing that a sub-question asks for: when, number, place, person, organization, work, or nothing."""
    found = [(m.start(), i, kind) for i, (kind, rule) in enumerate(_KINDS.items()) if (m := rule.search(question))]
    return min(found)[2] if found else ""


def list_cues(question: str) -> frozenset[str]:
    """Words, and beginnings of words, that stand near an answer.

    They are what a question calls the relation, in its other forms too, and the prepositions before what it asks for.
    """
    left_out = HEADS | stop_words("en")  # what is asked for is no relation: a county
    own = [w for w in re.findall(r"[a-z]+", question) if len(w) >= _BEGINNING and w not in left_out]
    found = {_DONE.sub("", w) for w in own} | _CUES.get(kind_wanted(question), frozenset())
    return frozenset(found.union(*(_FORMS[w] for w in own if w in _FORMS)))


def split_passages(passages: Sequence[tuple[str, str, float]]) -> list[SaidSentence]:
    """The sentences of passages given as title, text and weight."""
    return [
        SaidSentence(text[a:b], weight, title) for title, text, weight in passages for a, b in split_sentences(text)
    ]


def find_values(
    question: str, said: Sequence[SaidSentence], index: Index, *, told: bool = False, most: int = 5
) -> list[Candidate]:
    """What the sentences offer as an answer, best first, with shares that sum to 1.

    `told` says that they are an answer already; else each counts as far as it holds the words of the question.
    """
    kind = kind_wanted(question)
    own = [s for s in dict.fromkeys(list_stems(question)) if s]
    idf = {s: index.words.idf(s) for s in own}
    cues = list_cues(question)
    asked = f" {_spaced_words(question)} "
    found: dict[str, float] = {}
    for sentence in said:
        titled = 2.0 if sentence.title and _stands_in_question(_BRACKET.sub("", sentence.title), asked) else 1.0
        fit = sentence.weight
        if not told:  # as far as it holds the words of the question
            there = frozenset(list_stems(f"{sentence.title} {sentence.text}"))
            fit = fit * titled * sum(w for s, w in idf.items() if s in there)
        if fit <= 0:
            continue
        for value, share in _offer_values(question, sentence, kind, cues, index):
            found[value] = max(found.get(value, 0.0), fit * share)
    ranked = sorted(found.items(), key=lambda x: (-x[1], x[0]))[:most]
    whole = sum(score for _, score in ranked)
    return [Candidate(value, score / whole) for value, score in ranked]


def _offer_values(
    question: str, sentence: SaidSentence, kind: str, cues: frozenset[str], index: Index
) -> Iterator[tuple[str, float]]:
    readers: dict[str, Callable[[str], Scalar | None]] = {"when": read_date, "number": read_number}
    if kind in readers:
        if found := readers[kind](sentence.text):
            yield write_value(found), 1.0
        return
    asked = f" {_spaced_words(question)} "
    heads = (HEADS | _WORDS["wide"]).intersection(re.findall(r"[a-z]+", question))
    named = take_records(index.graph.entities, entities_named_in(sentence.text, index))
    entities = [e for e in named if not _stands_in_question(e.name, asked)]
    wide = [e for e in entities if e.type == "place" and not _MONTH.match(e.name)] if heads & _WORDS["wide"] else []
    for i, entity in enumerate(entities):
        later = (1 + wide.index(entity)) / len(wide) if entity in wide else 1 / (1 + 0.1 * i)
        if entity.type == "concept":
            fit = 0.05
        elif not kind:
            fit = 0.5
        else:
            fit = 1.0 if entity.type == kind else 0.4 if entity.type in ("other", _ALSO.get(kind)) else 0.15
        fits = fit * _weigh_cue_distance(sentence.text, entity.name, cues) * later
        yield entity.name, fits * _weigh_name(entity.name, heads)


def _stands_in_question(name: str, question: str) -> bool:
    """Whether a name stands in the question, as words between blanks."""
    return f" {_spaced_words(name)} " in question


def _weigh_name(name: str, heads: frozenset[str]) -> float:
    """More where the name says what it is (`Avery County`, for a county), little for a month or an adjective."""
    if _MONTH.match(name) or _ADJECTIVE.match(name):
        return 0.15
    words = frozenset(_spaced_words(name).split())
    if heads & words:
        return 1.6
    return 0.4 if heads and (HEADS & words) - heads else 1.0


def _spaced_words(text: str) -> str:
    return " ".join(re.findall(r"\w+", fold(text)))


def _weigh_cue_distance(text: str, name: str, cues: frozenset[str]) -> float:
    """How near a name stands to a word that tells the relation: 1 beside it, at least ½."""
    if not cues:
        return 0.75
    start = text.find(name)
    before = [w.casefold() for w in re.findall(r"\w+", text[: max(start, 0)])][-6:]
    after = [w.casefold() for w in re.findall(r"\w+", text[start + len(name) :])][:3]
    for gap, word in enumerate(reversed(before)):
        if _tells_relation(word, cues):
            return 1.0 - 0.06 * gap
    return 0.65 if any(_tells_relation(word, cues) for word in after) else 0.5


def _tells_relation(word: str, cues: frozenset[str]) -> bool:
    return any(word == c if len(c) < _BEGINNING else word.startswith(c) for c in cues)
