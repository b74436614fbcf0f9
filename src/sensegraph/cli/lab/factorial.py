"""The command that runs a 2 × 2 design: tune factorial."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sensegraph.cli.lab.finetune import app as app
from sensegraph.cli.options import Json, Quiet, Trust, out, out_json, say
from sensegraph.cli.progress import Report, progress
from sensegraph.errors import InputError, SettingsError

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.lab.finetuning.factorial.designs import Design
    from sensegraph.lab.finetuning.factorial.effects import Outcome
    from sensegraph.lab.finetuning.factorial.factorial import Arm, Posed, Reply
    from sensegraph.lab.finetuning.factorial.rating import Ratings
    from sensegraph.types import Answer

Opening = Callable[[Mapping[str, Any]], "Corpus"]  # opens the corpus with the settings of an arm
_ANSWERS = "answers.jsonl"
_MARKER = re.compile(r"\s*\[(\d+)\]")


@app.command(short_help="Compare base and tuned model over chunks and summaries.")
def factorial(
    design: Annotated[Path, typer.Argument(metavar="FILE.toml", help="What is compared, and on which questions.")],
    out_dir: Annotated[Path, typer.Option("--out", metavar="DIR", help="Answers, tables and pictures go there.")],
    sheet: Annotated[
        Path | None, typer.Option("--sheet", metavar="FILE.csv", help="Write a sheet for raters, who see no arm.")
    ] = None,
    ratings: Annotated[
        list[Path] | None, typer.Option("--ratings", metavar="FILE.csv", help="A sheet that was filled in; repeatable.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    trust: Trust = False,
) -> None:
    """Answer the questions of a design in all arms, and say what tuning and summaries do, alone and together."""
    from sensegraph.lab.finetuning.factorial import designs, effects, rating

    plan = read_design(design)
    asked, opening = designs.posed(Path(plan.questions)), partial(_opened, plan.corpus, str(design), trust)
    judged = rating.read(ratings) if ratings else None
    out_dir.mkdir(parents=True, exist_ok=True)
    with progress(quiet or as_json) as shown:
        replies = answered(plan, asked, out_dir / _ANSWERS, shown, opening)
        found, pictures = _outcome(plan, asked, replies, judged, out_dir, opening)
    (out_dir / "tables.md").write_text(effects.markdown(found), encoding="utf-8")
    (out_dir / "tables.json").write_text(json.dumps(effects.plain(found), ensure_ascii=False, indent=2), "utf-8")
    lines = rating.export(sheet, asked, replies, plan.seed) if sheet else 0
    if as_json:
        out_json(effects.plain(found))
    else:
        out(effects.text(found))
    say("written: " + ", ".join(map(str, (out_dir / "tables.md", out_dir / "tables.json", *pictures))))
    if sheet:
        say(f"written: {sheet}, {lines:,} answers to judge; read it with --ratings {sheet}")


def read_design(path: Path) -> Design:
    """The design of a file, its paths from where the file is."""
    from sensegraph.corpus.settings import parse
    from sensegraph.lab.finetuning.factorial.designs import Design

    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError as e:
        raise InputError(f"{path} is no file: a design is a TOML file, see docs/finetuning-training.md.") from e
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise SettingsError(f"{path} is not valid TOML: {e}.") from e
    for name in ("corpus", "questions", "gold"):
        if name not in table:
            raise SettingsError(f"{path}: {name} is missing; a design names corpus, questions and gold.")
    found = parse(table, Design, str(path))
    root = path.parent
    bert = found.bertscore
    if bert is not None:
        bert = replace(bert, model=str(root / bert.model), baseline=str(root / bert.baseline) if bert.baseline else "")
    corpus, questions = str(root / found.corpus), str(root / found.questions)
    return replace(found, corpus=corpus, questions=questions, bertscore=bert)


# ── answering ──


def _opened(root: str, design: str, trust: bool, settings: Mapping[str, Any]) -> Corpus:
    """The corpus at `root` with settings of a design, which are the file's and not the user's own."""
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.corpus.settings import load_settings

    loaded = load_settings(Path(root), {"trust": trust}, settings, design)
    corpus = Corpus.open(root, create=False)
    corpus.workspace.settings = loaded
    return corpus


@dataclass(frozen=True, slots=True)
class _Asking:
    """One arm at work: its corpus, its method with settings, and what tells its answers from those of another."""

    arm: Arm
    corpus: Corpus
    method: str
    options: Mapping[str, Any]

    @property
    def key(self) -> str:
        """What an answer depends on besides the question."""
        from sensegraph.runtime.keys import key

        manifest = self.corpus.manifest()
        engine = self.corpus.engine.fingerprint("answer")
        return key("factorial", 1, engine, self.method, dict(self.options), manifest and asdict(manifest))

    def reply(self, asked: Posed, name: str) -> Reply:
        """The arm's answer to one question."""
        from sensegraph.lab.finetuning.factorial.factorial import Reply

        answer = self.corpus.query(asked.question, method=self.method, **self.options)
        context = tuple(p.text for p in answer.evidence.passages)
        tokens = answer.usage.prompt_tokens + answer.usage.completion_tokens
        return Reply(asked.id, self.arm.name, unmarked(answer), context, tokens, answer.notes, name)


