"""Write the generated pages of this folder: `python docs/generate.py`. A test fails when they are not fresh."""

from __future__ import annotations

from pathlib import Path

from sensegraph.cli.template import methods_markdown, settings_markdown

HERE = Path(__file__).parent
SETTINGS = """# Settings

`sensegraph init` writes `sensegraph.toml` with every setting and its default. For one run, `--set KEY=VALUE` on the
command line and `Corpus.open(settings={…})` in Python are laid over the file. A key that does not exist, or a value of
the wrong type, is an error that names it and the nearest known one. From the environment are read the endpoint's key,
from the variable that `endpoint.api_key_env` names, and what you approve (`SENSEGRAPH_TRUST`).

## Approving an endpoint

The folder of a corpus may come from somebody else, so its file does not decide alone where your texts and keys go. An
endpoint that `sensegraph.toml`, a plan or a design names is used only when you have approved it outside that folder;
before that nothing is sent. On a terminal the first command asks, and one key is enough. Elsewhere:

| way | holds |
|---|---|
| `--trust`, or `Corpus.open(settings={"trust": True})` | for this run, whatever the file names |
| `SENSEGRAPH_TRUST=URL,…` in the environment | while it is set |
| `"URL" = true` under `[trust]` in your own settings file | until you take it out |
| `sensegraph init --set endpoint.base_url=URL --set endpoint.model=NAME` | likewise: it writes both files |

Your own settings file is `~/.config/sensegraph/settings.toml`; it is under `XDG_CONFIG_HOME` where that is set, on
Windows under `APPDATA`.

```
[trust]
"https://llm.example.org" = true                        # with the key in OPENAI_API_KEY, or none
"MISTRAL_API_KEY@https://api.mistral.ai/v1" = true      # with the key in another variable
"model:/home/me/tuned" = true                           # a model that local.model or rerank.model names
```

An approval holds for all that lies below its address, and for one variable: a file cannot choose another secret for it.

No approval is needed for `OPENAI_API_KEY` at `https://api.openai.com` or at an address of this machine, nor for what
you give yourself, on the command line (`--set`) or in your own program. A redirect is never followed.

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
