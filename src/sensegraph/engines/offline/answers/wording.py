"""How an answer is worded: lists, counts, and sentences introduced by who said them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sensegraph.engines.offline.answers.said import Said
from sensegraph.engines.offline.answers.stating import stated
from sensegraph.engines.offline.reports.shown_names import number
from sensegraph.types import Statement

NOTE = "extractive: every statement is a sentence of a source, quoted or reported in its own words, lightly trimmed"


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


def counted(n: int, noun: str) -> str:
    """ "one passage", "14 passages"."""
    return f"{number(n)} {noun}{'' if n == 1 else 's'}"


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


def argued(sentences: Sequence[Said], turn: int = 0, bold: str = "") -> Iterator[Statement]:
    """A paragraph: at most two sentences in one that reports them, then the others quoted; `bold` comes first."""
    told = [(s, clause) for s in sentences if s.speaker and (clause := stated(s.text))][:2]
    if len(told) == 2 and told[0][0].speaker == told[1][0].speaker:
        told = told[:1]
    for i, (said, clause) in enumerate(told):
        says = ("argues", "holds", "points out", "says")[(turn + i) % 4]
        name = who(said.speaker) if i else f"**{subject(bold)}**" if bold else subject(said.speaker)
        yield shown(said, f"{', while ' if i else ''}{name} {says} that {clause}{'.' if i == len(told) - 1 else ''}")
    rest = [s for s in sentences if all(s is not t for t, _ in told)]
    if told and rest:
        yield plain(" ")
    yield from introduced(rest, turn, bold="" if told else bold, last=told[-1][0].speaker if told else None)


def introduced(
    sentences: Sequence[Said], turn: int = 0, *, bold: str = "", last: str | None = None
) -> Iterator[Statement]:
    """The sentences of a paragraph, each introduced by its speaker, with blanks between them.

    What nobody is known to have said is quoted by itself. `last` spoke before.
    """
    for i, said in enumerate(sentences):
        name = f"**{subject(said.speaker)}**" if bold and not i else subject(said.speaker)
        says = "adds" if said.speaker == last else verb(said.text, turn + i)
        head = f"{name} {says}: " if said.speaker else ""
        yield shown(said, f"{' ' if i else ''}{head}{quotation(said.text)}")
        last = said.speaker
