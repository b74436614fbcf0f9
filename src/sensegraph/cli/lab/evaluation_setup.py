"""What `evaluate run` needs: plan, corpus with its index, conditions, and where results go."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from sensegraph.cli.options import format_root_flag, open_settled, report_skipped
from sensegraph.cli.progress import Report
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.settings import FILE, FOLDER, Settings, convert_settings, describe_choices, load_settings
from sensegraph.corpus.tools import can_write, has_store, keep_in_folder, make_store, make_tools
from sensegraph.documents import stream
from sensegraph.errors import EmptyCorpus, InputError, NotIndexed, SettingsError
from sensegraph.lab.experiments.conditions import (
    Asked,
    Condition,
    Plan,
    read_asked_questions,
)
from sensegraph.lab.experiments.experiment import Tools, check_plan
from sensegraph.lab.retrieval.retrieval_tables import list_method_settings
from sensegraph.lab.retrieval.runs import Named
from sensegraph.methods import load_method, method_class
from sensegraph.models.endpoint.limits import Journal
from sensegraph.protocols import PartName, Task
from sensegraph.runtime.keys import key
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Document

_FORM = 1  # raise when answers that are stored must not be used again
_RESULTS = ".results"
_ASKED: tuple[Task, ...] = (  # when a question is asked
    *("summarise", "rate", "answer", "ask", "refine", "test", "grade"),
    *("plan", "keywords", "concepts", "filter"),
)
_NEEDED: Mapping[str, str] = MappingProxyType({
    "corpus": 'the field `corpus`: write corpus = "…", the folder of an index, or documents to index',
    "questions": 'the field `questions`: write questions = "…", a file with one a line',
    "conditions": 'conditions: write a table [conditions.NAME] with method = "…" for each',
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class PreparedEvaluation:
    """A plan with everything at hand that it needs; `to_index` are documents that wait for an index of their own."""

    plan: Plan
    questions: tuple[Asked, ...]
    conditions: tuple[Condition, ...]
    tools: Tools
    corpus: Corpus
    output: Path
    to_index: Path | None = None

    @property
    def corpus_name(self) -> str:
        """What reports call the corpus."""
        return Path(self.plan.corpus).name or str(self.corpus.root)


def read_plan(file: Path) -> Plan:
    """The plan in a TOML file. Raises InputError or SettingsError, naming the field and the nearest one known."""
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise InputError(f"{file} is not valid TOML: {e}.") from e
    for metric in table.get("metrics", []) if isinstance(table.get("metrics"), list) else []:
        known = ("claims", "judge", "scores", "grounding", "reference")
        if isinstance(metric, str) and metric not in known:
            raise SettingsError(f"{file}: metrics cannot hold {describe_choices(metric, known)}")
    lacking = [what for name, what in _NEEDED.items() if not table.get(name)]
    if lacking and table.keys() <= {f.name for f in fields(Plan)}:  # else a name is misspelled
        raise InputError(f"{file} lacks {lacking[0]}.")
    plan = convert_settings(table, Plan, str(file))
    convert_settings(plan.settings, Settings, f"{file}, [settings]")
    questions = file.resolve().parent / plan.questions
    if not questions.exists():
        raise InputError(
            f"There is no {questions}; `questions` names a .txt or .jsonl file, or a folder of BEIR's layout."
        )
    return plan


def load_condition_methods(plan: Plan, settings: Settings, where: Path) -> list[tuple[Named, str]]:
    """The method of every condition under its name, and what the method is called."""
    found = []
    for name, table in plan.conditions.items():
        try:
            given = dict(table)
            method = given.pop("method", None)
            if not isinstance(method, str):
                raise SettingsError('no method is named; write method = "…", one of `sensegraph show methods`.')
            own = settings.method_settings(method, given)
            has = {f.name for f in fields(method_class(method))}
            if plan.context_tokens and "context_tokens" in has and "context_tokens" not in given:
                own["context_tokens"] = plan.context_tokens
            found.append((Named(name, load_method(method, **own)), method))
        except SettingsError as e:
            raise SettingsError(f"{where}, [conditions.{name}]: {e}") from e
    return found


@contextmanager
def prepare_evaluation(
    file: Path, flags: Mapping[str, Any], report: Report, *, dry: bool = False
) -> Iterator[PreparedEvaluation]:
    """Everything that the plan in `file` needs; its index is built unless it is there. `dry` writes nothing.

    What cannot be measured is refused before an index is built, and in an estimate too.
    """
    plan = read_plan(file)
    here = file.resolve().parent
    questions = read_asked_questions(here / plan.questions, plan.limit)
    output = here / (plan.output or f"{file.stem}{_RESULTS}")
    with ExitStack() as stack:
        spare = Path(stack.enter_context(TemporaryDirectory(prefix="sensegraph-"))) if dry else output
        corpus = _open_plan_corpus(plan, file, (output, spare), flags, report)
        stack.callback(corpus.close)
        named = load_condition_methods(plan, corpus.settings, file)
        check_plan(plan, questions, _make_evaluation_tools(corpus.runtime(), plan, corpus))
        todo = _ensure_index(corpus, named, here / plan.corpus, dry=dry)
        beside = keep_in_folder(corpus.settings)
        kept = has_store(beside, output / "store")
        store = make_store(beside, (output if kept else spare) / "store", readonly=dry and kept)
        stack.callback(store.close)
        stack.enter_context(store.exclusive() if not dry else nullcontext())
        journal = Journal(store.replies, store.root, store.limits)
        corpus.workspace.use_tools(*make_tools(corpus.settings, journal))  # replies are kept here, not with the index
        rt = replace(corpus.runtime(), store=store)
        tools = _make_evaluation_tools(rt, plan, corpus)
        tools = tools if dry else replace(tools, journal=lambda: journal)
        yield PreparedEvaluation(plan, questions, _make_conditions(named, corpus), tools, corpus, output, todo)


def _make_evaluation_tools(rt: Runtime, plan: Plan, corpus: Corpus) -> Tools:
    """Who answers and judges, without a journal; the judge is a model of its own where the plan names one."""
    judging = rt
    if plan.judge.model:
        endpoint = replace(corpus.settings.endpoint, model=plan.judge.model)
        engine, _ = make_tools(replace(corpus.settings, endpoint=endpoint, engine="model"))
        judging = replace(rt, engine=engine)

    def read_document(name: str) -> Document | None:
        try:
            return corpus.index().document(name)
        except NotIndexed:
            return None

    return Tools(rt, judging, read_document)


def _open_plan_corpus(
    plan: Plan, file: Path, roots: tuple[Path, Path], flags: Mapping[str, Any], report: Report
) -> Corpus:
    """The corpus that the plan names: a folder with an index as it is, or an index of its own for documents."""
    convert_settings(flags, Settings, "command line")  # so that a mistake in a flag is not blamed on a file
    place = file.resolve().parent / plan.corpus
    if not place.exists():
        raise InputError(f"There is no {place}; `corpus` names the folder of an index, or documents to index.")
    in_database = (place / FILE).is_file() and bool(load_settings(place, flags).store.url)
    indexed = in_database or (place / FOLDER).is_dir()
    if (place / FILE).is_file() and not indexed:
        # an index in the results folder would be built without its settings, and of its prompts too
        source = "" if (place / "input").is_dir() else f" {shlex.quote(str(place))}"
        raise NotIndexed(
            f"{place} has settings ({FILE}) but no index; run: sensegraph index{source}{format_root_flag(place)}"
        )
    output, spare = (root / "index" for root in roots)
    root = place if indexed else output if (output / FOLDER).is_dir() else spare
    dry = output != spare and root != spare
    root.mkdir(parents=True, exist_ok=True)
    readonly = dry or (root == place and not in_database and not can_write(root / FOLDER))
    settings = load_settings(root, flags, plan.settings, str(file))
    settings = settings if root == place else keep_in_folder(settings)
    return open_settled(root, settings, readonly=readonly, progress=report)


def _ensure_index(corpus: Corpus, named: list[tuple[Named, str]], source: Path, *, dry: bool) -> Path | None:
    """See to it that the index is there, with the parts that the methods read; what waits for one, where it is `dry`.

    An index of somebody else is never changed: what it lacks is an error with the command that adds it.
    """
    if corpus.root != source:
        wanted: set[PartName] = {part for one, _ in named for part in one.method.reads}
        made = corpus.manifest()
        if not any(isinstance(item, Document) for item in stream(source, settings=corpus.settings.documents)):
            raise EmptyCorpus(f"{source} holds no document; put texts there, or let `corpus` name other documents.")
        if dry:
            return source if made is None or not wanted <= made.part_names else None
        # make the corpus hold what can be read at `source`, and nothing else
        added = corpus.add(source)
        report_skipped(added.skipped)
        read = {*added.new, *added.changed, *added.same}
        if gone := [name for name in corpus.document_keys() if name not in read]:
            corpus.remove(*gone)
        corpus.build(parts=sorted(wanted))
        return None
    manifest = corpus.manifest()
    if manifest is None:
        raise NotIndexed(f"{source} has no finished index; run: sensegraph index{format_root_flag(source)}")
    for one, method in named:
        if lacking := sorted(one.method.reads - manifest.part_names):
            raise NotIndexed(
                f"The index of {source} lacks {', '.join(lacking)}, which {method} reads; "
                f"run: sensegraph index{format_root_flag(source)} --method {method}"
            )
    return None


def _make_conditions(named: list[tuple[Named, str]], corpus: Corpus) -> tuple[Condition, ...]:
    found = []
    for one, method in named:
        own = list_method_settings(one)
        ask = partial(_ask_condition, corpus, method, own)
        bare = list_method_settings(Named(method, load_method(method)))
        changed = {name: value for name, value in own.items() if value != bare[name]}
        # the key stands for all that decides an answer: the index, the method with its settings, and who works
        engine, embedder = corpus.workspace.tools
        by = [engine.fingerprint(task) for task in _ASKED if task in engine.tasks]
        tools = [*by, embedder.fingerprint(), corpus.reranker.fingerprint() if corpus.reranker else ""]
        name = key("answers", _FORM, method, own, corpus.manifest(), tools)
        found.append(Condition(one.name, method, own, ask, name, changed))
    return tuple(found)


def _ask_condition(corpus: Corpus, method: str, own: dict[str, Any], question: str) -> Answer:
    """The answer of a method with these settings: as its table, since some are called like arguments of a query."""
    corpus.workspace.settings = replace(corpus.settings, methods={**corpus.settings.methods, method: own})
    return corpus.query(question, method=method)
