"""Settings as text: the file that `init` writes, and the tables of the documentation, both from the dataclasses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from textwrap import wrap
from types import MappingProxyType
from typing import Any, get_type_hints

from sensegraph.corpus.settings import FIXED, Settings, find_allowed_words, table_types
from sensegraph.errors import SettingsError
from sensegraph.methods import METHODS, method_class

_UNSAID = ("trust", "part_settings", "part_objects")  # fields that no file says
_REFERENCE = re.compile(r" ?\((?:edge2024|X\d)[^)]*\)")
_TABLES: Mapping[str, str] = MappingProxyType(
    {
        "": "Who reads and writes: auto takes the model where endpoint.model is set, and works offline otherwise.",
        "endpoint": "Any OpenAI-compatible endpoint. Without a model everything stays on this machine.",
        "model": "What is asked of the model; the ..._tokens bound its replies.",
        "local": 'A model of this machine, for engine = "local" (needs the extra `finetune`).',
        "documents": "Which files are read, and which fields of a record (csv, json) are its text, id, title and time.",
        "index": "How documents are cut into chunks.",
        "index.graph": "How what the chunks say becomes one graph. Descriptions of one thing are joined while they are "
        "short, else summarised.",
        "index.clusters": "How the graph is divided into communities (Leiden's method).",
        "rerank": "Who reads what a method found once more, together with the question, and puts it in a better order.",
        "personal": "Personal data in documents that are read: off, report (count it) or mask (put placeholders in its "
        "place, before anything is stored or sent; documents that are there already must be added again). See "
        "docs/personal-data.md. Patterns of your own stand in a table [personal.patterns]: employee = 'E-[0-9]{6}'.",
        "index.reports": "What a report on a community is written from.",
        "methods.graphrag": "Questions about the whole, answered from the reports of one depth.",
        "methods.naive": "Questions about a detail, answered from the nearest chunks.",
    }
)
_HINTS: Mapping[str, str] = MappingProxyType(
    {
        "engine": '"auto", "offline", "model", or "local": a model in this process',
        "local.model": "a folder with a model, such as `sensegraph tune` writes",
        "local.context_tokens": "0: as the model says of itself",
        "embedder": 'who compares texts: "auto", "offline" or "endpoint"',
        "method": "as `sensegraph methods` lists",
        "processes": "for work on this machine; 0: one for each core",
        "chunker": 'who cuts documents: "windows" (of tokens, see [index]) or a plug-in',
        "store": '"sqlite" or a plug-in',
        "executor": 'who runs the work: "local" or a plug-in',
        "endpoint.model": "the model's name at the endpoint",
        "endpoint.embedding_model": "empty: texts are compared on this machine",
        "endpoint.rerank_model": 'for rerank.by = "endpoint"',
        "endpoint.api_key_env": "the environment variable that holds the key; the key never stands here",
        "endpoint.seed": "a whole number, for endpoints that take one",
        "endpoint.concurrency": "calls at once",
        "endpoint.requests_per_minute": "0: no limit",
        "endpoint.tokens_per_minute": "0: no limit",
        "endpoint.timeout_s": "seconds for one attempt",
        "endpoint.backoff_s": "seconds before the second attempt; doubled each time",
        "endpoint.price_prompt": "US dollars per million tokens",
        "endpoint.price_completion": "US dollars per million tokens",
        "endpoint.price_embedding": "US dollars per million tokens",
        "endpoint.price_rerank": "US dollars per million tokens",
        "endpoint.max_tokens_total": "of one run, as --max-tokens; 0: no limit",
        "endpoint.max_cost_usd": "of one run, as --max-cost; 0: no limit",
        "model.entity_types": "the kinds of things to look for",
        "model.relation_types": "the kinds of relations; empty: relations have no kind",
        "model.schema": '"open" keeps what is of another kind, "enforced" calls it other; both count it',
        "model.extraction_format": '"json" or "tuple"',
        "model.claims": "whether to look for claims as well",
        "model.max_gleanings": "how often a chunk is asked about again for what was missed",
        "model.points": '"points" or "answer": the form of partial answers',
        "model.general_knowledge": "whether answers may add what no source says",
        "model.language": "of what is written; empty: that of the text",
        "model.prompts": "the folder of your own prompts",
        "documents.max_bytes": "the largest file that is read",
        "documents.id_column": "empty: _id, else id",
        "documents.include": 'patterns such as "*.md"; empty: every kind that is known',
        "documents.exclude": 'patterns such as "drafts/*"',
        "index.chunk_tokens": "a token is about three quarters of a word",
        "index.chunk_overlap": "tokens that two neighbouring chunks share",
        "index.graph.weight": '"auto", "count", "normalised" or "strength"; see docs/settings.md',
        "index.graph.orphans": '"create" or "drop" a thing that a relation names and no chunk describes',
        "index.graph.describe_above": "tokens",
        "index.graph.summary_input": "tokens",
        "index.clusters.max_cluster_size": "a community of more entities is divided again",
        "index.clusters.resolution": "higher: more and smaller communities",
        "index.reports.context_tokens": "tokens",
        "personal.mask": '"off", "report" or "mask"',
        "personal.style": '"keyed": the same word for the same thing (EMAIL-c41f0a92d7); "kind": [EMAIL]',
        "personal.kinds": 'add "person" for names of people',
        "personal.regions": "whose telephone numbers are known without their country's prefix",
        "personal.allow": 'texts that stay, such as "*@example.org"',
        "rerank.by": '"none", "endpoint" or "cross-encoder" (on this machine, with the extra `rerank`)',
        "rerank.top": "chunks that are read, the first that were found",
        "rerank.model": "of the cross-encoder: a folder, or a name that is fetched",
        "methods.graphrag.depth": "0: the fewest and broadest reports",
        "methods.naive.top": "chunks at most",
    }
)


def list_settings_tables() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Every table of the settings: its dotted name, the dataclass behind it, and its plain fields with defaults."""
    yield from _walk_settings_tables("", Settings())
    for name in METHODS:
        kind = method_class(name)
        yield f"methods.{name}", kind, {k: v for k, v in _plain_fields(kind()).items() if k not in FIXED}


