"""Whether a text is a transcript of talk at all, from the labels that stand at the beginnings of its lines.

Minutes, mails, forms and manuals have labels too ("Present:", "From:", "Possible values are:"). A text is a transcript
where labels that can name someone come back, open many of its lines, change from line to line, have speech behind
them, and do not follow each other in the same order again and again, as the fields of records do. A short chat shows
too little of that by itself: it is one where most of its labels are those of speakers of the corpus's transcripts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import islice, pairwise

import msgspec

from sensegraph.language.speakers import KEPT_SIZES, find_labels
from sensegraph.language.text import HAN, WORD, detect_language, remember, split_small_letters
from sensegraph.language.word_lists import LANGUAGES, read_lexicon, read_sections

_TIMES_SEEN = 3  # lines that a speaker's label opens, at least
_TIMES_LOUD = 2  # the same where most labels are names in capitals, which stand before little else than speech
_OPENED = 0.15  # share of the lines that such labels open, at least
_NAMED = 0.5  # share of all labels that such labels are, at least
_SURE = 0.3  # share of the labels that can name someone which do so by themselves, at least
_CHANGED = 0.2  # share of neighbouring labels that differ, at least
_SPOKEN = 0.25  # share of the turns of some words that hold speech, at least
_WORDS = 4  # words that a turn must have for its speech to count
_ORDERED = 0.9  # share of steps from a label to its usual next one from which they are the fields of records
_MOSTLY = 0.5  # share of the lines that one known label must open where there is no second
_LOOKED_AT = 400  # characters of a turn in which speech is looked for


class Talk(msgspec.Struct, frozen=True, array_like=True):
    """What a text shows of talk; several may be added up.

    `counts` says how often each label that can name someone opens a turn; `sure` counts those that do so by themselves,
    `loud` those of several words in capitals, `others` the labels that cannot; `steps` counts neighbouring labels,
    `changes` those that differ, `usual` those that lead to the label that mostly comes next; `turns` counts the turns
    of some words, `spoken` those of them that hold speech.
    """

    lines: int = 0
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    sure: int = 0
    loud: int = 0
    others: int = 0
    steps: int = 0
    changes: int = 0
    usual: int = 0
    turns: int = 0
    spoken: int = 0


def observe_talk(text: str) -> Talk:
    """What `text` shows of talk; kept for a while as its labels are."""
    return (_observe_once if len(text) in KEPT_SIZES else _observe_talk)(text)


def _observe_talk(text: str) -> Talk:
    labels = find_labels(text)
    lines = sum(1 for line in text.split("\n") if line.strip())
    named = [label for label in labels if label.named]
    if not named:
        return Talk(lines, others=len(labels))
    keys = [label.key for label in named]
    steps: dict[str, Counter[str]] = {}
    for one, other in pairwise(keys):
        steps.setdefault(one, Counter())[other] += 1
    english = _speech_pattern("en").search  # what it finds, the pattern of every language does
    ends = [*(label.start for label in labels[1:]), len(text)]
    turns, spoken, missed = 0, 0, list[str]()
    for label, end in zip(labels, ends, strict=True):
        said = text[label.end : min(end, label.end + _LOOKED_AT)].strip() if label.named else ""
        said = said.split("\n", 1)[0]  # the line of the label, or the one behind it
        if any(islice(WORD.finditer(said), _WORDS - 1, None)) or any(islice(HAN.finditer(said), _WORDS - 1, None)):
            turns += 1
            if english(said):
                spoken += 1
            elif not _speech_openings().isdisjoint(split_small_letters(said)):  # else no pattern finds anything
                missed.append(said)
    if missed:
        speech = _speech_pattern(detect_language(text)).search
        spoken += sum(1 for said in missed if speech(said))
    return Talk(
        lines,
        dict(sorted(Counter(keys).items())),
        sum(label.sure for label in named),
        sum(label.loud for label in named),
        len(labels) - len(named),
        len(keys) - 1,
        sum(one != other for one, other in pairwise(keys)),
        sum(max(held.values()) for held in steps.values()),
        turns,
        spoken,
    )


_observe_once = remember(1 << 13)(_observe_talk)


def add_talks(talks: Iterable[Talk]) -> Talk:
    """What several parts of one work show together."""
    held = list(talks)
    counts: Counter[str] = Counter()
    for talk in held:
        counts.update(talk.counts)
    fields = ("sure", "loud", "others", "steps", "changes", "usual", "turns", "spoken")
    sums = (sum(getattr(talk, name) for talk in held) for name in fields)
    return Talk(sum(talk.lines for talk in held), dict(sorted(counts.items())), *sums)


def find_speakers(talk: Talk) -> frozenset[str]:
    """The keys of those who speak in a text, which must be a transcript by itself; else nobody."""
    named = sum(talk.counts.values())
    loud = 2 * talk.loud > named
    often = {key: n for key, n in talk.counts.items() if n >= (_TIMES_LOUD if loud else _TIMES_SEEN)}
    opened = sum(often.values())
    if len(talk.counts) < 2 or opened < _OPENED * talk.lines or opened < _NAMED * (named + talk.others):
        return frozenset()
    if talk.sure < _SURE * named:
        return frozenset()
    if talk.changes < _CHANGED * talk.steps or talk.spoken < (1 if loud else max(1, _SPOKEN * talk.turns)):
        return frozenset()
    kinds = len(talk.counts)
    if kinds > 2 and talk.steps >= _TIMES_SEEN * kinds and talk.usual >= _ORDERED * talk.steps:
        return frozenset()
    return frozenset(often)


def find_corpus_speakers(works: Mapping[str, Talk]) -> tuple[frozenset[str], frozenset[str]]:
    """(the keys of all who speak in a corpus, the works that are transcripts by themselves or by what is known).

    What is known are the speakers of the works that are transcripts by themselves; whoever comes back in the others
    that join them is one too.
    """
    by_work = {work: found for work, talk in works.items() if (found := find_speakers(talk))}
    known = frozenset[str]().union(*by_work.values())
    joined = [work for work, talk in works.items() if work not in by_work and knows_speakers(talk, known)]
    counts: Counter[str] = Counter()
    for work in joined:
        counts.update(works[work].counts)
    return known | {key for key, n in counts.items() if n >= _TIMES_SEEN}, frozenset(by_work).union(joined)


def knows_speakers(talk: Talk, known: frozenset[str]) -> bool:
    """Whether a text is talk of known speakers: their labels open enough of its lines, and most labels are theirs."""
    opened = sum(n for key, n in talk.counts.items() if key in known)
    if not opened or opened < (_OPENED if opened > 1 else _MOSTLY) * talk.lines:
        return False
    named = sum(talk.counts.values())
    return 2 * opened >= named and (2 * talk.loud > named or talk.spoken >= max(1, _SPOKEN * talk.turns))


@cache
def _speech_openings() -> frozenset[str]:
    """The letters that words for I, you and we begin with, up to an apostrophe, in all languages."""
    lines = (line for one in LANGUAGES for line in read_sections(f"languages/{one}")["speech"])
    return frozenset(split_small_letters(word)[0] for line in lines for word in line.split())


@cache
def _speech_pattern(language: str) -> re.Pattern[str]:
    """What only those say who talk to each other: words for I, you and we, and questions."""
    words: set[str] = set()
    for one in LANGUAGES:
        if one in ("en", language):
            words.update(" ".join(read_sections(f"languages/{one}")["speech"]).split())
    forms = sorted({form for word in words for form in (word, word.capitalize())} - {"i"})
    han = "|".join(sorted(read_lexicon("chinese")["speech"]))
    joined = "|".join(map(re.escape, forms))
    return re.compile(rf"(?<![\w’'])(?:{joined}|I|{joined.replace(chr(39), '’')})(?!\w)|[?？¿]|{han}")
