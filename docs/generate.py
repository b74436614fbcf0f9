"""Write the generated pages of this folder: `python docs/generate.py`. A test fails when they are not fresh."""

from __future__ import annotations

from pathlib import Path

from sensegraph.cli.template import methods_markdown, settings_markdown

HERE = Path(__file__).parent
SETTINGS = """# Settings

`sensegraph init` writes `sensegraph.toml` with every setting and its default. For one run, `--set KEY=VALUE` on the
command line and `Corpus.open(settings={…})` in Python are laid over the file. A key that does not exist, or a value of
the wrong type, is an error that names it and the nearest known one. The only thing read from the environment is the
endpoint's key, from the variable that `endpoint.api_key_env` names.

This page is generated from the dataclasses (`make docs`).

"""
METHODS = """# Methods

A method is a paper's way to find evidence for a question and to answer from it. All run on the one index.
`--method auto` (the default) says in the notes which one it took.

This page is generated from the table of methods (`make docs`).

"""


def pages() -> dict[str, str]:
    """The generated pages by file name."""
    return {"settings.md": SETTINGS + settings_markdown(), "methods.md": METHODS + methods_markdown()}


def main() -> None:
    """Write all of them."""
    for name, text in pages().items():
        (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