def _walk_settings_tables(name: str, value: Any) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    yield name, type(value), _plain_fields(value)
    for inner, kind in table_types(type(value)).items():
        yield from _walk_settings_tables(f"{name}.{inner}".lstrip("."), getattr(value, inner, None) or kind())


def _plain_fields(value: Any) -> dict[str, Any]:
    """The fields that hold no table."""
    found = {f.name: getattr(value, f.name) for f in fields(value) if f.name not in _UNSAID}
    return {name: v for name, v in found.items() if not is_dataclass(v) and not isinstance(v, dict)}


def settings_toml(given: Mapping[str, Any] = MappingProxyType({})) -> str:
    """A settings file that says every setting and changes those of the nested tables that are `given`.

    Raises SettingsError for a setting that has no line of its own there.
    """
    left = dict(_flatten_tables(given))
    parts = [
        "## Settings of this corpus. Lines with ## explain; a line with one # shows a default.\n"
        "## To change a setting, take its # away. A [table] ends where the next begins."
    ]
    for name, kind, values in list_settings_tables():
        # above a table stand its own words where it has some, else its docstring without references to papers
        text = _TABLES.get(name) or _REFERENCE.sub("", " ".join(line.strip() for line in _docstring_lines(kind)))
        lines = [f"## {line}" for line in wrap(text.replace("`", ""), 110)]
        lines += [f"[{name}]"] if name else []
        for k, value in values.items():
            dotted = f"{name}.{k}".lstrip(".")
            said, own = _HINTS.get(dotted, ""), left.pop(dotted, None)
            if own is not None:
                lines.append(f"{k} = {format_toml(own)}" + (f"   # {said}" if said else ""))
                continue
            hint = "; ".join(part for part in (said, "not set" if value is None else "") if part)
            shown = f"# {k} =" if value is None else f"# {k} = {format_toml(value)}"
            lines.append(f"{shown}   # {hint}" if hint else shown)
        parts.append("\n".join(lines))
    if left:
        raise SettingsError(f"{min(left)} cannot be written by a flag; put it into the settings file by hand.")
    return "\n\n".join(parts) + "\n"


def _flatten_tables(given: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of nested tables under its dotted name."""
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from _flatten_tables(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _docstring_lines(kind: Any) -> list[str]:
    """The lines of a dataclass's docstring, without the blank ones."""
    return [line for line in (kind.__doc__ or "").splitlines() if line.strip()]


def format_toml(value: Any) -> str:
    """A plain value in TOML's syntax."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(format_toml, value))}]"
    if isinstance(value, frozenset):
        return format_toml(sorted(value))
    if isinstance(value, float) and not isinstance(value, bool):
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def describe_field_type(kind: Any, name: str) -> str:
    """The type of a field as a reader sees it."""
    hint = get_type_hints(kind, include_extras=True)[name]
    if words := find_allowed_words(hint):
        return " or ".join([*map(format_toml, words.own), *(["the name of a plug-in"] if words.kind else [])])
    found: str = getattr(hint, "__name__", "") if isinstance(hint, type) else str(hint)
    return found


def settings_markdown() -> str:
    """The tables of docs/settings.md."""
    parts = []
    for name, kind, values in list_settings_tables():
        doc = " ".join(line.strip() for line in _docstring_lines(kind))
        types = {k: describe_field_type(kind, k).replace("|", "\\|") for k in values}
        rows = [f"| `{k}` | {types[k]} | {_format_default(v)} |" for k, v in values.items()]
        head = [f"## `[{name}]`" if name else "## At the top of the file", "", doc, "", "| setting | type | default |"]
        parts.append("\n".join([*head, "|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _format_default(value: Any) -> str:
    return "not set" if value is None else f"`{format_toml(value)}`"


def methods_markdown() -> str:
    """The body of docs/methods.md: the table, and each method's settings."""
    rows = ["| name | paper | good for | needs of the engine |", "|---|---|---|---|"]
    rows += [f"| `{n}` | {m.paper} | {m.good_for} | {m.tasks} |" for n, m in METHODS.items()]
    parts = ["\n".join(rows)]
    for name, kind, values in list_settings_tables():
        if name.startswith("methods."):
            listed = ", ".join(f"`{k}` {_format_default(v)}" for k, v in values.items())
            source = (import_module(kind.__module__).__doc__ or "").strip()
            method = name.removeprefix("methods.")
            parts.append(f"## {method}\n\n```\n{source}\n```\n\nSettings in `[{name}]`: {listed}.")
    return "\n\n".join(parts) + "\n"
