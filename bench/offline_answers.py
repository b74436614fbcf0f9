"""What the offline engine's answers are worth, and what they read like.

    python bench/offline_answers.py [--data DIR] [--part qmsum|podcast|speed|all] [--half even|odd|both]

qmsum: ROUGE-1 and ROUGE-L F1 (Snowball stems, the whole text as one sequence) of answers to general questions (≈ 110
words, from all segments of the meeting) and specific ones (≈ 70 words) against the human references, beside the lead,
a random choice, TextRank, and the reference of another meeting or question as control. Answers name what a meeting was
about and who "said that …", words that references have too: so the same answers stand there without these words, and
beside them sentences and phrases of the meeting drawn by lot, in the same frame. podcast: answers to six global
questions, written from chunks that a plain BM25 found. speed: CPU seconds for an answer over ten contexts.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import Stemmer
from rapidfuzz.distance import LCSseq

from sensegraph.engines.offline.answers.composing import (
    OPENING,
    answer_inquiries,
    compose_answer,
    rate_inquiries,
    report_speech,
)
from sensegraph.engines.offline.answers.questions import find_key_phrases, list_noun_phrases
from sensegraph.engines.offline.answers.source_sentences import read_source_sentences, select_presentable
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import count_tokens
from sensegraph.types import Context, Description, Draft, Inquiry, Passage, Point, Source

GENERAL_WORDS, SPECIFIC_WORDS = 110, 70
QUESTIONS = (
    "What are the main themes across the conversations?",
    "What are the different perspectives on data privacy shared by the guests?",
    "Do guests discuss the potential negative impacts of technology on society?",
    "How frequently do discussions about artificial intelligence arise compared to other topics?",
    "Which guests speak the most about educational technology?",
    "How do leaders approach competition - as motivators for innovation or as obstacles?",
)
WORD = re.compile(r"[a-z0-9]+")
FRAME = re.compile(
    r"The (?:meeting|text) was about|The (?:group|text) discussed|\b(?:said|and) that(?= [“\"])|\basked:"
)
_stemmer = Stemmer.Stemmer("english")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def stems(text: str) -> list[str]:
    return list(_stemmer.stemWords(WORD.findall(text.lower())))


# ── ROUGE and the rows it is read beside ─────────────────────────────────────────────────────────────────────────────


def f1(hits: int, found: int, wanted: int) -> float:
    return 200.0 * hits / (found + wanted) if hits else 0.0


def rouge(candidate: str, references: Sequence[str]) -> tuple[float, float]:
    """ROUGE-1 and ROUGE-L F1 in percent, against the best of the references."""
    found = stems(candidate)
    best = (0.0, 0.0)
    for reference in references:
        wanted = stems(reference)
        one = sum((Counter(found) & Counter(wanted)).values())
        pair = (f1(one, len(found), len(wanted)), f1(LCSseq.similarity(found, wanted), len(found), len(wanted)))
        best = max(best, pair)
    return best


def cut(sentences: Sequence[str], words: int) -> str:
    """The first sentences up to about `words` words."""
    taken: list[str] = []
    for sentence in sentences:
        if sum(len(s.split()) for s in taken) >= words:
            break
        taken.append(sentence)
    return " ".join(" ".join(taken).split()[: words + 15])


def textrank(sentences: Sequence[str], words: int) -> str:
    """The most central sentences by PageRank over shared stems (Mihalcea and Tarau 2004), in order of rank."""
    bags = [Counter(stems(s)) for s in sentences]
    vocabulary = {t: i for i, t in enumerate(sorted({t for b in bags for t in b}))}
    matrix = np.zeros((len(bags), len(vocabulary)), dtype=np.float32)
    for i, bag in enumerate(bags):
        for t in bag:
            matrix[i, vocabulary[t]] = 1
    sizes = np.log(np.maximum(matrix.sum(1), 2))
    links = (matrix @ matrix.T) / (sizes[:, None] + sizes[None, :])
    np.fill_diagonal(links, 0)
    links = links / np.maximum(links.sum(1, keepdims=True), 1e-9)
    rank = np.full(len(bags), 1 / len(bags), dtype=np.float32)
    for _ in range(40):
        rank = 0.15 / len(bags) + 0.85 * links.T @ rank
    return cut([sentences[i] for i in np.argsort(-rank, kind="stable")], words)


def spoken(text_: str) -> list[str]:
    """The sentences of a segment with at least four words, without labels and marks."""
    bare = re.sub(r"\{[^}]*\}", " ", re.sub(r"(?m)^[^:\n]{1,40}:", "", text_))
    found = (" ".join(bare[a:b].split()) for a, b in split_sentences(bare))
    return [s for s in found if len(WORD.findall(s.lower())) >= 4]


# ── qmsum ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def passages(segments: Sequence[dict[str, Any]]) -> tuple[Passage, ...]:
    return tuple(
        Passage("chunk", s["_id"], s["text"], 1.0, s["title"], (Source(s["_id"], 0, len(s["text"])),), (), 1)
        for s in segments
    )


def written(draft: Draft) -> str:
    return "".join(s.text for s in draft.statements)


Row = tuple[str, Callable[[dict[str, Any]], str]]


def rows(meetings: dict[str, list[dict[str, Any]]], all_questions: Sequence[dict[str, Any]], words: int) -> list[Row]:
    """The name of each condition and how it answers a question."""
    said = {m: [s for segment in segments for s in spoken(segment["text"])] for m, segments in meetings.items()}
    chance = random.Random(7)
    answers = [q["metadata"]["answer"][0] for q in all_questions]
    names = [q["_id"] for q in all_questions]
    far = len(answers) // 2  # the questions are in the order of the meetings: half-way round is another meeting
    here_too = dict(zip(names, answers[1:] + answers[:1], strict=True))
    other = dict(zip(names, answers[far:] + answers[:far], strict=True))

    def here(q: dict[str, Any]) -> list[str]:
        return said[q["metadata"]["meeting"]]

    def ours(q: dict[str, Any]) -> str:
        segments = meetings[q["metadata"]["meeting"]]
        return written(compose_answer(Inquiry(q["text"], Context(passages(segments)), len(segments)), words=words))

    def drawn(q: dict[str, Any]) -> str:
        """Phrases and sentences of the meeting drawn by lot, framed as an answer frames its own."""
        sentences = read_source_sentences(passages(meetings[q["metadata"]["meeting"]]), "en")
        phrases = sorted({text for s in sentences for _, text in list_noun_phrases(s.text)})
        some = chance.sample(phrases, min(OPENING, len(phrases)))
        opening = f"The meeting was about {' and '.join(some[:2])}. The group discussed {', '.join(some[2:])}."
        opening = opening if q["metadata"]["type"] == "general" else ""
        chosen, length = [], len(opening.split())
        for one in chance.sample(sentences, len(sentences)):
            if length >= words:
                break
            chosen.append(one)
            length += len(one.text.split()) + 3
        return opening + "".join(s.text for s in report_speech(chosen, bool(opening)))

    return [
        ("lead", lambda q: cut(here(q), words)),
        ("random", lambda q: cut(chance.sample(here(q), len(here(q))), words)),
        ("TextRank", lambda q: textrank(here(q), words)),
        ("control: another meeting's reference", lambda q: other[q["_id"]]),
        ("control: the next question's reference", lambda q: here_too[q["_id"]]),
        ("control: drawn by lot, framed as ours", drawn),
        ("control: drawn by lot, without the frame", lambda q: FRAME.sub(" ", drawn(q))),
        ("sensegraph", ours),
        ("sensegraph without the frame", lambda q: FRAME.sub(" ", ours(q))),
    ]


def qmsum(data: Path, half: str, only: str, show: int) -> None:
    meetings: dict[str, list[dict[str, Any]]] = {}
    for segment in lines(data / "qmsum" / "corpus.jsonl"):
        meetings.setdefault(segment["metadata"]["meeting"], []).append(segment)
    questions = lines(data / "qmsum" / "queries.jsonl")
    halves = {m: ("even", "odd")[i % 2] for i, m in enumerate(sorted(meetings))}
    for kind, words in (("general", GENERAL_WORDS), ("specific", SPECIFIC_WORDS)):
        if only not in ("", kind):
            continue
        asked = [q for q in questions if q["metadata"]["type"] == kind]
        print(f"\nqmsum {kind}, ≈ {words} words: ROUGE-1 / ROUGE-L F1 (questions, words)")
        for name, method in rows(meetings, asked, words):
            print(f"  {name:38}", *_figures(method, asked, halves, half, show if name == "sensegraph" else 0))


def _figures(method: Callable[[dict[str, Any]], str], asked: Any, halves: Any, half: str, show: int) -> Iterator[str]:
    for part in ("even", "odd") if half == "both" else (half,):
        chosen = [q for q in asked if halves[q["metadata"]["meeting"]] == part]
        texts = [method(q) for q in chosen]
        pairs = [rouge(t, q["metadata"]["answer"]) for t, q in zip(texts, chosen, strict=True)]
        mean = np.mean(pairs, axis=0)
        size = np.mean([len(t.split()) for t in texts])
        yield f"{part}: {mean[0]:.1f} / {mean[1]:.1f} ({len(chosen)}, {size:.0f})"
        for q, t in list(zip(chosen, texts, strict=True))[:show]:
            print(f"\n--- {q['text']}\nREF {q['metadata']['answer'][0]}\nOUR {t}")


# ── podcast ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def bm25(question: str, bags: Sequence[Counter[str]], top: int) -> list[int]:
    """The positions of the best chunks by BM25 (k1 1.2, b .75)."""
    mean = sum(b.total() for b in bags) / len(bags)
    scores = np.zeros(len(bags))
    for term in sorted(set(stems(question))):
        df = sum(term in b for b in bags)
        idf = math.log(1 + (len(bags) - df + 0.5) / (df + 0.5))
        scores += [idf * 2.2 * b[term] / (b[term] + 1.2 * (0.25 + 0.75 * b.total() / mean)) for b in bags]
    return [int(i) for i in np.argsort(-scores, kind="stable")[:top]]


def mapped(question: str, contexts: Sequence[tuple[Passage, ...]], corpus: int) -> Draft:
    """Map and reduce: points of every context, joined into one answer."""
    found = rate_inquiries([Inquiry(question, Context(c), corpus) for c in contexts])
    points = sorted((p for ps in found for p in ps if p.score > 0), key=lambda p: -p.score)
    return answer_inquiries(
        [Inquiry(question, Context(tuple(as_passage(i, p) for i, p in enumerate(points))), corpus)]
    )[0]


def as_passage(number: int, point: Point) -> Passage:
    """A point as GraphRAG's reduce step hands it over."""
    quotes = tuple(Description(s.text.strip(), o) for s in point.statements for o in s.sources)
    sources = tuple(q.source for q in quotes)
    shown = "".join(s.text for s in point.statements)
    return Passage("point", f"p{number}", shown, point.score, point.title, sources, quotes, point.documents)


