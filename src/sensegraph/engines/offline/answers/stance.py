"""The sign of a sentence: does it speak of the bad or the good of a thing? Plain lexical rules (English)."""

from __future__ import annotations

import re

_BAD = re.compile(
    r"""\b(?:negativ\w*|harm(?:s|ed|ful|ing)?|damag\w*|danger\w*|risk(?:s|y)?|threat\w*|fear\w*|afraid|scar(?:y|ed|es?)|frighten\w*|
    worr(?:y|ied|ies|ying|isome)|concern(?:s|ed|ing)?|anxi\w+|wrong|bad(?:ly)?|worse\w*|worst|crisis|crises|
    disrupt(?:s|ed|ive|ion)|displac\w+|unemploy\w*|los(?:e|es|ing|s|t)\s+(?:their\s+|a\s+)?jobs?|job\s+loss\w*|bias\w*|
    unfair\w*|problematic|inequal\w+|inequit\w+|discriminat\w+|misinformation|disinformation|abus\w+|misus\w+|addict\w+|isolat\w+|
    polari[sz]\w+|surveil\w+|exploit(?:s|ed|ing|ation)|manipulat\w+|violat\w+|victim\w*|suffer\w*|hurt\w*|destroy\w*|
    destruct\w+|kill\w*|die[sd]?|death\w*|war|weapon\w*|attack\w*|hack(?:ed|ers?)|breach\w*|steal\w*|fail(?:s|ed|ure\w*)?|
    drawback\w*|downside\w*|disadvantage\w*|unintended|consequence\w*|dystopi\w+|pessimis\w+|
    toxic\w*|hate|angry|anger|evil|terrible|horrible|awful|poison\w*|pollut\w+|divide[sd]?|excluded?|unsafe|insecur\w*|
    struggl\w+|left\s+behind|backlash|distrust\w*|mistrust\w*)\b""",
    re.I | re.X,
)
_GOOD = re.compile(
    r"""\b(?:positiv\w*|benefi\w+|good|better|best|great(?:er|est)?|improv\w+|help(?:s|ed|ful|ing)?|hope\w*|optimis\w+|
    opportunit\w+|advantage\w*|upside\w*|empower\w*|enabl\w+|enrich\w*|succe\w+|progress\w*|solv(?:e|es|ed|ing)|
    save[sd]?|cure[sd]?|heal\w*|safer?|excit\w+|amazing|wonderful|inspir\w+|love[sd]?|joy\w*|happ(?:y|ier|iness)|
    thriv\w+|flourish\w*|prosper\w*|abundan\w+|democrati[sz]\w+|accessib\w+|inclusi\w+|valuable|useful|powerful|
    breakthrough\w*|transformative|incredible|fantastic|motivat\w+|fun|easier|faster|cheaper|creativ\w+)\b""",
    re.I | re.X,
)
_NOT = re.compile(r"(?:\bnot|n['’]t|\bnever|\bno|\bwithout|\bneither|\bnor|\bhardly|\bless)(?:\s+\w+){0,2}\s*$", re.I)


def balance(text: str) -> int:
    """Words of good minus words of harm; a negation up to three words before turns a word round ("not a danger")."""
    bad, turned_bad = _count(_BAD, text)
    good, turned_good = _count(_GOOD, text)
    return good + turned_bad - bad - turned_good


def sign(text: str) -> int:
    """−1 where more words of harm than of good are said, +1 where it is the other way round, else 0."""
    found = balance(text)
    return (found > 0) - (found < 0)


def _count(words: re.Pattern[str], text: str) -> tuple[int, int]:
    """How many hits stand as they are, and how many are negated."""
    negated = [bool(_NOT.search(text[max(0, m.start() - 40) : m.start()])) for m in words.finditer(text)]
    return negated.count(False), negated.count(True)
