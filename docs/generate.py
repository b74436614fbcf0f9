"""Write the generated pages of this folder: `python docs/generate.py`. A test fails when they are not fresh."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sensegraph.cli.template import methods_markdown, settings_markdown

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "src" / "sensegraph"
SETTINGS = """# Settings

`sensegraph init` writes `sensegraph.toml` with the settings that people change; this page has all of them. A value is
taken from the first of these that gives one:

| where | how |
|---|---|
| the command line | `--set index.chunk_tokens=400`, and options such as `--engine`, `--max-cost` |
| a program | `Corpus.open(settings={"index": {"chunk_tokens": 400}})` |
| the environment, for commands | `SENSEGRAPH_INDEX__CHUNK_TOKENS=400`: two underscores between tables |
| `sensegraph.toml` | `chunk_tokens = 400` under `[index]`, or `sensegraph config set index.chunk_tokens 400` |
| the default | the tables below |

`sensegraph config` shows what differs from the defaults and where it is given, `config check` lists every mistake,
`config schema` prints a JSON schema for editors, and `config presets` shows what papers chose. A key that does not
exist, or a value of the wrong type, is an error that names it and the nearest known one. The endpoint's key is read
from the variable that `endpoint.api_key_env` names and stands nowhere else.

## The environment

| variable | commands and servers | programs (`Corpus.open`) |
|---|---|---|
| `SENSEGRAPH_ENDPOINT__MODEL` and the like | any setting in a table, over the settings file | not read |
| `SENSEGRAPH_ENGINE`, `…_EMBEDDER`, `…_METHOD` | a setting in no table | not read |
| `SENSEGRAPH_ROOT` | the corpus's folder | not read: a program names the folder |
| `OPENAI_API_KEY`, or what `endpoint.api_key_env` names | the endpoint's key | read |
| what `endpoint.headers` names as `env:NAME` | the value of a further header | read |
| `SENSEGRAPH_STORE_PASSWORD` | the password of a database | read |
| `SENSEGRAPH_TRUST` | [approvals](#approving-an-endpoint) | read |
| `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY` | the way to an endpoint | read |
| `XDG_CONFIG_HOME` | where your own settings file lies | read |
| `XDG_CACHE_HOME`, `XDG_DATA_HOME` | where copies of arrays, and the folder of a corpus in a database, lie | read |

A program that wants settings of the environment takes them itself:
`Corpus.open("notes", settings={"endpoint": {"model": os.environ["MODEL"]}})`.

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
"model:/home/me/tuned" = true                           # one that local.model, embedding.folder or rerank.model names
"store:postgresql://db.example.org/library" = true      # a database that store.url names
"cluster:head.example.org:6379" = true                  # a cluster that executor.address names
```

An approval holds for all that lies below its address, and for one variable: a file cannot choose another secret for it.

No approval is needed for `OPENAI_API_KEY` at `https://api.openai.com` or at an address of this machine, nor for what
you give yourself, on the command line (`--set`), in the environment or in your own program. A redirect is never
followed. The addresses and variables of embeddings and reranking are approved like that of the chat. Where a file sets
`[endpoint.headers]`, its address always needs an approval, which holds for headers without secrets; each variable that
a header names needs one of its own.

This page is generated from the dataclasses (`make docs`).

"""
METHODS = """# Methods

A method is a paper's way to find evidence for a question and to answer from it. All run on the one index.
`--method auto` (the default) says in the notes which one it took, and why. Where a model answers, it chooses among all
that the index and the engine can serve; a part that was built for a method (`index --method NAME`) counts as a wish.

This page is generated from the table of methods (`make docs`).

"""


STRUCTURE = """# Where is what

The folders of `src/sensegraph`, each numbered equation of a paper, and each prompt.

This page is generated from the code (`make docs`).

"""
EQUATION = re.compile(r"\bEqs?\. ?\(?(\d+(?:(?: ?[,–-] ?| and )\d+)*)")
PAPER = re.compile(r"\(([A-Z][A-Za-z]+), Eqs?\.")
Definition = ast.FunctionDef | ast.ClassDef


def pages() -> dict[str, str]:
    """The generated pages by file name."""
    return {
        "settings.md": SETTINGS + settings_markdown(),
        "methods.md": METHODS + methods_markdown(),
        "where-is-what.md": STRUCTURE + "\n".join([*rooms_table(), "", *equations_table(), "", *prompts_table(), ""]),
    }


@cache
def parsed_modules() -> tuple[tuple[Path, str, ast.Module], ...]:
    """Every module of the package: its path inside the package, its text, its syntax."""
    texts = [(path.relative_to(PACKAGE), path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))]
    return tuple((path, text, ast.parse(text)) for path, text in texts)


def rooms_table() -> Iterator[str]:
    """The files of every folder, and what its docstring says that it holds."""
    yield "## Folders"
    yield ""
    yield "| folder | files | what it holds |"
    yield "|---|---:|---|"
    files = Counter(path.parent.as_posix() for path, *_ in parsed_modules())
    for room, count in sorted(files.items()):
        holds = [
            ast.get_docstring(tree) or "" for path, _, tree in parsed_modules() if path == Path(room, "__init__.py")
        ]
        yield f"| `{room}` | {count} | {''.join(holds).partition(chr(10))[0]} |"


def equations_table() -> Iterator[str]:
    """Each numbered equation that a function or class names in its docstring: where it stands."""
    yield "## Equations"
    yield ""
    yield "| folder | equation | where |"
    yield "|---|---|---|"
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, _, tree in parsed_modules():
        for node in ast.walk(tree):
            said = (ast.get_docstring(node) or "") if isinstance(node, Definition) else ""
            if match := EQUATION.search(said):
                of = PAPER.search(said) or PAPER.search(ast.get_docstring(tree) or "")
                paper = f" ({of[1]})" if of and not path.is_relative_to("methods") else ""
                found[path.parent.as_posix(), match[1]].append(f"`{path.name}`: `{node.name}`{paper}")
    for (room, number), places in sorted(
        found.items(), key=lambda item: (item[0][0], int(re.split(r"\D", item[0][1])[0]))
    ):
        yield f"| `{room}` | {number} | {', '.join(places)} |"


def prompts_table() -> Iterator[str]:
    """Each prompt: its file, and the modules that ask with it."""
    yield "## Prompts"
    yield ""
    yield "| prompt | asked by |"
    yield "|---|---|"
    texts = {path: strings_of(tree) for path, _, tree in parsed_modules() if path.name != "schemas.py"}
    asks = ("_task", "_tasks", "_tuning", "example_types")
    asking = {p: words for p, words in texts.items() if p.stem.endswith(asks)}
    asking |= {p: words for p, words in texts.items() if p.as_posix() == "engines/llm/llm.py"}
    for prompt in sorted(PACKAGE.rglob("prompts/*.md")):
        users = [path for path, words in asking.items() if prompt.stem in words]
        users = users or [path for path, words in asking.items() if prompt.stem.partition("-")[0] in words]
        named = ", ".join(f"`{user.as_posix()}`" for user in users if user.name != "prompts.py")
        yield f"| `{prompt.relative_to(PACKAGE).as_posix()}` | {named} |"


def strings_of(tree: ast.Module) -> set[str]:
    """The words of the strings of a module that are short enough to be a list of names."""
    strings = (n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return {word for text in strings if len(text) < 40 for word in text.split()}


def main() -> None:
    """Write all of them."""
    for name, text in pages().items():
        (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
