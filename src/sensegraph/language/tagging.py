"""Parts of speech as one letter a word, from Brill's lexicon (`data/lexicons/brill.txt`).

A word gets its most frequent tag, unknown words one by suffix, and a few rules over the string of letters repair what
matters for noun phrases and finite verbs (Brill's tagger applies 280 rules to each token, 8 s a megabyte).

n noun · N noun that is no verb · J adjective · b base or present verb · v finite verb · p participle · g -ing form ·
m modal or auxiliary · d determiner · o pronoun · s possessive · i preposition · t to · c conjunction · r adverb ·
w wh-word · # number · u interjection · X name · . other
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

_LETTERS = {
    "NN": "N", "NNS": "N", "NNP": "N", "NNPS": "N", "JJ": "J", "JJR": "J", "JJS": "J", "VB": "b", "VBP": "b",
    "VBZ": "v", "VBD": "v", "VBG": "g", "VBN": "p", "MD": "m", "DT": "d", "PDT": "d", "PRP": "o", "EX": "o",
    "PRP$": "s", "POS": "s", "IN": "i", "TO": "t", "CC": "c", "RB": "r", "RBR": "r", "RBS": "r", "RP": "r",
    "WDT": "w", "WP": "w", "WP$": "s", "WRB": "w", "CD": "#", "UH": "u",
}  # fmt: skip
_FORCED = {
    "is": "v", "are": "v", "was": "v", "were": "v", "am": "v", "be": "b", "been": "p", "has": "v", "have": "b",
    "had": "v", "do": "b", "does": "v", "did": "v", "that": "w", "like": "i", "so": "r", "well": "r", "not": "r",
    "there": "o", "yeah": "u", "okay": "u", "ok": "u", "um": "u", "uh": "u", "hmm": "u", "mm": "u", "his": "s",
    "her": "s", "cannot": "m", "gonna": "m", "wanna": "m", "let's": "v", "lot": "d", "lots": "d", "kind": "d",
    "sort": "d", "bit": "d",
}  # fmt: skip
_SUFFIXES = (
    (re.compile(r"ly$"), "r"),
    (re.compile(r"ing$"), "g"),
    (re.compile(r"ed$"), "p"),
    (re.compile(r"(?:ous|ful|less|able|ible|ive|ic|ical|al|ary|ish)$"), "J"),
    (re.compile(r"(?:ize|ise|ify)$"), "b"),
)
_REPAIRS = (
    (re.compile(r"(?<=[tm])n|(?<=[tm]r)n|(?<=o)n(?=[dsoit])"), "b"),  # to work, will help, we need the
    (re.compile(r"(?<=[dsJ#])b(?![dso])"), "N"),  # the need, a long run
    (re.compile(r"(?<=[ds])[bv](?=[.imvcw]|$)"), "N"),
    (re.compile(r"(?<=[dsi])[pg](?=[NnJ])"), "J"),  # a trained model, of growing interest
    (re.compile(r"(?<=v)v(?=[nNJd])"), "p"),
)


class _Letters(dict[str, str]):
    """Word → letter; unknown words are decided by form and remembered. `listed` are those of the lexicon."""

    listed: frozenset[str] = frozenset()

    def __missing__(self, word: str) -> str:
        letter = self[word] = self._guess(word)
        return letter

    def _guess(self, word: str) -> str:
        if not word[0].isalnum():
            return "."
        if word[0].isdigit():
            return "#"
        if "'" in word or "’" in word:
            stem, _, tail = word.replace("’", "'").lower().rpartition("'")
            if tail == "t":
                return "m"
            return "s" if tail == "s" and self.get(stem, "N") in "nNJX" else "v"
        lower = word.lower()
        if lower != word and lower in self:
            return self[lower]
        if "-" in word:
            return "N" if self[word.rsplit("-", 1)[1] or "-"] in "nN" else "J"
        return next((letter for pattern, letter in _SUFFIXES if pattern.search(lower)), "N")


@cache
def _load_letters() -> _Letters:
    """The lexicon's lower-case words, loaded on first use: 0.1 s, 15 MB."""
    letters = _Letters()
    for line in (files(__package__) / "data" / "lexicons" / "brill.txt").read_text("utf-8").splitlines():
        tag, *words = line.split(" ")
        if tag != ";;;":
            letters.update(dict.fromkeys(words, _LETTERS.get(tag, ".")))
    letters.update({word: "m" for word in letters if word.endswith("n't")})
    for word in [w for w, letter in letters.items() if letter == "N"]:
        stem = word.removesuffix("e")
        if letters.get(stem + "ing") == "g" or letters.get(stem + "ed") in ("p", "v"):  # a verb too
            letters[word] = "n"
    letters.update(_FORCED)
    letters.listed = frozenset(letters)
    return letters


def tag_words(words: Sequence[str]) -> str:
    """One letter a word for the words of one English sentence (lower-case them first where they begin it)."""
    text = "".join(map(_load_letters().__getitem__, words))
    for pattern, letter in _REPAIRS:
        text = pattern.sub(letter, text)
    return text


def known_word(word: str) -> bool:
    """Whether a folded word is a common word of English."""
    return word in _load_letters().listed


def known_form(word: str) -> bool:
    """Whether a folded word is a common word of English or a regular form of one ("foggier", "awaking")."""
    if known_word(word):
        return True
    for ending in ("ing", "ed", "er", "est", "ly", "s"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            stems = (stem, f"{stem}e", f"{stem[:-1]}y" if stem.endswith("i") else stem)
            if any(map(known_word, stems)):
                return True
    return False
