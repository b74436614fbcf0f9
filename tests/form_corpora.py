"""Little corpora for lists, counts, causes and comparisons: a clinic, a football club, a program, a library."""

from __future__ import annotations

from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.relating.forms import FORMS
from sensegraph.engines.offline.answers.source_sentences import choose_language, read_source_sentences
from sensegraph.types import Passage, Source, Statement

Texts = dict[str, str]

CLINIC: Texts = {
    "Ward meeting, 3 March 2019": (
        "# Ward meeting, 3 March 2019\n\nThe clinic has 41 beds. Dr Lena Voss is our new surgeon. "
        "The outbreak NV-03 closed two rooms."
    ),
    "Ward meeting, 9 September 2019": (
        "# Ward meeting, 9 September 2019\n\nThe clinic has 45 beds since the east wing opened. "
        "With Omar Quist, we have three surgeons again. The outbreaks of the summer, NV-04 and NV-05, are over."
    ),
    "NV-03: norovirus on ward 2": (
        "# NV-03: norovirus on ward 2\n\nOn 1 March 2019 four patients fell ill.\n\n## Cause\n\n"
        "The kitchen had served shellfish that was not cooked through. Nobody else fell ill."
    ),
    "NV-04: norovirus at the day clinic": (
        "# NV-04: norovirus at the day clinic\n\nOn 12 July 2019 two nurses fell ill. We suspect the drinking water."
    ),
    "Ward meeting, 8 January 2021": (
        "# Ward meeting, 8 January 2021\n\nThe clinic has 52 beds, of which 7 are closed, which leaves 45. "
        "The surgeons Lena Voss, Ada Blum and Ivo Sand run the theatre. Measures for the winter:\n\n"
        "- Masks are worn on all wards.\n- Visits end at six.\n- Flu shots are offered to everybody."
    ),
    "Leaflet": "# Leaflet\n\n*Printed in January 2021.*\n\nMore than 60 beds for your health!",
}
CLUB: Texts = {
    "History": (
        "Linton FC was founded by Ann Lee in 1901. Ann Lee also founded the Linton Choir in 1907. "
        "Linton FC founded a youth team, Linton Colts, in 1950. Tom Rowe founded Rowe Press. "
        "The Rovers lost the final because their goalkeeper was ill."
    ),
    "Season 1930": "Season 1930\n\nThe players Tom Ash, Ned Cole and Joe Firth joined the club.",
    "Grounds": (
        "Our grounds are:\n\nHill Road\n    a small ground by the mill\nThe Meadow\n    flooded in most winters\n"
        "Station Park\n    the ground of today\n\nThe club sold Hill Road in 1950."
    ),
    "Letter": (
        "Dear members,\n\nthe committee has agreed to lower the fee. This was not easy.\n\n"
        "1. The club lowers the fee for pupils to five pounds.\n2. The club repairs the roof of the stand.\n"
        "3. Rules of other years stay in force.\n\nKind regards\nMaud Pell\nSecretary"
    ),
}
PROGRAM: Texts = {
    "Quill 3.1": "# Quill 3.1\n\nRelease notes, 4 May 2020\n\nQuill 3.1 adds tables.",
    "Quill 3.2": "# Quill 3.2\n\nRelease notes, 9 June 2020\n\nQuill 3.2 corrects the export of tables.",
    "Quill 4.0": (
        "# Quill 4.0\n\nRelease notes, 2 March 2021\n\nQuill 4.0 removes the old macros. "
        "Quill 4.0 is used in schools such as: Alder College, a day school; Marsh Hall, for boarders; and Cole Academy."
    ),
    "Questions": (
        "1. Can Quill open RTF files?\n\nNot yet, no. It opens plain text.\n\n"
        "2. Why does Quill start slowly on Windows?\n\nIt loads all fonts first. Turn the preview off."
    ),
}


def passages(texts: Texts) -> tuple[Passage, ...]:
    """The documents as chunks, one each, under ids that tell their documents apart."""
    return tuple(
        Passage("chunk", f"c{i}", text, title=title, sources=(Source(f"{i:012}-0", 0, len(text)),))
        for i, (title, text) in enumerate(texts.items())
    )


def ask(question: str, texts: Texts) -> tuple[str, tuple[Statement, ...]]:
    """The name of the first form that takes a question, and what it writes."""
    chunks = passages(texts)
    asked = Asked(question, chunks, tuple(read_source_sentences(chunks, choose_language(question, chunks))))
    for form in FORMS:
        if written := form(asked):
            return form.__name__.removeprefix("answer_"), written.statements
    return "", ()


def answer_lines(question: str, texts: Texts) -> tuple[str, list[str]]:
    """The form that takes a question, and the lines of its answer, without blank ones."""
    form, statements = ask(question, texts)
    return form, [line for line in "".join(s.text for s in statements).splitlines() if line]
