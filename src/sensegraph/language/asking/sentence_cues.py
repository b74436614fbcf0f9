"""What marks a sentence of documentation: that it rules something, tells a way or a version, or goes on with another.

And what a question asks for that such marks answer. The words are English; signs and numbers are of any language.
"""

from __future__ import annotations

import re

from sensegraph.language.text import WORD, known_form, tag_words
from sensegraph.language.word_lists import english_words, read_lexicon

_RULES = re.compile(
    r"\b(?:may|must|shall|can|could|cannot|not|no|never|neither|nor|none|only|unless|without|required?|allowed|"
    r"permitted|\w+n['’]t)\b",
    re.IGNORECASE,
)
_ASKS_WAY = re.compile(
    r"^\W*(?:how (?:do|does|did|can|could|should|to|would|might|may|is|are|must)\b(?! (?:you )?(?:differ|compare))|"
    r"(?:what|which) (?:command|option|flag|switch|setting|should))\b",
    re.IGNORECASE,
)
_OPTION = r"(?<![\w-])--?[A-Za-z][\w-]*"
_WAY = re.compile(
    rf"{_OPTION}|`|^\s*[$#%>] |\b(?:use[ds]?|using|run|running|set|setting|specify|call|type|enter|add|put|"
    r"by \w+ing|to \w+)\b",
    re.IGNORECASE,
)
_COMMAND = re.compile(rf"^\W*[$%>] \S|^[`'‘]?[a-z][\w.+-]*(?: \S+)*? {_OPTION}|^`[^`]+`\W*$|\s\| [a-z]+\b")
_TYPED = ("`", " -", "| ", "$ ", "% ", "> ")  # one of which a command has
_CODE = re.compile(rf"{_OPTION}|`[^`]+`|^\W*[$%>] \S")
_INSTRUCTS = re.compile(
    r"\b(?:you (?:can|may|must|should|could|need|have) |(?:use|run|issue|type|execute|invoke|specify|call|enter|set) "
    r"(?:the|a|an|it|with|this|following|`|--?\w)|(?:can|may|must|should) be \w+ed (?:by|with|using)|by \w+ing\b)",
    re.IGNORECASE,
)
_SMALL = re.compile(
    r"`|(?<!\S)(?:the|an?|is|are|of|to|and|or|with|if|that|you|not|your|this)(?!\S)|[.;:]$", re.IGNORECASE
)
_REMARK = re.compile(r"\s+#\s.*")
_ASKS_VERSION = re.compile(r"\b(?:version|release)s?\b", re.IGNORECASE)
_VERSION = re.compile(r"\b\d+\.\d+|\b(?:version|release)s? \d", re.IGNORECASE)
_LITERAL = re.compile(rf"{_OPTION}\b|\b\d+(?:\.\d+)+")
_GOES_ON = re.compile(
    r"^\W*(?:but|however|instead|also|thus|therefore|then|and|or|so|for example|e\.g\.|this|these|that|those|it|they|"
    r"he|she|in this case|note that|otherwise|similarly|in addition|likewise|"
    r"cett?e|ces|cela|ceci|elles?|ils?|dies(?:e[mnrs]?)?|jedoch|außerdem|deshalb|daher|est[ae]|est[ao]s|además)\b",
    re.IGNORECASE,
)
_MADE_BY = r"(?i:(?:\w+ed|\w+en|made|built) by|maintain(?:s|ing)|copyright(?: \(c\))?(?: [\d, –-]+)?(?: by)?)"
_MAKERS = r"(?i:authors?|maintainers?|developers?|creators?)"
_MAKER = re.compile(
    rf"\b(?:{_MADE_BY}\b:?\W{{0,3}}(?:[a-z]+ ){{0,2}}|"
    rf"{_MAKERS}\b(?: of (?:the )?[\w.+-]+)?(?::?\W{{0,3}}| (?:is|are|was|were) ))"
    r"(?P<name>[A-ZÀ-Þ][\w’'-]+\.? [A-ZÀ-Þ][\w’'.-]*)|"
    r"(?P<named>[A-ZÀ-Þ][\w’'-]+),? (?i:(?:is|was|has been) (?:now |currently )?(?:the )?"
    r"(?:authors?|maintain\w*|develop\w*|creator)\b)"
)
_ASKS_MAKER = re.compile(
    r"^\W*who (?:first )?(?:wrote|made|designed|created|invented|developed|programmed|drew|painted|composed|devised|"
    r"came up with|"
    r"(?:is|are|was|were) the (?:author|creator|designer|developer|inventor|programmer|maintainer)s?)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b[A-ZÀ-Þ][\w’'-]*[a-zß-ÿ][\w’'-]*\.? (?:(?:de|la|du|di|van|der|von|den) ){0,2}[A-ZÀ-Þ][\w’'.-]*[a-zß-ÿ.]|"
    r"\bby (?:the )?[A-ZÀ-Þ][\w’'-]*"
)
_SIGN = re.compile(r"[\[\]<>|={}$\\/_`#*~^]|--")
_FEWEST = 30  # characters that a text counts as having at least


