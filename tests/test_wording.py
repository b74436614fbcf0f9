"""Pages, helps, messages and docstrings of public names are in the field's words: none of those that only we used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import reference

ROOT = Path(__file__).resolve().parents[1]
FIELD_WORDS = {
    r"\b(?:borne|bears?|bore|bearing) out\b": "supported (grounded)",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\bdear(?:er|est)?\b(?! (?:Alex|Sir|Mr|Ms))": "expensive",
    r"\bfore(?:see|sees|seen|saw|seeing)\b": "estimate",
    r"\b(?:is|are|be|become|becomes|were|meant as) one thing\b": "the same entity; duplicates",
    r"\b(?:citations?|references?|marks?)\b[^.|]{0,40}\b(?:leads?|led) nowhere\b": "dangling",
    r"\b(?:shines?|shining) through\b": "leak",
    r"\bbear(?:s|ers?)? (?:a|the|this|that|his|her|its|their|one|no) names?\b": "have a name",
    r"\bpairs? in question\b|\bin question: ": "uncertain",
    r"\bmade-up worlds?\b": "synthetic dataset",
    r"\bhard distractors?\b": "hard negatives",
    r"\bposed? (?:questions?|by)\b|\bquestions? posed\b": "generate questions",
    r"\breckon(?:s|ed|ing)?\b": "calculate",
    r"\bmodels? of this machine\b": "local model",
    r"\bwhat is not it\b": "other aliases",
    r"\bsay more of\b": "add a name, a type or a condition",
    r"\btwo by two\b": "pairwise",
    r"\btake (?:it |them )?back what\b": "undo",
    r"\bin this wise\b|\bhearken\b|\bunto\b": "plain words",
}
"""A pattern of what only we said, and what the field says."""
CODE = re.compile(r"^```.*?^```|`[^`\n]+`|^\S+\.py$", re.MULTILINE | re.DOTALL)  # names of files, commands, programs


def read_texts() -> dict[str, str]:
    """What people read: every page but decisions and the changelog, the helps of commands, messages, public names."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *(ROOT / "docs").rglob("*.md")]
    texts = {p.relative_to(ROOT).as_posix(): p.read_text(encoding="utf-8") for p in pages if "design" not in p.parts}
    texts["messages"] = (ROOT / "tests" / "data" / "messages.txt").read_text(encoding="utf-8")
    texts |= {"helps": reference.write_commands(), "public names": reference.write_names()}
    return {name: CODE.sub(" ", text) for name, text in texts.items()}


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    found = read_texts()
    assert len(found) > 50
    assert all(len(found[name]) > 10_000 for name in ("messages", "helps", "public names"))
    return found


@pytest.mark.parametrize("pattern", FIELD_WORDS)
def test_people_read_the_words_of_the_field(pattern: str, texts: dict[str, str]):
    assert len(texts) > 50
    found = [
        f"{name}: …{' '.join(text[max(0, m.start() - 40) : m.end() + 30].split())}…: say {FIELD_WORDS[pattern]}"
        for name, text in texts.items()
        for m in re.finditer(pattern, text, re.IGNORECASE)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("said", "house"),
    [
        ("Statements that are borne out.", True),
        ("Statements that are supported.", False),
        ("Both are one thing.", True),
        ("Do one thing at a time.", False),
        ("Dear Alex, the buoy is late.", False),
        ("A dearer model.", True),
    ],
)
def test_a_word_that_only_we_used_is_seen(said: str, house: bool):
    assert any(re.search(pattern, said, re.IGNORECASE) for pattern in FIELD_WORDS) is house
