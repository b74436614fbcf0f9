"""Commands to begin with: demo, init."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from sensegraph.cli.options import Root, Set, format_root_flag, open_corpus, print_message, print_text, read_overrides
from sensegraph.cli.progress import show_progress

_HERE = Path(".")
_DEMO = Path("sensegraph-demo")
QUESTION = "What are the main themes of the story?"


def run_demo(
    root: Annotated[Path, typer.Option("--root", metavar="DIR", help="Where the demonstration is put.")] = _DEMO,
) -> None:
    """Index a bundled book on this machine alone, ask what it is about, and say where to go next."""
    from sensegraph.cli import show

    texts = _copy_packaged(root / "input", ("data", "carol"), ".txt")
    given = {**read_overrides(None, "offline"), "embedder": "offline"}
    with show_progress() as report, open_corpus(root, given, progress=report, create=True) as corpus:
        corpus.add(*texts)
        built = corpus.build()
        print_text(f"A Christmas Carol (Charles Dickens, 1843), indexed in {root} without a model.\n")
        print_text(f"{show.format_build(built)}\n")
        answer = corpus.query(QUESTION, method="graphrag", depth=0)
    where = format_root_flag(root)
    print_text(
        f"{QUESTION}\n\n{show.format_answer(answer)}\n\nWhere to go next:\n"
        f'  sensegraph query{where} --method naive "Who is Tiny Tim?"       a question that a few passages answer\n'
        f'  sensegraph query{where} --depth 1 "{QUESTION}"\n'
        "  sensegraph index PATH --root mine      your own documents; then: sensegraph query --root mine QUESTION"
    )


def set_up_folder(root: Root = _HERE, settings: Set = None) -> None:
    """Prepare a folder: sensegraph.toml with every setting and its default, prompts/ to edit, input/ for documents.

    What --set says is written there; an endpoint or a model among it counts as approved.
    """
    from sensegraph.cli.approving import approve_all
    from sensegraph.cli.template import settings_toml
    from sensegraph.corpus.settings import Settings, convert_settings, lay_tables, load_settings, locate_user_file
    from sensegraph.engines.llm.prompts import copy_templates

    given = read_overrides(settings)
    convert_settings(given, Settings, "command line")
    text = settings_toml(lay_tables({"model": {"prompts": "prompts"}}, given))

    (root / "input").mkdir(parents=True, exist_ok=True)
    copy_templates(root / "prompts")
    written = root / "sensegraph.toml"
    if written.exists():
        print_message(f"{written} exists and was left as it is" + (", without what --set says" if given else ""))
    else:
        written.write_text(text, encoding="utf-8")
        print_text(f"wrote {written}")
        for approved in approve_all(load_settings(root)):
            print_text(f"approved {approved} in {locate_user_file()}")
    print_text(f"put documents into {root / 'input'}, then: sensegraph index{format_root_flag(root)}")


def _copy_packaged(folder: Path, packaged: tuple[str, ...], suffix: str) -> list[Path]:
    """The packaged files, copied into `folder`; one that exists is left as it is."""
    source = files("sensegraph").joinpath(*packaged)
    if not source.is_dir():
        return []
    folder.mkdir(parents=True, exist_ok=True)
    copies = []
    for item in sorted((i for i in source.iterdir() if i.name.endswith(suffix)), key=lambda i: i.name):
        copy = folder / item.name
        if not copy.exists():
            copy.write_bytes(item.read_bytes())
        copies.append(copy)
    return copies
