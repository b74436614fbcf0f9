"""Rules of endpoints and of vectors, given values that stand in a line of JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sensegraph.errors import SensegraphError
from sensegraph.models import embedders
from sensegraph.models.endpoint import bodies, flow, limits, pages, profile, readings, remedies
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.outcomes import Kind, Outcome
from sensegraph.models.folders import folder_embedder
from sensegraph.types import Usage


class _Clock:
    """A clock that stands until it is moved."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def _try(ask: Callable[[], Any]) -> Any:
    """What is found, or what is said where it is refused."""
    try:
        return ask()
    except bodies.Unusable as e:
        return ["no reply", _outcome(e.outcome)]
    except (SensegraphError, ValueError) as e:
        return str(e)


def _outcome(found: Outcome | None) -> Any:
    told = _changes(found, Outcome(Kind.DOWN, ""))
    return found and [found.kind, found.words, *(f"{n}: {v}" for n, v in told.items() if n not in ("kind", "words"))]


def _changes(found: Any, usual: Any) -> Any:
    """The fields of a value that are not the usual ones."""
    return found and {
        n: getattr(found, n) for n in found.__dataclass_fields__ if getattr(found, n) != getattr(usual, n)
    }


def keep_pace(requests: int, tokens: int, *steps: tuple[str, float]) -> list[Any]:
    """When calls may begin: "ask" for so many tokens, "take" what the last one took, "move" the clock on."""
    clock = _Clock()
    pace = limits.Pace(requests, tokens, clock)
    told: list[Any] = []
    place = limits.Admission(0.0, 0)
    for step, number in steps:
        if step == "ask":
            place = pace.admit(int(number))
            told.append([place.start, place.tokens, pace.wait(place), pace.missed(place)])
        elif step == "take":
            pace.settle(place, int(number))
        else:
            clock.now += number
    return told


def keep_gate(most: int, *steps: tuple[str, float]) -> list[Any]:
    """How many calls may be under way: "enter", "good" and "bad" ends, "brake", "hold", "narrow", "move" the clock."""
    clock = _Clock()
    gate = flow.Gate(most, clock)
    told: list[Any] = []
    for step, number in steps:
        match step:
            case "enter":
                gate.enter()
            case "good" | "bad":
                for _ in range(int(number)):
                    gate.enter()
                    gate.leave(good=step == "good")
            case "leave":
                gate.leave(good=bool(number))
            case "brake":
                told.append(gate.brake(clock.now - number, 2.0))
            case "hold":
                gate.hold(number)
            case "narrow":
                gate.narrow(int(number))
            case _:
                clock.now += number
        told.append([step, gate.width, gate.most, gate.left(), gate._open()])
    return told


def keep_budget(tokens: int, usd: float, *steps: tuple[str, int, float]) -> list[Any]:
    """Whether calls fit into a budget: "hold" so much at most, and "pay" so much for the last that was held."""
    budget = limits.Budget(tokens, usd)
    told: list[Any] = []
    held: list[limits.Amount] = []
    for step, number, cost in steps:
        if step == "hold":
            told.append(_try(lambda number=number, cost=cost: held.append(budget.reserve(limits.Amount(number, cost)))))
        else:
            budget.settle(held.pop(), limits.Amount(number, cost))
    return told


def price(prices: dict[str, float], used: dict[str, Any], count: int) -> list[float]:
    """What calls cost by the prices of settings: chat, vectors, and ranks."""
    table = EndpointSettings(**{f"price_{name}": value for name, value in prices.items()})
    read = [limits.price_reading(table, embeds, count) for embeds in (True, False)]
    return [limits.price_usage(table, Usage(**used)).cost_usd, *(one.cost_usd for one in read), read[1].prompt_tokens]


def check(settings: dict[str, Any], priced: bool = True) -> Any:
    """What is said of the limits of settings."""
    table = EndpointSettings(**settings)
    return [
        _try(lambda: limits.check_limits(table, priced=priced)),
        _try(lambda: limits.check_copied(table, None, "It")),
    ]


def read_reply(reply: dict[str, Any]) -> list[Any]:
    """All that is read of a chat reply."""
    return [
        bodies.read_content(reply), bodies.read_misplaced(reply), bodies.find_thoughts(reply),
        bodies.read_finish(reply), bodies.name_refusal(reply), _outcome(bodies.classify_reply(reply)),
        bodies.is_usable(reply), bodies.read_usage(reply, "prompt_tokens"), bodies.gives_impossible_usage(reply),
    ]  # fmt: skip


def decode_reply(text: str, most: int = 1000) -> Any:
    """The reply in a text of at most so many values, or why it is none."""
    return _try(lambda: bodies.decode_reply(text.encode(), {"model": "m", "seed": 1}, most))