def report_like(chunks: Sequence[dict[str, Any]], most: int = 40) -> tuple[Passage, ...]:
    """Stand-ins for reports: the best sentences on each of the phrases that recur most, rated by their documents."""
    said = select_presentable(read_source_sentences(passages(chunks), "en"), 0.6)
    reports = []
    phrases = find_key_phrases([s.text for s in said], 6 * most)
    for n, phrase in enumerate([p for p in phrases if len(p.stems) > 1][:most]):
        own = sorted((said[i] for i in phrase.hits), key=lambda s: -s.quality)[:14]
        quotes = tuple(Description(f"{s.speaker}: “{s.text}”" if s.speaker else s.text, s.source) for s in own)
        documents = len({said[i].chunk for i in phrase.hits})
        text_ = " ".join(q.text for q in quotes)
        title = phrase.text[:1].upper() + phrase.text[1:]
        reports.append(Passage("report", f"r{n}", text_, 10 * (1 - n / most), title, (), quotes, documents))
    return tuple(reports)


def podcast(data: Path, questions: Sequence[str]) -> None:
    chunks = lines(data / "podcast" / "corpus.jsonl")
    reports = report_like(chunks)
    bags = [Counter(stems(c["text"])) for c in chunks]
    for question in questions:
        nearest = passages([chunks[i] for i in bm25(question, bags, 40)])
        batches = [nearest[i : i + 10] for i in range(0, len(nearest), 10)]
        whole = "themes" in question
        batches = [reports[i::4] for i in range(4)] if whole else batches
        for name, draft in (
            ("20 chunks", answer_inquiries([Inquiry(question, Context(nearest[:20]), len(chunks))])[0]),
            (
                f"map and reduce of {'report-like texts' if whole else '40 chunks'}",
                mapped(question, batches, len(chunks)),
            ),
        ):
            print(f"\n══ {question} [{name}]\n{marked(draft)}\n({'; '.join(draft.notes)})")