def asks_for_way(question: str) -> bool:
    """Whether a question asks how to do something, or with which command."""
    return _ASKS_WAY.search(question) is not None


def asks_for_version(question: str) -> bool:
    """Whether a question speaks of versions."""
    return _ASKS_VERSION.search(question) is not None


def tells_way(text: str) -> bool:
    """Whether a text may tell how to do something: by an option, a command, or a word of doing."""
    return _WAY.search(text) is not None


def holds_code(text: str) -> bool:
    """Whether a text has something to type: an option, a command, or code in backquotes."""
    return _CODE.search(text) is not None


def instructs(text: str) -> bool:
    """Whether a text tells its reader what to do: "you can …", "use the …", or a verb in front."""
    return _INSTRUCTS.search(text) is not None or tag_words([w.lower() for w in WORD.findall(text)[:1]]) == "b"


def tells_version(text: str) -> bool:
    """Whether a text has the number of a version."""
    return _VERSION.search(text) is not None


def rules_something(text: str) -> bool:
    """Whether a text says what may, must or cannot be."""
    return _RULES.search(text) is not None


def asks_for_maker(question: str) -> bool:
    """Whether a question asks who made something."""
    return _ASKS_MAKER.search(question) is not None


def names_maker(text: str, question: str = "") -> bool:
    """Whether a text has what may be the name of who made something: two words with capitals, or one behind "by".

    Common words ("Covered Code") and those of the question name nobody.
    """
    asked = {word.casefold() for word in WORD.findall(question)}
    people = read_lexicon("people")["first"]
    companies = english_words("organisation-heads")
    made = [(m["name"] or m["named"], companies) for m in _MAKER.finditer(text)]
    named = [(re.sub(r"^by (?:the )?", "", m[0]), frozenset[str]()) for m in _NAMED.finditer(text)]
    return any(
        word and word not in asked and (not known_form(word) or word in people or word in also)
        for name, also in (*made, *named)
        for word in re.split(r"['’]s\b|\s|\.", name.casefold())
    )


def tells_maker(text: str) -> bool:
    """Whether a text names who made or looks after something: "written by Ann Lee", "Maintainer: Ann Lee"."""
    return _MAKER.search(text) is not None


def goes_on(text: str) -> bool:
    """Whether a sentence begins as one does that goes on with what stands before it."""
    return _GOES_ON.search(text) is not None


def is_command(text: str) -> bool:
    """Whether a line is something to type: a prompt, a program with an option, a pipe, or code in backquotes."""
    return any(map(text.__contains__, _TYPED)) and _COMMAND.search(text) is not None


def is_code(text: str) -> bool:
    """Whether a line is a command and holds no prose: none of the small words of a sentence, no backquotes."""
    return is_command(text) and _SMALL.search(_REMARK.sub("", text)) is None


def list_literals(text: str) -> frozenset[str]:
    """The options and the numbers of versions in a text, which stand for nothing but themselves."""
    return frozenset(_LITERAL.findall(text))


def measure_syntax(text: str) -> float:
    """How much of a text is signs of syntax, from 0 to 1."""
    return min(1.0, 10 * len(_SIGN.findall(text)) / max(_FEWEST, len(text)))
