"""What a question asks for, by plain lexical rules: about what, in which shape, with which sign.

A question is *overview* when no content term is left after the words about asking and about the corpus itself are
taken away, else *focused* (classical-engine §5.1). The rules are English; a question in another language is focused on
all its terms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from sensegraph.engines.offline.reports.sentence_quality import stem_text
from sensegraph.language.text import tag_words
from sensegraph.language.word_lists import read_list

_THEMES = re.compile(
    r"\b(?:\w*themen?|hauptpunkte|überblick|zusammenfassung|worum geht|thèmes?|résumé|temas?|resumen|temi)\b"
    "|主题|主要内容|概述|总结",
    re.IGNORECASE,
)
Shape = Literal["overview", "whether", "decide", "count", "who", "views", "lookup", "open"]

# Words that say how to answer or name the corpus and its people; they find nothing.
FRAME = frozenset(
    """
    discuss discusses discussed discussing discussion discussions talk talks talked talking speak speaks spoke spoken
    speaking mention mentions mentioned mentioning describe describes described describing say says said saying tell
    tells told share shares shared sharing highlight highlights highlighted highlighting address addresses addressed
    cover covers covered explain explained present presented presents express expressed cite cites cited report
    reported raise raised raises broach broached bring brought arise arises explore explored feature features featured
    focus focuses focused touch touches reveal revealed contain contains include includes included find found
    perceive perceives perceived view views viewed opinion opinions think thinks thought believe believes believed
    feel feels perspective perspectives stance stances position positions attitude attitudes approach approaches
    insight insights provide provides provided suggest suggests suggested mean means propose proposes proposed
    inform informs informed identify identified consider considered
    guest guests host hosts speaker speakers participant participants interviewee interviewees people person persons
    episode episodes podcast podcasts conversation conversations interview interviews meeting meetings transcript
    transcripts document documents text texts corpus collection dataset chat chats article articles story stories
    anecdote anecdotes book chapter chapters message messages note notes passage passages source sources
    theme themes topic topics subject subjects issue issues point points idea ideas question questions thread threads
    main major key central primary general common commonly overall whole entire overarching recurring different
    various several specific particular particularly certain typical typically example examples instance notable
    often frequently frequent frequency regularly mostly most many much number times compared compare comparison
    versus differ differs difference differences across among between within throughout about regarding concerning
    summarise summarize summarises summarizes summary summaries overview outline recap synopsis gist list name
    give provide answer according potential possible type types kind kinds sort term terms aspect aspects role roles
    part parts way ways thing things lot use used using make makes made get gets got take takes taken come comes
    there any other others evidence leader leaders group team tell us me please know agree agreed conclusion finally
    deal deals dealing primarily mainly chiefly
    """.split()
)
# Words that carry no subject of their own, but may stand in its wording ("the negative impacts of technology").
SOFT = frozenset(
    """
    impact impacts influence influences effect effects implication implications importance significance consequence
    consequences role roles potential possible issue issues topic subject challenge challenges aspect aspects trend
    trends attribute attributes practice practices journey journeys quality qualities strategy strategies initiative
    initiatives process processes anecdote anecdotes insight insights tendency improvement improvements
    """.split()
)
_FORMS = {
    "meeting": "meeting",
    "conversation": "conversation",
    "episode": "episode",
    "podcast": "podcast",
    "interview": "interview",
    "transcript": "transcript",
    "chat": "chat",
    "article": "article",
    "book": "book",
}
_VERBS = r"(?:discuss|talk|mention|describe|share|speak|highlight|address|cover|raise|explore|focus|feature|appear|say)"
_RULES: tuple[tuple[Shape, str], ...] = (
    ("count", r"\bhow (?:often|frequent\w*|many (?:documents|episodes|chats|guests|speakers|conversations|people))\b"),
    ("who", r"^(?:which|what) (?!do |did |are )(?:\w+ ){0,2}(?:guests?|speakers?|people|leaders?|participants?)\b"),
    ("open", r"^(?:which|what) (?:\w+ ){0,2}(?:episodes?|documents?|chats?|conversations?|articles?|chapters?)\b"),
    ("who", r"^who (?:talks?|speaks?|mentions?|discuss\w*|describes?|argues?)\b"),
    ("views", r"\b(?:perspectives?|views?|opinions?|stances?|attitudes?|disagree\w*|differ\w*|compare|versus|vs)\b"),
    ("views", r"\bor as\b|\bhow do \w+(?: \w+)? (?:perceive|view|see|feel|think)\b"),
    ("whether", r"^(?:are|is) there\b|^can you find\b|^can \S.* be found\b"),
    ("whether", rf"^(?:do|does|did|are|is|was|were|have|has|can)\b.{{0,120}}?\b{_VERBS}\w*\b"),
    ("decide", r"^(?:do|does|did|are|is|was|were|have|has|had|can|could|will|would|should|may|might)\b"),
    ("lookup", r"^(?:who|whom|whose|when|where|which|how (?:many|much|old|long|far))\b"),
    ("lookup", r"^what (?:is|was|time|day|date|year|name|percentage|number|colou?r)\b"),
)
_NEGATIVE = r"\b(?:negative\w*|harm\w*|risks?|danger\w*|drawbacks?|downsides?|concerns?|fears?|threats?|pessimis\w+)\b"
_POSITIVE = r"\b(?:positive\w*|benefits?|beneficial|advantages?|upsides?|optimis\w+|hopes?|opportunit\w+|success\w*)\b"
_FIELD = re.compile(r"\b(?:tech|technology|industry|business) (?=(?:leader|guest|expert|executive)s?\b)", re.I)
_AFTERTHOUGHT = re.compile(
    r"\s[-–—]\s|[,;:]?\s(?:and|or) (?:in what|how|why|what|where|when)\b|,\s(?:such as|including)\b"
)
SIGN_WORDS = re.compile(f"{_NEGATIVE}|{_POSITIVE}", re.I)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the rules read it.

    `terms` are the distinct content terms in order, `groups` the same by runs of adjoining words ("data privacy" is
    one), `subject` the words they stand in, as asked. `sign` is −1 where
    only the bad is asked for, +1 where only the good, 0 otherwise. `unit` is the word for a piece of the corpus,
    `names` are the terms written as names, `guests` says that the hosts' own words are not asked for,
    `minor` are the terms that only say where ("in their careers").
    """

    text: str
    shape: Shape
    terms: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    subject: str
    sign: int
    unit: str
    names: tuple[str, ...] = ()
    guests: bool = False
    minor: tuple[str, ...] = ()


