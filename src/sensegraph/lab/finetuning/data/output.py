"""Examples into files: one at a time, each file in its place when all are written, with a report for each."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from sensegraph.errors import InputError
from sensegraph.lab.finetuning.data import examples
from sensegraph.lab.finetuning.data.example_forms import Form, format_example_line
from sensegraph.lab.finetuning.data.example_types import DataSettings, DroppedQuestion, MadeExample
from sensegraph.lab.finetuning.data.report import DataReport, Reporter
from sensegraph.lab.finetuning.data.sources import Source


@dataclass(frozen=True, slots=True)
class HeldOutFile:
    """What is held out of training, and where it goes: the questions that rest on a `share` of the gold passages."""

    path: Path
    share: float


class Output:
    """A file of examples with its report. What was written so far is gone on leaving, unless it was kept."""

    def __init__(self, source: Source, how: DataSettings, form: Form, path: Path) -> None:
        self.source, self.how, self.form, self.path = source, how, form, path
        self._reporter = Reporter(source, how)
        self._draft = path.with_name(f"{path.name}.part")
        self._file = self._draft.open("w", encoding="utf-8", newline="\n")

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._draft.unlink(missing_ok=True)

    def add(self, item: MadeExample | DroppedQuestion) -> None:
        """Write an example, and count it; of a question without one count why."""
        self._reporter.add(item)
        if isinstance(item, MadeExample):
            self._file.write(format_example_line(item.example, self.form))

    def report(self) -> DataReport:
        """What was written. Raises InputError, with the reasons, where that is not one example."""
        found = self._reporter.report()
        if not found.examples:
            why = "; ".join(f"{n} × {reason}" for reason, n in (*found.dropped, *found.left_out)) or "there are none"
            raise InputError(f"No example could be made of the questions of {self.source.name}: {why}.")
        return found

    def keep(self) -> None:
        """Put the file in its place."""
        self._file.close()
        self._draft.replace(self.path)


def write_examples(
    source: Source, how: DataSettings, form: Form, path: Path, held: HeldOutFile | None = None
) -> tuple[DataReport, DataReport | None]:
    """Write the examples of a source to `path`, and report on them; no file is changed unless all are written.

    What is `held` out goes to its own file, in the evaluation form and always with its oracles, and has a report of its
    own. Raises InputError where a file would hold no example, or the pool is too small.
    """
    examples.check_pool(source.pool, how)
    with ExitStack() as stack:
        outputs = [stack.enter_context(Output(source, how, form, path))]
        if held:
            apart = replace(source, name=f"{source.name}, held out", left_out=())
            outputs.append(stack.enter_context(Output(apart, replace(how, oracle_share=1.0), "evaluation", held.path)))
        for asked in source.questions:
            out = outputs[-1] if held and examples.is_held_out(asked, held.share, how.seed) else outputs[0]
            out.add(asked if isinstance(asked, DroppedQuestion) else examples.make_example(asked, source.pool, out.how))
        reports = [output.report() for output in outputs]
        for output in outputs:
            output.keep()
    return reports[0], reports[1] if held else None
