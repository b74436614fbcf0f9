"""What a corpus shows at each step of its life, pinned: it is filled, built, asked, changed, masked, mended, collected.

A life is one list of acts under other settings. After each act a row holds what came of it, as commands and the server
show it, what is refused, and which refs the store has then. Moments, durations and sizes in bytes are left out. Where
something was meant to change, `python tests/corpus_lives.py` writes the rows again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from pinned_rows import PinnedRows
from sensegraph.corpus import views
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.diagnosis import describe_tools
from sensegraph.corpus.sources import Added
from sensegraph.errors import SensegraphError
from sensegraph.personal.masking import SECRET
from sensegraph.questions import Scope
from sensegraph.types import Document, Question
from whole_runs import PINNED, show_value

LIVES: Mapping[str, dict[str, Any]] = {
    "plain": {},
    "masked": {"personal": {"mask": "mask", "kinds": ["email", "phone", "person"]}},
    "kept": {"index": {"collect": False, "chunk_tokens": 30, "chunk_overlap": 5}},
}
FILES = {
    "one.md": "# Letters\n\nAda Finch keeps the lighthouse of Skerry Point. Tom Reeve wrote to Ada Finch in May 2021. "
    "Write to ada@velm.example or call +49 30 123456-78.",
    "two.txt": "A storm broke the lamp of Skerry Point on 3 June 2021. Tom Reeve sailed there from Port Ellery. "
    "Bo Quill of the Harbour Board paid for the lamp.",
    "three.txt": "Bo Quill joined the Harbour Board in 2022. Ada Finch met Bo Quill in Port Ellery. "
    "Dr Tom Reeve asked the Harbour Board for oak.",
}
LATE = Document("late", "Bo Quill left the Harbour Board in 2023. Ada Finch took over.", "The end", (("year", 2023),))
LEFT_OUT = re.compile(r"_at$|seconds|bytes|^time$|^reverted$|^known_|^when$|^place$|^id$|^path$")
PLACE = re.compile(r"[\w/\\:.]*corpus-lives-\w+")
HASH = re.compile(r"[0-9a-f]{20,}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(Z|[+-]\d\d:\d\d)?")
Act = Callable[[Corpus, Path], Any]


def leave_out(value: Any) -> Any:
    """A view without what another run or another machine has otherwise."""
    if isinstance(value, dict):
        return {name: leave_out(one) for name, one in value.items() if not LEFT_OUT.search(str(name))}
    if isinstance(value, list):
        return [leave_out(one) for one in value]
    return PLACE.sub("", MOMENT.sub("T", value)) if isinstance(value, str) else value


def show_view(value: Any) -> Any:
    return show_value(leave_out(msgspec.json.decode(msgspec.json.encode(value))))


def build(corpus: Corpus, **how: Any) -> Any:
    return views.view_built(corpus.build(**how), Added(), ())


def ask(corpus: Corpus, question: str, scope: Scope | None = None, **how: Any) -> Any:
    answer = corpus.asker.query(
        Question(question), scope or Scope(), how.pop("method", corpus.settings.method), None, **how
    )
    return views.view_answer(answer, corpus.index())


def ask_with(method: str) -> Act:
    return lambda corpus, _: ask(corpus, "What did Tom Reeve do in 2021?", method=method)


def list_documents(corpus: Corpus, sought: str = "", **where: int) -> Any:
    return views.view_documents(*corpus.browser.documents(sought, **where))


def change_files(corpus: Corpus, folder: Path) -> Any:
    (folder / "two.txt").rename(folder / "second.txt")
    (folder / "three.txt").write_text(FILES["three.txt"] + " It rained.", encoding="utf-8")
    (folder / "bad.pdf").write_bytes(b"no pdf")
    return views.view_plan(corpus.plan(folder, estimate=True), 3.0)


def damage(corpus: Corpus, _: Path) -> Any:
    """Of an index that was damaged a build tells that it was mended."""
    corpus.builder._workspace.mended = 2
    return build(corpus)


def list_people(corpus: Corpus) -> list[str]:
    """The names of the people, as they are or as placeholders."""
    return [e.name for e in corpus.entities(type="person")]


def note_imports(corpus: Corpus, _: Path) -> None:
    """Refs as imports, files and masks leave them: of the index of now, and of what is gone."""
    manifest = corpus.manifest()
    chunks = manifest.chunks if manifest else ""
    gone = ("interchange/gone", "figure/gone.md\nk", "masked/gone.md", "origin/gone.md")
    with corpus.store.exclusive():
        corpus.store.set_refs(dict.fromkeys((f"interchange/{chunks}", "figure/one.md\nk", *gone), chunks))


def show_entity(corpus: Corpus) -> Any:
    """The entity with most neighbours, its history, and a map of what is around it."""
    most = corpus.entities()[0]
    page, events = corpus.entity(most.id), corpus.timeline(most.id, since="2020")
    places = [(corpus.documents()[0].id, 10, 45), (corpus.documents()[1].id, 0, 30)]
    dots = [views.view_dots(corpus.browser.map_entities(ids, at)) for ids in ([], [most.id]) for at in ([], places)]
    return [views.view_entities([page]), views.view_timeline(most.name, events), dots]


def show_groups(corpus: Corpus) -> Any:
    browser, rows = corpus.browser, corpus.reports(1)
    inside = [views.view_community(browser.map_community(row.id)) for row in rows[:2]]
    pages = [views.view_report(browser.report(row.id, chunks=1)) for row in rows[:2]]
    return [views.view_reports(rows, 1, 2), views.view_map(browser.map_depth(0)), inside, pages]


def list_acts() -> Iterator[tuple[str, Act]]:
    """What is done in a life, in order, each act with its name."""
    yield "status of nothing", lambda c, f: views.view_status(c.status(), [])
    yield "documents of nothing", lambda c, f: list_documents(c)
    yield "tools", lambda c, f: views.view_diagnosis(describe_tools(c.settings))
    yield "question without an index", lambda c, f: ask(c, "Who is Ada Finch?")
    yield "estimate", lambda c, f: views.view_estimate(c.estimate(f), 2.0, (), 0.5)
    yield "sync", lambda c, f: views.view_plan(c.sync(f), 1.0)
    yield "build", lambda c, f: build(c)
    yield "build again", lambda c, f: build(c)
    yield "status", lambda c, f: views.view_status(c.status(), list(c.document_keys()))
    yield "question", lambda c, f: ask(c, "Who is Ada Finch?")
    for name in ("hybrid", "local", "walk", "graphrag", "lazygraphrag"):
        yield f"question {name}", ask_with(name)
    yield "question inside", lambda c, f: ask(c, "Who met Bo Quill?", Scope(documents=("three*",)), method="hybrid")
    yield "search", lambda c, f: views.view_evidence(c.search("lamp", method="hybrid", top=2), c.index())
    yield "match", lambda c, f: views.view_matches(c.match("(a:person)-[r]-(b)", cite=True))
    yield (
        "document",
        lambda c, f: [
            views.view_document(c.browser.document(d.id, start=3, end=70, mentions=True), True) for d in c.documents()
        ],
    )
    yield "entity", lambda c, f: show_entity(c)
    yield "rows", lambda c, f: views.view_entity_rows(*c.browser.entity_rows("o", type="person", first=1, limit=1))
    yield "groups", lambda c, f: show_groups(c)
    yield "changes", lambda c, f: views.view_changes("2020", "2022", c.changes("2020", "2022"))
    yield "add", lambda c, f: c.add(LATE)
    yield "documents", lambda c, f: list_documents(c, "e", first=1, limit=2)
    yield "status while one waits", lambda c, f: views.view_status(c.status(), None)
    yield "collect while one waits", lambda c, f: views.view_collected(c.collect(dry=True))
    yield "files change", change_files
    yield "sync again", lambda c, f: views.view_plan(c.sync(f), 1.0)
    yield "waiting", lambda c, f: list_documents(c)
    yield "build the changes", lambda c, f: build(c)
    yield "forbid", lambda c, f: views.view_applied(c.forbid(*list_people(c)[:2]))
    yield "merge", lambda c, f: views.view_applied(c.merge(*list_people(c)[1:3], called="Captain"))
    yield "rename", lambda c, f: views.view_applied(c.rename("Skerry Point", "The Point"))
    yield "resolve", lambda c, f: views.view_resolved(c.resolve(ask=False))
    yield "undo", lambda c, f: views.view_applied(c.undo())
    yield "operations", lambda c, f: views.view_operations(c.names.operations())
    yield "build more", lambda c, f: build(c, parts=["graph", "layers"])
    yield "build fresh", lambda c, f: build(c, fresh=True)
    yield "mended", damage
    yield "remove", lambda c, f: c.remove("late")
    yield "remove nobody", lambda c, f: c.remove("nobody")
    yield "build without", lambda c, f: build(c, retry=True)
    yield "imports", note_imports
    yield "collect nothing yet", lambda c, f: views.view_collected(c.collect(dry=True))
    yield "collect", lambda c, f: views.view_collected(c.collect())
    yield "status at the end", lambda c, f: views.view_status(c.status(), None)


def list_presence(corpus: Corpus) -> list[str]:
    """The refs of the store; for which of them there is no document any more is seen as well."""
    return [HASH.sub("", MOMENT.sub("T", name)) for name in sorted(corpus.store.refs())]


def try_act(act: Act, corpus: Corpus, folder: Path) -> Any:
    """What comes of an act, or what it refuses with."""
    try:
        return show_view(act(corpus, folder))
    except SensegraphError as e:
        return [type(e).__name__, show_view(str(e))]


@cache
def find_rows(life: str) -> list[Any]:
    """A life, a row an act: its name, what came of it, and the refs where they are others than before."""
    rows: list[Any] = []
    with TemporaryDirectory(prefix="corpus-lives-") as place:
        folder, root = Path(place) / "files", Path(place) / "corpus"
        folder.mkdir()
        for name, text in FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
        settings = {"engine": "offline", "embedder": "offline", "processes": 1, **LIVES[life]}
        with Corpus.open(root, settings=settings) as corpus:
            (corpus.store.root / SECRET).write_bytes(bytes(range(32)))
            before: list[str] = []
            for name, act in list_acts():
                found, now = try_act(act, corpus, folder), list_presence(corpus)
                rows.append([name, found, [r for r in now if r not in before], [r for r in before if r not in now]])
                before = now
        for mask in ("off", "mask"):
            personal = {"mask": mask, "kinds": ["email"]}
            with Corpus.open(root, settings={**settings, "personal": personal}) as corpus:
                for name, act in list_acts():
                    if name in ("question", "document", "add", "build", "build again", "status", "collect"):
                        rows.append([f"{name} under {mask}", try_act(act, corpus, folder)])
    return rows


LIFE_ROWS = PinnedRows(PINNED / "corpus-lives.jsonl", tuple(LIVES), find_rows)

if __name__ == "__main__":
    LIFE_ROWS.write()
