"""From which length on something between two words changes an answer, pinned: a place in short texts is filled.

A rule that looks so many characters or words far, or takes a sentence of so many at most, answers otherwise from one
length on. A row is a question: the lengths at which its answer changes, with the form that takes the question, and a
digest. Where that was meant to change, `python tests/filled_texts.py` writes the rows again.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from form_corpora import ask
from pinned_rows import PinnedRows
from whole_runs import PINNED, show_value

FILLING = (
    "grey stones and quiet water lay there all along the old road of the town beyond the wide green hill where nobody "
    "went that day and cold wind blew over empty fields "
)
QUESTIONS = (
    ("Who did Ada Finch hire?", "Ada Finch hired {}Tom Reeve. It was cold.", "Bo Quill was hired by Ada Finch in May."),
    ("Who did Ada Finch hire?", "Ada Finch {}hired Tom Reeve. It was cold.", "Bo Quill was hired by Ada Finch in May."),
    ("Who hired Tom Reeve?", "Ada Finch {}hired Tom Reeve. It was cold.", "Bo Quill keeps bees."),
    ("Who hired Tom Reeve?", "Tom Reeve was hired {}by Ada Finch.", "Tom Reeve was hired by {}Bo Quill in May."),
    ("Which companies acquired Norwell?", "Brackwater Labs {}acquired Norwell.", "Quillon Ltd acquired {}Norwell."),
    ("Who founded the Harbour Board?", "The Harbour Board was founded by {}Ada Finch.", "Bo Quill {}founded a club."),
    ("How did the storm contribute to the outage?", "The storm {}broke the mast. The mast fed the pump.", "Outage."),
    ("When did the storm come?", "Date: 3 May 2021\n\n{}The storm came at night.", "It {}came on 3 June 2022."),
    ("Who succeeded Ada Finch as keeper?", "Tom Reeve {}succeeded Ada Finch as keeper.", "Ada Finch was keeper."),
    ("Who was mayor in May 2021?", "{}\nAda Finch, mayor, spoke on 3 May 2021.", "Tom Reeve was {}mayor in 2022."),
    ("Who is the treasurer?", "Ada Finch {}became treasurer in 2021.", "In 2022 {}Bo Quill took over as treasurer."),
    ("What is the Harbour Board?", "{}the Harbour Board is an office for ships.", "The Harbour Board {}counts oil."),
    ("What is a buoy?", "A buoy is {}a floating mark. {}Buoys carry lamps.", "The buoy {}was red."),
    ("How many ships came?", "In May {}12 ships came. They were old.", "The harbour had {}20 ships in June 2022."),
    ("Which steps does the manual list?", "The manual lists these steps:{}\n\n- open the lid\n- turn the key", "Key."),
    ("What changed in version 2.1?", "# 2.1 {}\n\n- {}The pump is faster.\n- The lid is new.\n\n# 2.0\n\n- First.", ""),
    ("What did Ada Finch do before she left?", "Ada Finch wrote {}a letter. Then she left {}for Velm.", "Velm."),
    ("What is the difference between oak and pine?", "Oak {}is hard. It was cold.", "Pine {}is soft, unlike oak."),
    ("Was geschah mit der Pumpe?", "Die Pumpe fiel {}aus, weil die Dichtung brach.", "{}Die Pumpe ist alt."),
)
MOST = 106  # letters


def fill(size: int) -> str:
    """So many letters, and a blank; nothing for none."""
    cut = FILLING[:size]
    return f"{cut[:-1]}x " if cut[-1:] == " " else f"{cut} " * bool(cut)


@cache
def find_rows(group: str) -> list[Any]:
    """For a question the lengths of filling from which the answer is another, and what is answered from there on."""
    question, *texts = QUESTIONS[int(group.split()[1])]
    changes: list[Any] = []
    for size in range(MOST):
        filling = fill(size)
        name, said = ask(question, {f"d{i}": text.replace("{}", filling) for i, text in enumerate(texts) if text})
        told = "\n".join(f"{s.text} @ {[place.chunk for place in s.sources]}" for s in said)
        found = [name, show_value((told.replace(filling, "~") if filling else told).encode())]
        if not changes or changes[-1][1:] != found:
            changes.append([size, *found])
    return [[question, *changes[:9], len(changes)]]


FILLED_ROWS = PinnedRows(PINNED / "filled-texts.jsonl", [f"question {i}" for i in range(len(QUESTIONS))], find_rows)

if __name__ == "__main__":
    FILLED_ROWS.write()
