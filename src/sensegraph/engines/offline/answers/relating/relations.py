"""Answers to who or what stands in a relation to something: the other ends of sentences that say so, right way round.

"Who founded the club?" is answered by "Ann Lee founded the club" and by "the club was founded by Ann Lee", not by what
the club founded. Who acts stands before an active verb, and behind "by". A few verbs hold either way round.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence
from sensegraph.engines.offline.answers.question_text import split_question
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, differs_from
from sensegraph.language.asking.answer_types import find_answer_type
from sensegraph.language.asking.kinds import find_list, is_plural
from sensegraph.language.text import fold, tag_words
from sensegraph.language.word_lists import read_sections

_SECTIONS = read_sections("patterns/relations")
_OBJECT = "".join(_SECTIONS["object"])
_RULES = {name: re.compile("".join(_SECTIONS[name]), re.IGNORECASE) for name in ("subject", "agent", "patient")}
_NO_VERBS = frozenset(" ".join(_SECTIONS["no verbs"]).split())
_EITHER = frozenset(" ".join(_SECTIONS["either way"]).split())
_FORMS = [line.split() for line in _SECTIONS["forms"]]
_BY = re.compile(r"\s+(?:\w+ly\s+)?(?:in\s+\d{4}\s+)?by\s+")
_BE = re.compile(r"\b(?:is|are|was|were|been|being|be)\s+(?:\w+ly\s+)?$", re.IGNORECASE)
_PARTED = re.compile(r"[.;:!?]\s|\b(?:but|although|whereas|because)\b")
CLAUSE = 70  # characters between a verb and a name that belong together
CLOSE = 30  # characters between the verb and the name of who acts
FEWEST, MOST = 2, 12


@dataclass(frozen=True, slots=True)
class AskedRelation:
    """A verb with a name at one end: `acts` says that the name is who acts, and the other end is asked for."""

    kind: str
    verb: re.Pattern[str]
    name: re.Pattern[str]
    acts: bool
    either: bool


@dataclass(frozen=True, slots=True)
class _End:
    names: tuple[str, ...]
    sentence: SourceSentence


def read_asked_relation(question: str) -> AskedRelation | None:
    """The relation that a question asks to follow; None where it asks for something else."""
    text = " ".join(question.split()).strip(" ?？.!")
    letters = tag_words([word.casefold() for word in text.split()])
    place = next((i for i, letter in enumerate(letters[1:5], 1) if letter in "vbp"), 0)
    for role in ("subject", "agent", "patient", "object"):
        if role == "object":  # the first verb: what stands before it is the kind
            own = " ".join(text.split()[1:place])
            rule = _OBJECT.replace("KIND", re.escape(own + " ") if own else "")
            match = re.match(rule, text, re.IGNORECASE) if place else None
        else:
            match = _RULES[role].match(text)
        if match is None or match["verb"].lower() in _NO_VERBS:
            continue
        name = re.sub(r"^(?:the|an?)\s+", "", match["name"], flags=re.IGNORECASE).strip(' ,.“”"‘’')
        if (
            not name
            or len(name.split()) > 5
            or (role == "object" and match["prep"] is None and not re.search(r"(?:^|\s)[A-ZÀ-Þ\d]", name))
        ):
            continue
        verb = match["verb"].lower()
        either = any(re.match(base[:5].removesuffix("y"), verb) for base in _EITHER)
        words = r"\s+".join(map(re.escape, name.split()))
        whole = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)
        return AskedRelation(match["kind"].strip(), write_verb_forms(verb), whole, role in ("subject", "agent"), either)
    return None


def answer_relation(asked: Asked) -> Written | None:
    """The other ends of a relation; None for other questions, and where no sentence says it the right way round."""
    if len(split_question(asked.question)) > 1 or find_answer_type(asked.question) not in ("person", "thing"):
        return None
    if (relation := read_asked_relation(asked.question)) is None:
        return None
    ends = [end for s in asked.sentences if (end := find_other_end(relation, s))]
    named: dict[tuple[str, ...], _End] = {}
    for end in sorted(ends, key=lambda e: (not e.names, e.sentence.order)):
        same = next((k for k in named if end.names and set(map(fold, end.names)) <= set(k)), None)
        if same is None and differs_from(end.sentence, [e.sentence for e in named.values()]):
            named[tuple(map(fold, end.names)) or (end.sentence.raw,)] = end
    several = bool(relation.kind) and is_plural(relation.kind.split()[-1])
    told = list(named.values()) if relation.either else [e for e in named.values() if e.names]
    if not told or (several and sum(max(1, len(e.names)) for e in told) < FEWEST):
        return None
    lines = []
    for i, end in enumerate(told[:MOST]):
        lead = "" if len(told) == 1 else "\n- " if i else "- "
        bold = f"**{', '.join(end.names)}**: " if end.names else ""
        lines.append(end.sentence.cite(f"{lead}{bold}{show_sentence(end.sentence)}"))
    return Written(tuple(lines))


def find_other_end(relation: AskedRelation, one: SourceSentence) -> _End | None:
    """The other end of the relation in a sentence; None where it does not say it, or the other way round."""
    text = one.raw
    for verb in relation.verb.finditer(text):
        for name in relation.name.finditer(text):
            before = name.end() <= verb.start()
            between = text[name.end() : verb.start()] if before else text[verb.end() : name.start()]
            if len(between) > CLAUSE or _PARTED.search(between) or (name.start() < verb.end() and not before):
                continue
            by = _BY.match(text, verb.end())
            passive = by is not None or _BE.search(text[: verb.start()]) is not None
            if not relation.either and ((before != passive) != relation.acts or (passive and by is None)):
                continue
            side = text[: verb.start()] if not before else text[by.end() if by else verb.end() :]
            if before:  # the names that begin close behind the verb
                start, _, names = next(find_list(side), (CLOSE + 1, 0, ()))
                names = names if start <= CLOSE and not re.search(r"[.;:!?]", side[:start]) else ()
            else:  # those that end close before it
                clause = side[max((m.end() for m in re.finditer(r"[.;:!?]\s", side)), default=0) :]
                listed = [names for _, end, names in find_list(clause) if len(clause) - end <= CLOSE]
                names = listed[-1] if listed else ()
            return _End(tuple(n for n in dict.fromkeys(names) if not relation.name.fullmatch(n)), one)
    return None


def write_verb_forms(verb: str) -> re.Pattern[str]:
    """All forms of a verb."""
    groups = [group for group in _FORMS if verb in group]
    if groups:
        listed = [f"{form}{'(?:s|es|ing)?' if form == group[0] else ''}" for group in groups for form in group]
    else:
        base = re.sub(r"(?:ied|ies|ed|es|s|ing|e|y)$", "", verb)
        base = re.sub(r"([bdglmnprt])\1$", r"\1+", base) if verb.endswith(("ed", "ing")) else base
        listed = [rf"{base}(?:e|es|ed|ing|s|y|ies|ied)?"]
    return re.compile(rf"\b(?:{'|'.join(listed)})\b", re.IGNORECASE)
