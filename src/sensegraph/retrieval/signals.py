"""What a question shows of its kind before anything is searched: names, words for the whole, relations to follow.

The languages are English, German, French, Spanish and Chinese, and a few words of Italian and Japanese.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.index.index import Index
from sensegraph.language.text import detect_by_function_words, split_runs
from sensegraph.retrieval.named_entities import entities_named_in
from sensegraph.runtime.results import take_records
from sensegraph.types import Entity

_COMMON = "concept"  # the type of entities that are common nouns
_CAPITAL_NOUNS = frozenset({"german"})


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a question, where it stands, and the entities that bear it; `proper` says that it is no mere noun."""

    surface: str
    start: int
    end: int
    entities: tuple[Entity, ...]
    proper: bool

    @property
    def types(self) -> tuple[str, ...]:
        """The distinct types of its entities, sorted."""
        return tuple(sorted({e.type.casefold() for e in self.entities}))


def names_in_question(question: str, index: Index) -> list[Name]:
    """The names of entities that stand in `question`, in its order; none where the index has no graph."""
    if not index.manifest.graph:
        return []
    found: dict[tuple[int, int], list[Entity]] = {}
    for entity in take_records(index.graph.entities, named_in(question, index)):
        pattern = r"\s+".join(map(re.escape, entity.name.split()))
        match = re.search(pattern, question, re.IGNORECASE)
        found.setdefault(match.span() if match else (len(question), len(question)), []).append(entity)
    spoken = detect_by_function_words(split_runs(question))
    names = [_make_name(question, span, bearers, spoken) for span, bearers in sorted(found.items(), key=lambda x: x[0])]
    kept: list[Name] = []  # names that follow each other are one: `Kevin Scott` where only its parts are known
    for name in names:
        if kept and kept[-1].proper and name.proper and question[kept[-1].end : name.start].isspace():
            last = kept.pop()
            name = Name(
                question[last.start : name.end], last.start, name.end, (*last.entities[:1], *name.entities[:1]), True
            )
        kept.append(name)
    return kept


def named_in(text: str, index: Index) -> list[int]:
    """Positions of the entities whose names stand in `text`, also before the 's of a possessive, each once."""
    bare = _POSSESSIVE.sub(lambda m: " " * len(m[0]), text)
    return list(
        dict.fromkeys([*entities_named_in(text, index), *(entities_named_in(bare, index) if bare != text else [])])
    )


def wholeness_signs(question: str) -> tuple[float, list[str]]:
    """How much `question` asks about a corpus as a whole, or about all who speak in it, and the words that show it.

    A word that says so counts 1, one that only hints at it ½.
    """
    text = without_examples(question)
    strong, weak = [m[0] for m in _STRONG.finditer(text)], [m[0] for m in _WEAK.finditer(_STRONG.sub(" ", text))]
    return len(strong) + len(weak) / 2, [*strong, *weak]


def asks_what_it_is(question: str, name: Name) -> bool:
    """Whether `question` asks what somebody or something is or has to do with, rather than for a detail of it."""
    return _WHAT_IT_IS.search(f"{question[: name.start]}@{question[name.end :]}") is not None


def without_examples(question: str) -> str:
    """`question` with what it lists as examples blanked out, every character left in its place."""
    return _EXAMPLES.sub(lambda m: " " * len(m[0]), question)


def count_capital_runs(question: str) -> int:
    """The number of runs of capitalised words inside `question`, which may be names that the index does not know."""
    spoken = detect_by_function_words(split_runs(question))
    return 0 if spoken in _CAPITAL_NOUNS else len(_CAPITALS.findall(without_examples(question)))


def relation_words(question: str) -> list[str]:
    """The words of `question` that lead from one thing to another: comparisons, joins, relations of relations."""
    return [m[0].strip() for m in _RELATIONS.finditer(question)]


def _make_name(question: str, span: tuple[int, int], bearers: Sequence[Entity], spoken: str) -> Name:
    surface = question[span[0] : span[1]] or bearers[0].name
    lone = question.islower() and len(surface.split()) > 1
    capital = surface != surface.lower()
    cased = surface.lower() != surface.upper()
    telling = capital and span[0] > 0 and spoken not in _CAPITAL_NOUNS
    proper = any(
        telling if e.type.casefold() == _COMMON else capital or lone or not cased or e.name.islower() for e in bearers
    )
    return Name(surface, *span, tuple(bearers), proper)