def assemble(lines: Sequence[Any], formed: bool = False) -> Any:
    """The reply whose pieces come in these lines, and the pieces that were heard; objects stand for events."""
    heard: list[str] = []
    sent: Any = [(line if isinstance(line, str) else f"data: {json.dumps(line)}").encode() for line in lines]
    return [_try(lambda: bodies.assemble_events(sent, heard.append, {"stream": True}, formed)), heard]


def offer(row: dict[str, Any], known: dict[str, Any]) -> Any:
    """What is known of a model once a server has told more."""
    usual = profile.Profile()
    return _changes(pages.Offer(**row).add_to(replace(usual, **known)), usual)


def find_number(rows: Sequence[dict[str, Any]], *names: str) -> int:
    """The first number under one of these names."""
    return pages._find_number(list(rows), names)


def find_model(ids: Sequence[Any], model: str) -> Any:
    """Which of some rows is that of a model."""
    return pages._find_model([{"id": one} for one in ids], model)


def split(known: dict[str, Any], most: int, *texts: Any) -> list[int]:
    """How many texts each call holds; a number stands for a text of so many words."""
    made = [text if isinstance(text, str) else " ".join(["word"] * text) for text in texts]
    return [len(batch) for batch in readings.split_batches(made, replace(profile.Profile(), **known), most)]


def learn(known: dict[str, Any], outcome: dict[str, Any], *texts: int) -> Any:
    """What is learned of the size of texts of so many words, and of how to rank, from a refusal."""
    usual = profile.Profile()
    rest = {name: value for name, value in outcome.items() if name not in ("kind", "words")}
    found = Outcome(Kind[outcome["kind"]], outcome.get("words", ""), **rest)
    made, before = [" ".join(["word"] * n) for n in texts], replace(usual, **known)
    sent = {"top_n": 1, "model": "m"}
    return [_changes(readings.learn_size(before, found, made), usual),
            _changes(readings.learn_ranking(before, found, sent), usual)]  # fmt: skip


def read_rows(reply: dict[str, Any], *texts: str) -> Any:
    """The vectors of a reply to these texts, and the relevances that it gives so many documents."""
    return [
        _try(lambda: readings.read_vectors(reply, texts)), _try(lambda: readings.read_relevances(reply, len(texts)))
    ]  # fmt: skip


def mend(
    kind: str, outcome: dict[str, Any], known: dict[str, Any], more: dict[str, Any], sent: dict[str, Any],
    words: int = 10, most: int = 100,
) -> Any:  # fmt: skip
    """What is tried next after an outcome, as far as it differs, with the room and the body of the request."""
    usual = profile.Profile()
    request = profile.ChatRequest(
        [{"role": "system", "content": "Do it."}, {"role": "user", "content": " ".join(["word"] * words)}], most,
        {"type": "object"}, "probe",
    )  # fmt: skip
    before = remedies.Attempt(request, replace(usual, **known), EndpointSettings(model="m"), **more)
    found = Outcome(Kind[kind], "refused", **outcome)
    after = remedies.find_remedy(before, found, sent)
    if after is None:
        return [before.room, before.fits, None]
    again = [_changes(after.known, before.known), after.guessed, after.freely, after.varied, after.again, after.grown]
    return [before.room, before.fits, again, after.room, after.fits, after.write_body()]


def join(one: dict[str, Any], other: dict[str, Any]) -> Any:
    """What two have shown of an endpoint, and what is lost against the first."""
    usual = profile.Profile()
    before, later = (replace(usual, **{k: tuple(v) if isinstance(v, list) else v for k, v in x.items()})
                     for x in (one, other))  # fmt: skip
    joined = remedies.join_profiles(before, later)
    return [_changes(joined, usual), remedies.list_losses(before, joined)]


def doubt(known: dict[str, Any], counted: int, own: int, *words: int) -> Any:
    """Whether a count is doubted for messages of so many words, and what is known after it."""
    usual = profile.Profile()
    before = replace(usual, **known)
    messages = [{"role": "user", "content": " ".join(["word"] * n)} for n in words]
    request = profile.ChatRequest(messages, 9, images=[profile.ShownImage("x", 7)])
    return [before.doubts(counted, messages), _changes(before.compared(counted, own), usual), before.count(request)]


def embed(dim: int, *texts: str) -> Any:
    """Where the vectors of texts are not 0, and how near they are to the first."""
    rows = embedders.HashedTerms(dim=dim).embed(texts, "document")
    made = np.asarray(rows, np.float64)
    return [[np.flatnonzero(row).tolist() for row in made], np.round(made @ made[0], 4).tolist()]


def pool(rows: Sequence[Sequence[float]], mode: str) -> Any:
    """One vector for the vectors of tokens."""
    return np.round(folder_embedder.pool_tokens(np.array([rows], np.float32), mode), 4).tolist()
