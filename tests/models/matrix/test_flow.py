"""Whole builds at the pace of a server: nothing fails, and hardly a request is sent twice (bench/flow.py has times)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripted_vendors import Answer, Asked, Request, VendorServer, refuse
from sensegraph.corpus.corpus import Corpus
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.profile import Memory, Profile
from wired import content, settings, stories

_ONE, _SIXTEEN = threading.Semaphore(1), threading.Semaphore(16)


def one_slot(asked: Asked):
    """15 ms stand for 15 seconds; whoever comes meanwhile waits."""
    with _ONE:
        time.sleep(0.015)
    return asked.calm()


def sixteen_slots(asked: Asked):
    with _SIXTEEN:
        time.sleep(0.05)
    return asked.calm()


def sixty_a_minute(asked: Asked):
    """A bucket of ten requests that gets one more every 20 ms, for a second; a refusal says how long to wait."""
    now = time.monotonic()
    with asked.lock:
        level, last = asked.state.get("bucket", (10.0, now))
        level = min(10.0, level + (now - last) * 50)
        taken = level >= 1
        asked.state["bucket"] = (level - taken, now)
    if taken:
        return Answer(body=asked.calm(), wait=0.03)
    said = f"Rate limit reached. Please try again in {round(20 * (1 - level)) + 1}ms."
    return refuse(429, said, code="rate_limit_exceeded")


@pytest.fixture(scope="module")
def server() -> Iterator[VendorServer]:
    with VendorServer({"calm": Asked.calm, "one": one_slot, "sixteen": sixteen_slots, "sixty": sixty_a_minute}) as made:
        yield made


def build(folder: Path, server: VendorServer, name: str, count: int = 8) -> tuple[object, list[Request]]:
    """What an index holds that was built at this server, and the requests that it took."""
    endpoint = {"concurrency": 16, "max_retries": 6, "backoff_s": 0.01, "timeout_s": 0.0, "embedding_model": "embeds"}
    with Corpus.open(folder, settings=settings(server.url(name), endpoint=endpoint)) as made:
        made.add(stories(count))
        assert not made.build().left_out
        return content(made), server.requests(name)


@pytest.mark.parametrize(("name", "most", "count"), [("one", 1.02, 8), ("sixteen", 1.02, 8), ("sixty", 1.2, 32)])
def test_a_build_sends_hardly_more_than_is_needed_and_nothing_fails(
    server: VendorServer, tmp_path: Path, name: str, most: float, count: int
) -> None:
    calm, needed = build(tmp_path / "calm", server, "calm", count)
    found, sent = build(tmp_path / name, server, name, count)
    assert found == calm
    assert len(needed) > 30
    assert len(sent) <= most * len(needed), [r.status for r in sent]
    assert sum(r.status == 200 for r in sent) == len(needed)
    server.forget("calm")


@pytest.mark.parametrize("pause", [0.0, 0.3])
def test_a_server_that_tells_its_slots_gets_no_more_calls_at_once_however_slow_the_disk_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pause: float
) -> None:
    """What a server told is written down while other calls begin: they keep to it already."""
    pages = {"told": {"/props": {"default_generation_settings": {"n_ctx": 32_000}, "total_slots": 2}}}
    keep = Memory.keep

    def keep_slowly(memory: Memory, table: EndpointSettings, known: Profile) -> None:
        time.sleep(pause)
        keep(memory, table, known)

    def slow(asked: Asked):
        return Answer(body=asked.calm(), wait=0.02)

    monkeypatch.setattr(Memory, "keep", keep_slowly)
    with VendorServer({"told": slow, "silent": slow}, pages) as server:
        most = {}
        for name in ("told", "silent"):
            _, sent = build(tmp_path / name, server, name)
            chats = [r for r in sent if r.path.endswith("/chat/completions")]
            most[name] = max(sum(r.began <= one.began < r.ended for r in chats) for one in chats)
    assert most["told"] == 2
    assert most["silent"] > 2