def marked(draft: Draft) -> str:
    """The text with the chunks that each statement quotes."""
    return "".join(s.text + (f" [{s.sources[0].chunk}]" if s.sources else "") for s in draft.statements)


def speed(data: Path) -> None:
    chunks = lines(data / "podcast" / "corpus.jsonl")
    batches = [passages(chunks[i * 100 : i * 100 + 13]) for i in range(10)]
    size = sum(count_tokens(p.text) for b in batches for p in b)
    for question in QUESTIONS:
        begin = time.process_time()
        mapped(question, batches, len(chunks))
        print(f"{time.process_time() - begin:6.2f} CPU s over {size} tokens in 10 contexts: {question}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--part", choices=("qmsum", "podcast", "speed", "all"), default="all")
    parser.add_argument("--half", choices=("even", "odd", "both"), default="both")
    parser.add_argument("--kind", choices=("", "general", "specific"), default="")
    parser.add_argument("--show", type=int, default=0, help="also print this many answers beside their references")
    parser.add_argument("--question", action="append", help="ask the podcast this instead of the six")
    given = parser.parse_args()
    if given.part in ("qmsum", "all"):
        qmsum(given.data, given.half, given.kind, given.show)
    if given.part in ("podcast", "all"):
        podcast(given.data, given.question or QUESTIONS)
    if given.part in ("speed", "all"):
        speed(given.data)


if __name__ == "__main__":
    main()