def understand_question(text: str, code: str = "en") -> Question:
    """Read a question in the language `code`: its shape, its content terms, the sign that it asks for."""
    plain = " ".join(text.split())
    # without an afterthought (" - as a motivator or an obstacle?", "and in what context?")
    text = _FIELD.sub("", plain)
    core = _AFTERTHOUGHT.split(text)[0]
    core = core if len(core.split()) > 3 else text
    # a question to texts in another language may ask for their themes, in that language or in English
    whole = code != "en" and (_THEMES.search(plain) or not _group_terms(core, "en"))
    groups = () if whole else _group_terms(core, code)
    terms = tuple(dict.fromkeys(t for group in groups for t in group))
    folded = plain.casefold()
    shape: Shape = next((shape for shape, rule in _RULES if re.search(rule, folded)), "open") if terms else "overview"
    bad, good = (re.search(pattern, plain, re.I) is not None for pattern in (_NEGATIVE, _POSITIVE))
    units = (_FORMS.get(word.rstrip("s")) for word in re.findall(r"[a-z]+", folded))
    # names have a capital inside the question (not in German, where all nouns have)
    inner = re.findall(r"(?<=[\w,] )[^\W\d_a-z][\w’'\-]+", plain) if code != "de" else []
    capitalised = {t for w in inner for t in stem_text(w, code)}
    # the terms after "in their …" say where, and need not be said
    before, *where = re.split(r"\b(?:in|within|during|throughout) (?:their|his|her|its|our|your)\b", core, maxsplit=1)
    main = set(stem_text(before, code))
    minor = {t for part in where for t in stem_text(part, code)} - main if main & set(terms) else set()
    return Question(
        plain,
        shape,
        terms,
        groups,
        find_subject(core),
        good - bad,
        next((unit for unit in units if unit), ""),
        tuple(t for t in terms if t in capitalised),
        bool(re.search(r"\b(?:guests?|leaders?|interviewees?|experts?)\b", plain, re.I)),
        tuple(t for t in terms if t in minor),
    )


def _group_terms(text: str, code: str) -> tuple[tuple[str, ...], ...]:
    """The content terms by runs of adjoining content words."""
    groups: list[tuple[str, ...]] = [()]
    for word in re.findall(r"\w+(?:[’'\-]\w+)*|[^\w\s]", text):
        empty = word.casefold() in FRAME | SOFT or SIGN_WORDS.fullmatch(word)
        found = () if empty else tuple(stem_text(word, code))
        groups = [*groups[:-1], groups[-1] + found] if found else [*groups, ()]
    return tuple(g for g in groups if g)


def find_subject(text: str) -> str:
    """The longest stretch of the question that reads as a noun phrase, without words of asking; "" if there is none.

    It is longest by the words that name something; stop words at its end are left out.
    """
    stop = read_list("en")
    words = re.findall(r"\w+(?:['’\-]\w+)*|[^\w\s]", text)
    letters = (
        tag_words([w.casefold() if w[1:].islower() and i == 0 else w for i, w in enumerate(words)]) if words else ""
    )
    best: list[str] = []
    most = 0
    run: list[str] = []
    for word, letter in zip([*words, "?"], [*letters, "."], strict=True):
        if word.casefold() in FRAME - SOFT or letter in "vbmow.p" or word in '?,;:"':
            while run and run[-1].casefold() in stop:
                run = run[:-1]
            weight = sum(w.casefold() not in stop | SOFT for w in run)
            if weight > most:
                best, most = run, weight
            run = []
        elif run or word.casefold() not in stop:
            run.append(word)
    return " ".join(best)
