"""Whether "Who is …?" and "What is …?" are answered by the sentence that says so, without a model.

    python bench/definitions.py [--data DIR] [--seed N] [--n N] [--wrong]
    python bench/definitions.py --documents FOLDER --ask "What is a copyleft?" …    # answers to read

The first prints for how many titles (1 to 4 words) of hotpotqa pages, drawn with a seed, the lead sentence of the page
comes first in the answer, how many answers say that several bear the name, and CPU milliseconds per question. Titles
that several pages have are left out. The rules were tuned on 60 titles of seed 1; `--wrong` prints what went wrong.
"""

from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from client import options
from sensegraph.answering.looked_up_chunks import find_named_chunks
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.offline.reports.sentence_quality import tidy_sentence
from sensegraph.language.sentences import split_sentences
from sensegraph.types import Document

SETTINGS = {"engine": "offline", "index": {"parts": ["names"]}}
WORDS = 4
TUNED = (1, 60)  # seed and number of the titles that the rules were tuned on


def read_pages(folder: Path) -> list[Document]:
    """The pages of a test collection, or the records of a corpus."""
    lines = (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    return [Document(page["_id"], page["text"], page["title"]) for page in map(json.loads, lines)]


def draw_pages(pages: list[Document], seed: int, n: int) -> list[Document]:
    """Pages with a title of few words that no other page has, drawn with a seed; of other seeds none of the tuned."""
    titles = [p.title for p in pages]
    fit = [p for p in pages if 1 <= len(p.title.split()) <= WORDS and titles.count(p.title) == 1]
    tuned = random.Random(TUNED[0]).sample(fit, TUNED[1])
    return tuned[:n] if seed == TUNED[0] else random.Random(seed).sample([p for p in fit if p not in tuned], n)


def normalize(text: str) -> str:
    """Letters and digits alone, in small letters."""
    return re.sub(r"\W+", "", text.casefold())


def is_lead_first(answer: str, page: Document) -> bool:
    """Whether the answer begins with the beginning of the page's first sentence."""
    start, end = split_sentences(page.text)[0]
    lead = normalize(tidy_sentence(page.text[start:end]))[:60]
    return normalize(answer).startswith(lead)


def measure_leads(corpus: Corpus, pages: list[Document], wrong: bool) -> None:
    """Ask for every page's title, and print the shares."""
    right = several = 0
    looked_up = 0.0
    begun = time.process_time()
    for page in pages:
        question = f"Who is {page.title}?" if re.search(r"\bborn\b", page.text[:150]) else f"What is {page.title}?"
        answer = corpus.query(question, method="walk")
        right += (good := is_lead_first(answer.text, page))
        several += answer.text.startswith(("Several may bear", f"“{page.title}” may stand"))
        if wrong and not good:
            print(f"{question}\n  {answer.text[:300]}\n  lead: {page.text[:200]}\n")
        before = time.process_time()
        find_named_chunks(question, corpus.index())
        looked_up += time.process_time() - before
    spent = time.process_time() - begun - looked_up
    n = len(pages)
    print(
        f"{right} of {n} ({100 * right / n:.1f} %) begin with the page's lead sentence; {several} name several; "
        f"{1000 * spent / n:.0f} ms of CPU per answer, {1000 * looked_up / n:.1f} for the look-up alone"
    )


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--n", type=int, default=150)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--documents", default="", help="a folder of documents, or a set of --data")
    parser.add_argument("--ask", nargs="*", default=[])
    given = parser.parse_args()
    name = given.documents or "hotpotqa"
    folder = Path(given.data) / name
    pages = read_pages(folder) if (folder / "corpus.jsonl").is_file() else []
    with TemporaryDirectory() as root, Corpus.open(Path(root), settings=SETTINGS) as corpus:
        corpus.add(pages) if pages else corpus.add(name)
        corpus.build()
        for question in given.ask:
            print(f"> {question}\n{corpus.query(question, method='walk').text}\n", flush=True)
        if not given.ask:
            measure_leads(corpus, draw_pages(pages, given.seed, given.n), given.wrong)


if __name__ == "__main__":
    main()
