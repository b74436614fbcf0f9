"""How the time of each parser grows when its input is doubled five times, at its worst of many shapes.

    python bench/growth.py

CPU seconds, the best of three for the longest text, the mean for the shortest; 2 is linear, 4 the square.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from sensegraph.answering.grounding import citations
from sensegraph.documents import mails, markup, office, record_files, restructured, subtitles
from sensegraph.documents.decoding import decode_text
from sensegraph.documents.document_files import DEFAULTS
from sensegraph.documents.metadata import read_iso_date
from sensegraph.engines.llm.replies import answer_replies, cited_records, extracted_records, method_replies, reply_text
from sensegraph.engines.offline.extraction import page_reader
from sensegraph.errors import InputError
from sensegraph.graphs.interchange import tables as graph_tables
from sensegraph.graphs.match.expressions import tokenize_query
from sensegraph.index.chunks import chunk_documents
from sensegraph.language import blocks, collapsing, noun_phrases, sentences, speakers, transcripts, truecase
from sensegraph.language import tables as language_tables
from sensegraph.language.asking import enumerations
from sensegraph.language.dates import moments, stated_dates
from sensegraph.language.text import detect_language, list_stems
from sensegraph.methods.kag import logical_forms
from sensegraph.models.endpoint.client import Reply
from sensegraph.personal import contacts, finding, identities
from sensegraph.personal.personal_settings import PersonalSettings
from sensegraph.resolution.comparison.name_reading import read_name
from sensegraph.types import Chunk, Document

DOUBLINGS = 5
SAMPLES = 8  # of the short text, for their mean
FIRST = 1_000  # characters
UNNOTICED = 0.0005  # CPU seconds below which nothing is said of growth
SHAPES = (
    *' \n\t#*[(<&"|-=:.…1aA@\\',
    *("a.", ". ", "a@", "a\n", "\n\n", "A: a\n", "1. a\n", "- ", "| ", "](", "<b id=1>", "<div>", "</p>", "&amp;"),
    *("\nFrom a\n\n", "http://a", "May 1, ", "+1 ", "(a", "a, ", "A ", " a", '"a"', "{", "か", "## "),
)


def _reply(text: str) -> Reply:
    return Reply(text, 0, 0, "stop")


def _chunk(text: str) -> Chunk:
    return Chunk("c", "d", 0, len(text), 1, text)


def _hear(text: str) -> None:
    stream = cited_records.AnswerText()
    for at in range(0, len(text), 40):
        stream.feed(text[at : at + 40])
    stream.feed("", last=True)


_FINDER = finding.build_finder(PersonalSettings())
_MAIL = "From: a@b.c\nSubject: x\n"

PARSERS: Mapping[str, Callable[[str], object]] = {
    "markdown": lambda t: markup.parse_markdown("a.md", t),
    "heading": lambda t: markup.parse_markdown("a.md", f"# {t}x"),
    "front matter": lambda t: markup.parse_markdown("a.md", f"---\nkey: x{t}x\n---\n"),
    "front matter without an end": lambda t: markup.parse_markdown("a.md", f"---\n{t}x"),
    "front matter in TOML": lambda t: markup.parse_markdown("a.md", f"+++\n{t}\n+++\n"),
    "html": lambda t: markup.parse_html("a.html", f"<p>x{t}x"),
    "html table": lambda t: markup.parse_html("a.html", f"<table><tr><th>a<tr><td>{t}"),
    "mail": lambda t: list(mails.read_mail("a.eml", f"{_MAIL}\n{t}x".encode())),
    "mail subject": lambda t: list(mails.read_mail("a.eml", f"From: a\nSubject: {t}\n\nx".encode())),
    "mail address": lambda t: list(mails.read_mail("a.eml", f"Subject: a\nFrom: {t}\n\nx".encode())),
    "mail parts": lambda t: list(
        mails.read_mail("a.eml", f'{_MAIL}Content-Type: multipart/mixed; boundary="b"\n\n--b\n{t}'.encode())
    ),
    "mailbox": lambda t: list(mails.read_mailbox("a.mbox", f"From a\n{_MAIL}\n{t}".encode())),
    "plain text": lambda t: mails.parse_plain("a.txt", f"From: a\nTo: b\nSubject: {t}\n\nx"),
    "reStructuredText": lambda t: restructured.parse_restructured_text("a.rst", f"`{t}x"),
    "subtitles": lambda t: subtitles.parse_subtitles("a.srt", f"00:00:01,000 --> 00:00:02,000\n<v {t}x"),
    "csv table": lambda t: list(record_files.read_csv_rows("a.csv", f"a,b\nx,1\n{t}", DEFAULTS)),
    "csv texts": lambda t: list(record_files.read_csv_rows("a.csv", f"id,text\n1,{t}", DEFAULTS)),
    "json": lambda t: list(record_files.read_json_records("a.json", f'{{"text": "x", "a": {t}', DEFAULTS)),
    "jsonl": lambda t: list(record_files.read_json_lines("a.jsonl", t, DEFAULTS)),
    "PDF text": lambda t: office.strip_page_edges([t[at : at + 500] for at in range(0, len(t), 500)]),
    "decoding": lambda t: decode_text(t.encode() + b"\xff x"),
    "date": read_iso_date,
    "blocks": blocks.read_blocks,
    "header": lambda t: blocks.find_header(f"---\n{t}"),
    "sentences": lambda t: sentences.split_sentences(f"x{t}x"),
    "labels": speakers.find_labels,
    "transcript": transcripts.observe_talk,
    "chat export": lambda t: transcripts.observe_talk(f"[12/05/2024, 10:15:01] Ada: {t}\n"),
    "blanks": collapsing.collapse_blanks,
    "capitals": truecase.raise_names,
    "markdown table": lambda t: language_tables.tell_ruled_rows(f"|a|\n|--|--|\n{t}"),
    "enumerations": enumerations.read_enumerations,
    "language": detect_language,
    "stems": list_stems,
    "title": noun_phrases.list_title_names,
    "aliases": noun_phrases.find_aliases,
    "lead": noun_phrases.find_lead_name,
    "phrases": lambda t: noun_phrases.Reader().phrases(t),
    "dates": stated_dates.find_expressions,
    "moments": moments.find_atoms,
    "emails": lambda t: list(contacts.find_emails(t)),
    "addresses of pages": lambda t: list(contacts.find_user_urls(t)),
    "addresses of machines": lambda t: list(contacts.find_ip_addresses(t)),
    "phones": lambda t: list(contacts.find_phones(t, ("US", "DE"))),
    "postal addresses": lambda t: list(contacts.find_postal_addresses(t)),
    "birthdays": lambda t: list(contacts.find_birthdays(t)),
    "identity numbers": lambda t: list(identities.find_identity_numbers(t)),
    "account numbers": lambda t: [*finding.find_ibans(t), *finding.find_cards(t)],
    "names of people": lambda t: list(finding.find_named_people(t)),
    "personal data": _FINDER.find,
    "chunks": lambda t: chunk_documents.fn([Document("d", t)], size=400, overlap=60),
    "offline extraction": lambda t: page_reader.observe_document([_chunk(t)]),
    "pattern": lambda t: tokenize_query(t, "MATCH"),
    "reply in JSON": lambda t: reply_text.decode_json(_reply(f'{{"a": [{t}')),
    "reply in tuples": lambda t: extracted_records.collect_tuple_records(f'("entity"<|>{t}', "text"),
    "reply with an extraction": lambda t: extracted_records.read_extraction(_reply(t), _chunk("text")),
    "reply with a plan": lambda t: method_replies.read_plan_lines(_reply(t)),
    "reply with a grade": lambda t: answer_replies.read_grade(_reply(t)),
    "answer as it comes": _hear,
    "reply with a verdict": lambda t: answer_replies.read_grade(_reply(f"the {t}x")),
    "logical form": lambda t: logical_forms.parse_plan(f"Retrieval(s=a:{t}x, p=b, o=c)"),
    "answer with marks": lambda t: citations.split_cited_statements(f"A text [Data: {t}x"),
    "tables of other programs": lambda t: graph_tables.Resolver({}, lambda _: ()).statements(f"A [Data: {t}] {t}x"),
    "name": lambda t: [read_name(t[at : at + 200]) for at in range(0, len(t), 200)],
}

LATER = {PARSERS["chunks"]: 4_000}  # characters at first: of fewer there is one chunk, and nothing overlaps


def measure_cpu(parse: Callable[[str], object], text: str) -> float:
    """CPU seconds to read a text, or to refuse it."""
    begun = time.process_time()
    with suppress(InputError):
        parse(text)
    return time.process_time() - begun


def measure_growth(parse: Callable[[str], object], shape: str, tries: int = 1) -> tuple[float, float]:
    """By how much the time grows in each of five doublings, on average, and the seconds of the longest text."""
    first = LATER.get(parse, FIRST)
    small, large = (shape * (n // len(shape) + 1) for n in (first, first * 2**DOUBLINGS))
    last = min(measure_cpu(parse, large) for _ in range(tries))
    if last < UNNOTICED * 2**DOUBLINGS:
        return 0.0, last
    many = [measure_cpu(parse, small) for _ in range(SAMPLES)]
    return (last / max(UNNOTICED, sum(many) / len(many))) ** (1 / DOUBLINGS), last


def main() -> None:
    """Print the worst shape of each parser."""
    print(
        f"| parser | worst shape | growth a doubling | s for {FIRST * 2**DOUBLINGS:,} characters |\n|---|---|---|---|"
    )
    for name, parse in PARSERS.items():
        measure_cpu(parse, "Warm. A text of 12 May 1999.")
        (growth, seconds), shape = max((measure_growth(parse, shape, 3), shape) for shape in SHAPES)
        print(f"| {name} | `{shape!r}` | {f'{growth:.2f}' if growth else 'not noticed'} | {seconds:.3f} |", flush=True)


if __name__ == "__main__":
    main()
