"""Each line of a diagnosis of endpoints, word by word, and which tools are asked at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.corpus import diagnosis
from sensegraph.corpus.settings import FOLDER, Settings, convert_settings
from sensegraph.errors import EndpointError, InputError
from sensegraph.models.endpoint.probes import Finding
from sensegraph.models.endpoint.profile import ENDPOINTS
from sensegraph.models.endpoint.remedies import LEAST_ROOM

OVERHEAD = {"extract": 1500, "rate": 300, "answer": 200}
ROOM = {"extract": 2000, "rate": 700, "answer": 900}


def make_engine(window: int | None = 0, slots: int = 0, model: str = "one") -> Any:
    """An engine whose prompts have known lengths, over an endpoint that tells this window and these slots."""
    endpoint = SimpleNamespace(
        window=window, known=SimpleNamespace(slots=slots), settings=SimpleNamespace(model=model, concurrency=6),
        look=lambda: SimpleNamespace(server="vLLM", models=("one", "two")),
    )  # fmt: skip
    return SimpleNamespace(endpoint=endpoint, overhead=OVERHEAD.__getitem__, max_tokens=ROOM.__getitem__)


def show(findings: Any) -> list[str]:
    """The findings as lines; one that fails has a mark."""
    return [f"{'! ' * f.fails}{f.asked}: {f.answer}{f.advice and ' / ' + f.advice}" for f in findings]


@pytest.mark.parametrize(
    ("server", "models", "line"),
    [
        ("", (), "model: one; there is no list of models"),
        ("vLLM", (), "model: one on vLLM; there is no list of models"),
        ("", ("one",), "model: one, one of 1"),
        ("vLLM", ("two", "one"), "model: one on vLLM, one of 2"),
        ("Ollama", ("one:latest", "two"), "model: one on Ollama, one of 2"),
        ("", ("models/one",), "model: one, one of 1"),
        ("vLLM", tuple("dcba"), "model: one on vLLM is not in its list / choose endpoint.model among a, b, c …"),
    ],
)
def test_a_model_is_found_in_the_list_or_the_first_of_the_list_are_named(
    server: str, models: tuple[str, ...], line: str
) -> None:
    found = diagnosis.find_model(SimpleNamespace(server=server, models=models), make_engine().endpoint)  # type: ignore[arg-type]
    assert show([found]) == [line]


NEEDS = {"graphrag": 8300, "local": 8200, "walk": 4200}


@pytest.fixture
def methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Methods that take so many tokens of context."""
    most = {"graphrag": 8000, "local": 8000, "walk": 4000}
    monkeypatch.setattr(
        diagnosis, "load_method", lambda name, **_: SimpleNamespace(context_tokens=most[name]) if name in most else None
    )


EXTRACT = 1500 + 600  # tokens of the prompt with its chunk, which may be a fiftieth more
FITS = EXTRACT * 51 // 50 + 8 + 2000  # the smallest window in which the prompt and a whole reply have room
STRAIT = EXTRACT * 51 // 50 + 8 + LEAST_ROOM
RAISE = "raise it: vllm serve --max-model-len"


@pytest.mark.parametrize(
    ("window", "line"),
    [
        (FITS, f"fits extraction: yes: 2,100 + 2,000 of {FITS:,}"),
        (
            FITS - 1,
            f"fits extraction: no: 2,100 + 2,000 of {FITS - 1:,} / replies get at most 1,999 tokens; {RAISE}",
        ),
        (
            STRAIT,
            f"fits extraction: no: 2,100 + 2,000 of {STRAIT:,} / replies get at most {LEAST_ROOM} tokens; {RAISE}",
        ),
        (STRAIT - 1, f"! fits extraction: no: 2,100 + 2,000 of {STRAIT - 1:,} / a chunk has no room; {RAISE}"),
    ],
)
def test_extraction_fits_where_the_prompt_and_the_reply_do(window: int, line: str, methods: None) -> None:
    offer: Any = SimpleNamespace(server="vLLM")
    assert show(diagnosis.compare_needs(make_engine(window), Settings(), offer))[0] == line


def compare_methods(window: int, server: str = "vLLM") -> list[str]:
    offer: Any = SimpleNamespace(server=server)
    return show(diagnosis.compare_needs(make_engine(window), Settings(), offer))[1:]


def test_a_method_fits_whose_largest_prompt_and_reply_do(methods: None) -> None:
    assert compare_methods(9100) == [
        "fits graphrag: yes: 8,300 + 700 of 9,100",
        "fits local: yes: 8,200 + 900 of 9,100",
        "fits walk: yes: 4,200 + 900 of 9,100",
    ]
    cut = f"what has no room is left out, and told; {RAISE}"
    assert compare_methods(9000)[:2] == [
        "fits graphrag: yes: 8,300 + 700 of 9,000", f"fits local: no: 8,200 + 900 of 9,000 / {cut}",
    ]  # fmt: skip
    least = LEAST_ROOM + 512
    assert compare_methods(300 + least)[0] == f"fits graphrag: no: 8,300 + 700 of {300 + least:,} / {cut}"
    assert compare_methods(299 + least) == [
        f"! fits graphrag: no: 8,300 + 700 of {299 + least:,} / it cannot answer; {RAISE}",
        f"fits local: no: 8,200 + 900 of {299 + least:,} / {cut}",
        f"fits walk: no: 4,200 + 900 of {299 + least:,} / {cut}",
    ]


