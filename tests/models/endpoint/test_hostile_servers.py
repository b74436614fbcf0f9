"""An adversarial server: whatever it answers, nothing false is stored, no memory fills, and the error says what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from faults import ENDPOINT, FAULTS, ON_THE_WIRE, script_fault
from scripted import Script, ScriptedServer
from scripted_harms import USAGE
from sensegraph.errors import EndpointDown, EndpointError, SensegraphError
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from wired import content, corpus, stories

MOST_MB = 300


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The index as it is when nothing goes wrong."""
    with ScriptedServer() as server, corpus(tmp_path_factory.mktemp("calm"), server) as made:
        made.add(stories(4))
        made.build()
        return content(made)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_stores_nothing_false_and_a_calm_run_completes(
    tmp_path: Path, server: ScriptedServer, calm: dict[str, Any], name: str
) -> None:
    server.script = script_fault(name, 0.3)
    with corpus(tmp_path, server, endpoint=ENDPOINT) as made:
        made.add(stories(4))
        try:
            built = made.build()
        except SensegraphError as e:
            assert len(str(e)) > 20
        else:
            assert built.left_out or content(made) == calm
        assert sum(server.faults.values()) > 0
        server.script = Script()
        assert not made.build(retry=True).left_out
        assert content(made) == calm


def ask(server: ScriptedServer, **settings: Any) -> Any:
    given = {"max_retries": 1, "backoff_s": 0.001, "timeout_s": 10.0} | settings
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
    "events without end": "a stream of more than 128 MB or 1,000,000 lines",
    "comments without end": "a stream of more than 128 MB or 1,000,000 lines",
    "one line without end": "an event of more than 4 MB",
    "headers of 1 MB": "headers of more than 128 KB",
    "one header without end": "headers of more than 64 KB in one line",
    "100 Continue without end": "headers of more than 128 KB",
    "lists in lists": "a reply of more than 200,000 values",
    "a million lists": "a reply of more than 200,000 values",
    "redirect to another host": "sends to http://elsewhere.example/v1",
}


@pytest.mark.parametrize("harm", ON_THE_WIRE)
def test_the_error_names_the_endpoint_and_the_limit(server: ScriptedServer, harm: str) -> None:
    server.script = Script(harm=harm, harm_rate=1.0)
    with pytest.raises(EndpointError) as caught:
        ask(server, max_retries=0)
    assert SAYS[harm] in str(caught.value)
    assert server.base_url in str(caught.value) or "nothing that can be used" in str(caught.value)
    assert "password" not in str(caught.value)


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


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="memory is told by wait4")
@pytest.mark.parametrize("harm", [h for h in ON_THE_WIRE if h != "redirect to another host"])
def test_the_client_takes_little_memory(tmp_path: Path, server: ScriptedServer, harm: str) -> None:
    server.script = Script(harm=harm, harm_rate=0.5)
    program = [sys.executable, str(Path(__file__).parents[2] / "faults.py"), server.base_url, str(tmp_path)]
    with subprocess.Popen(program, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    assert process.returncode == 0
    assert server.faults["harm"] > 5
    assert used.ru_maxrss / scale < MOST_MB
