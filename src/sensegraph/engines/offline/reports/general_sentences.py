"""How far an English sentence states something that holds, rather than tells what once happened to someone."""

from __future__ import annotations

import re
from functools import lru_cache

_PAST = (
    r"was|were|had|did|didn['’]t|wasn['’]t|went|came|got|took|started|began|worked|met|spent|said|told|asked|grew|"
    r"joined|moved|decided|built|wrote|made|left|ended|wanted|thought|knew|felt|found|saw|read|heard|gave|ran|kept|"
    r"tried|learned|loved|studied|used to"
)
_TOLD = re.compile(
    rf"\b(?:I|we|he|she|they|you)\s+(?:\w+ly\s+|just\s+|also\s+|never\s+|first\s+)?(?:{_PAST}|\w+[^e\W]ed)\b",
    re.IGNORECASE,
)
_HAPPENED = re.compile(r"\b(?:was|were|had|did|said|\w{3,}ed)\b", re.IGNORECASE)
_REMEMBERED = re.compile(
    r"\bI remember|\bwhen I\b|\b(?:years?|months?|weeks?|days?) ago\b|\bat the time\b|\bback then\b|\bback when\b|"
    r"\b(?:in|since|of) (?:19|20)\d\d\b|\b(?:19|20)\d\d, |['’]\d0s\b|\byesterday\b|\blast (?:year|week|month|night)\b|"
    r"\b(?:high|middle|elementary|grad|graduate) school\b|\bfreshman|\bsophomore|\bsemester|\bone day\b|"
    r"\bthere (?:was|were)\b|\b(?:first|\w+th) grade\b",
    re.IGNORECASE,
)
_HERE = re.compile(  # talk within the conversation: to the other, or about what will be said
    r"^(?:tell|imagine|look|listen|let|think|say|remember|thank|congratulations|please|maybe)\b|"
    r"\b(?:you mentioned|you said|you['’]re talking|(?:as|like) (?:I|you) (?:said|mentioned|(?:well )?know)|"
    r"I['’]m (?:curious|wondering)|"
    r"(?:I|we)['’]?(?:d| would)? (?:love|like|want) to (?:hear|talk|ask|know)|today we|in this conversation|ask you|"
    r"you and I|interviewed|your (?:new |amazing |great |latest )?(?:book|career|journey|company)|grab a copy|"
    r"available (?:now|for)|soon be released|eagerly|I joked|kudos|we['’]ll (?:talk|hear|be)|let me|"
    r"talk(?:ed|ing)? (?:a (?:little )?bit )?about (?:this|that|it))\b",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:I|me|my|mine|myself|I['’](?:m|ve|d|ll))\b")
_THIRD = re.compile(r"^(?:he|she|they|his|her|their|it|this|that|these|those|one of (?:them|these|those))\b", re.I)
_LEANING = re.compile(
    r"^(?:where|whereas|then|another|also|like|because|as you|even|meanwhile|sometimes|pretty|again|"
    r"for (?:both|instance|example))\b|"
    r"^.{0,50}\b(?:(?:this|these|those) (?!is\b|are\b)\w+|the other one|both of them|one of which|such an? )",
    re.IGNORECASE,
)
_BROKEN = re.compile(
    r"\b(?:you|I|we|they|he|she|it)(?:['’](?:re|s|m)| was| were| is| are) like\b|, like,? you|--|^\w+ly, \w+ing\b|"
    r"\b(\w+) [–—-]+ \1\b",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    r"\b(?:like (?:a|the|this|that|his|her|youe|you|I|we|I'd)|stuff|whatnot|or whatever|blah|gonna|wanna|like, )\b|"
    r"\b(?:thing|guy|dude)s?\b|, like\b|\blike,",
    re.IGNORECASE,
)
_HOLDS = re.compile(
    r"\b(?:is|are|isn['’]t|aren['’]t|can|cannot|can['’]t|needs?|means?|requires?|allows?|enables?|depends?|helps?|makes?|"
    r"becomes?|should|must|will|has|have)\b",
    re.IGNORECASE,
)
_REASONS = re.compile(
    r"\bbecause\b|\bso that\b|\bwhich means\b|\brather than\b|\binstead of\b|\b(?:more|less|better|worse|\w+er) than\b|"
    r"\bin order to\b|\bthe (?:key|problem|challenge|reason|question|goal|idea|difference|purpose|danger|risk|"
    r"advantage|value|power|future)\b|\b(?:need|needs|have|has|important|necessary|essential) to\b|\bdepends? on\b|"
    r"\bnot only\b|\bonly if\b|\bwithout\b|\bleads? to\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?<=[\w,] )[A-Z][a-z]\w+")
_FREE_NAMES = 2  # capitalised words inside a sentence before it counts as a list of names


@lru_cache(maxsize=1 << 15)
def rate_generality(sentence: str, code: str = "en") -> float:
    """How general and assertive a tidied sentence is, from 0.02 (a personal anecdote) to about 1.5 (a reasoned claim).

    A product of factors: present statements, comparisons, reasons and needs raise it; stories in the first person and
    the past, talk within the conversation, dates, open pronouns, loose speech and strings of names lower it. 1 in other
    languages than English, whose cues these are.
    """
    if code != "en":
        return 1.0
    value = 1.15 if _HOLDS.search(sentence) else 0.55 if _HAPPENED.search(sentence) else 0.9
    value *= 1.25 if _REASONS.search(sentence) else 1.0
    value *= 0.35 if _TOLD.search(sentence) else 1.0
    value *= 0.45 if _REMEMBERED.search(sentence) else 1.0
    value *= 0.3 if _HERE.search(sentence) else 1.0
    value *= 0.5 if _OWN.search(sentence) else 1.0
    value *= 0.6 if _THIRD.search(sentence) else 1.0
    value *= 0.6 if _LEANING.search(sentence) else 1.0
    value *= 0.5 if _BROKEN.search(sentence) else 1.0
    value *= 0.7 if _LOOSE.search(sentence) else 1.0
    spare = len(_NAMED.findall(sentence)) - _FREE_NAMES
    return max(0.02, value * 0.85 ** max(0, spare))
