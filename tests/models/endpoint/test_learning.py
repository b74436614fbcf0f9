"""What a refusal teaches about the size of requests, how texts are parted then, and what is remembered how long."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sensegraph.errors import EndpointError, SettingsError
from sensegraph.models.endpoint import profile
from sensegraph.models.endpoint.endpoint_settings import (
    EndpointSettings,
    address_purpose,
    approval_of_cluster,
    approval_of_store,
    check_endpoint,
    is_approved,
    name_variables,
    needs_no_approval,
    read_approvals,
    record_approval,
    refuse_unapproved,
    set_temperature,
)
from sensegraph.models.endpoint.outcomes import Kind, Outcome
from sensegraph.models.endpoint.profile import (
    ChatRequest,
    Memory,
    Profile,
    lay_messages,
    write_chat,
    write_completion,
    write_streaming,
)
from sensegraph.models.endpoint.readings import (
    learn_ranking,
    learn_size,
    read_relevances,
    read_vectors,
    split_batches,
    write_embedding,
    write_rerank,
)

WORDS = [" ".join(["word"] * n) for n in (40, 20, 10)]


def learn(outcome: Outcome, texts: list[str], known: Profile | None = None, **found: Any) -> bool:
    before = known or Profile()
    return learn_size(before, outcome, texts) == (replace(before, **found) if found else None)


def test_a_refusal_says_how_much_an_endpoint_takes() -> None:
    assert learn(Outcome(Kind.WINDOW, "x", most=100), WORDS, input_tokens=30)  # three quarters of the longest
    assert learn(Outcome(Kind.WINDOW, "x", most=32), WORDS, input_tokens=24)
    assert learn(Outcome(Kind.WINDOW, "x"), WORDS, input_tokens=30)
    assert learn(Outcome(Kind.WINDOW, "x", most=22), WORDS, input_tokens=16)
    assert learn(Outcome(Kind.WINDOW, "x", most=21), WORDS)  # less than sixteen tokens is no text
    tokens = Outcome(Kind.BATCH, "x", field="tokens")
    assert learn(tokens, WORDS, batch_tokens=35)
    assert learn(replace(tokens, most=50), WORDS, batch_tokens=50)
    assert learn(tokens, WORDS, Profile(batch_tokens=60), batch_tokens=52)
    assert learn(replace(tokens, most=50), WORDS, Profile(batch_tokens=60), batch_tokens=50)
    assert learn(replace(tokens, most=60), WORDS, Profile(batch_tokens=60), batch_tokens=52)
    assert learn(tokens, WORDS[:1])
    count = Outcome(Kind.BATCH, "x", field="inputs")
    assert learn(count, WORDS, batch=1)
    assert learn(replace(count, most=2), WORDS, batch=2)
    assert learn(replace(count, most=3), WORDS, batch=1)
    assert learn(replace(count, most=1), WORDS, batch=1)
    assert learn(count, WORDS[:1])
    assert learn(Outcome(Kind.REFUSED, "x", status=413), WORDS * 2, batch=3)
    assert learn(Outcome(Kind.REFUSED, "x", status=412), WORDS * 2)
    field = Outcome(Kind.FIELD, "x", field="encoding_format")
    assert learn_size(Profile(), field, WORDS) == Profile().without("encoding_format")
    assert learn_size(Profile().without("encoding_format"), field, WORDS) is None
    assert learn(Outcome(Kind.FIELD, "x"), WORDS)


def test_texts_go_in_calls_of_as_many_as_are_taken() -> None:
    def sizes(most: int, **known: int) -> list[int]:
        return [len(batch) for batch in split_batches(WORDS * 2, Profile(**known), most)]

    assert sizes(4) == [4, 2]
    assert sizes(4, batch=3) == [3, 3]
    assert sizes(2, batch=3) == [2, 2, 2]
    assert sizes(9, batch_tokens=80) == [2, 2, 2]  # sixty at most: 40 and 20, 10 and 40, 20 and 10
    assert sizes(9, batch_tokens=79) == [1, 2, 1, 2]
    assert sizes(9, batch_tokens=8) == [1] * 6
    assert list(split_batches([], Profile(), 4)) == []


def test_requests_leave_out_what_was_refused() -> None:
    table = EndpointSettings(embedding_model="e", embedding_dimensions=8)
    whole = {"model": "e", "input": ["a"], "encoding_format": "float", "dimensions": 8}
    assert write_embedding(table, Profile(), ["a"]) == whole
    assert write_embedding(replace(table, embedding_dimensions=0), Profile().without("encoding_format"), ["a"]) == {
        "model": "e", "input": ["a"],
    }  # fmt: skip
    asked = write_rerank("r", Profile(), "q", ("a", "b"))
    assert asked == {"model": "r", "query": "q", "documents": ["a", "b"], "top_n": 2}
    other = learn_ranking(Profile(), Outcome(Kind.FIELD, "missing `texts`"), asked)
    assert other is not None
    assert write_rerank("r", other.without("top_n"), "q", ("a",)) == {"model": "r", "query": "q", "texts": ["a"]}
    assert learn_ranking(other, Outcome(Kind.FIELD, "missing `texts`"), asked) is None
    assert learn_ranking(other, Outcome(Kind.FIELD, "x", field="top_n"), asked) == other.without("top_n")
    assert learn_ranking(other, Outcome(Kind.FIELD, "x", field="odd"), asked) is None


def test_vectors_stand_in_the_order_asked_for_and_say_what_is_wrong() -> None:
    rows = [{"index": 1, "embedding": [1.0, 2.0]}, {"index": 0, "embedding": [3.0, 4.0]}]
    assert read_vectors({"data": rows}, ["a", "b"]).tolist() == [[3.0, 4.0], [1.0, 2.0]]
    packed = [{"embedding": "AACAPwAAAEA="}, {"embedding": np.ones(2)}]
    assert read_vectors({"data": packed}, ["a", "b"]).tolist() == [[1.0, 2.0], [1.0, 1.0]]
    for given, said in (
        ({"data": [{"x": 1}]}, "holds no vectors"),
        ({}, "holds no vectors"),
        ({"data": rows[:1]}, "Asked for 2 vectors of one length, got 1"),
        ({"data": [rows[0], {"embedding": [1.0]}]}, r"of lengths \[1, 2\]"),
        ({"data": rows * 7}, "got 3 of lengths"),
        ({"data": rows * 6}, "got 12 of lengths"),
        ({"data": [rows[0], {"embedding": "x"}]}, "vector of 'b' is no list|vector of 'a' is no list"),
        ({"data": [rows[0], {"embedding": [[1.0]]}]}, "several vectors"),
        ({"data": [rows[0], {"embedding": [0.0, 0.0]}]}, "holds nothing"),
        ({"data": [rows[0], {"embedding": [float("inf"), 1.0]}]}, "holds nothing"),
        ({"data": [rows[0], {"embedding": [1.0] * 16_385}]}, "has 16,385 numbers"),
    ):
        with pytest.raises(EndpointError, match=said):
            read_vectors(given, ["a", "b"])
    assert read_vectors({"data": [{"embedding": [1.0] * 16_384}]}, ["a"]).shape == (1, 16_384)
    with pytest.raises(EndpointError, match=rf"'{'x' * 60}'"):
        read_vectors({"data": [{"embedding": [0.0]}]}, ["x" * 61])


def test_relevances_stand_in_the_order_of_the_documents() -> None:
    cohere = {"results": [{"index": 2, "relevance_score": 0.5}, {"index": 0, "relevance_score": "1"}]}
    assert read_relevances(cohere, 3) == [1.0, None, 0.5]
    assert read_relevances({"data": [{"index": 0, "score": 2, "relevance_score": 9}]}, 1) == [2.0]
    for reply in ({}, {"results": [{}]}, {"results": [{"index": "x", "score": 1}]}):
        with pytest.raises(EndpointError, match="without an index"):
            read_relevances(reply, 1)
    for rows in (
        [{"index": 0, "score": 1}] * 2, [{"index": 1, "score": 1}], [{"index": -1, "score": 1}],
        [{"index": 0, "score": float("nan")}],
    ):  # fmt: skip
        with pytest.raises(EndpointError, match="Asked for 1 relevance scores"):
            read_relevances({"results": rows}, 1)


# ── requests and memory ──


def test_a_profile_is_believed_for_a_week(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr(profile.time, "time", lambda: now[0])
    memory, table, known = Memory(tmp_path / "e.json"), EndpointSettings(model="m"), Profile(window=5, slots=2)
    assert memory.recall(table) == Profile()
    memory.keep(table, known)
    memory.keep(replace(table, model="n"), Profile(window=7))
    assert (memory.recall(table), memory.recall(replace(table, model="n")).window) == (known, 7)
    assert memory.recall(replace(table, embedding_model="x")) == Profile()
    now[0] += 7 * 86_400
    assert memory.recall(table) == known
    now[0] += 1
    assert memory.recall(table) == Profile()
    memory.keep(table, known)
    assert memory.recall(table) == known
    memory.forget()
    memory.forget()
    assert (memory.recall(table), list(tmp_path.iterdir())) == (Profile(), [])
    for text in ("no json", "[]", '{"x": 3}'):
        (tmp_path / "e.json").write_text(text)
        assert memory.recall(table) == Profile()
    for nowhere in (Memory(), Memory(tmp_path / "none" / "e.json")):
        nowhere.keep(table, known)
        nowhere.forget()
        assert nowhere.recall(table) == Profile()
    assert not (tmp_path / "none").exists()


TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Who?"},
    {"role": "user", "content": "Why?"},
]


def test_instructions_begin_the_first_message_where_they_have_no_role() -> None:
    plain = Profile().without("system")
    assert lay_messages(Profile(), TALK) == TALK
    assert lay_messages(plain, TALK) == [{"role": "user", "content": "Be brief.\n\nWho?"}, TALK[2]]
    assert lay_messages(plain, TALK[:1]) == TALK[:1]
    assert lay_messages(plain, TALK[1:]) == TALK[1:]


def body(known: Profile | None = None, *, freely: bool = False, varied: bool = False, **given: Any) -> dict[str, Any]:
    table = EndpointSettings(
        model="m", **{n: v for n, v in given.items() if n in EndpointSettings.__dataclass_fields__}
    )
    schema = given.get("schema", {"type": "object"})
    request = ChatRequest(TALK[1:2], 50, schema, "rate", given.get("extra", {}), ())
    found = write_chat(table, known or Profile(), request, 30, freely, varied)
    assert found.pop("model") == "m"
    return found


def test_a_chat_request_holds_what_is_set_and_not_refused() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "rate", "schema": {"type": "object"}, "strict": True}}
    usual = {"messages": TALK[1:2], "temperature": 0.0, "max_tokens": 30, "response_format": form}
    assert body() == usual
    assert body(varied=True)["messages"] == [{"role": "user", "content": "(Asked again.)\nWho?"}]
    freely = {"messages": TALK[1:2], "temperature": 0.5, "max_tokens": 30}
    assert body(freely=True) == freely
    assert body(schema=None) == freely | {"temperature": 0.0}
    assert body(Profile(plain=("rate",)))["messages"] == TALK[1:2]  # type: ignore[arg-type]
    assert "response_format" not in body(Profile(plain=("rate",)))  # type: ignore[arg-type]
    assert body(Profile(form=1))["response_format"] == {"type": "json_object"}
    assert "response_format" not in body(Profile(form=2))
    assert "temperature" not in body(temperature="default")
    assert body(seed=7, extra={"a": 1}, extra_body={"b": 2}) == usual | {"seed": 7, "a": 1, "b": 2}
    assert "seed" not in body(Profile().without("seed"), seed=7)
    efforts = {how: body(thoughts=how).get("reasoning_effort") for how in ("auto", "off", "low", "high")}
    assert efforts == {"auto": None, "off": "none", "low": "low", "high": "high"}
    assert body(Profile(effort="minimal"), thoughts="off")["reasoning_effort"] == "minimal"
    assert body(Profile(limit="max_completion_tokens"))["max_completion_tokens"] == 30


def test_a_completion_and_a_stream_are_asked_for() -> None:
    table = EndpointSettings(model="m", seed=3, extra_body={"x": 1})
    assert write_completion(table, "Once", 9) == {
        "model": "m", "prompt": "Once", "max_tokens": 9, "temperature": 0.0, "seed": 3, "x": 1,
    }  # fmt: skip
    assert write_streaming(Profile()) == {"stream": True, "stream_options": {"include_usage": True}}
    assert write_streaming(Profile().without("stream_options")) == {"stream": True}
    assert write_streaming(Profile().without("stream")) == {}
    assert [set_temperature(EndpointSettings(temperature=t)) for t in (0.3, None, "default")] == [0.3, None, None]


# ── addresses of purposes, headers, approvals ──


def test_a_purpose_has_an_address_a_key_and_a_model_of_its_own() -> None:
    table = EndpointSettings(
        base_url="http://a/v1", api_key_env="A", model="m", headers={"x": "y"}, vision_model="v", price_prompt=1.0,
        price_completion=2.0, embedding_base_url="http://e/v1", rerank_api_key_env="R",
    )  # fmt: skip
    assert address_purpose(table, "chat") is table
    found = address_purpose(table, "embedding")
    assert (found.base_url, found.api_key_env, found.headers, found.model) == ("http://e/v1", "OPENAI_API_KEY", {}, "m")
    assert (found.embedding_base_url, found.rerank_api_key_env) == ("", "")
    found = address_purpose(table, "rerank")
    assert (found.base_url, found.api_key_env, found.headers) == ("http://a/v1", "R", {"x": "y"})
    found = address_purpose(table, "vision")
    assert (found.base_url, found.model, found.price_prompt, found.price_completion) == ("http://a/v1", "v", 1.0, 2.0)
    dear = replace(
        table, price_vision_prompt=3.0, price_vision_completion=4.0, vision_base_url="http://v", vision_api_key_env="V"
    )
    found = address_purpose(dear, "vision")
    assert (found.base_url, found.api_key_env, found.price_prompt, found.price_completion) == (
        "http://v",
        "V",
        3.0,
        4.0,
    )


def test_headers_name_the_variables_that_hold_their_secrets() -> None:
    assert name_variables({"X-Team": "a", "Authorization": "env:KEY", "X-Api-Key": "env:_K2"}) == ["KEY", "_K2"]
    for headers, said in (
        ({"Host": "x"}, "'Host' cannot be set"),
        ({"X Y": "x"}, "'X Y' cannot be set"),
        ({"X": "a\nb"}, "'X' cannot be set"),
        ({"X": "env:9K"}, "X must name a variable"),
        ({"X": "env:"}, "X must name a variable"),
        ({"X-Token": "abc"}, "X-Token holds a secret"),
    ):
        with pytest.raises(SettingsError, match=said):
            name_variables(headers)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"base_url": "ftp://x"}, "base_url must be"), ({"concurrency": 0}, "concurrency and"),
        ({"embedding_batch": 0}, "concurrency and"), ({"first_byte_s": 0.0}, "concurrency and"),
        ({"silence_s": -1.0}, "concurrency and"), ({"window": -1}, "window must be at least 0"),
    ],
)  # fmt: skip
def test_settings_that_cannot_work_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        check_endpoint(EndpointSettings(**given), "")
    check_endpoint(EndpointSettings(concurrency=1, embedding_batch=1, first_byte_s=0.1, silence_s=0.1), "!~")
    for key in ("a b", "a\x7f", "ä"):
        with pytest.raises(SettingsError, match="holds a space"):
            check_endpoint(EndpointSettings(), key)


def test_stores_and_clusters_are_approved_as_a_whole() -> None:
    assert approval_of_cluster(" ray://Head:10001 ") == "cluster:head:10001"
    assert approval_of_store("s3://b/x/") == "store:s3://b/x"
    assert approval_of_store("postgresql://ann@h/d?schema=x") == "store:postgresql://h/d"
    told = {
        text: needs_no_approval(text)
        for text in (
            "cluster:auto", "cluster:local", "cluster:127.0.0.1:6379", "cluster:head:6379", "store:file:/x",
            "store:s3://b", "store:postgresql://localhost/d", "store:postgresql://h/d", "https://api.openai.com/v1",
            "KEY@https://api.openai.com/v1", "http://127.0.0.1/v1", "https://example.org",
        )
    }  # fmt: skip
    assert [text for text, needless in told.items() if needless] == [
        "cluster:auto", "cluster:local", "cluster:127.0.0.1:6379", "store:file:/x", "store:postgresql://localhost/d",
        "https://api.openai.com/v1", "http://127.0.0.1/v1",
    ]  # fmt: skip
    given = ["https://h/a", "store:s3://b"]
    asked = (
        "https://h/a",
        "https://h/a/b",
        "https://h/ab",
        "https://h/a/../b",
        "https://h/a/%2e%2e/b",
        "store:s3://b/c",
    )
    assert [is_approved(wanted, given) for wanted in asked] == [True, True, False, False, False, False]


def test_approvals_are_read_from_the_environment_and_the_file(tmp_path: Path) -> None:
    kept = {"https://a/v1/": True, "https://b": False, "store:s3://x/": True}
    named = f" KEY@https://h/v1 ,, cluster:RAY://x:1 , model:{tmp_path}, model:name"
    assert read_approvals(named, kept, Path("u.toml")) == [
        "KEY@https://h/v1", "cluster:x:1", f"model:{tmp_path.resolve()}", "model:name", "https://a/v1",
        "store:s3://x",
    ]  # fmt: skip
    for text, where in (
        ("model:", "SENSEGRAPH_TRUST"),
        ("cluster:", "SENSEGRAPH_TRUST"),
        ("nonsense", "SENSEGRAPH_TRUST"),
    ):
        with pytest.raises(SettingsError, match=f"{where}: '{text}' approves nothing"):
            read_approvals(text, {}, Path("u.toml"))
    with pytest.raises(SettingsError, match=r"u\.toml, \[trust\]: 'x' approves nothing"):
        read_approvals("", {"x": True}, Path("u.toml"))


@pytest.mark.parametrize(
    ("wanted", "what"),
    [
        ("model:m", "load the model m, which may run a program"),
        ("store:s3://b", "keep all that is computed from this corpus, its texts too, in s3://b"),
        ("cluster:h:1", "send texts of this corpus to the cluster h:1, whose machines can run programs as you"),
        ("K@https://h", "send texts of this corpus to https://h with the key in K"),
        ("https://h", "send texts of this corpus to https://h with the key in OPENAI_API_KEY"),
    ],
)
def test_what_is_not_approved_is_said_with_the_ways_to_approve_it(wanted: str, what: str) -> None:
    found = refuse_unapproved(wanted, ["a.toml", "b.toml"], Path("u.toml"))
    assert found.question == f"a.toml and b.toml would {what}."
    assert f'put "{wanted}" = true under [trust] in u.toml' in str(found)


def test_an_approval_is_added_to_the_users_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "s.toml"
    record_approval(path, "https://a")
    assert path.read_text() == '[trust]\n"https://a" = true\n'
    record_approval(path, 'model:a"b')
    assert path.read_text() == '[trust]\n\'model:a"b\' = true\n"https://a" = true\n'
    path.write_text('x = 1\n[trust] # mine\n"y" = true\n[z]\n')
    record_approval(path, "https://b")
    assert path.read_text() == 'x = 1\n[trust] # mine\n"https://b" = true\n"y" = true\n[z]\n'
    path.write_text("x = 1\n\n\n")
    record_approval(path, "https://c")
    assert path.read_text() == 'x = 1\n\n[trust]\n"https://c" = true\n'
    for text in ("trust = 1\n", "[trust\n", '[trust]\n"https://d" = false\n'):
        path.write_text(text)
        with pytest.raises(SettingsError, match="could not be added to"):
            record_approval(path, "https://d")
        assert path.read_text() == text
    assert [p.name for p in path.parent.iterdir()] == ["s.toml"]
