"""How often the language of a text is told: paragraphs of manual pages of this machine, and parallel questions.

    python bench/languages.py [--data ../shared/data]

Of each language up to 200 paragraphs of twelve words and more, drawn with a fixed seed from up to twelve manual pages
(pages that nobody translated count as mistakes: they are English), and the questions, passages and sentences of
xquad-en and xquad-de.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import detect_language
from sensegraph.language.word_lists import LANGUAGES

PAGES, PARAGRAPHS, WORDS = 12, 200, 12


def list_paragraphs(language: str, drawn: random.Random) -> list[str]:
    """Paragraphs of manual pages in a language."""
    folder = Path("/usr/share/man") / ("" if language == "en" else language)
    names = sorted({path.name.split(".")[0] for path in folder.glob("man[178]/*")})
    env = os.environ | {"MANWIDTH": "9999", "LC_ALL": "C.UTF-8", "MANOPT": "--no-justification --no-hyphenation"}
    found = []
    for name in drawn.sample(names, min(PAGES, len(names))):
        asked = ["man", name] if language == "en" else ["man", "-L", language, name]
        page = subprocess.run(asked, env=env, capture_output=True, text=True, check=False).stdout
        page = re.sub(r".\x08|\x1b\[[0-9;]*m", "", page)
        found += [" ".join(line.split()) for line in page.splitlines()[1:-1] if len(line.split()) >= WORDS]
    return drawn.sample(found, min(PARAGRAPHS, len(found)))


def load_texts(path: Path) -> list[str]:
    """The texts of a file of records."""
    return [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]


def report(name: str, texts: Sequence[str], language: str) -> None:
    """Print the share that is told, and what the rest is taken for."""
    told = Counter(map(detect_language, texts))
    wrong = ", ".join(f"{code or 'none'} {n}" for code, n in told.most_common() if code != language)
    print(f"{name:22} {len(texts):4}  {100 * told[language] / max(1, len(texts)):5.1f} %  {wrong}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    data = parser.parse_args().data
    drawn = random.Random(1)
    for language in LANGUAGES:
        report(f"manual pages, {language}", list_paragraphs(language, drawn), language)
    for language in ("en", "de"):
        questions, passages = (
            load_texts(data / f"xquad-{language}" / f"{name}.jsonl") for name in ("queries", "corpus")
        )
        report(f"questions, {language}", questions, language)
        report(f"passages, {language}", passages, language)
        report(f"sentences, {language}", [t[a:b] for t in passages for a, b in split_sentences(t)], language)


if __name__ == "__main__":
    main()
