"""Questions made by rule, which only train the ranker of sentences: `answers.py` asks them, and never measures by them.

Steps of questions of several hops, as their set takes them apart: each is a question that one passage answers. And
questions of two hops made of two pages: one names the other with a relation ("directed by"), and that one states a fact
of its subject ("born in"): "Where was the director of … born?".
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sensegraph.types import Document

Fact = tuple[int, str, tuple[str, ...]]  # its kind, the answer, and how it is asked for
EACH = 40  # composed questions of one kind of fact
_BEGINNING = 800  # characters of a page that are read
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = rf"(?:\d{{1,2}} (?:{_MONTHS}),? \d{{4}}|(?:{_MONTHS}) \d{{1,2}}, \d{{4}})"
_PLACE = r"[A-Z][\w'’-]+(?: (?:of|de|on|the|[A-Z][\w'’-]+))*(?:, [A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*)*"
_FACTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (rf"\([^()]*?({_DATE})", ("When was {} born?", "What is the date of birth of {}?")),
    (rf"\([^()]*{_DATE}\s*[–-]\s*({_DATE})[^()]*\)", ("When did {} die?", "What is the date of death of {}?")),
    (rf"\b[Bb]orn\b[^.;()]{{0,40}}? (?:in|at) ({_PLACE})", ("Where was {} born?", "What is the birthplace of {}?")),
    (rf"\b(?:based|headquartered|located) in ({_PLACE})", ("Where is {} located?", "In which place is {} based?")),
    (r"\b(?:founded|established|formed) in (?:\w+ )?(\d{4})", ("When was {} founded?", "In what year was {} formed?")),
    (rf"\b(?:graduated from|educated at|studied at|attended) (?:the )?({_PLACE})",
     ("Where did {} study?", "Which school did {} attend?")),
    (r"\b(?:won|received|awarded) (the [A-Z][^.,;]{6,50})", ("Which award did {} win?",)),
)  # fmt: skip
_LINKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("directed by", ("the director of {}", "the person who directed {}")),
    ("written by", ("the writer of {}", "the author of {}")),
    ("composed by", ("the composer of {}",)),
    ("(?:song|album) by [^.]{0,40}?", ("the performer of {}", "the artist behind {}")),
    ("(?:novel|book) by [^.]{0,30}?", ("the author of {}",)),
    ("produced by", ("the producer of {}",)),
    ("published by", ("the publisher of {}",)),
    ("(?:founded|created|designed) by", ("the creator of {}",)),
    ("(?:owned by|subsidiary of)", ("the owner of {}",)),
    ("(?:son|daughter) of [^.]{0,30}?", ("a parent of {}",)),
    ("(?:wife of|husband of|married(?: to)?) [^.]{0,30}?", ("the spouse of {}",)),
    ("(?:educated at|attended|graduated from)", ("the school that {} attended",)),
)
_ASIDE = re.compile(r"\s*\([^()]*\)$")


@dataclass(frozen=True, slots=True)
class Made:
    """A question with its answer; `place` is what tells its fold, `page` the document that must say it, or empty."""

    text: str
    answer: str
    place: str
    page: str = ""


def list_steps(folder: Path, places: dict[str, str]) -> Iterator[Made]:
    """The steps of the questions in a folder, with the answers of earlier ones put in; `places` by question."""
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        query = json.loads(line)
        answers: list[str] = []
        for step in query["metadata"].get("decomposition", ()) if query["_id"] in places else ():
            text = re.sub(r"#(\d)", lambda m: answers[int(m[1]) - 1], step["question"])  # noqa: B023
            thing, _, relation = (part.strip() for part in text.partition(">>"))
            answers.append(step["answer"])
            asked = f"What is the {relation} of {thing}?" if relation else text.replace(" ?", "?")
            yield Made(asked, step["answer"], places[query["_id"]])


def compose_questions(documents: Iterable[Document]) -> list[Made]:
    """Questions of two hops over pages with titles: at most `EACH` of one kind of fact, the same ones each time."""
    pages = {_ASIDE.sub("", d.title): d for d in documents}
    facts = {t: list(_read_facts(d.text[:_BEGINNING])) for t, d in pages.items() if len(t) > 3}
    found: dict[int, dict[str, Made]] = {}
    for title, page in pages.items():
        for phrases, other in _list_links(page.text[:_BEGINNING], title, facts):
            draw = random.Random(f"{title} {other}")
            for kind, answer, forms in facts[other]:
                text = draw.choice(forms).format(draw.choice(phrases).format(title))
                found.setdefault(kind, {})[text] = Made(text, answer, pages[other].id, pages[other].id)
    ordered = (sorted(made, key=lambda t: hashlib.sha256(t.encode()).digest())[:EACH] for made in found.values())
    return [made[t] for made, texts in zip(found.values(), ordered, strict=True) for t in texts]


def _read_facts(text: str) -> Iterator[Fact]:
    for kind, (pattern, forms) in enumerate(_FACTS):
        if match := re.search(pattern, text):
            yield kind, match[1], forms


def _list_links(text: str, title: str, known: Mapping[str, Sequence[Fact]]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The pages that a text names behind a relation, by title, with how that relation is put."""
    for lead, phrases in _LINKS:
        for match in re.finditer(rf"\b{lead} (?:the )?(?=[A-Z])", text):
            words = text[match.end() : match.end() + 60].split(" ")
            names = (" ".join(words[:n]).strip('.,;:()"') for n in range(5, 0, -1))
            other = next((name for name in names if known.get(name)), "")
            if other and other not in title and title not in other:
                yield phrases, other
