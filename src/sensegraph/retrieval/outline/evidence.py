"""The outline as evidence for a question about the whole."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from sensegraph.answering.asking import for_quoting, gather_evidence, make_inquiry, rate_contexts
from sensegraph.index.index import Index
from sensegraph.index.manifest import DocumentEntry
from sensegraph.language.asking.kinds import list_opening_lines
from sensegraph.language.defining import AskedName, rate_mention
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import list_stems, split_runs
from sensegraph.language.word_lists import ENGLISH_MONTHS
from sensegraph.retrieval.outline.part import OUTLINE
from sensegraph.retrieval.outline.values import Outline, Sentence, Theme
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Description, Evidence, Passage, Question, Source

SMALL, EVENTS, FEW_EVENTS = 100, 16, 4  # documents whose titles tell what happened; titles listed, and the least
MADE_TOGETHER = 2  # office files of one day that still may be of that day
NAMED = 20  # documents up to which all are named
SEVERAL, MOST_KINDS = 3, 8  # documents that are of a kind by their names, and kinds that are counted
BEGINNING = 3  # sentences at the beginning of a document of which one stands for it
VOICES = 6  # speakers that are named
PEOPLE, FEW_PEOPLE, SAYS_WHO = (
    5,
    2,
    1.7,
)  # people who are presented, the least, and what a sentence must tell of who somebody is
LONG, SOON = 240, 25  # characters of such a sentence, and those within which it comes to the name
_ENDING = re.compile(r"\.[a-z][a-z0-9]{0,4}$", re.IGNORECASE)
_ANSWER = re.compile(r"^(?:(?:re|fwd?|aw|wg):\s*)+", re.IGNORECASE)


def find_outline_evidence(question: Question, index: Index, rt: Runtime) -> Evidence | None:
    """The outline as evidence, if the engine finds that it answers the question; None where there is none."""
    listed = for_quoting(rt, lambda: list_passages(index))
    if not listed or not rt.each(rate_contexts, [make_inquiry(question, listed, index)])[0]:
        return None
    return gather_evidence(listed, index, notes=("answered from the outline of the corpus",))


def list_passages(index: Index) -> Iterator[Passage]:
    """The outline as passages: what was read, then each theme with sentences for it, then what comes next.

    Where there is too little for themes, the documents with their first sentences.
    """
    if OUTLINE.name not in index.manifest.parts:
        return
    found = index.part(OUTLINE)
    if not found.form:
        yield from list_beginnings(found, index)
        return
    lines = [s for theme in (*found.themes, *found.people) for s in theme.sentences]
    chunks = index.chunks(sorted({s.chunk for s in (*lines, *found.opening)}))
    yield Passage("outline", "outline-0", write_head(found, len(index.catalogue.documents)), documents=found.units)
    if opened := tuple(quote_line(s, chunks) for s in found.opening if s.chunk in chunks):
        yield Passage("outline", "outline-opening", "Most of them open alike:", quotes=opened)
    if people := tell_people(found.people, chunks):
        yield Passage("outline", "outline-people", "Among those who speak:", quotes=people)
    told = list_events(index) if found.form == "themes" else []
    if found.form == "themes" and len(told) < len(index.catalogue.documents) <= NAMED:
        yield Passage("outline", "outline-documents", name_documents(index))
    many = found.form == "themes" and not found.talks and len(index.catalogue.documents) > NAMED
    if many and (kinds := count_kinds(index)):
        yield Passage("outline", "outline-kinds", kinds)
    for i, theme in enumerate(found.themes):
        quotes = tuple(quote_line(s, chunks) for s in theme.sentences if s.chunk in chunks)
        line = write_line(theme, found)
        yield Passage("outline", f"outline-{i + 1}", line, title=theme.label, quotes=quotes, documents=theme.units)
    if found.more:
        yield Passage("outline", "outline-more", f"Also: {', '.join(found.more)}.")
    if told:
        yield Passage("outline", "outline-time", f"In the order of time: {'; '.join(told)}.")


def list_beginnings(found: Outline, index: Index) -> Iterator[Passage]:
    """What was read, and each document of a small corpus by its name with its first sentences."""
    entries = index.catalogue.documents
    if not 0 < len(entries) <= NAMED or not found.sentences:
        return
    yield Passage("outline", "outline-0", write_head(found, len(entries)), documents=found.units)
    firsts = {c.document: c.id for c in index.catalogue.chunks if not c.position}
    held = index.chunks([*firsts.values()])
    for i, entry in enumerate(entries):
        first = firsts.get(entry.id, "")
        spans = split_sentences(held[first].text)[:BEGINNING] if first in held else []
        quotes = tuple(quote_line(Sentence(first, start, end), held) for start, end in spans)
        name = call_document(entry)
        yield Passage("outline", f"outline-{i + 1}", f"**{name}**", title=name, quotes=quotes, documents=1)


def list_events(index: Index) -> list[str]:
    """The titles of the dated documents of a small corpus in order, with their days; none of a series.

    A day that several office files and PDFs have in their properties is that on which they were made, and no event;
    nor is there an order where all have one day.
    """
    from sensegraph.documents.document_files import OFFICE

    entries = index.catalogue.documents
    if len(entries) > SMALL:
        return []
    with_properties = {d.id for d in entries if os.path.splitext(d.id)[1].lower() in OFFICE}
    made = Counter(d.time[:10] for d in entries if d.id in with_properties)
    told = [d for d in entries if d.id not in with_properties or made[d.time[:10]] <= MADE_TOGETHER]
    dated = sorted((d.time[:10], _ANSWER.sub("", d.title.strip())) for d in told if d.time and d.title.strip())
    dated = [(day, title) for i, (day, title) in enumerate(dated) if title not in {t for _, t in dated[:i]}]
    begins = Counter(" ".join(title.split()[:2]) for _, title in dated)
    single = [(day, title) for day, title in dated if begins[" ".join(title.split()[:2])] == 1]
    step = max(1.0, len(single) / EVENTS)
    kept = [single[int(i * step)] for i in range(min(EVENTS, len(single)))]
    several = len(kept) >= FEW_EVENTS and len({day for day, _ in kept}) > 1
    return [f"{title} ({day})" for day, title in kept] if several else []


def call_document(entry: DocumentEntry) -> str:
    """The title of a document, or the name of its file without the ending; of `LGPL-2.1` nothing is left out."""
    return entry.title.strip() or _ENDING.sub("", PurePath(entry.id).name)


def name_documents(index: Index) -> str:
    """The documents by name, those together whose names end with the same word, or whose first lines hold it."""
    entries = index.catalogue.documents
    names = {e.id: call_document(e) for e in entries}
    ends = {name: [w for w in split_runs(names[name]) if w.isalpha()][-1:] for name in names}
    kinds = Counter(word.lower() for words in ends.values() for word in words)
    groups: dict[str, list[str]] = {word: [] for word, n in kinds.most_common() if n > 1 and word not in ENGLISH_MONTHS}
    others: list[str] = []
    for name, shown in names.items():
        lines = list_opening_lines(index.document(name).text)
        opening = {*list_stems(" ".join(line for line in lines if not line.endswith(".")))}
        own = [word for word in groups if [word] == [w.lower() for w in ends[name]]]
        own += [word for word in groups if opening.intersection(list_stems(word))]
        (groups[own[0]] if own else others).append(shown)
    told = [f"- {word}: {' · '.join(held)}" for word, held in groups.items() if held]
    told += [f"- {'others: ' if told else ''}{' · '.join(others)}"] if others else []
    return "\n".join(["The documents:\n", *told])


def count_kinds(index: Index) -> str:
    """How many documents each word ends the names of, where these are most of the documents; else nothing."""
    names = [call_document(e) for e in index.catalogue.documents]
    ends = Counter(words[-1].lower() for name in names if (words := [w for w in split_runs(name) if w.isalpha()]))
    kinds = [(word, n) for word, n in ends.most_common() if n >= SEVERAL and word not in ENGLISH_MONTHS]
    counted = sum(n for _, n in kinds)
    if 2 * counted <= len(names) or len(kinds) > MOST_KINDS:
        return ""
    others = [f"others ({len(names) - counted:,})"] if counted < len(names) else []
    return f"By their names: {', '.join([*(f'{word} ({n:,})' for word, n in kinds), *others])}."


def quote_line(sentence: Sentence, chunks: dict[str, Chunk]) -> Description:
    """A sentence with its speaker in front, where one is known."""
    text = chunks[sentence.chunk].text[sentence.start : sentence.end].strip()
    spoken = f"{sentence.speaker}: “{text}”" if sentence.speaker else text
    return Description(spoken, Source(sentence.chunk, sentence.start, sentence.end))


def tell_people(people: Sequence[Theme], chunks: dict[str, Chunk]) -> tuple[Description, ...]:
    """For each of a few people the sentence that says who it is; of those of whom it is said best, in their order."""
    found: list[tuple[float, int, Description]] = []
    for place, person in enumerate(people):
        name = AskedName(person.label, person=True)
        rated = []
        for line in (s for s in person.sentences if s.chunk in chunks):
            said = chunks[line.chunk].text[line.start : line.end].strip()
            if len(said) < LONG and (named := name.pattern.search(said)) and named.start() < SOON:
                rated.append((rate_mention(name, said), quote_line(line, chunks)))
        if best := max(rated, key=lambda pair: pair[0], default=None):
            found.append((-best[0], place, best[1]))
    kept = [one for one in sorted(found, key=lambda x: x[:2]) if -one[0] >= SAYS_WHO][:PEOPLE]
    return tuple(quote for _, _, quote in sorted(kept, key=lambda x: x[1])) if len(kept) >= FEW_PEOPLE else ()


def write_head(found: Outline, records: int = 0) -> str:
    """How much was read, of what form it is, and who speaks or acts."""
    noun = "conversation" if found.talks == found.units else "document"
    read = f"{found.units:,} {noun}{'' if found.units == 1 else 's'}"
    read += f" in {records:,} records" if records > found.units and found.form != "story" else ""
    read += f", {found.sentences:,} sentence{'' if found.sentences == 1 else 's'}"
    if found.form == "story":
        cast = [
            f"- **{p.label}** – {p.units} times{f', mostly with {join_names(p.people)}' if p.people else ''}"
            for p in found.cast
        ]
        return "\n".join([f"**A story: {read}.** Who is in it:\n", *cast])
    head = f"**{read}.**"
    if found.form == "subjects":
        head = f"**{read}: a collection of {found.units:,} separate subjects, with few themes in common.**"
    if found.voices:
        named = [f"{name} ({n:,})" for name, n in found.voices[:VOICES]]
        rest = len(found.voices) - len(named)
        head += f" Speakers: {', '.join(named)}{f' and {rest} more' if rest else ''}."
    return head


def write_line(theme: Theme, found: Outline) -> str:
    """One line of the outline."""
    if found.form == "story":
        return f"**{theme.label}**{f' – {join_names(theme.people)}' if theme.people else ''}"
    if found.form == "subjects":
        rest = theme.units - len(theme.beside)
        return f"**{theme.label or 'Others'}** – {'; '.join(theme.beside)}{f' and {rest} more' if rest else ''}"
    noun = "conversations" if found.talks == found.units else "documents"
    who = "most from" if 2 * found.talks >= found.units else "with"
    parts = [f"**{theme.label}** – {theme.units:,} of {found.units:,} {noun}"]
    parts += [f"also {', '.join(theme.beside)}"] if theme.beside else []
    parts += [f"{who} {', '.join(theme.people)}"] if theme.people else []
    return " · ".join(parts)


def join_names(names: Sequence[str]) -> str:
    """ "A, B and C"."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
