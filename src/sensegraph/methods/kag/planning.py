"""A question taken apart by rules, where no model does: what stands for something unnamed becomes a step of its own.

paper: Liang et al. 2024 (KAG) asks a model for a plan. The rules are English: relations of relations ("the director of
the film that …"), comparisons, judgements on two things, and what two conditions share. What no rule covers is one
step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_PARTS = 4  # things that a question may leave unnamed
_EMPTY = frozenset("who what which is was the are were a an in of name where".split())


@dataclass(frozen=True, slots=True)
class Sketch:
    """The lines of a plan, to be parsed, and the rule that made them; `single` where none covers the question."""

    lines: tuple[str, ...]
    rule: str


def sketch_plan(question: str) -> Sketch:
    """The plan that the first rule that fits makes of a question."""
    plain = " ".join(question.split())
    for rule, make in (
        ("comparison", _plan_comparison),
        ("judgement", _plan_judgement),
        ("intersection", _plan_intersection),
    ):
        if lines := make(plain):
            return Sketch(tuple(lines), rule)
    # steps for what is only described, the innermost first, and the question with the results in their places
    steps: list[str] = []
    while len(steps) < MOST_PARTS and (part := _innermost_description(plain)):
        begin, end, asked = part
        rest = f"{plain[:begin]}#{len(steps) + 1}{plain[end:]}"
        words = re.findall(r"[A-Za-z]+", re.sub(r"#\d+", "", rest))
        if all(w.casefold() in _EMPTY for w in words):  # nothing is asked for beside the parts that were taken out
            break
        steps.append(asked)
        plain = rest
    return Sketch((*steps, plain), "bridge" if steps else "single")


# ── relations of relations ──


_KIN = (
    "(?:mother|father|child|son|daughter)-in-law|(?:pa|ma)ternal grand(?:father|mother)"
    "|author|writer|performer|singer|director|producer|composer|creator|founder|owner|publisher|publishers|developer"
    "|designer|spouse|wife|husband|father|mother|parent|son|daughter|child|children|brother|sister|sibling|birthplace"
    "|hometown|country|state|city|town|county|continent|team|band|label|company|employer|school|university|manufacturer"
    "|maker|president|leader|capital|artist|editor|screenwriter|architect|inventor|narrator|host|star|distributor"
    "|headquarters|successor|predecessor|author|subject|place of birth|place of death|birth place|main director"
    "|grandfather|grandmother|stepfather|stepmother|uncle|aunt"
)
_SMALL = r"(?:of|the|and|de|du|in|for|a|an|von|van|la|le|to|on|with|at|und|y|&)"
_WORD = r"(?:[A-ZÀ-ÖØ-Þ0-9][\w.'’&!:/-]*|\([\w\s]+\)|[–&])"
_NAME = rf"(?:#\d+|{_WORD}(?:,?\s+(?:{_SMALL}\s+){{0,2}}{_WORD})*)"
_OWNED = re.compile(rf"(?:\bthe\s+)?(#\d+|{_WORD}(?:,?\s+(?:{_SMALL}\s+){{0,2}}{_WORD})*?)['’]s?\s+({_KIN})\b(?!-)")
_OF = re.compile(
    rf"\b(?:the|an?)\s+((?:[a-z-]+\s+)?(?:{_KIN}))\s+(?:of|for)\s+"
    rf"(?:(?:the\s+)?(?:song|film|movie|book|album|novel|show|series|play|band|work|TV series)\s+)?({_NAME})"
)
_RELATIVE = re.compile(
    r"\b(?:[Tt]he|[Aa]n?)\s+((?:(?!of\b|the\b|in\b|that\b|which\b|who\b|whose\b|where\b|border\b)[\w'-]+\s+){1,3}?)"
    r"(that|which|who|whom|whose|where|when|(?:in|to|on|of|from|for|by|at)\s+(?:which|whom)"
    r"|with(?=\s+the)|named after|known as)\s+"
)
_BARE = re.compile(
    rf"\b(?:the|an?)\s+((?:[a-z-]+\s+){{1,2}}?)({_NAME}\s+(?:is|was|were|are|belongs?|lived?|died?|played?|plays|comes?|came"
    r"|holds?|held|signed|joined|carried|attended|works?|worked|won|plays|resides|originated|takes)\b[^,?]*)"
)
_BY = re.compile(
    rf"\b(?:[Tt]he|[Aa]n?)\s+([a-z-]+)\s+((?:containing|premiering|ruling|starring|featuring|owning|hosting)\s+{_NAME}"
    rf"|(?:[a-z]+ed|written|made|sung|led|won|built|born|set|held|known|run)\s+"
    rf"(?:by|in|at|on|for|as|from|after)\s+{_NAME})"
)
_FINITE = frozenset(
    "is are was were has have had did does do will would can could became becomes borders border won wrote made held "
    "died lived went came gave took played plays led ruled began begins start starts end ends contains includes "
    "refers belongs flows runs serves comes shares share stands lies".split()
)
_BASE = frozenset(
    "make become leave open dissolve start fall attend play die release join win stop take begin end refuse carry host "
    "have handle happen form live work write direct receive get gain move go come use sign lose enter belong study "
    "graduate marry serve refer border contain appear close change declare establish found grow hold invade introduce "
    "last mean occur own produce publish purchase record represent retire return sell separate share speak star "
    "surrender turn visit vote occupy".split()
)
_BETWEEN_VERBS = frozenset(("not", "also", "first", "still", "considered"))
_INVERTED = re.compile(r"\b(?:did|does|do|will|would|can|could)\s+(?:the|an?)?\s*$", re.I)


def _innermost_description(text: str) -> tuple[int, int, str] | None:
    """The last description that holds no other, as its span and the question for it."""
    proper = [f for f in _find_descriptions(text) if f[0] > 0 or f[1] < len(text.rstrip(" ?.")) - 1]
    return max(proper, key=lambda f: (f[0], -f[1]), default=None)


def _find_descriptions(text: str) -> Iterator[tuple[int, int, str]]:
    """Spans that describe something unnamed, and the questions for them: by a clause, then by other phrases."""
    for match in _RELATIVE.finditer(text):
        clause = _read_clause(
            text[match.end() :], inverted=_is_inverted(text, match.start()), verbless=match[2] == "with"
        )
        if not clause.strip() or _RELATIVE.search(clause):
            continue
        what, pronoun = match[1].strip(), match[2]
        joint = {"whose": "'s", "with": " has", "named after": " is named after", "known as": " is known as"}
        asked = f"Which {what}{joint.get(pronoun, '')} {clause.strip()}?"
        yield match.start(), match.end() + len(clause), asked
    for match in _OF.finditer(text):
        yield match.start(), match.end(), f"Who or what is the {match[1]} of {match[2]}?"
    for match in _OWNED.finditer(text):
        yield match.start(), match.end(), f"Who or what is the {match[2]} of {match[1]}?"
    for match in _BARE.finditer(text):
        if not re.search(r"\b(?:that|which|who)\b", match[2]):
            end = match.start(2) + len(_read_clause(match[2], inverted=_is_inverted(text, match.start())))
            yield match.start(), end, f"Which {match[1].strip()} {text[match.start(2) : end].strip()}?"
    for match in _BY.finditer(text):
        yield match.start(), match.end(), f"Which {match[1]} {match[2]}?"


def _is_inverted(text: str, start: int) -> bool:
    """Whether the description is the subject of a question whose main verb comes after it, in its base form."""
    return _INVERTED.search(text[:start]) is not None


def _read_clause(text: str, *, inverted: bool, verbless: bool = False) -> str:
    """The beginning of `text` that is one clause: up to a comma, the end, or the verb of the clause around it."""
    verbs, after_verb, named, end = int(verbless), False, False, len(text.rstrip(" ?."))
    for match in re.finditer(r"[\w'’-]+|[,;?]", text):
        word, start = match[0], match.start()
        if start >= end:
            break
        if word in ",;?":
            following = text[match.end() :].lstrip()
            if verbs and not re.match(r"[A-ZÀ-Þ]", following):
                return text[:start]
            continue
        finite = word in _FINITE or (word.endswith("ed") and word.islower() and not after_verb)
        finite = finite or (not verbs and word.endswith("s") and word.islower() and named)
        named = not word.islower() or word.isdigit()
        if verbs and ((finite and not after_verb) or (inverted and word in _BASE)):
            return text[:start].rstrip()
        if finite:
            verbs += 1
        after_verb = finite or word in ("to", "be", "been", "being") or (after_verb and word in _BETWEEN_VERBS)
    return text[:end]


# ── comparisons, judgements, intersections ──


_OPTIONS = re.compile(r"^(?P<stem>.+?),\s*(?:between\s+)?(?P<a>[^,]+?),?\s+or\s+(?P<b>[^,?]+)\s*\?*$")
_BETWEEN = re.compile(
    r"^(?P<stem>(?:which|who|what)\b.*?)\s+(?:of|between)\s+(?P<a>[A-Z#][^,?]*?)\s+(?:and|or)\s+(?P<b>[A-Z#][^,?]*?)"
    r"(?P<rest>\s+(?:has|have|had|is|was|were|are)\b[^?]*)?\?*$",
    re.I,
)
_MORE = re.compile(
    r"\b(?:first|earlier|earliest|later|last|older|oldest|younger|youngest|longer|larger|largest|bigger|taller|higher"
    r"|more|most|fewer|less|recently|lower|smaller|shorter|before|after)\b",
    re.I,
)
_WHEN = re.compile(r"\b(?:older|oldest|younger|youngest|born)\b", re.I)
_BOTH = re.compile(
    r"^(?P<verb>are|were|is|was|do|did|does|have|has)\s+(?P<a>.+?)\s+and\s+(?P<b>.+?)\s+"
    r"(?P<rest>(?:both|from|of|share|have|located|in|the same|based|made|live|work|die|born|directed|released|also)\b"
    r".*?)"
    r"\s*\?*$",
    re.I,
)
_JOIN = re.compile(
    r"^(?:which|what|name the|list the)\s+(?P<what>[\w-]+(?:\s[\w-]+)?)\s+(?:that\s+|which\s+|who\s+)?"
    r"(?P<one>(?:\w+s|\w+ed|are|were|have|inhibit|treat|cause|use)\b.+?)\s+and\s+(?:that\s+|which\s+|who\s+)?(?:also\s+)?"
    r"(?P<two>(?:is|are|was|were|has|have|had|also|[a-z]+ed|[a-z]+s)\s.+?)\s*\?*$",
    re.I,
)
_EACH = re.compile(r"^(?:both\s+)?(?:the\s+)?(?:(?:films?|movies?|songs?|bands?|books?|albums?)\b,?\s+)?", re.I)
_MAKER = re.compile(r"\b(director|performer|author|composer|producer|founder|creator|singer|writer)s?\b", re.I)


def _plan_comparison(question: str) -> list[str]:
    """Which of two has more of something: the something of each, then the choice."""
    found = _OPTIONS.match(question) or _BETWEEN.match(question)
    if not found or not _MORE.search(question):
        return []
    stem = f"{found['stem']}{found.groupdict().get('rest') or ''}"
    options = [found["a"].strip(), found["b"].strip()]
    measure = f"{_MORE.search(stem)[0] if _MORE.search(stem) else 'first'}"  # type: ignore[index]
    maker = _MAKER.search(stem)
    lines = [f"{o} >> {maker[1]}" for o in options] if maker else []
    subjects = ["#1", "#2"] if maker else options
    if _WHEN.search(stem):
        lines += [f"When was {s} born?" for s in subjects]
    else:
        asked = re.sub(r"^(?:which|who|what)\s+(?:one\s+|of\s+)?", "", stem, flags=re.I)
        asked = asked.replace("{", "").replace("}", "")
        lines += [f"{s}: when or how much, {asked}?" for s in subjects]
    last = len(lines)
    return [*lines, f"Deduce(op=choice, content=`{measure}: {' | '.join(options)}`, inputs=#{last - 1} #{last})"]


def _plan_judgement(question: str) -> list[str]:
    """Whether two things are alike in something: the something of each, then the judgement."""
    found = _BOTH.match(question)
    if not found:
        return []
    options, rest = [_EACH.sub("", found[n]).strip(" ,") for n in "ab"], found["rest"]
    if maker := _MAKER.search(rest) or _MAKER.search(found["a"]):
        options = [_EACH.sub("", re.sub(rf"^{maker[1]}s?\s+of\s+", "", o, flags=re.I)) for o in options]
    about = re.sub(
        r"\b(?:both|the same|share|from|located|in|of|have|originate|the (?:director|performer)s?)\b", "", rest
    )
    about = " ".join(about.split()) or "kind"
    if maker and not maker[1].casefold().startswith(about.casefold()[:4]):
        lines = [f"{o} >> {maker[1]}" for o in options] + [f"What is the {about} of #{n}?" for n in (1, 2)]
    else:
        lines = [f"What is the {about} of {o}?" for o in options]
    return [*lines, f"Deduce(op=judgement, content=`the same {about}`, inputs=#{len(lines) - 1} #{len(lines)})"]


def _plan_intersection(question: str) -> list[str]:
    """What meets two conditions: what meets each, then what both have."""
    found = _JOIN.match(question)
    if not found or _innermost_description(found["one"]) or _innermost_description(found["two"]):
        return []
    what = found["what"]
    return [f"Which {what} {found['one']}?", f"Which {what} {found['two']}?", "Math(content=`both(#1, #2)`)"]
