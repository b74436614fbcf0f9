"""Names, headlines and titles: what a group of sentences says, in few words taken from them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from sensegraph.engines.classical.prose import stems
from sensegraph.engines.classical.words_lists import listed
from sensegraph.text import HAN, WORD

LONGEST = 12  # words in a headline
_PIECES = re.compile(r"[;:—–()“”\"]|,\s|\s--?\s|(?<=[.!?])\s")
_UNSURE = frozenset("if unless when whether suppose until while although though once as because since".split())
_CUTS = frozenset("in on for with by at from into through across during among between over under which who".split())
_QUALIFIES = frozenset("if unless until without except only but than as when whether not never no".split())
_ASKS = frozenset("what which who whom whose how why where that and or nor then also because lets let's".split())
_FIRST_PERSON = frozenset("i i'm i've i'd i'll me my mine you you're you've you'd you'll your yours".split())
_GROUP = frozenset("we we're we've we'd we'll us our ours".split())
_BEFORE = frozenset("of in at from with for by to about on like than and or as into between among".split())
_NO_NAME = re.compile(r"^[\W\d_]*\d[\d\W_]*$|^(?:\w+ )?(?:year|month|week|day|hour|minute|percent)s?$", re.IGNORECASE)


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def natural(name: str, texts: Sequence[str]) -> str:
    """`name` in the case it mostly has inside sentences: "School" → "school" where that is how it is written."""
    if not name[:1].isupper() or name.isupper():
        return name
    pattern = re.compile(rf"(?<=[\w,;] ){re.escape(name)}\b", re.IGNORECASE)
    seen = Counter(match for text in texts for match in pattern.findall(text))
    small = sum(n for form, n in seen.items() if form[:1].islower())
    return name[:1].lower() + name[1:] if 2 * small > seen.total() else name


def capital(text: str) -> str:
    """`text` with its first letter large."""
    return text[:1].upper() + text[1:]


def distinct(names: Iterable[str], count: int, code: str) -> list[str]:
    """The first `count` names of which no two share a stem; bare numbers and spans of time only if nothing else."""
    every = list(dict.fromkeys(names))
    taken: list[str] = []
    used: set[str] = set()
    for name in [n for n in every if not _NO_NAME.match(n)] or every:
        own = set(stems(name, code)) or {name.casefold()}
        if len(taken) < count and not own & used:
            taken.append(name)
            used |= own
    return taken


def listing(names: Sequence[str], code: str) -> str:
    """Names as one title: "A", "A and B", "A: B, C, D"; without words of English in other languages."""
    if code == "zh":
        return "、".join(names)
    if len(names) == 2:
        return capital(" and ".join(names) if code == "en" else ", ".join(names))
    return capital(names[0] + (f": {', '.join(names[1:])}" if names[1:] else "")) if names else ""


# ── clauses ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def mentions(text: str, name: str) -> bool:
    """Whether `text` holds `name` as whole words (or, in Han text, at all)."""
    if HAN.search(name):
        return name in text
    return re.search(rf"(?<!\w){re.escape(name)}(?:e?s)?(?!\w)", text, re.IGNORECASE) is not None


def clause(sentence: str, names: Sequence[str], code: str, longest: int = LONGEST) -> tuple[float, str]:
    """(merit, the best clause of a tidied sentence that holds one of `names` and can stand as a headline).

    Merit is 0 and the clause empty where there is none. English clauses begin with their subject, hold a finite verb,
    are not conditional, and are never cut where the rest could reverse them. In other languages only whole short
    sentences qualify.
    """
    if code != "en":
        return _whole(sentence, names, longest)
    pieces = [piece.strip() for piece in _PIECES.split(sentence)]
    best = (0.0, "")
    for i, piece in enumerate(pieces):
        if i and _words(pieces[i - 1])[:1] and _words(pieces[i - 1])[0] in _UNSURE:
            continue
        shown = _fitted(piece.rstrip(".!…").strip(), longest)
        if shown:
            best = max(best, (_merit(shown, names), shown))
    return best


def _whole(sentence: str, names: Sequence[str], longest: int) -> tuple[float, str]:
    size = len(HAN.findall(sentence)) // 2 or len(WORD.findall(sentence))
    held = sum(mentions(sentence, name) for name in names)
    if not held or not 3 <= size <= longest or sentence.endswith(("?", "？")):
        return 0.0, ""
    return float(held), sentence.rstrip(".!。！")


def _words(text: str) -> list[str]:
    return [w.replace("’", "'") for w in WORD.findall(text.casefold())]


def _fitted(piece: str, longest: int) -> str:
    """The clause, shortened to `longest` words at a place that leaves it whole; "" if it does not stand alone."""
    shown = piece.split()
    words = [w.strip(".,'\"").casefold().replace("’", "'") for w in shown]
    if not 4 <= len(words) <= 30 or words[0] in listed("pointing") | listed("fragments") | _UNSURE | _ASKS:
        return ""
    verb = next((i for i, w in enumerate(words) if i and _finite(w)), 0)
    if not verb or verb > 6 or not _nominal(words[:verb]):
        return ""
    end = _end(words, verb, longest)
    return capital(" ".join(shown[:end]).rstrip(",'")) if end >= 4 else ""


def _finite(word: str) -> bool:
    return word in listed("verbs") or (word.endswith("ed") and len(word) > 4)


def _nominal(words: Sequence[str]) -> bool:
    """Whether the words before the verb hold a word of content, so that there is a subject."""
    return any(w not in listed("en") and not w.endswith("ly") for w in words) or bool(set(words) & _GROUP)


def _end(words: list[str], verb: int, longest: int) -> int:
    """Where to end a clause: its own end if short, else the last cut before `longest`; 0 where none is safe."""
    if len(words) <= longest:
        return len(words) if _closes(words[-1]) and len(words) > verb + 1 else 0
    if _QUALIFIES & set(words[longest:]):
        return 0
    cuts = [i for i in range(verb + 2, longest + 1) if words[i] in _CUTS and _closes(words[i - 1])]
    return cuts[-1] if cuts else 0


def _closes(word: str) -> bool:
    """Whether a clause may end with this word."""
    loose = word in listed("en") or word in listed("general") or word in listed("verbs")
    return bool(word) and not loose and not word.endswith("ly")


def _merit(shown: str, names: Sequence[str]) -> float:
    """How good a headline is: names held (first ones most), near eight words, speaking of the thing, not of me."""
    held = [i for i, name in enumerate(names) if mentions(shown, name)]
    if not held:
        return 0.0
    words = _words(shown)
    value = sum(1.0 / (1 + 0.3 * i) for i in held) + 1.0 - 0.08 * abs(len(words) - 8)
    value -= 0.9 * sum(w in _FIRST_PERSON for w in words) + 0.4 * sum(w in _GROUP for w in words)
    value -= 0.4 * (words[0] in ("a", "some", "there", "one"))
    starts = any(shown.casefold().startswith(names[i].casefold()) for i in held)
    return max(0.0, value + 0.5 * starts)


def between(sentence: str, one: str, other: str) -> str:
    """ "A verb … B" as the sentence has it, with at most 8 words between the names; "" where it has not."""
    for first, second in ((one, other), (other, one)):
        pattern = rf"(?<!\w)({re.escape(first)})((?:\s+[\w’'-]+){{1,8}}?\s+)({re.escape(second)})(?!\w)"
        match = re.search(pattern, sentence, re.IGNORECASE)
        if match and _links(_words(match[2])) and _leads(_words(sentence[: match.start()])):
            return capital(" ".join(match[0].split()))
    return ""


def _links(words: Sequence[str]) -> bool:
    joins = {"and", "or", "who", "which", "that", "because", "so", "but", "i", "when"}
    return any(_finite(w) for w in words) and not joins & set(words)


def _leads(before: Sequence[str]) -> bool:
    """Whether a name after these words can be a subject: not in a phrase, nor under a negation or a condition."""
    near = [w for w in before[-3:] if w not in ("the", "a", "an")]
    if near and (near[-1] in _BEFORE or _finite(near[-1])):
        return False
    return not (_QUALIFIES | _UNSURE) & set(near) and not any(w.endswith("n't") for w in near)
