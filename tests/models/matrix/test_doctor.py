"""Row 125: what a command learns of ten endpoints, prints, and remembers; and what is learned for nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from doctor_tables import doctor, listed, read_tables, serve_vendors, show_table
from scripted_dresses import VENDORS, WINDOW
from scripted_vendors import Asked, VendorServer
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.pages import Offer, read_offer
from sensegraph.models.endpoint.profile import Memory
from wired import settings, stories

PINNED = read_tables()
TOLD = {  # what stands in the table of each, beside what all have
    "openai_5": r"thoughts +hidden.*71.*\n +→ cheaper with endpoint.thoughts = \"off\"\n.*temperature refused.*max_co",
    "openai_4o": r"thoughts +none\n.*temperature, seed +taken",
    "gemini": r"json schema +obeyed",
    "mistral": r"thoughts +as parts of the content",
    "vllm_qwen": r"scripted on vLLM, one of 2\n.*thoughts +in the text.*window +12,000 tokens\n",
    "ollama_4k": r"on Ollama.*window +4,096 tokens; longer prompts are cut.*fits extraction +no.*OLLAMA_CONTEXT_LENGTH",
    "llamacpp": r"window +8,192 tokens\n.*calls at once +4; 4 are made.*fits walk +no.*llama-server -c",
    "lmstudio": r"on LM Studio.*window +32,768.*fits local +yes",
    "openrouter": r"window +131,072 tokens\n.*fits graphrag +yes",
    "groq_6k": r"window +131,072 tokens\n",
}


@pytest.fixture(scope="module")
def server() -> Iterator[VendorServer]:
    with serve_vendors() as made:
        yield made


def test_125_ten_endpoints_are_asked_in_few_tokens_and_told_in_a_table(server: VendorServer, tmp_path: Path) -> None:
    assert set(TOLD) == {v.__name__ for v in VENDORS}
    for name, pattern in TOLD.items():
        code, printed = doctor(server, name, tmp_path / name)
        assert code == 0, printed
        assert show_table(name, code, printed) == PINNED[name]
        assert re.search(pattern, printed, re.DOTALL), printed
        assert re.search(r"embedding embeds +32 numbers, 64 at once", printed), printed
        found = re.search(r"\(([\d,]+) tokens used\)", printed)
        assert found, printed
        assert 200 < int(found[1].replace(",", "")) <= 2500
        chats = [r for r in server.requests(name) if r.path.endswith("/chat/completions")]
        sent = sum(len(m["content"]) for r in chats for m in r.body["messages"]) // 4
        assert 50 < sent <= 1000, name
        assert (tmp_path / name / ".sensegraph" / "endpoints.json").is_file()


def test_what_the_doctor_learned_is_remembered(server: VendorServer, tmp_path: Path) -> None:
    doctor(server, "llamacpp", tmp_path)
    table = EndpointSettings(base_url=server.url("llamacpp"), model="scripted", embedding_model="embeds")
    known = Memory(tmp_path / ".sensegraph" / "endpoints.json").recall(table)
    assert (known.window, known.slots, known.schema_enforced) == (8192, 4, True)


def test_a_server_with_more_room_than_before_is_asked_anew(tmp_path: Path) -> None:
    pages = {"grown": listed(max_model_len=4096)}
    with VendorServer({"grown": Asked.calm}, pages) as server:
        told = [doctor(server, "grown", tmp_path)[1]]
        pages["grown"] = listed(max_model_len=65_536)
        told.append(doctor(server, "grown", tmp_path)[1])
    assert re.search(r"window +4,096 tokens", told[0]), told[0]
    assert re.search(r"window +65,536 tokens", told[1]), told[1]


def test_an_endpoint_that_refuses_the_key_ends_in_1_with_what_to_do(server: VendorServer, tmp_path: Path) -> None:
    assert show_table("broken", *doctor(server, "broken", tmp_path / "embeds")) == PINNED["broken"]
    code, printed = doctor(server, "broken", tmp_path, embedding_model="")
    assert code == 1
    assert re.search(r"is not in its list\n +→ choose endpoint.model among another, one-more", printed), printed
    assert re.search(r"chat +no: The key is not accepted.*Incorrect API key", printed), printed
    code, printed = doctor(server, "broken", tmp_path, "--json", embedding_model="")
    told = json.loads(printed)
    assert code == 1
    assert told["fails"]
    assert [f["asked"] for f in told["findings"]][-2:] == ["model", "chat"]


def test_a_window_in_which_no_method_has_room_ends_in_1(server: VendorServer, tmp_path: Path) -> None:
    code, printed = doctor(server, "tiny", tmp_path)
    assert code == 1
    assert show_table("tiny", code, printed) == PINNED["tiny"]
    assert show_table("small", *doctor(server, "small", tmp_path / "small")) == PINNED["small"]
    assert re.search(r"fits extraction +no: .* of 900\n +→ a chunk has no room; raise it", printed), printed


def test_a_long_prompt_is_tried_only_where_it_is_asked_for(server: VendorServer, tmp_path: Path) -> None:
    code, printed = doctor(server, "openai_4o", tmp_path)
    assert "long prompt" not in printed
    server.forget("openai_4o")
    code, printed = doctor(server, "openai_4o", tmp_path, "--window")
    longest = max(len(str(r.body)) for r in server.requests("openai_4o"))
    assert longest > 4 * 9000
    assert re.search(r"long prompt +of 1\d,\d+ tokens not all was read: cormorant and juniper", printed), printed
    assert code == 0


@pytest.mark.parametrize(
    ("switch", "advice"),
    [
        ("chat_template_kwargs", r"chat_template_kwargs = { enable_thinking = false } under \[endpoint.extra_body\]"),
        ("thinking", r"thinking = { type = \"disabled\" } under"),
        ("none of these", r"no usual switch ends them"),
    ],
)
def test_the_switch_that_ends_thoughts_is_found(switch: str, advice: str, tmp_path: Path) -> None:
    def thinks(asked: Asked):
        if not asked.path.endswith("/chat/completions"):
            return asked.calm()
        text = asked.text() if switch in asked.body else f"<think>{'hm so ' * 60}</think>{asked.text()}"
        return asked.says(text, used={"completion_tokens": len(text) // 4})

    with VendorServer({"thinks": thinks}) as server:
        code, printed = doctor(server, "thinks", tmp_path)
        chats = [r.body for r in server.requests("thinks") if r.path.endswith("/chat/completions")]
    assert code == 0
    assert re.search(rf"thoughts +in the text.*\n +→ (?:cheaper with )?{advice}", printed), printed
    assert "reasoning_effort" not in chats[-1]
    assert "extra_body" not in str(chats)


def test_without_online_nobody_is_asked(server: VendorServer, tmp_path: Path) -> None:
    server.forget("openai_4o")
    read = len(server.read)
    flags = [f"--set=endpoint.base_url={json.dumps(server.url('openai_4o'))}", "--set=endpoint.model=scripted"]
    done = CliRunner().invoke(app, ["doctor", "--root", str(tmp_path), *flags])
    assert done.exit_code == 0
    assert re.search(r"engine +scripted\n", done.output), done.output
    assert "doctor --online" in done.output
    assert not server.requests("openai_4o")
    assert len(server.read) == read


# ── what is told for nothing ──


@pytest.mark.parametrize(
    ("name", "offer"),
    [
        ("vllm_qwen", Offer("vLLM", ("other", "scripted"), window=12_000, status=200)),
        ("ollama_4k", Offer("Ollama", ("scripted:latest",), window=4096, status=200)),
        ("llamacpp", Offer("llama.cpp", ("scripted",), window=8192, slots=4, status=200)),
        ("lmstudio", Offer("LM Studio", ("scripted",), window=32_768, status=200)),
        ("openrouter", Offer("", ("other", "scripted"), window=131_072, most_out=3000, status=200)),
    ],
)
def test_lists_and_pages_tell_window_and_slots(server: VendorServer, name: str, offer: Offer) -> None:
    assert read_offer(EndpointSettings(base_url=server.url(name), model="scripted"), {}) == offer


def test_the_key_goes_to_the_list_of_models_alone(server: VendorServer) -> None:
    del server.read[:]
    read_offer(EndpointSettings(base_url=server.url("llamacpp"), model="scripted"), {"Authorization": "Bearer mine"})
    asked = {path: headers.get("authorization") for path, headers in server.read}
    assert asked == {"/llamacpp/v1/models": "Bearer mine", "/llamacpp/props": None}


def test_where_nobody_answers_nothing_is_known() -> None:
    assert read_offer(EndpointSettings(base_url="http://127.0.0.1:9/v1", model="scripted"), {}) == Offer()


def test_a_build_knows_the_window_before_its_first_paid_call(server: VendorServer, tmp_path: Path) -> None:
    server.forget("small")
    with Corpus.open(tmp_path, settings=settings(server.url("small"))) as made:
        made.add(stories(3))
        notes = made.build().notes
        assert made.query("What did Ada Harrow do?", method="local").text
    sent = [r for r in server.requests("small") if r.path.endswith("/chat/completions")]
    assert len(sent) > 3
    assert all(r.status == 200 for r in sent)
    assert all(r.body["max_tokens"] < WINDOW for r in sent)
    assert any("window is 4,096 tokens" in n for n in notes)


def test_what_is_told_for_nothing_is_read_once(server: VendorServer, tmp_path: Path) -> None:
    for count in (1, 0):  # what is remembered is not asked for again, also where nothing was told
        del server.read[:]
        with Corpus.open(tmp_path, settings=settings(server.url("openai_4o"))) as made:
            made.add(stories(4 - count))
            made.build()
        assert sum(path.endswith("/v1/models") for path, _ in server.read) == count
