"""The words that link two things of a sentence as subject, verb and object, read from left to right.

A label is given only where the first thing is the subject: the verb follows it at once, no preposition stands before
it, and no other clause begins before the second. So source, label and target read as the sentence does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from sensegraph.engines.offline.extraction.sentence_words import TOKEN
from sensegraph.language.text import tag_words

_GAP = 60  # characters between two things that may hold the verb which links them
_WORDS = 8
_BEFORE = 60  # characters before a thing in which the preposition of its phrase is looked for
_RELATIVES = frozenset("who which that".split())
_OTHER_CLAUSE = re.compile(
    r"(?:he|she|they|we|i|it['’]s|because|when|while|if|although|though|whereas|unless|until)(?:['’]\w+)?",
    re.IGNORECASE,
)
_SAYING = frozenset("said say says think thinks thought believe believes claim claims argued hope hopes know".split())
_PASTS = frozenset("beat bet cost cut hit hurt let put quit read shut spread".split())  # as they are in the present
_MARKS = frozenset('/ ` " “ ‘ < $ ~ #'.split())  # before a name, and no word
_CLAUSE_OPENERS = frozenset("if because while although though until unless whereas as whether that since than".split())
_PLURALS = frozenset("people children men women police they we you i".split())
_VERB = re.compile(r"r*(?:v|m|b|p)")
_INNER_SUBJECT = re.compile(r"w|[nN]r*[vm]|Jcr*[vp]")  # another subject with its verb, before the object
_NOUN_AFTER = re.compile(r"[nNJX]")  # "lead singer" is no verb with its object


def find_link_words(text: str, first: tuple[int, int], second: int, begin: int = 0) -> str:
    """The verb and what leads from it to the second thing, where the first is its subject; else nothing.

    `first` is the span of the first thing, `second` where the other begins, `begin` where the sentence does.
    """
    if not 0 < second - first[1] <= _GAP:
        return ""
    if (found := _read_gap(text[first[1] : second])) is None:
        return ""
    words, letters, verb, relative = found
    head = words[verb - 1]
    name = text[first[0] : first[1]]
    plural = _may_be_plural(name)
    adjective = letters[verb - 1] in "bp" and _NOUN_AFTER.match(letters, verb)  # "an American born sprinter of"
    if adjective or (letters[verb - 1] == "b" and not plural and head not in _PASTS):
        return ""  # "escape sequence", "asked her to escape": no finite verb of one thing
    before = TOKEN.findall(text, max(begin, first[0] - _BEFORE), first[0])
    if relative:  # "the team at Bell, who were", "a boat made by Ada that uses"
        other = (head in ("were", "are") and not plural) or (before[-1:] == ["by"] and relative != "who")
    else:
        other = _is_inside_phrase(before, name)
    if other:
        return ""
    return " ".join(words[: len(letters.rstrip("d"))])


@lru_cache(maxsize=1 << 13)
def _read_gap(gap: str) -> tuple[tuple[str, ...], str, int, str] | None:
    """The words between two things that may begin with a verb of the first, else None.

    With them their letters, where the verb ends, and the relative pronoun that opened them, if any.
    """
    words = TOKEN.findall(gap)
    opening = words[1:] if words[:1] == [","] else words  # "Bell, which employs Ada"
    relative = opening[0] if len(opening) > 1 and opening[0] in _RELATIVES else ""
    words = opening[1:] if relative else words
    if not 0 < len(words) <= _WORDS or not all(w[0].isalnum() or w[0] in "'’" for w in words):
        return None
    letters = tag_words([w.lower() for w in words])
    if [w.lower() for w in words[:2]] == ["no", "longer"]:
        letters = "rr" + letters[2:]
    verb = _VERB.match(letters)
    if verb is None or words[-1] in _SAYING or any(_OTHER_CLAUSE.fullmatch(w) for w in words) or letters.endswith("c"):
        return None
    end = verb.end()
    noun = letters[end - 1] != "m" and letters[end : end + 1] in ("v", "m")  # "set includes"
    if noun or words[end - 1][0].isupper() or _INNER_SUBJECT.search(letters, end):
        return None
    return tuple(words), letters, end, relative


def _may_be_plural(name: str) -> bool:
    last = name.split()[-1].lower() if name.split() else ""
    return last in _PLURALS or (last.endswith("s") and not last.endswith("ss"))


def _is_inside_phrase(before: Sequence[str], name: str) -> bool:
    """Whether a thing belongs to what stands before it ("the chair of | the board", "removing | this limit").

    A name in capitals begins anew behind a noun or a number ("In 1994 | Jordan"), a noun goes on with it.
    """
    skipped = "dsJ" if name[:1].isupper() else "dsJnNg#X"
    words = [w.lower() for w in before if w not in _MARKS]
    for letter, word in zip(reversed(tag_words(words)), reversed(words), strict=True):
        if letter in "itgbvpm":
            return word not in _CLAUSE_OPENERS
        if letter not in skipped:
            return False
    return False