_POSSESSIVE = re.compile(r"(?<=\w)(?:['’]s|(?<=s)['’])(?!\w)")
_CAPITALS = re.compile(r"(?<=[\w,;)’'] )[^\W\d_a-zß-öø-ÿ][\w’'-]+(?:\s+[^\W\d_a-zß-öø-ÿ][\w’'-]*)*")
_EXAMPLES = re.compile(  # what is listed as an example is not what is asked about
    r"\b(?:such\s+as|including|for\s+example|zum\s+Beispiel|par\s+exemple|por\s+ejemplo|e\.g\.|z\.\s?B\.)"
    r"[^?;.]*?(?=,\s+(?:are|is|was|were|do|does|have|has|can|that|which|who)\b|[?;.]|$)"
    r"|\blike\s[^?;.]*?\b(?:etc|and\s+so\s+on)\b",
    re.IGNORECASE,
)
_WHAT_IT_IS = re.compile(  # @ stands for the name
    r"""^\W*(?:(?:who|what)\s+(?:is|are|was|were)|wer\s+(?:ist|war|sind|waren)|was\s+(?:ist|war|sind|waren)
        |qui\s+(?:est|était|sont)|qu['’]est-ce\s+que?|(?:quién|qué)\s+(?:es|era|fue)|quiénes\s+(?:son|eran|fueron))
     \s+(?:(?:the|an?|der|die|das|le|la|les|el|los|las)\s+|l['’])?@\W*$
    |\b(?:tell\s+(?:me|us)|know|known|learnt?|read|write|talk)\s+(?:\w+\s+)?about\s+(?:the\s+)?@\W*$
    |\b(?:describe|introduce|portray|décris|présente|describe|beschreibe)\s+(?:\w+\s+)?@
    |\b(?:role|significance|importance|relationships?|connections?|history|story|life|work)\s+of\s+(?:the\s+)?@\W*$
    |\bwhat\s+role\s+do(?:es)?\s+(?:the\s+)?@\s+play|\bwhat\s+(?:happen(?:s|ed)\s+to|became\s+of)\s+(?:the\s+)?@\W*$
    |\b(?:erzähl\w*|bekannt|weiß\s+man)\b[^?]*\büber\s+@|\bparle\w*[- ]moi\s+d[eu'’]\s*@|\bsait-on\s+(?:de\s+|sur\s+)@
    |\bcuéntame\b[^?]*@|\bse\s+sabe\s+(?:de|sobre)\s+@
    |@(?:是谁|是什么)|什么是@|介绍(?:一下)?@|描述@""",
    re.IGNORECASE | re.VERBOSE,
)
_STRONG = re.compile(
    r"""\b(?:(?:sub)?themes?|topics?|trends|overall|overview|summari[sz]e|summary|corpus|recurring|anecdotes|takeaways
    |most\s+(?:often|frequently|commonly|common|discussed|mentioned)|how\s+(?:often|frequently)|in\s+general|as\s+a\s+whole
    |across\s+(?:the|all|these|different)|perspectives|viewpoints|opinions|attitudes|patterns|what\s+is\s+(?:this|it)\s+all\s+about
    |all\s+(?:of\s+)?(?:the\s+)?(?:documents|texts|episodes|articles|chapters|reports|meetings|conversations|chats)
    |(?:main|major|key|central|common|shared)\s+(?:ideas|points|issues|findings|concerns|messages|arguments|conclusions|subjects|questions)
    |guests|speakers|participants|interviewees|episodes?|podcast|leaders|discussions|conversations
    |(?:the|these)\s+(?:documents|texts|articles|chats|transcripts|letters|corpus|collection)
    |\w*themen|worum\s+geht(?:\s+es)?|überblick|zusammenfass\w*|zusammengefasst|fasse\b.*\bzusammen|wiederkehrend\w*
    |im\s+(?:ganzen|großen\s+und\s+ganzen)|alle[nr]?\s+(?:texte|dokumente|artikel|gespräche|berichte)n?|(?:die|den)\s+(?:texte|dokumente)n?
    |wie\s+(?:oft|häufig)|am\s+häufigsten|meinungen|sichtweisen|perspektiven|gäste\w*|gesprächen?
    |thèmes?|résum\w+|dans\s+l['’]ensemble|vue\s+d['’]ensemble|globalement|points\s+de\s+vue|(?:tous\s+)?(?:les|ces)\s+(?:documents|textes)
    |invités|récurrent\w*|à\s+quelle\s+fréquence
    |temas?|resum\w+|tendencias|en\s+conjunto|visión\s+general|perspectivas|opiniones|(?:todos\s+)?(?:los|estos)\s+(?:documentos|textos)
    |invitados|recurrentes?|con\s+qué\s+frecuencia|temi|riassum\w+)\b
    |主题|主旨|主要(?:内容|观点|趋势|讨论|议题)|总结|概述|概括|总体|所有(?:文档|文章|文本|报告|资料)|这些(?:文档|文章|文本|报告|资料)|趋势
    |テーマ|要約""",
    re.IGNORECASE | re.VERBOSE,
)
_WEAK = re.compile(
    r"""\b(?:(?:main|major|key|central|common|typical|different|shared|notable|emerging|new)\s+(?:\w+\s+)?\w+s
    |(?:commonly|frequently|typically|generally|often|consistently|primarily)\s+\w+|in\s+what\s+context
    |collection|sentiments?|views|tone|language|narratives?|storytelling|structur\w+|the\s+host|stories|experts|insights?|evidence
    |(?:types|kinds|sorts|areas|role|roles|forms)\s+of|companies|businesses|technolog(?:y|ies)|industry|industries|sectors?|markets
    |(?:are|is)\s+there|across|vary|varies|differ|trend|discussed|discuss|mention(?:ed|s)?|addressed|described?|highlighted|cited|considered
    |insgesamt|hauptsächlich\w*|haupt\w+|im\s+allgemeinen|trends?|ansichten|muster|wichtigsten|verschiedenen?|diskutiert|erwähnt|besprochen
    |en\s+général|en\s+general|principa(?:les?|ux|l)|tendances?|différents?|évoqu\w+|diferentes|mencion\w+|discut\w+|importantes?)\b
    |主要|整体|一般|不同的|讨论|提到|全体""",
    re.IGNORECASE | re.VERBOSE,
)
_KIN = (
    r"(?:mother|father|parents?|wife|husband|spouse|son|daughter|child|children|brother|sister|sibling|grand\w+|uncle|aunt"
    r"|director|performer|singer|author|writer|founder|creator|composer|producer|publisher|owner|maker|employer|successor"
    r"|predecessor|president|ceo|capital|birthplace|hometown|developer|designer|label|manufacturer|headquarters|rival|boss"
    r"|competitors?|subsidiary|parent\s+company|inventor|editor|coach|teacher|student|killer|founders)s?"
)
_RELATIONS = re.compile(
    rf"""\b(?:{_KIN}|\w+(?:er|or|ist)s?|place|date|country|city|state|year|name|cause|birth|death|nationality|award)\s+of\s+
         (?:the\s+|an?\s+)?(?:[a-z]\w*\s+){{0,2}}(?:{_KIN}|\w+(?:er|or|ist)s?|place|birth|country|city|state|company|film|song|band|book|album|university|school|man|woman|person|team)\s+
         (?:of|that|which|who|where|whose|in\s+which|from)\b
    |\bthe\s+{_KIN}\s+of\s+[^?]+?\s(?:born|die|died|live|lived|buried|educated|stud(?:y|ied)|work|worked|marry|married|w[io]n|receive|found)\b
    |['’]s\s+(?:\w+\s+)?{_KIN}(?!\w)(?=['’]|\s+(?:\w+|[^?]))
    |\bwho\s+(?:is|was)\s+[^?]*['’]s\s+{_KIN}\b
    |\bthe\s+(?:\w+\s+)?\w+\s+(?:that|which|who|whose|where|in\s+which|to\s+which|from\s+which)\s+(?!was\s+the\b)\w+[^?]*\b(?:{_KIN}|of)\b
    |\b(?:founded|owned|directed|written|produced|published|performed|acquired|bought|led|created|composed|discovered)\s+by\s+(?:an?|the)\s+[a-z]
    |\bboth\s+[^?]*\band\b|\b(?:both|all\s+three)\s+of\b|\bin\s+common\b|\bthe\s+same\s+\w+|\b(?:compared?\s+(?:to|with)|versus|vs\.?|rather\s+than)\s
    |\bcompare\b|\bdiffer(?:s|ed|ences?)?\s+(?:between|from)\b|\bbetween\s+[^?]+\band\b
    |\b(?:first|earlier|later|older|younger|longer|larger|bigger|taller|higher|more|most\s+recently)\b[^?]*,\s+[^?,]+\s+or\s
    |\b(?:that|which|who)\s+[^?]+?\s+and\s+(?:is|are|was|were|has|have|had|also|who|which|that)\b
    |\bbeide[nrs]?\b[^?]*\bund\b|\bgemeinsam\b|\bunterschied\w*\s+zwischen\b|\bvergleich\w*\b|\bderselbe\w*|\bdieselbe\w*|\bdasselbe
    |\b(?:des|der)\s+\w+s?\s+(?:des|der|von|vom)\s
    |\btous\s+(?:les\s+)?deux\b|\ben\s+commun\b|\bdifférences?\s+entre\b|\bcompar\w+\b|\b(?:du|de\s+la|de\s+l['’])\s*\w+\s+(?:du|de\s+la|de\s+l['’]|de)\s
    |\bambos\b|\ben\s+común\b|\bdiferencias?\s+entre\b|\b(?:del|de\s+la)\s+\w+\s+(?:del|de\s+la|de)\s
    |共同|区别|比较|不同之处|的[^的，。？\s]{{1,8}}的(?:[^的，。？\s]{{1,8}})(?:是|在|叫)""",
    re.IGNORECASE | re.VERBOSE,
)