@pytest.mark.parametrize(
    ("server", "advice"),
    [
        ("Ollama", "OLLAMA_CONTEXT_LENGTH=32768 ollama serve"),
        ("llama.cpp", "llama-server -c (which its slots share)"),
        ("LM Studio", "the context length with which the model is loaded"), ("", "the window of the server"),
    ],
)  # fmt: skip
def test_how_a_window_is_raised_depends_on_the_server(server: str, advice: str, methods: None) -> None:
    assert compare_methods(100, server)[0].endswith(f"it cannot answer; raise it: {advice}")


def test_without_a_window_nothing_is_compared(methods: None) -> None:
    assert not list(diagnosis.compare_needs(make_engine(None), Settings(), SimpleNamespace(server="")))  # type: ignore[arg-type]


class Yes:
    """An asker of verdicts that gets this reply, or an error."""

    reply: bool | EndpointError | None = True
    told: tuple[str, ...] = ()

    def __init__(self, endpoint: object) -> None:
        self.endpoint = endpoint

    def decide(self, talk: list[dict[str, str]]) -> bool | None:
        assert [said["role"] for said in talk] == ["system", "user"]
        if isinstance(self.reply, EndpointError):
            raise self.reply
        return self.reply

    def notes(self) -> tuple[str, ...]:
        return self.told


