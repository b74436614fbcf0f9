"""The four arms of a 2 × 2 design at work: each question asked of each, and what was answered kept in a file.

source: the paper GRAFT, section 5 (R14–R20)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sensegraph.corpus.corpus import Corpus
from sensegraph.lab.finetuning.factorial.design_effects import ARMS, Arm, DesignQuestion, Reply
from sensegraph.lab.finetuning.factorial.designs import Design
from sensegraph.runtime.keys import key
from sensegraph.types import Answer

Opening = Callable[[Mapping[str, Any]], Corpus]  # opens the corpus with the settings of an arm
Report = Callable[[str, int, int], None]
_MARKER = re.compile(r"\s*\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class _ArmAtWork:
    """One arm: its corpus, its method with settings, and what tells its answers from those of another."""

    arm: Arm
    corpus: Corpus
    method: str
    options: Mapping[str, Any]

    @property
    def key(self) -> str:
        """What an answer depends on besides the question."""
        manifest = self.corpus.manifest()
        engine = self.corpus.engine.fingerprint("answer")
        return key("factorial", 1, engine, self.method, dict(self.options), manifest and asdict(manifest))

    def reply(self, asked: DesignQuestion, name: str) -> Reply:
        """The arm's answer to one question."""
        answer = self.corpus.query(asked.question, method=self.method, **self.options)
        context = tuple(p.text for p in answer.evidence.passages)
        tokens = answer.usage.prompt_tokens + answer.usage.completion_tokens
        return Reply(asked.id, self.arm.name, remove_markers(answer), context, tokens, answer.notes, name)


def remove_markers(answer: Answer) -> str:
    """The answer without the numbers of its citations: gold answers have none, and raters must not see who cites."""
    numbers = {c.marker for c in answer.citations}
    return _MARKER.sub(lambda found: "" if int(found[1]) in numbers else found[0], answer.text).strip()


def answer_in_arms(
    design: Design, asked: list[DesignQuestion], path: Path, report: Report, opening: Opening
) -> list[Reply]:
    """The replies of every arm there is; those that stand in the file already and would be the same are kept."""
    kept = {}
    for text in path.read_text("utf-8").splitlines() if path.is_file() else []:
        try:
            row: dict[str, Any] = json.loads(text)
        except json.JSONDecodeError:
            continue  # a line that a kill cut off: its question is asked again
        fields: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in row.items()}
        earlier = Reply(**fields)
        kept[earlier.arm, earlier.id, earlier.key] = earlier
    found: list[Reply] = []
    for arm in ARMS:
        settings = design.base if arm.model == "base" else design.tuned
        if settings is None:
            continue
        table = dict(design.chunks if arm.context == "chunks" else design.summaries)
        with closing(opening(settings)) as corpus:
            working = _ArmAtWork(arm, corpus, str(table.pop("method")), table)
            base = working.key
            for done, one in enumerate(asked, 1):
                name = key(base, one.question)
                place = (arm.name, one.id, name)
                found.append(kept[place] if place in kept else working.reply(one, name))
                if place not in kept:
                    with path.open("a", encoding="utf-8") as file:
                        file.write(_format_reply(found[-1]))
                report(arm.title, done, len(asked))
    path.write_text("".join(map(_format_reply, found)), encoding="utf-8")  # without what an earlier design left
    return found


def _format_reply(reply: Reply) -> str:
    return json.dumps(asdict(reply), ensure_ascii=False) + "\n"
