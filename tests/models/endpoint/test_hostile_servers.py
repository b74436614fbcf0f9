"""An adversarial server: whatever it answers, nothing false is stored, no memory fills, and errors say what to do."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from faults_of_servers import (
    ENDPOINT,
    FAULTS,
    MOST_MB,
    ON_THE_WIRE,
    Calm,
    Ended,
    Row,
    build_apart,
    build_calmly,
    build_here,
    meet_fault,
)
from scripted import Script, ScriptedServer
from scripted_harms import SLOW, USAGE
from sensegraph.errors import EndpointDown, EndpointError
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings

COUNT = 4  # documents
TELLS_MEMORY = Path("/proc/self/status").exists()
IN_MEMORY = [*(name for name in ON_THE_WIRE if name not in SLOW), "vectors without end"]
HERE = [name for name in FAULTS if name not in IN_MEMORY or not TELLS_MEMORY]
LINES = 20_000  # of a stream, in place of half a million


@pytest.fixture(autouse=True)
def short_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sensegraph.models.endpoint.incoming.EVENTS", LINES)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Calm:
    """The index as it is when nothing goes wrong."""
    return build_calmly(tmp_path_factory.mktemp("calm"), COUNT)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in HERE])
def test_a_fault_stores_nothing_false_and_a_calm_run_completes(tmp_path: Path, calm: Calm, name: str) -> None:
    assert meet_fault(name, tmp_path, calm, COUNT, 0.3, build_here).list_wrongs() == []


@pytest.mark.slow
@pytest.mark.skipif(not TELLS_MEMORY, reason="the system tells no process's memory")
@pytest.mark.parametrize("name", IN_MEMORY)
def test_the_client_takes_little_memory(tmp_path: Path, calm: Calm, name: str) -> None:
    row = meet_fault(name, tmp_path, calm, COUNT, 0.3, build_apart)
    assert row.list_wrongs() == []
    assert 20 < (row.first.mb or 0) <= MOST_MB


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({}, ""),
        ({"met": 0}, "never met"),
        ({"first": Ended("crash", "Traceback", 0.0)}, "crashed"),
        ({"first": Ended("error", "oh", 0.0)}, "says nothing"),
        ({"same": False}, "has another index"),
        ({"same": False, "first": Ended("2 left out", "", 0.0)}, ""),
        ({"false": 1}, "false is stored"),
        ({"mended": False}, "does not complete"),
        ({"first": Ended("whole", "", 0.0, 301.0)}, "more than 300 MB"),
    ],
)
def test_a_row_names_what_may_not_be(changes: dict[str, Any], wrong: str) -> None:
    good = {"fault": "f", "met": 1, "first": Ended("whole", "", 0.0, 99.0), "same": True, "false": 0}
    found = Row(**(good | {"asked": 0, "mended": True} | changes)).list_wrongs()
    assert len(found) == bool(wrong)
    assert wrong in "".join(found)


@pytest.mark.slow
def test_the_table_of_faults_is_printed_by_one_command() -> None:
    program = Path(__file__).parents[3] / "bench" / "faults.py"
    given = ["--documents", "2", "--only", "cut off"]
    done = subprocess.run([sys.executable, str(program), *given], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    head, *rows, last = done.stdout.splitlines()
    assert head.split("  ")[0] == "fault"
    assert [row.split("  ")[0] for row in rows] == [name for name in FAULTS if "cut off" in name]
    assert re.match(r"3 faults: \d builds have the index of a calm one, .* 0 false results are stored; at most", last)


def ask(server: ScriptedServer, **settings: Any) -> Any:
    given = {"max_retries": 1, "backoff_s": 0.001, "timeout_s": 60.0} | settings
    end = Endpoint(EndpointSettings(base_url=server.base_url, model="m", **given))
    return end.chat([{"role": "user", "content": "- one"}], max_tokens=100), end


SAYS = {
    "gzip bomb": "an event of more than 4 MB",
    "deflate bomb": "an event of more than 4 MB",
    "packed without end, holding nothing": "a packed reply without end",
    "packed as nobody asked": "the reply is packed as 'br', which was not asked for",
    "endless body": "an event of more than 4 MB",
    "endless stream": "ran on past 1,000,000 characters",
    "endless thoughts": "ran on past 1,000,000 characters",
    "events without end": f"a stream of more than 128 MB or {LINES:,} lines",
    "comments without end": f"a stream of more than 128 MB or {LINES:,} lines",
    "one line without end": "an event of more than 4 MB",
    "headers of 1 MB": "headers of more than 128 KB",
    "one header without end": "headers of more than 64 KB in one line",
    "100 Continue without end": "headers of more than 128 KB",
    "lists in lists": "a reply of more than 200,000 values",
    "a million lists": "a reply of more than 200,000 values",
    "slow drip": "no reply within 0.5 s",
    "redirect to another host": "sends to http://elsewhere.example/v1",
}


@pytest.mark.parametrize("harm", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in ON_THE_WIRE])
def test_the_error_names_the_endpoint_and_the_limit(server: ScriptedServer, harm: str) -> None:
    server.script = Script(harm=harm, harm_rate=1.0)
    with pytest.raises(EndpointError) as caught:
        ask(server, max_retries=0, **({"timeout_s": 0.5} if harm == "slow drip" else {}))
    assert SAYS[harm] in str(caught.value)
    assert server.base_url in str(caught.value) or "nothing that can be used" in str(caught.value)
    assert "password" not in str(caught.value)


def test_a_server_that_goes_silent_within_a_reply_is_given_up_after_silence_s(server: ScriptedServer) -> None:
    server.script = Script(harm="slow drip", harm_rate=1.0)
    with pytest.raises(EndpointError, match=r"nothing more for 0\.05 s"):
        ask(server, max_retries=0, silence_s=0.05)


def test_a_server_that_only_ever_sends_too_much_ends_the_run_and_is_asked_twice(server: ScriptedServer) -> None:
    server.script = Script(harm="headers of 1 MB", harm_rate=1.0)
    with pytest.raises(EndpointDown, match=r"check that endpoint\.base_url is the server that you mean"):
        ask(server, max_retries=6)
    assert len(server.calls) == 2


@pytest.mark.parametrize("streams", ["events", "none"])
@pytest.mark.parametrize("harm", USAGE)
def test_usage_that_cannot_be_is_counted_as_unknown_and_noted(server: ScriptedServer, harm: str, streams: str) -> None:
    server.script = Script(harm=harm, harm_rate=1.0, streams=streams)
    reply, end = ask(server)
    assert 0 < reply.prompt_tokens < 100
    assert end.usage().prompt_tokens == reply.prompt_tokens
    assert any("usage that cannot be" in note for note in end.notes())


def test_the_limits_of_an_attempt_are_set_where_nothing_is_said() -> None:
    table = EndpointSettings()
    assert 0 < table.silence_s < table.first_byte_s < table.timeout_s
    assert ENDPOINT["timeout_s"] < table.timeout_s
