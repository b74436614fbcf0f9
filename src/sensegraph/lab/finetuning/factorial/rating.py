"""Rating by people who do not see which arm an answer is of: a sheet to fill in, and the sheets read again.

The human metric of the paper is the share of answers judged correct (section 5.2, R16). Equal answers to one question
are one line of the sheet, judged once for all arms that gave it.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sensegraph.errors import InputError
from sensegraph.lab.finetuning.factorial.design_effects import DesignQuestion, Reply
from sensegraph.runtime.keys import key

_COLUMNS = ("line", "question", "gold", "answer", "correct")
_YES, _NO = ("1", "yes", "y", "true", "correct"), ("0", "no", "n", "false", "wrong")


@dataclass(frozen=True, slots=True)
class Ratings:
    """What was judged: of each line the share of raters who found it correct; `raters` sheets, `blank` empty fields."""

    share: dict[str, float]
    raters: int
    blank: int

    def value(self, reply: Reply) -> float | None:
        """The rating of a reply; None where nobody judged it."""
        return self.share.get(rating_line(reply))


def rating_line(reply: Reply) -> str:
    """The line of a sheet that a reply stands on: the same for equal answers to one question, and silent on the arm."""
    return key("rating", reply.id, " ".join(reply.answer.split()))[:12]


def write_sheet(path: Path, posed: Sequence[DesignQuestion], replies: Sequence[Reply], seed: int = 0) -> int:
    """Write the sheet, in an order drawn by `seed`; how many lines it has. A cell never begins a formula."""
    asked = {p.id: p for p in posed}
    lines = {rating_line(r): (asked[r.id], r.answer) for r in replies}
    order = sorted(lines)
    random.Random(f"sheet {seed}").shuffle(order)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        for line in order:
            question, answer = lines[line]
            cells = (question.question, "; ".join(question.answers), answer)
            writer.writerow([line, *(f"'{text}" if text[:1] in "=+-@\t\r" else text for text in cells), ""])
    return len(order)


def read_ratings(paths: Sequence[Path]) -> Ratings:
    """The sheets of all raters, one each. Raises InputError, naming file and line, for what is no judgement."""
    judged: dict[str, list[float]] = {}
    blank = 0
    for path in paths:
        if not path.is_file():
            raise InputError(f"{path} is no file: fill in the sheet that `sensegraph tune factorial --sheet` writes.")
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if missing := [c for c in ("line", "correct") if c not in (reader.fieldnames or ())]:
                raise InputError(f"{path} has no column {' and '.join(missing)}: keep the sheet's first line.")
            for number, row in enumerate(reader, 2):
                text = str(row["correct"] or "")
                said = text.strip().casefold()
                if not said:
                    blank += 1
                elif said in (*_YES, *_NO):
                    judged.setdefault(str(row["line"]), []).append(float(said in _YES))
                else:
                    raise InputError(f"{path}, line {number}: {text!r} is no judgement; write yes or no, or 1 or 0.")
    return Ratings({line: sum(v) / len(v) for line, v in judged.items()}, len(paths), blank)
