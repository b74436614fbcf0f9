"""What reports are put together from besides sentences: names as they are shown, and headlines.

A headline says what a sentence says of given names, in few words taken from it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from sensegraph.engines.offline.reports import sentence_quality
from sensegraph.language.text import HAN, WORD, is_word_character
from sensegraph.language.word_lists import read_lexicon, read_list

# ── names as they are shown ───────────────────────────────────────────────────────────────────────────────────────────

_NO_NAME = re.compile(
    r"^-|^[\W\d_]*\d[\d\W_]*$|^(?:\w+ )?(?:(?:year|month|week|day|hour|minute|percent|decade|age)s?|"
    r"century|centuries)$",
    re.IGNORECASE,
)


_lower = lru_cache(maxsize=1 << 9)(str.lower)  # many names are sought in the sentences of a community


def find_places(text: str, name: str) -> Iterator[int]:
    """Where `name` stands in `text` as whole words, in any case; a plural ending may follow."""
    low, sought = _lower(text), name.lower()
    at = low.find(sought) if sought and len(low) == len(text) else -1
    while at >= 0:
        end = at + len(sought)
        before, behind = low[at - 1 : at], low[end : end + 1]
        inside = before.isalnum() or before == "_"
        if not inside and (behind.isalnum() or behind == "_"):
            ending = 2 if low.startswith("es", end) else 1 if low.startswith("s", end) else 0
            inside = not ending or is_word_character(low[end + ending : end + ending + 1])
        if not inside:
            yield at
        at = low.find(sought, at + 1)


def mentions_name(text: str, name: str) -> bool:
    """Whether `text` holds `name` as whole words (or, in Han text, at all)."""
    if not name.isascii() and HAN.search(name):
        return name in text
    return next(find_places(text, name), -1) >= 0


def show_natural_case(name: str, texts: Sequence[str]) -> str:
    """`name` in the case it mostly has inside sentences: "School" → "school", "phd" → "PhD"."""
    inside: Counter[str] = Counter()
    first: Counter[str] = Counter()
    for text in texts:
        for at in find_places(text, name):
            form = text[at : at + len(name)]
            opening = at < 2 or not (text[at - 1] == " " and (is_word_character(text[at - 2]) or text[at - 2] in ",;"))
            (first if opening else inside)[form] += 1
    seen = inside or first
    return max(seen, key=lambda form: (seen[form], form == name, form)) if seen else name


def choose_distinct_names(names: Iterable[str], count: int, code: str) -> list[str]:
    """The first `count` names of which no two share a stem and none is made of the first letters of another.

    Bare numbers and spans of time only if there is nothing else.
    """

    def abbreviates(one: str, other: str) -> bool:
        short, long = sorted((one.casefold(), other.casefold()), key=len)
        return short == "".join(word[0] for word in long.split())

    every = list(dict.fromkeys(names))
    taken: list[str] = []
    used: set[str] = set()
    for name in [n for n in every if not names_nothing(n)] or every:
        own = set(sentence_quality.stem_text(name, code)) or {name.casefold()}
        if len(taken) < count and not own & used and not any(abbreviates(name, other) for other in taken):
            taken.append(name)
            used |= own
    return taken


def names_nothing(name: str) -> bool:
    """Whether `name` is a bare number or a span of time, which name nothing."""
    return _NO_NAME.match(name) is not None


@lru_cache(maxsize=1 << 9)  # a name stands beside many sentences of a community
def says_little(name: str, code: str) -> bool:
    """Whether `name` says little of what it stands for: a number, a span of time, a general word."""
    own = sentence_quality.stem_text(name, code)
    return names_nothing(name) or not own or (code == "en" and sentence_quality.general_stems().issuperset(own))


def join_title_names(names: Sequence[str], code: str) -> str:
    """Names as one title: "A", "A and B", "A, B and C"; without words of English in other languages."""
    if code == "zh":
        return "、".join(names)
    return sentence_quality.capitalise(sentence_quality.join_with_and(names) if code == "en" else ", ".join(names))


def split_title(title: str) -> list[str]:
    """The names of a title that `listing` made."""
    return [part.strip() for part in re.split(r"、|, | and ", title) if part.strip()]


LONGEST = 12  # words in a headline
_PIECES = re.compile(r"([;:—–()]|,\s|\s--?\s|\s(?:because|so that|which means that|which means|that)\s)", re.IGNORECASE)
_BELIEF = re.compile(
    r"^(?:(?:(?:I|we|you)(?:['’]ve)? (?:(?:really|actually|also|do|always|strongly|often) )*"
    r"(?:think|believe|know|see|say|feel|find|found|learned|realized|argue|discovered|hope)|it turns out|"
    r"the (?:thing|point|idea|fact|truth|reason|problem) is),? (?:that )?|"
    r"(?:and|but|so|then|also|now|today|again)\b,? )+",
    re.IGNORECASE,
)
_UNSURE = frozenset("if unless when whether suppose until while although though once as because since".split())
_CUTS = frozenset("in on for with by at from into through across during among between over under which who".split())
_QUALIFIES = frozenset("if unless until without except only but than as when whether not never no".split())
_ASKS = read_lexicon("headlines")["asking"]
_FIRST_PERSON = frozenset("i i'm i've i'd i'll me my mine you you're you've you'd you'll your yours".split())
_GROUP = frozenset("we we're we've we'd we'll us our ours".split())
_BEFORE = frozenset("of in at from with for by to about on like than and or as into between among".split())
_ARTICLES = frozenset("the a an his her its their our my your this that these those some no every each".split())
_ALWAYS = read_lexicon("headlines")["always-finite"]
_NOUNS = read_lexicon("headlines")["also-nouns"]
_OPENS = frozenset("that what how why whether if".split())
_PLURAL = frozenset("i you we they people who children men women kids folks and".split())
_ASSERTS = read_lexicon("headlines")["asserting"]
_PRONOUNS = frozenset("i you we they he she it".split())
_LEADS = frozenset("and but that so then because today now".split())  # what a main clause may follow
_SAYS = frozenset("would could might said says say told tells asked asks think thinks thought guess mean means".split())
_SPOKEN = re.compile(r"(?:^|\s)['‘“\"]|[!?.,]['’”\"]|[!?]\s")
_OPENINGS = ("there is", "there are", "we need", "we must", "we should", "we cannot")
_BE = frozenset("is are was were has have".split())
_BARRED = _UNSURE | _ASKS | _GROUP | _FIRST_PERSON  # words that a clause worth showing does not begin with
_RELATIVE = frozenset("that which who whose where one ones".split())
_JOINS = frozenset("and or who which that because so but when where".split())
_ODD_LETTER = re.compile(r"[^\W\0-\x7f]")  # which may have more than two cases
_BETWEEN = re.compile(r"(?:\s+[\w’'-]+){1,8}\s+")  # what may stand between the two names of a link
_RESTART = re.compile(r"\s(?:The|A|An|In|This|We|It|He|She|They)\s")


# ── clauses ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def find_headline(sentence: str, names: Sequence[str], code: str, longest: int = LONGEST) -> tuple[float, str]:
    """(merit, the best clause of a tidied sentence that holds one of `names` and can stand as a headline).

    Merit is 0 and the clause empty where there is none. English clauses begin with their subject, hold a finite verb,
    are not conditional, and are never cut where the rest could reverse them. In other languages only whole short
    sentences qualify.
    """
    if code != "en":
        size = len(HAN.findall(sentence)) // 2 or len(WORD.findall(sentence))
        held = sum(mentions_name(sentence, name) for name in names)
        whole = held and 3 <= size <= longest and not sentence.endswith(("?", "？"))
        return (float(held), sentence.rstrip(".!。！")) if whole else (0.0, "")
    best = (0.0, "")
    before = ""
    parts = ["", *_PIECES.split(sentence.rstrip(".!… "))]  # each after the mark or word that parts it from the last
    for mark, piece in ((m.strip().casefold(), p.strip()) for m, p in zip(parts[::2], parts[1::2], strict=True)):
        words = _fold_headline_words(before)
        free = True  # said for itself: asserted where it follows "that", whole where it follows a comma
        if mark == "that":
            doubted = set(words) & (_QUALIFIES | _UNSURE) or any(w.endswith("n't") for w in words)
            free = bool(words) and words[-1] in _ASSERTS and not doubted
        elif mark in (",", "(", ")") and words:
            named = any(piece.casefold().startswith(name.casefold()) for name in names)
            free = words[0] not in _UNSURE and (len(words) <= 2 or words[0] in read_list("fragments") or named)
        if free:
            shown = _fit_clause(_BELIEF.sub("", piece), longest)
            if shown and not sentence_quality.introduces_person(shown):
                best = max(best, (rate_headline(shown, names), shown))
        before = piece
    return best


def _fold_headline_words(text: str) -> list[str]:
    return WORD.findall(text.casefold().replace("’", "'"))


def _fit_clause(piece: str, longest: int) -> str:
    """The clause, shortened to `longest` words at a place that leaves it whole; "" if it does not stand alone."""
    shown = piece.split()
    words = [w.strip(".,'\"").casefold().replace("’", "'") for w in shown]
    if not 4 <= len(words) <= 30 or _SPOKEN.search(piece):
        return ""
    firsts = {words[0], words[0].partition("'")[0]}
    barred = firsts & _BARRED or any(firsts & read_list(name) for name in ("pointing", "fragments", "verbs"))
    if barred and " ".join(words[:2]) not in _OPENINGS:
        return ""
    verb = next((i for i in range(1, len(words)) if _is_finite(shown, words, i)), 0)
    if not verb or verb > 8 or words[verb] in _SAYS:
        return ""
    subject = words[:verb]
    if subject not in (["there"], ["we"]):  # it has content, no relative clause, no "the first one"
        loose = not _RELATIVE.isdisjoint(subject) or not _PRONOUNS.isdisjoint(subject[1:])
        if loose or subject[0].endswith(("ing", "ed")) or subject[-1] in ("and", "or", "to"):
            return ""
        if not any(w in _GROUP or (w not in read_list("en") and not w.endswith("ly")) for w in subject):
            return ""
    # it ends where the sentence does if that is short, else at the last cut before `longest`, where that is safe
    end = len(words) if _can_close(words[-1]) and len(words) > verb + 1 and words[-2] != "to" else 0
    if len(words) > longest:
        inside = next((i for i in range(verb + 1, len(words)) if words[i] in _OPENS), len(words))
        cuts = [i for i in range(verb + 2, min(longest, inside) + 1) if words[i] in _CUTS and _can_close(words[i - 1])]
        end = cuts[-1] if cuts and not _QUALIFIES & set(words[longest:]) else 0
    return sentence_quality.capitalise(" ".join(shown[:end]).rstrip(",'")) if end >= 4 else ""


def _is_finite(shown: Sequence[str], words: Sequence[str], at: int) -> bool:
    """Whether the word at `at` is surely a finite verb.

    Past forms count only after a name or before an object ("built by" is none), plain forms only after a plural
    ("the first show" is none).
    """
    word, before = words[at], words[at - 1]
    following = words[at + 1] if at + 1 < len(words) else ""
    if word in _ALWAYS or word.endswith("n't"):
        return True
    if before in _BEFORE | _ARTICLES or before == "to":
        return False
    if _is_past_form(word):
        return following not in _BEFORE and (shown[at - 1][:1].isupper() or following in _ARTICLES)
    plural = before in _PLURAL or (before.endswith("s") and not before.endswith(("ss", "'s", "us")))
    if following in _ARTICLES and len(word) > 3 and word not in read_list("en"):  # "determines its", "cells block the"
        return plural != word.endswith("s")
    if following == "to" and sentence_quality.is_third_person(before, word, following):
        return True
    if word not in read_list("verbs") or (word in _NOUNS and following in _BEFORE):
        return False
    return word.endswith("s") or plural


def _is_past_form(word: str) -> bool:
    return (word.endswith("ed") and len(word) > 4) or word in read_list("pasts")


def _can_close(word: str) -> bool:
    """Whether a clause may end with this word."""
    loose = any(word in read_list(name) for name in ("participles", "en", "general", "verbs")) or _is_past_form(word)
    return bool(word) and not loose and word not in _FIRST_PERSON and not word.endswith("ly")


def rate_headline(shown: str, names: Sequence[str]) -> float:
    """How good a headline is: names held (first ones most), near eight words, speaking of the thing, not of me."""
    held = [i for i, name in enumerate(names) if mentions_name(shown, name)]
    if not held:
        return 0.0
    words = _fold_headline_words(shown)
    value = sum(1.0 / (1 + 0.3 * i) for i in held) + 1.0 - 0.08 * abs(len(words) - 8)
    value -= 0.9 * sum(w in _FIRST_PERSON for w in words) + 0.5 * sum(w in _GROUP for w in words)
    value -= 0.8 * sum(w in read_list("pointing") for w in words)
    value -= 0.4 * (words[0] in ("a", "some", "there", "one"))
    starts = any(shown.casefold().startswith(names[i].casefold()) for i in held)
    return max(0.0, value + 0.5 * starts)


def find_link_clause(sentence: str, one: str, other: str) -> str:
    """ "A verb … B" as the sentence has it, with at most 8 words between the names; "" where it has not."""
    low = sentence.casefold()
    plain = not _ODD_LETTER.search(f"{sentence}{one}{other}")
    for first, second in ((one, other), (other, one)):
        if not 0 <= low.find(first.casefold()) < low.rfind(second.casefold()):
            continue  # a pattern takes longer to make than to look for
        if plain and not any(
            _BETWEEN.fullmatch(sentence, a + len(first), b)
            for a in find_places(sentence, first)
            for b in find_places(sentence, second)
        ):
            continue
        pattern = rf"(?<!\w)({re.escape(first)})((?:\s+[\w’'-]+){{1,8}}?\s+)({re.escape(second)})(?![\w-]|\s+\w+ing\b)"
        match = re.search(pattern, sentence, re.IGNORECASE)
        if match is None or _RESTART.search(match[2]):
            continue
        words = _fold_headline_words(match[2])
        doubled = any(a in _BE and b in _BE for a, b in pairwise(words))
        if doubled or not (_JOINS | _PRONOUNS | _OPENS).isdisjoint(words):
            continue
        if not any(_is_finite(["X", *words], ["x", *words], i) for i in range(1, len(words) + 1)):
            continue
        # the noun phrase that ends with the first name must be a plain subject
        shown = sentence[: match.start()].split()
        before = [w.casefold() for w in shown]
        at = len(before)
        while at and before[at - 1].isalpha() and before[at - 1] not in read_list("en") and len(before) - at < 3:
            at -= 1
        if at and before[at - 1] in _ARTICLES:
            at -= 1
        near = before[max(0, at - 3) : at]
        ahead = not near or near[-1].endswith((",", ";", ":", "—", "–")) or near[-1] in _LEADS
        negated = (_QUALIFIES | _UNSURE | _OPENS) & set(near) or any(w.endswith(("n't", "n’t")) for w in near)
        if ahead and not negated:
            return sentence_quality.capitalise(" ".join([*shown[at:], *match[0].split()]))
    return ""
