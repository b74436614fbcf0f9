"""What a question will cost by a method, foreseen from the method's own settings and the size of what it reads.

Nothing is retrieved: a question that is answered at once fills its context, and one that is answered from reports reads
those of a depth in windows. A method that asks on says how many calls that usually takes (`usual_calls`); of one that
does not, what comes of it is the least.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass

from sensegraph.language.text import count_tokens, pack_batches
from sensegraph.protocols import Method, PricedEngine, Task
from sensegraph.types import Cluster, Context, Inquiry, Passage, Usage

_QUESTION = "What are the main themes of this corpus, and how do they hang together?"
# tokens of a reply, where too few were paid for to know
_REPLIES: Mapping[Task, int] = {
    "answer": 400, "rate": 300, "ask": 400, "refine": 150, "test": 1, "filter": 12, "keywords": 50, "concepts": 40,
}  # fmt: skip
_ENOUGH = 20  # calls whose mean says more than a guess


@dataclass(frozen=True, slots=True)
class QuestionEstimate:
    """What one question would take by `method`: calls, tokens, US dollars (0 where no price is set).

    `usual` marks the method that is taken where none is named; `at_least` says that it asks more than can be foreseen.
    """

    method: str
    usual: bool
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float = 0.0
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Readable:
    """What questions read: tokens of all chunks, of the graph and its reports, the reports, and how many chunks."""

    chunk_tokens: int
    graph_tokens: int = 0
    reports: tuple[Cluster, ...] = ()
    chunks: int = 0


def foresee_questions(
    methods: Sequence[Method], readable: Readable, engine: PricedEngine, paid: Mapping[str, Usage]
) -> tuple[QuestionEstimate, ...]:
    """A row for each method with its settings, the usual one first; none where there is nothing to read.

    `paid` is what earlier calls took, by step.
    """
    return tuple(
        foresee_question(m, i == 0, readable, engine, paid) for i, m in enumerate(methods) if readable.chunk_tokens
    )


def foresee_question(
    method: Method, usual: bool, readable: Readable, engine: PricedEngine, paid: Mapping[str, Usage]
) -> QuestionEstimate:
    """What a question would take by this method."""
    room = read_room(method)
    known = read_usual_calls(method, readable)
    contexts: dict[Task, list[int]] = {"rate": [], "answer": []}  # the tokens that each prompt has to read
    if "rate" in method.requires - known.keys():
        contexts["rate"] = [sum(batch) for batch in pack_batches(list_mapped_sizes(method, readable), room, int)]
        contexts["answer"] = [min(room, len(contexts["rate"]) * _count_reply("rate", paid))]
    else:
        graph = readable.graph_tokens if "graph" in method.reads else 0
        contexts["answer"] = [min(room, readable.chunk_tokens + graph)]
    calls = sum(map(len, contexts.values()))
    prompt = sum(sum(sizes) + len(sizes) * _count_frame(task, engine) for task, sizes in contexts.items() if sizes)
    completion = sum(len(sizes) * _count_reply(task, paid) for task, sizes in contexts.items())
    besides = foresee_calls(method, readable, engine, paid)
    prompt, completion = prompt + besides.prompt_tokens, completion + besides.completion_tokens
    least = bool(method.requires - contexts.keys() - known.keys())
    calls += besides.calls
    return QuestionEstimate(method.name, usual, calls, prompt, completion, engine.price(prompt, completion), least)


def foresee_calls(method: Method, readable: Readable, engine: PricedEngine, paid: Mapping[str, Usage]) -> Usage:
    """What a question takes besides the last call, as far as the method says so."""
    found = Usage()
    for task, (count, tokens) in read_usual_calls(method, readable).items():
        prompt = count * (min(tokens, readable.chunk_tokens) + _count_frame(task, engine, reads=tokens > 0))
        completion = count * _count_reply(task, paid)
        found += Usage(count, prompt, completion, cost_usd=engine.price(prompt, completion))
    return found


def read_usual_calls(method: Method, readable: Readable) -> Mapping[Task, tuple[int, int]]:
    """The calls besides the last that a question usually takes, by task, and what each has to read (`usual_calls`)."""
    asked = getattr(method, "usual_calls", None)
    return asked(readable.chunks) if asked else {}


def read_room(method: Method) -> int:
    """The tokens that a method puts into one prompt: its `context_tokens`, else all its settings of tokens together."""
    if found := getattr(method, "context_tokens", 0):
        return int(found)
    named = [f.name for f in fields(method) if f.name.endswith("_tokens")] if is_dataclass(method) else list[str]()
    return sum(int(getattr(method, name) or 0) for name in named)


def read_bound(method: Method) -> int:
    """The most tokens of reports that a question reads, by the method's `report_tokens`; 0 for no bound.

    Where that setting is None, it is a window for each depth down to that of the question.
    """
    bound = getattr(method, "report_tokens", 0)
    return (int(getattr(method, "depth", 0)) + 1) * read_room(method) if bound is None else int(bound)


def list_mapped_sizes(method: Method, readable: Readable) -> list[int]:
    """The tokens of each thing that a map step reads: the reports of a depth within the bound, else all chunks."""
    room = read_room(method)
    if "reports" not in method.reads:
        return [min(room, readable.chunk_tokens - at) for at in range(0, readable.chunk_tokens, room)]
    depth, bound = int(getattr(method, "depth", 0)), read_bound(method)
    read = [c for c in readable.reports if c.depth == depth or (c.level == 0 and c.depth < depth)]
    sizes = [min(room, c.tokens + count_tokens(c.title)) for c in read]
    if bound and sum(sizes) > bound:
        mean = max(1, sum(sizes) // len(sizes))
        sizes = [mean] * max(1, bound // mean)
    return sizes


def _count_frame(task: Task, engine: PricedEngine, *, reads: bool = True) -> int:
    """Tokens of a prompt of `task` besides what it `reads`, if anything: instructions, form and question."""
    return engine.prompt_tokens(task, Inquiry(_QUESTION, Context((Passage("report", "", "-"),) if reads else ())))


def _count_reply(task: Task, paid: Mapping[str, Usage]) -> int:
    """Tokens of a reply: the mean of those that were paid for, where there were enough."""
    spent = paid.get(f"language.{task}", Usage())
    return round(spent.completion_tokens / spent.calls) if spent.calls >= _ENOUGH else _REPLIES[task]
