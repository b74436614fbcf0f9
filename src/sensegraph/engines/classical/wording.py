"""How an answer is worded: lists, counts, and sentences introduced by who said them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sensegraph.engines.classical.said import Said
from sensegraph.types import Statement

NOTE = "extractive: sentences are quoted from the sources, lightly trimmed"

_SMALL = "no one two three four five six seven eight nine ten eleven twelve".split()
_ROLE = re.compile(
    r"\b(?:manager|designer|marketing|interface|professor|postdoc|grad|phd|chair\w*|speaker|interviewer|interviewee|"
    r"moderator|host|president|minister|director|secretary|doctor|teacher|student|user|customer|agent|officer)\b",
    re.I,
)
_TONES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\?[\"”’]*$", ("asks", "wonders")),
    (r"\b(?:should|must|need to|needs to|have to|ought)\b", ("argues", "insists", "urges")),
    (r"\b(?:will|going to|gonna|in the future)\b", ("expects", "foresees", "predicts")),
    (r"\b(?:worry|worried|afraid|danger\w*|risk\w*|threat\w*|harm\w*|concern\w*)\b", ("warns", "cautions")),
    (r"\b(?:because|therefore|so that|which means|the reason)\b", ("explains", "reasons")),
    (r"\b(?:I|we|my|our)\b.*\b(?:was|were|had|did|went|started|began|used to|\w+ed)\b", ("recalls", "recounts")),
)
_PLAIN = ("says", "observes", "notes", "points out", "remarks", "puts it this way")


def listing(items: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def number(n: int) -> str:
    """A number as it is written in a text: words up to twelve, figures with commas above."""
    return _SMALL[n] if 0 <= n < len(_SMALL) else f"{n:,}"


def counted(n: int, noun: str) -> str:
    """ "one passage", "14 passages"."""
    return f"{number(n)} {noun}{'' if n == 1 else 's'}"


def capital(text: str) -> str:
    """`text` with its first letter in capitals."""
    return text[:1].upper() + text[1:]


def who(name: str) -> str:
    """A speaker as the subject of a clause: a role takes the article."""
    return f"the {name}" if _ROLE.search(name) else name


def subject(name: str) -> str:
    """A speaker as the first words of a sentence: a role takes the article, a name stays as its owner writes it."""
    return f"The {name}" if _ROLE.search(name) else name


def plain(text: str) -> Statement:
    """Connecting text, which rests on no source."""
    return Statement(text)


def shown(said: Said, text: str) -> Statement:
    """A sentence with its passage and its exact span."""
    return Statement(text, (said.reference,), (said.source,))


def ended(text: str) -> str:
    """`text` with an end mark."""
    bare = text.rstrip(" ,;:-–—")
    closed = bare.rstrip("'\"’”)»」』").endswith((".", "!", "?", "…", "。", "！", "？"))
    return bare if closed else f"{bare}."


def quotation(text: str) -> str:
    """`text` in quotation marks, those inside it made single."""
    inner = text.replace("“", "‘").replace("”", "’").replace('"', "'")
    return f"“{ended(inner)}”"


def verb(text: str, turn: int) -> str:
    """A reporting verb that suits `text`; `turn` varies it."""
    for pattern, verbs in _TONES:
        if re.search(pattern, text):
            return verbs[turn % len(verbs)]
    return _PLAIN[turn % len(_PLAIN)]


def introduced(sentences: Sequence[Said], turn: int = 0) -> Iterator[Statement]:
    """The sentences of a paragraph, each introduced by its speaker, with blanks between them."""
    last: str | None = None
    for i, said in enumerate(sentences):
        gap = " " if i else ""
        yield shown(said, f"{gap}{_introduction(said, last, i, turn + i)}: {quotation(said.text)}")
        last = said.speaker


def _introduction(said: Said, last: str | None, place: int, turn: int) -> str:
    if said.speaker:
        same = said.speaker == last
        return f"{subject(said.speaker)} {'adds' if same else verb(said.text, turn)}"
    first = ("One passage", "Another passage", "A third passage", "A further passage")[min(place, 3)]
    return f"{first} {verb(said.text, turn)}"
