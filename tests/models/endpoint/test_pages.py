"""What the pages of an endpoint tell of its model, and in which order they are asked; nobody is asked here."""

from __future__ import annotations

from typing import Any

import pytest

from sensegraph.models.endpoint import pages
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.pages import Offer, read_offer, read_server_pages
from sensegraph.models.endpoint.profile import Profile

HERE = "http://127.0.0.1:1"


class Pages:
    """Pages by their addresses, which note what was fetched with which headers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, status: int = 200, **held: dict[str, Any]) -> None:
        self.status, self.held, self.fetched = status, held, list[tuple[str, dict[str, str]]]()
        monkeypatch.setattr(pages, "_fetch", self.fetch)

    def fetch(self, base: str, headers: Any, path: str) -> tuple[int, dict[str, Any]]:
        self.fetched.append((base + path, dict(headers)))
        name = path.strip("/").replace("/", "_")
        return self.status, self.held.get(name, {})


def ask(base: str = f"{HERE}/v1", model: str = "m") -> Offer:
    return read_offer(EndpointSettings(base_url=base, model=model), {"key": "k"})


def test_the_list_of_models_is_enough_where_it_tells_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"id": "m", "max_model_len": 4096, "max_completion_tokens": 512, "owned_by": "VLLM"}
    shown = Pages(monkeypatch, models={"data": [{"id": "other", "context_length": 9}, row, {"id": 7}, "x"]})
    assert ask() == Offer("vLLM", ("other", "m"), 4096, 512, 0, 200)
    assert shown.fetched == [(f"{HERE}/v1/models", {"key": "k"})]


@pytest.mark.parametrize(
    ("row", "window", "most_out"),
    [
        ({"context_length": 5, "max_model_len": 7}, 7, 0),
        ({"context_length": True, "context_window": 8}, 8, 0),
        ({"context_length": "9", "max_context_length": 3}, 3, 0),
        ({"context_length": 0, "inputTokenLimit": 4, "outputTokenLimit": 2}, 4, 2),
        ({"context_length": 1_000_000_000}, 1_000_000_000, 0),
        ({"context_length": 1_000_000_001}, 0, 0),
        ({"context_length": 1}, 1, 0),
        ({"context_length": -1}, 0, 0),
        ({"context_length": 5, "top_provider": {"context_length": 4, "max_completion_tokens": 6}}, 5, 6),
        ({"top_provider": {"context_length": 4}, "owned_by": None}, 4, 0),
        ({"top_provider": 4}, 0, 0),
    ],
)
def test_a_window_is_the_first_number_that_can_be_one(
    monkeypatch: pytest.MonkeyPatch, row: dict[str, Any], window: int, most_out: int
) -> None:
    Pages(monkeypatch, models={"data": [{"id": "m"} | row]})
    found = ask(f"{HERE}/api")
    assert (found.window, found.most_out) == (window, most_out)


@pytest.mark.parametrize(
    ("name", "found"), [("m", True), ("m:latest", True), ("models/m", True), ("M", False), ("m:small", False)]
)
def test_a_model_is_known_by_its_name_with_the_usual_tag_or_folder(
    monkeypatch: pytest.MonkeyPatch, name: str, found: bool
) -> None:
    Pages(monkeypatch, models={"data": [{"id": name, "context_length": 5}]})
    assert ask(f"{HERE}/api").window == 5 * found
    Pages(monkeypatch, models={"data": [{"id": "m:latest", "context_length": 5}, {"id": "m", "context_length": 6}]})
    assert ask(f"{HERE}/api").window == 6


def test_pages_of_local_servers_are_asked_beside_their_v1_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Pages(monkeypatch)
    assert ask("http://me:word@host:1/x/v1/") == Offer(status=200)
    assert shown.fetched == [
        ("http://me:word@host:1/x/v1//models", {"key": "k"}),
        *((f"http://host:1/x/{page}", {}) for page in ("props", "api/ps", "api/v0/models")),
    ]
    for base, status in ((f"{HERE}/api", 200), (f"{HERE}/v1", 0)):
        shown = Pages(monkeypatch, status=status)
        assert ask(base) == Offer(status=status)
        assert len(shown.fetched) == 1


def test_each_local_server_tells_its_window_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Offer(models=("m",), status=200)
    Pages(monkeypatch, props={"default_generation_settings": {"n_ctx": 64}, "total_slots": 3})
    assert read_server_pages(HERE, "m", before) == Offer("llama.cpp", ("m",), 64, 0, 3, 200)
    Pages(
        monkeypatch, props={"default_generation_settings": {}}, api_ps={"models": [{"name": "m", "context_length": 7}]}
    )
    assert read_server_pages(HERE, "m", before) == Offer("Ollama", ("m",), 7, 0, 0, 200)
    Pages(monkeypatch, api_ps={"models": [{"model": "m:latest", "context_length": 8}, 3]})
    assert read_server_pages(HERE, "m", before).window == 8
    Pages(monkeypatch, api_ps={"models": []}, api_v0_models={"data": [{"id": "m", "loaded_context_length": 9}]})
    assert read_server_pages(HERE, "m", before) == Offer("Ollama", ("m",), 0, 0, 0, 200)
    Pages(monkeypatch, api_v0_models={"data": [{"id": "m", "loaded_context_length": 9}]})
    assert read_server_pages(HERE, "m", before) == Offer("LM Studio", ("m",), 9, 0, 0, 200)
    Pages(monkeypatch, api_v0_models={"data": [{"id": "n", "loaded_context_length": 9}]})
    assert read_server_pages(HERE, "m", before) == before


def test_of_two_windows_the_smaller_one_is_known() -> None:
    known = Profile(window=100, most_out=0, slots=2)
    found = Offer(window=50, most_out=7, slots=0).add_to(known)
    assert (found.window, found.most_out, found.slots) == (50, 7, 2)
    found = Offer(window=150, slots=4).add_to(known)
    assert (found.window, found.most_out, found.slots) == (100, 0, 4)
    assert Offer().add_to(Profile()) == Profile()