@pytest.fixture
def ask(methods: None, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """How a chat model is asked whose probes find this."""

    def ask_model(engine: Any, found: tuple[Finding, ...] = (), window: bool = False, **verdicts: Any) -> list[str]:
        monkeypatch.setattr(diagnosis, "probe_chat", lambda _: iter(found))
        monkeypatch.setattr(diagnosis, "probe_window", lambda _, tokens: Finding("whole", f"{tokens}"))
        monkeypatch.setattr("sensegraph.engines.llm.asker.Verdicts", type("Told", (Yes,), verdicts))
        return show(diagnosis.ask_chat_model(engine, Settings(), window=window))

    return ask_model


def test_a_chat_model_that_tells_nothing_of_itself_has_these_lines(ask: Callable[..., list[str]]) -> None:
    assert ask(make_engine()) == [
        "model: one on vLLM, one of 2",
        "yes or no: understood",
        "window: not told / set endpoint.window where you know it, or try doctor --online --window",
        "calls at once: not told; 6 are made, fewer after a pause",
    ]


def test_a_chat_model_that_tells_its_window_is_compared_with_what_is_asked_by_default(
    ask: Callable[..., list[str]],
) -> None:
    lines = ask(make_engine(32_000, slots=4), (Finding("chat", "taken"),), True, told=("by words", "slowly"))
    assert lines == [
        "model: one on vLLM, one of 2",
        "chat: taken",
        "yes or no: by words; slowly",
        f"whole: {9 * 8300 // 10}",
        "window: 32,000 tokens",
        "calls at once: 4; 4 are made",
        "fits extraction: yes: 2,100 + 2,000 of 32,000",
        "fits graphrag: yes: 8,300 + 700 of 32,000",
        "fits local: yes: 8,200 + 900 of 32,000",
        "fits walk: yes: 4,200 + 900 of 32,000",
    ]
    assert ask(make_engine(32_000, slots=9))[3] == "calls at once: 9; 6 are made"


def test_ollama_cuts_prompts_without_a_word(ask: Callable[..., list[str]]) -> None:
    engine = make_engine(4096)
    engine.endpoint.look = lambda: SimpleNamespace(server="Ollama", models=())
    assert "window: 4,096 tokens; longer prompts are cut without a word" in ask(engine)


def test_a_reply_that_is_no_verdict_and_a_call_that_fails_are_told(ask: Callable[..., list[str]]) -> None:
    assert ask(make_engine(), reply=None)[1] == (
        "yes or no: understood / methods that grade (lazygraphrag, hipporag) take that for no"
    )
    assert ask(make_engine(), reply=EndpointError("gone"))[1] == (
        "yes or no: no: gone / methods that grade (lazygraphrag, hipporag) cannot run"
    )


def test_a_model_that_does_not_answer_is_asked_nothing_more(ask: Callable[..., list[str]]) -> None:
    failed = Finding("chat", "no", fails=True)
    assert ask(make_engine(9000), (failed,)) == ["model: one on vLLM, one of 2", "! chat: no"]


def test_three_texts_are_tried_as_a_question_as_a_batch_and_as_a_long_document() -> None:
    calls: list[tuple[list[str], str]] = []
    known = SimpleNamespace(batch=0, input_tokens=0)
    made: Any = SimpleNamespace(
        name="m", batch=3, dim=8, prefixes=("", ""), endpoint=SimpleNamespace(known=known),
        embed=lambda texts, kind: calls.append((texts, kind)),
    )  # fmt: skip
    tiny = convert_settings({"index": {"chunk_tokens": 200}}, Settings, "here")
    huge = convert_settings({"index": {"chunk_tokens": 1500}}, Settings, "here")
    assert diagnosis.ask_vectors(made, tiny).answer == "8 numbers, 3 at once, texts of 200 tokens"
    assert calls == [
        (["harbour"], "query"), (["word0", "word1", "word2"], "document"), (["tide " * 200], "document"),
    ]  # fmt: skip
    assert diagnosis.ask_vectors(made, huge).answer.endswith("texts of 1,000 tokens")

    def refuse(texts: list[str], kind: str) -> None:
        raise InputError("too long")

    made.embed = refuse
    assert show([diagnosis.ask_vectors(made, tiny)]) == [
        '! embedding m: no: too long / mend that, or take endpoint.embedding_model = ""'
    ]


@pytest.mark.parametrize(
    ("scores", "line"),
    [
        ((0.25, 2.0), "reranking r: 2 for what fits, 0.25 for what does not"),
        (
            (0.5, 0.5),
            "reranking r: 0.5 for what fits, 0.5 for what does not"
            " / what fits got no higher score: check endpoint.rerank_model",
        ),
        (EndpointError("gone"), '! reranking r: no: gone / mend that, or take rerank.by = "none"'),
    ],
)
def test_a_reranker_is_asked_which_of_two_sentences_fits(scores: Any, line: str) -> None:
    def compare(question: str, texts: list[str]) -> tuple[float, float]:
        assert question == "When does the ferry leave?"
        assert texts == ["Bread is baked at night.", "The ferry leaves at six."]
        if isinstance(scores, EndpointError):
            raise scores
        return float(scores[0]), float(scores[1])

    assert show([diagnosis.ask_scores(SimpleNamespace(name="r", scores=compare))]) == [line]


def make_endpoint(address: str, *tokens: int) -> Any:
    used = SimpleNamespace(prompt_tokens=tokens[0], completion_tokens=tokens[1], embedding_tokens=tokens[2])
    return SimpleNamespace(address=address, usage=lambda: used)


@pytest.mark.parametrize(
    ("engine", "model", "remote", "ranks", "lines"),
    [
        ("model", "one", True, True, ["chat: True", "vectors: asked", "scores: asked"]),
        ("auto", "one", False, False, ["chat: True"]),
        ("auto", "", True, False, ["vectors: asked"]),
        ("offline", "one", False, True, ["scores: asked"]),
        ("offline", "one", False, None, ["described: nobody asked"]),
    ],
)
def test_only_tools_of_an_endpoint_are_asked_and_what_that_took_is_added_up(
    engine: str, model: str, remote: bool, ranks: bool | None, lines: list[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    first, second = make_endpoint("first", 1, 20, 300), make_endpoint("second", 4000, 50_000, 600_000)
    ranker = None if ranks is None else SimpleNamespace(endpoint=second if ranks else None)
    tools = SimpleNamespace(endpoint=first), SimpleNamespace(endpoint=second if remote else None)
    told = {
        "make_tools": lambda *_: tools, "make_reranker": lambda *_: ranker,
        "ask_chat_model": lambda *_, window: [Finding("chat", str(window))],
        "ask_vectors": lambda *_: Finding("vectors", "asked"), "ask_scores": lambda _: Finding("scores", "asked"),
        "describe_tools": lambda _: diagnosis.Diagnosis((Finding("described", "nobody asked"),)),
    }  # fmt: skip
    for name, made in told.items():
        monkeypatch.setattr(diagnosis, name, made)
    given = {"engine": engine, "endpoint": {"base_url": "http://127.0.0.1:9/v1", "model": model}}
    root = tmp_path / "new" / "corpus"
    (root / FOLDER).mkdir(parents=True)
    (root / FOLDER / ENDPOINTS).write_bytes(b"{}")
    found = diagnosis.ask_endpoints(root, convert_settings(given, Settings, "here"), window=True)
    assert show(found.findings) == lines
    assert not (root / FOLDER / ENDPOINTS).exists() or (root / FOLDER / ENDPOINTS).read_bytes() != b"{}"
    if lines[0].startswith("described"):
        assert (found.address, found.tokens) == ("", 0)
    else:
        assert (found.address, found.tokens) == ("first", 654_321 if remote or ranks else 321)


def test_the_folder_of_a_corpus_that_is_asked_first_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "describe_tools", lambda _: diagnosis.Diagnosis(()))
    for _ in range(2):
        diagnosis.ask_endpoints(tmp_path / "a" / "b", convert_settings({"engine": "offline"}, Settings, "here"))
        assert (tmp_path / "a" / "b" / FOLDER).is_dir()