def unmarked(answer: Answer) -> str:
    """The answer without the numbers of its citations: gold answers have none, and raters must not see who cites."""
    numbers = {c.marker for c in answer.citations}
    return _MARKER.sub(lambda found: "" if int(found[1]) in numbers else found[0], answer.text).strip()


def answered(plan: Design, asked: list[Posed], path: Path, shown: Report, opening: Opening) -> list[Reply]:
    """The replies of every arm there is; those that stand in the file already and would be the same are kept."""
    from sensegraph.runtime.keys import key

    kept = {(r.arm, r.id, r.key): r for r in _read(path)}
    found: list[Reply] = []
    for asking in _arms(plan, opening):
        with closing(asking.corpus):
            base = asking.key
            for done, one in enumerate(asked, 1):
                name = key(base, one.question)
                place = (asking.arm.name, one.id, name)
                found.append(kept[place] if place in kept else asking.reply(one, name))
                if place not in kept:
                    _append(path, found[-1])
                shown(asking.arm.title, done, len(asked))
    path.write_text("".join(_line(r) for r in found), encoding="utf-8")  # without what an earlier design left
    return found


def _arms(plan: Design, opening: Opening) -> Iterator[_Asking]:
    from sensegraph.lab.finetuning.factorial.factorial import ARMS

    for arm in ARMS:
        settings = plan.base if arm.model == "base" else plan.tuned
        if settings is None:
            continue
        table = dict(plan.chunks if arm.context == "chunks" else plan.summaries)
        yield _Asking(arm, opening(settings), str(table.pop("method")), table)


def _read(path: Path) -> Iterator[Reply]:
    from sensegraph.lab.finetuning.factorial.factorial import Reply

    for text in path.read_text("utf-8").splitlines() if path.is_file() else []:
        try:
            row = json.loads(text)
        except json.JSONDecodeError:
            continue  # a line that a kill cut off: its question is asked again
        row = {name: tuple(v) if isinstance(v, list) else v for name, v in row.items()}
        yield Reply(**row)


def _line(reply: Reply) -> str:
    return json.dumps(asdict(reply), ensure_ascii=False) + "\n"


def _append(path: Path, reply: Reply) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(_line(reply))


# ── measuring ──


def _outcome(
    plan: Design, asked: list[Posed], replies: list[Reply], judged: Ratings | None, folder: Path, opening: Opening
) -> tuple[Outcome, list[Path]]:
    """The tables, and the pictures of the answers."""
    from sensegraph.lab.finetuning.factorial import designs, effects, factorial

    with opening(plan.base) as corpus:
        found, notes = designs.measured(plan, asked, replies, corpus.runtime(), judged)
        pictures = _pictures(asked, replies, corpus, folder)
    types = [p.type for p in asked]
    rows = [row for one in found for row in factorial.rows(one, types, plan.draws, plan.seed)]
    how = tuple((one.metric, one.how) for one in found)
    return effects.Outcome(plan.gold, tuple(asked), tuple(replies), tuple(rows), how, tuple(notes)), pictures


def _pictures(asked: list[Posed], replies: list[Reply], corpus: Corpus, folder: Path) -> list[Path]:
    """The answers as points, coloured by type and by topic (Figures 7 and 8)."""
    from importlib.util import find_spec

    from sensegraph.index.vectors import embed_all
    from sensegraph.lab.finetuning.factorial import answer_map
    from sensegraph.lab.finetuning.factorial.factorial import ARMS
    from sensegraph.lab.finetuning.training.curves import write

    by_id, titles = {p.id: p for p in asked}, {a.name: a.title for a in ARMS}
    rt = corpus.runtime()
    points, share = answer_map.plane(embed_all([r.answer for r in replies], rt).value)
    endings = ("svg", "png") if find_spec("PIL") else ("svg",)
    made = []
    for name in ("type", "topic"):
        places = [
            answer_map.Place(titles[r.arm], str(getattr(by_id[r.id], name)), f"{by_id[r.id].question}: {r.answer[:80]}")
            for r in replies
        ]
        title = f"Answers by {name} of question: two components, {share:.0%} of the variance of {rt.embedder.name}"
        scene = answer_map.picture(title, points, places)
        made += [write(scene, folder / f"answers-by-{name}.{ending}") for ending in endings]
    return made
