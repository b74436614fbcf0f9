"""A build whose chat requests are answered in batches: the same index, nothing paid twice, whatever goes wrong."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from scripted import Script, ScriptedServer
from scripted_batches import BatchServer
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.workspace import Built
from sensegraph.errors import BatchPending, BudgetExceeded, EndpointDown, SettingsError
from sensegraph.models.batches.batch_box import BatchBox, BatchPlan
from sensegraph.models.batches.reply_files import StoredReply
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.types import Usage
from wired import content, settings, stories

FAST = {"batch": True, "batch_least": 2, "batch_poll_s": 0.001, "backoff_s": 0.01}


Plain = tuple[Built, Any, int]


def build(folder: Path, server: ScriptedServer, **endpoint: Any) -> tuple[Built, Any]:
    """What a build of six stories did, and what it left in the store."""
    given = settings(
        server, endpoint={**FAST, "price_prompt": 1.0, "price_completion": 2.0, **endpoint}, model={"max_gleanings": 1}
    )
    with Corpus.open(folder, settings=given) as corpus:
        corpus.add(*stories())
        built = corpus.build()
        return built, content(corpus)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Plain:
    """The same build without batches, and its calls."""
    with ScriptedServer(Script()) as server:
        built, stored = build(tmp_path_factory.mktemp("plain"), server, batch=False)
        return built, stored, len([c for c in server.done() if c.task != "embedding"])


def live(server: ScriptedServer) -> int:
    return len([c for c in server.calls if c.task != "embedding"])


def test_a_build_in_batches_is_the_same_for_half_the_price(tmp_path: Path, plain: Plain) -> None:
    with BatchServer() as server:
        built, stored = build(tmp_path, server)
    assert stored == plain[1]
    assert built.counts == plain[0].counts
    assert live(server) == 1  # the first, which shows what the endpoint takes
    assert sum(server.asked.values()) == len(server.asked) == plain[2] - 1 > 10
    assert len(server.batches) >= 2  # what stands on replies comes in a later round
    assert built.usage.calls == plain[0].usage.calls
    assert built.usage.prompt_tokens == plain[0].usage.prompt_tokens
    first = built.usage.cost_usd - plain[0].usage.cost_usd / 2
    assert 0 < first < plain[0].usage.cost_usd / plain[2]
    assert not (tmp_path / ".sensegraph" / "batches").exists()


@pytest.mark.parametrize("stop", ["uploaded", "created", "polled", "downloaded"])
def test_a_run_that_is_killed_goes_on_and_pays_for_nothing_twice(
    tmp_path: Path, plain: Plain, stop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sensegraph.models.batches.batch_box import BatchBox
    from sensegraph.models.batches.batch_client import BatchClient

    def kill_after(kind: type, name: str) -> None:
        whole = getattr(kind, name)

        def killed(*given: Any, **named: Any) -> Any:
            whole(*given, **named)
            monkeypatch.undo()
            raise KeyboardInterrupt

        monkeypatch.setattr(kind, name, killed)

    where = {"uploaded": "upload", "created": "create", "polled": "read"}
    with BatchServer() as server:
        if stop == "downloaded":
            kill_after(BatchBox, "_take")
        else:
            kill_after(BatchClient, where[stop])
        with pytest.raises(KeyboardInterrupt):
            build(tmp_path, server)
        assert (tmp_path / ".sensegraph" / "batches" / "batches.json").exists()
        built, stored = build(tmp_path, server, batch=False)  # goes on without being told
    assert stored == plain[1]
    assert max(server.ordered().values()) == 1
    assert sum(server.ordered().values()) == plain[2] - 1
    assert live(server) == 1
    assert built.counts == plain[0].counts


def test_a_batch_whose_creation_got_no_reply_is_found_and_not_made_again(tmp_path: Path, plain: Plain) -> None:
    with BatchServer(lost=1) as server:
        _, stored = build(tmp_path, server)
    assert stored == plain[1]
    assert "GET /v1/batches?limit=100" in server.requests
    assert max(server.ordered().values()) == 1


@pytest.mark.parametrize("told", ["expired", (500, {"message": "overloaded"}), (429, {"message": "slow down"})])
def test_what_a_batch_leaves_without_a_reply_is_asked_again(tmp_path: Path, plain: Plain, told: Any) -> None:
    def answer(body: dict[str, Any], time: int) -> Any:
        return told if time == 1 and len(json.dumps(body)) % 2 else None

    with BatchServer(told=answer) as server:
        _, stored = build(tmp_path, server)
    assert stored == plain[1]
    assert set(server.asked.values()) == {1, 2}


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_a_batch_that_ends_early_gives_what_it_has(tmp_path: Path, plain: Plain, end: str) -> None:
    with BatchServer(ends=(end,)) as server:
        if end == "cancelled":
            with pytest.raises(BatchPending, match=r"batch-0 was cancelled\. Run again"):
                build(tmp_path, server)
        _, stored = build(tmp_path, server)
    assert stored == plain[1]
    assert max(server.asked.values()) == 1  # those of its half that was answered are not asked again


def test_what_never_gets_a_reply_fails_alone_after_three_batches(tmp_path: Path) -> None:
    worst = stories()[2].text[:60]
    with BatchServer(told=lambda body, time: "expired" if worst in json.dumps(body) else None) as server:
        built, _ = build(tmp_path, server)
    assert {left.document for left in built.left_out} == {"story-02"}, built.left_out
    assert "no reply in 3 batches, last: It could not be done in time." in built.left_out[0].why
    assert max(server.asked.values()) == 3


def test_a_refusal_in_a_batch_is_treated_as_one_without(tmp_path: Path) -> None:
    worst = stories()[2].text[:60]
    error = {"message": "The response was filtered", "code": "content_filter"}

    def refuse(body: dict[str, Any], time: int) -> Any:
        text = json.dumps(body)
        if worst in text and "response_format" in body:
            return 400, error
        return (400, {"message": "Unsupported parameter: 'seed'", "param": "seed"}) if "seed" in body else None

    with BatchServer(told=refuse) as server:
        built, _ = build(tmp_path, server, seed=7)
    assert {left.document for left in built.left_out} == {"story-02"}, built.left_out
    assert "filtered" in built.left_out[0].why
    assert max(server.asked.values()) == 1
    assert built.counts["entities"] > 5


def test_a_batch_that_is_too_large_for_the_account_is_divided(tmp_path: Path, plain: Plain) -> None:
    with BatchServer(most=4) as server:
        _, stored = build(tmp_path, server)
    assert stored == plain[1]
    assert max(server.asked.values()) == 1


def test_a_batch_that_fails_and_an_endpoint_without_batches_say_what_to_do(tmp_path: Path) -> None:
    with BatchServer(ends=("failed",)) as server, pytest.raises(EndpointDown, match=r"batch-0 failed: No such model\."):
        build(tmp_path / "failed", server)
    with ScriptedServer() as server, pytest.raises(EndpointDown, match=r"does not take batches .*without --batch"):
        build(tmp_path / "none", server)
    with Corpus.open(tmp_path / "offline", settings={"engine": "offline", "endpoint": {"batch": True}}) as corpus:
        corpus.add(*stories(1))
        with pytest.raises(SettingsError, match=r"set endpoint\.model"):
            corpus.build()


def test_a_run_waits_no_longer_than_it_is_told_and_the_next_goes_on(tmp_path: Path, plain: Plain) -> None:
    with BatchServer(polls=10**6) as server:
        with pytest.raises(BatchPending, match=r"batch-0 is not done yet \(0 of \d+ requests\)\. Run again"):
            build(tmp_path, server, batch_wait_s=0.01)
        for one in server.batches.values():
            one["left"] = 0
        server.polls = 0
        _, stored = build(tmp_path, server)
    assert stored == plain[1]
    assert max(server.asked.values()) == 1


def test_few_requests_are_asked_at_once(tmp_path: Path, plain: Plain) -> None:
    with BatchServer() as server:
        _, stored = build(tmp_path, server, batch_least=10**6)
    assert stored == plain[1]
    assert server.requests == []
    assert live(server) == plain[2]  # none twice, though rounds are run again


@pytest.mark.parametrize(
    ("limits", "fit"),
    [
        ({}, 3), ({"max_tokens_total": 350}, 3), ({"max_tokens_total": 349}, 2), ({"max_tokens_total": 150}, 1),
        ({"max_cost_usd": 0.00031, "price_completion": 2.0}, 3), ({"max_cost_usd": 0.00029, "price_prompt": 2.0}, 2),
        ({"max_cost_usd": 9.0, "max_tokens_total": 250, "price_prompt": 2.0}, 2), ({"max_tokens_total": 149}, 0),
    ],
)  # fmt: skip
def test_as_many_requests_are_sent_as_fit_either_limit_of_the_run(limits: dict[str, Any], fit: int) -> None:
    spent = Usage(prompt_tokens=20, completion_tokens=20, embedding_tokens=10)
    endpoint = SimpleNamespace(settings=EndpointSettings(**limits), usage=lambda: spent)
    box: Any = SimpleNamespace(_endpoint=endpoint, _open=dict.fromkeys("abc", 100), share=0.5)
    if fit:
        assert BatchBox._affordable(box) == fit
    else:
        with pytest.raises(BudgetExceeded, match="no room for a batch"):
            BatchBox._affordable(box)


def test_a_batch_holds_no_more_than_the_limit_of_the_run_allows(tmp_path: Path) -> None:
    with BatchServer() as server:
        with pytest.raises(BudgetExceeded, match=r"no room for a batch|limit of"):
            build(tmp_path, server, max_tokens_total=9000)
        assert len(server.asked) < 5
        with pytest.raises(BudgetExceeded):
            build(tmp_path, server, max_tokens_total=9000)
        assert max(server.asked.values(), default=0) <= 1


def test_requests_and_replies_may_travel_in_files(tmp_path: Path, plain: Plain) -> None:
    def run(*words: str) -> Any:
        return CliRunner().invoke(app, ["index", *words, "--root", str(root), *flags])

    root, wanted, answered = tmp_path / "c", tmp_path / "wanted.jsonl", tmp_path / "answered.jsonl"
    texts = tmp_path / "texts"
    texts.mkdir()
    for document in stories():
        (texts / f"{document.id}.txt").write_text(document.text)
    with BatchServer() as server:
        given = ("endpoint.model=scripted", f'endpoint.base_url="{server.base_url}"', "endpoint.embedding_model=hashed")
        given = (*given, "index.chunk_tokens=120", "index.chunk_overlap=20", "model.max_gleanings=0")
        flags = [w for pair in given for w in ("--set", pair)]
        rounds = 0
        done = run(str(texts), "--write-requests", str(wanted))
        while "stand in" in done.output:
            assert done.exit_code == 0
            assert live(server) == 0
            lines = [json.loads(line) for line in wanted.read_bytes().splitlines()]
            assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
            good, bad = server._answered(lines)
            assert not bad
            answered.write_text("".join(json.dumps(line) + "\n" for line in good))
            done = run("--read-replies", str(answered), "--write-requests", str(wanted))
            rounds += 1
            assert rounds < 20
        assert done.exit_code == 0, done.output
        assert rounds >= 2
        assert max(server.asked.values()) == 1
        assert run("--read-replies", str(tmp_path / "none")).exit_code == 1
    with Corpus.open(root) as corpus:
        assert corpus.status().counts["entities"] > 5


def test_a_reply_is_new_once(tmp_path: Path) -> None:
    """So that what was paid for is counted once."""
    table = EndpointSettings(base_url="http://127.0.0.1:9/v1", model="scripted")

    def open_box() -> BatchBox:
        return BatchBox(tmp_path, Endpoint(table), BatchPlan(), lambda *_: None)

    box, reply = open_box(), StoredReply("a" * 40, 200, msgspec.Raw(b"{}"))
    assert list(box._replies.keep([reply])) == []
    assert box.recall("b" * 40) is None
    assert [box.recall(reply.key) for _ in range(3)] == [(reply, True), (reply, False), (reply, False)]
