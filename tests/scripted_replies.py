"""What the scripted server says: each reply is read off the request, so that equal requests get equal replies."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from scripted_groups import ABOUT_GROUPS, planted
from scripted_methods import ABOUT_METHODS, is_about_methods, message_of
from scripted_tables import Row, cite, rows_of, words
from scripted_trials import ABOUT_ANSWERS, MARKS

Body = dict[str, Any]

_encode = msgspec.json.Encoder().encode
_NAME = re.compile(r"[A-Z][\w’'-]*(?:\s+(?:of\s+)?[A-Z][\w’'-]*)*")
_COMMON = frozenset("A An The In On At It He She We They I But And This That There When If As For From To Text".split())
_TYPES = ("person", "organization", "geo", "event")
_CLAIM = ("subject", "object", "type", "status", "starts", "ends", "description", "quote")
_MARKS = (
    ("claims", '("claim"'),
    ("claims", "`claims`"),
    ("tuple", "<|COMPLETE|>"),
    ("aggregate", "`entity_name`"),
    ("link", "`link`"),
    ("same", "`groups`"),
    ("abstract", "`summary_entities`"),
    ("condensed", "`condensed`"),
    ("extraction", "`relations`"),
    ("report", "`findings`"),
    ("points", "`points`"),
    ("lead", "`follow_ups`"),
    ("refinement", "`sub_questions`"),
    ("grade", "`rating`"),
    ("answer", "`answer`"),
    ("summary", "`summary`"),
    *MARKS,
)


_ASKS_NAMES = "\n\nA first list of this passage holds: "
_LANGUAGE = re.compile(r"(?:\n\nTypes: .*)?\n+Write in [^\n]*\Z")


class Draw:
    """Numbers in [0, 1) that depend on a seed, a request and an attempt alone."""

    def __init__(self, seed: int, sha: str, attempt: int) -> None:
        self._root = f"{seed} {sha} {attempt} "

    def __call__(self, name: str) -> float:
        return int.from_bytes(hashlib.blake2b((self._root + name).encode(), digest_size=7).digest(), "big") / 2**56


def task_of(body: Body) -> str:
    """The task that a request is about: the name of its schema, else by what its instructions ask for."""
    named = body.get("response_format", {}).get("json_schema", {}).get("name")
    if named:
        return str(named)
    if found := is_about_methods(body):
        return found
    if "yes or no" in body["messages"][-1]["content"]:
        return "check"
    if "yes or no" in body["messages"][0]["content"]:
        return "test"
    asked = body["messages"][0]["content"]
    return next((t for t, mark in _MARKS if mark in asked or mark.replace("`", '"') in asked), "other")


def talk_in(body: Body) -> list[Body]:
    """The messages of a request without its examples."""
    first, *others = body["messages"]
    examples = sum("Example, from" in m["content"] and m["role"] == "user" for m in body["messages"])
    return [first, *others[max(0, 2 * examples - (first["role"] == "user")) :]]


def asked_in(body: Body) -> str:
    """What a request is about: its first message of a user that is no example, a question before its tables.

    The sentence on the language at its end is left out.
    """
    data = _LANGUAGE.sub("", talk_in(body)[1]["content"]) if len(body["messages"]) > 1 else ""
    tables, found, question = ("", "", data) if data.startswith("Question: ") else data.rpartition("\n\nQuestion: ")
    return f"Question: {question}\n\n{tables}" if found else data


def completion(
    body: Body,
    scripted: str | tuple[str, str] | Body | None,
    fault: str,
    style: str,
    usage: bool,
    against: Sequence[str] = (),
) -> bytes:
    """A chat completion: the scripted reply, or one read off the request, with `fault` applied.

    A scripted object is a whole choice: its message as it is, and how it ended.
    """
    if isinstance(scripted, dict):
        return _completed(body, scripted["message"], scripted.get("finish_reason", "stop"), "", usage)
    text, finish = scripted if isinstance(scripted, tuple) else (scripted, "stop")
    text = reply(body, style, against) if text is None else text
    if fault == "malformed":
        text = "I am afraid that I cannot do that."
    most = body.get("max_tokens", body.get("max_completion_tokens", 10**9)) * 4
    if fault == "truncate" or len(text) > most:
        text, finish = text[: min(most, len(text) * 6 // 10)], "length"
    return _completed(body, {"content": text}, finish, text, usage)


def _completed(body: Body, message: Body, finish: str, text: str, usage: bool) -> bytes:
    prompt = sum(len(m["content"]) for m in body["messages"]) // 4
    counts = {"prompt_tokens": prompt, "completion_tokens": max(1, len(text) // 4)}
    return _encode(
        {
            "id": "scripted",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": {"role": "assistant"} | message, "finish_reason": finish}],
            **({"usage": counts | {"total_tokens": sum(counts.values())}} if usage else {}),
        }
    )


BREAK = b"\x00"  # where a stream of events is to break off


def events(payload: bytes, size: int, counted: bool, break_after: int, break_with: str) -> bytes:
    """A chat completion as server-sent events of `size` characters each."""
    whole: Body = json.loads(payload)
    choice, usage = whole["choices"][0], whole.pop("usage", None)
    text: str | list[Body] | None = choice["message"].get("content")
    lines = [_event(whole, {"role": "assistant", "content": ""})]
    if not isinstance(text, str):  # parts, each in an event of its own, and what else the message holds
        lines += [_event(whole, {"content": [part]}) for part in text or ()]
        rest = {name: said for name, said in choice["message"].items() if name not in ("role", "content")}
        lines += [_event(whole, rest)] if rest else []
        text = ""
    for at in range(0, len(text), size):
        if break_after and at >= break_after:
            error = b"data: " + _encode({"error": {"message": break_with, "code": "scripted"}}) + b"\n\n"
            return b": hello\n\n" + b"".join(lines) + (error if break_with else BREAK)
        lines.append(_event(whole, {"content": text[at : at + size]}))
    lines.append(_event(whole, {}, choice["finish_reason"]))
    if counted and usage:
        counts = json.dumps(whole | {"choices": [], "usage": usage}).encode()  # NaN among them
        lines.append(b"data: " + counts + b"\n\n")
    return b": hello\n\n" + b"".join([*lines, b"data: [DONE]\n\n"])


def _event(whole: Body, delta: Body, finish: str | None = None) -> bytes:
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return b"data: " + _encode(whole | {"object": "chat.completion.chunk", "choices": choices}) + b"\r\n\r\n"


def reply(body: Body, style: str, against: Sequence[str] = ()) -> str:
    """The text of a reply to any of the tasks; one about a group breaks the rules named in `against`."""
    task, data = task_of(body), asked_in(body)
    if task == "probe":  # a form with one field
        return _styled(dict.fromkeys(body["response_format"]["json_schema"]["schema"]["properties"], 2020), style)
    if task in ABOUT_METHODS:
        return _styled(ABOUT_METHODS[task](message_of(body)), style)
    if task == "check":
        return "no"
    if task == "test":
        return "yes" if _common(data) else "no"
    if task in ("extraction", "tuple"):
        found = _named_extraction(data) if _ASKS_NAMES in data else _extraction(data)
        if "starts and ends" in body["messages"][0]["content"]:
            found["relations"] = [_dated(r) for r in found["relations"]]
        return _styled(found, "tuple" if task == "tuple" else style)
    if task == "claims":
        return _styled(_claims(data), "tuple" if "<|COMPLETE|>" in body["messages"][0]["content"] else style)
    rows = rows_of(data)
    made = _MADE.get(task)
    return _styled(planted(made(rows, data), rows, against), style) if made else "yes"


def _styled(value: Body, style: str) -> str:
    text = _encode(value).decode()
    if style == "fenced":
        return f"Here it is:\n```json\n{text}\n```\nI hope that this helps."
    if style == "single":
        return str(value)
    return _tuples(value) if style == "tuple" and value.keys() & {"entities", "claims"} else text


def _tuples(value: Body) -> str:
    entities = [f'("entity"<|>{e["name"]}<|>{e["type"]}<|>{e["description"]})' for e in value.get("entities", ())]
    relations = [
        f'("relationship"<|>{r["source"]}<|>{r["target"]}<|>{r["description"]}<|>{r["strength"]})'
        for r in value.get("relations", ())
    ]
    claims = [f'("claim"<|>{"<|>".join(c[f] for f in _CLAIM)})' for c in value.get("claims", ())]
    return "\n##\n".join(entities + relations + claims) + "\n<|COMPLETE|>"


def _extraction(data: str) -> Body:
    entities: dict[str, Body] = {}
    relations: list[Body] = []
    before = ""
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", data.partition("Text:\n")[2] or data):
        names = [n for n in dict.fromkeys(_NAME.findall(sentence)) if n not in _COMMON]
        for name in names:
            kind = _TYPES[sum(name.encode()) % 4]
            entities.setdefault(name, {"name": name, "type": kind, "description": sentence})
        relations += [
            {"source": a, "target": b, "description": sentence, "strength": 1 + len(sentence) % 9}
            for a, b in itertools.pairwise(
                [before, *names] if before and before not in names and len(names) == 1 else names
            )
        ]
        before = names[-1] if names else before
    return {"entities": list(entities.values()), "relations": relations}


def _named_extraction(data: str) -> Body:
    """What a passage says of the names that a first list of it lacks."""
    text, _, request = data.partition(_ASKS_NAMES)
    lacking = request.partition("and the list lacks: ")[2].partition("\n")[0].split("; ")
    sentences = re.split(r"(?<=[.!?])\s+|\n+", text.partition("Text:\n")[2])
    said = {name: next((s for s in sentences if name in s), "") for name in lacking}
    entities = [{"name": n, "type": _TYPES[sum(n.encode()) % 4], "description": s} for n, s in said.items() if s]
    return {"entities": entities, "relations": []}


def _dated(relation: Body) -> Body:
    """A relation with the years that its sentence names, the first as its beginning and the second as its end."""
    starts, ends = [*re.findall(r"\b\d{4}\b", relation["description"]), "", ""][:2]
    return relation | {"starts": starts, "ends": ends}


def _claims(data: str) -> Body:
    """The first sentence that holds each of the first three entities, as a claim about it."""
    text, _, names = data.partition("Text:\n")[2].partition("\n\nEntities: ")
    claims = []
    for name in names.split("; ")[:3]:
        said = next((s for s in re.split(r"(?<=[.!?])\s+|\n+", text) if name in s), text)
        claim = {"subject": name, "object": "none", "type": "statement", "status": "TRUE", "starts": "", "ends": ""}
        claims.append(claim | {"description": said, "quote": said})
    return {"claims": claims}


def _report(rows: list[Row], data: str) -> Body:
    groups = [rows[i::7] for i in range(min(7, len(rows)))]
    return {
        "title": " and ".join([r[1][1] for r in rows[:2]]) or "Nothing",
        "summary": " ".join(f"{words(r[1][-1], 12)} {cite([r])}." for r in rows[:3]),
        "rating": len(data) % 100 / 10,
        "rating_explanation": "It is as long as it is.",
        "findings": [
            {"summary": words(g[0][1][-1], 6), "explanation": f"{words(g[0][1][-1], 30)} {cite(g)}."} for g in groups
        ],
    }


def _points(rows: list[Row], data: str) -> Body:
    asked = set(re.findall(r"\w{4,}", data.partition("\n")[0].casefold()))
    points = []
    for row in rows[:6]:
        said = re.findall(r"\w+", row[1][-1].casefold())
        score = min(100, 20 * len(asked & set(said)) + len(said) % 40 + 1)
        points.append({"text": f"{words(row[1][-1], 25)} {cite([row])}.", "score": score})
    return {"points": points}


def _answer(rows: list[Row], data: str) -> Body:
    return {"answer": " ".join(f"{words(r[1][-1], 15)} {cite([r])}." for r in rows[:8]) or "I do not know."}


def _summary(rows: list[Row], data: str) -> Body:
    return {"summary": " ".join(words(line.lstrip("- "), 12) for line in data.split("\n") if line.startswith("- "))}


def _lead(rows: list[Row], data: str) -> Body:
    """A partial answer; what the tables name and the question does not is asked about."""
    named = list(dict.fromkeys(_NAME.findall(" ".join(" ".join(r[1][1:]) for r in rows))))
    new = [n for n in named if n not in data.partition("\n")[0] and n not in _COMMON][:5]
    score = max((p["score"] for p in _points(rows, data)["points"]), default=0)
    return _answer(rows[:3], data) | {"score": score, "follow_ups": [f"What about {n}?" for n in new]}


def _refinement(rows: list[Row], data: str) -> Body:
    question = data.partition("\n")[0].removeprefix("Question: ")
    asked = [w for w in re.findall(r"\w+", question) if len(w) > 3]
    parts = [f"What is said of {w}?" for w in asked[:3]]
    imagined = f"A report about {' and '.join(asked)}. {words(data.partition('Example report:')[2], 30)}"
    return {"expanded_question": f"{question} In full.", "sub_questions": parts, "hypothetical_answer": imagined}


def _same(rows: list[Row], data: str) -> Body:
    """Names are one thing where all words of one, read as letters where it is short, begin those of the other."""
    groups = [
        [int(a[0]), int(b[0])]
        for (_, a), (_, b) in itertools.combinations(rows, 2)
        if set(a[1].casefold().split()) <= set(b[1].casefold().split())
        or set(b[1].casefold().split()) <= set(a[1].casefold().split())
    ]
    return {"reason": "One name holds the other.", "groups": groups}


def _grade(rows: list[Row], data: str) -> Body:
    return {"reason": "They share words.", "rating": min(5, len(_common(data)))}


def _common(data: str) -> set[str]:
    """The longer words that a question shares with the text below it."""
    question, _, text = data.partition("\n")
    return set(re.findall(r"\w{4,}", question.casefold())) & set(re.findall(r"\w{4,}", text.casefold()))


_MADE = {
    **ABOUT_GROUPS,
    **ABOUT_ANSWERS,
    "report": _report,
    "points": _points,
    "answer": _answer,
    "summary": _summary,
    "lead": _lead,
    "refinement": _refinement,
    "grade": _grade,
    "same": _same,
}


def embeddings(body: Body, dim: int, usage: bool) -> bytes:
    """Hashed bags of words, so that texts with common words are near."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    data = [{"object": "embedding", "index": i, "embedding": vector(t, dim)} for i, t in enumerate(texts)]
    count = sum(max(1, len(t) // 4) for t in texts)
    counts = {"usage": {"prompt_tokens": count, "total_tokens": count}} if usage else {}
    return _encode({"object": "list", "model": body["model"], "data": data, **counts})


def vector(text: str, dim: int) -> list[float]:
    """The vector of a text: signed counts of hashed words."""
    values = [0.0] * dim
    for word in re.findall(r"\w+", text.casefold()):
        digest = hashlib.blake2b(word.encode(), digest_size=4).digest()
        values[int.from_bytes(digest[:3], "big") % dim] += 1.0 if digest[3] & 1 else -1.0
    if not any(values):
        values[len(text) % dim] = 1.0
    return values


def rerank(body: Body, usage: bool) -> bytes:
    """Scores by the share of a document's words that the query has, best first, as rerankers reply."""
    scores = [fit(body["query"], text) for text in body["documents"]]
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    results = [{"index": i, "relevance_score": scores[i]} for i in order]
    count = sum(max(1, (len(body["query"]) + len(t)) // 4) for t in body["documents"])
    return _encode({"results": results, **({"usage": {"total_tokens": count}} if usage else {})})


def fit(query: str, text: str) -> float:
    """The share of the words of `text` that `query` has."""
    said = re.findall(r"\w+", text.casefold())
    return sum(w in re.findall(r"\w+", query.casefold()) for w in said) / max(1, len(said))
