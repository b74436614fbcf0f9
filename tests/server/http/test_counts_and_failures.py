"""What a server counts, where a day ends, and what a request that fails is told."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from starlette.exceptions import HTTPException

from sensegraph import errors
from sensegraph.errors import BudgetExceeded, SensegraphError
from sensegraph.server.http.access import Limits
from sensegraph.server.http.failures import Refused, describe_failure, render_failure, suggest_next
from sensegraph.server.http.metrics import Metrics, read_memory
from sensegraph.types import Usage

STATUSES = {
    400: ("InputError",),
    409: ("BatchPending", "Busy", "EmptyCorpus", "NotIndexed"),
    422: ("PromptTooLong", "SettingsError", "Unapproved", "UnsupportedTask"),
    429: ("BudgetExceeded",),
    500: ("SensegraphError",),
    502: ("EndpointDown", "EndpointError", "ItemFailed", "ReplyRefused", "StepFailed", "Unreadable"),
    503: ("ResultGone", "Stopped", "StoreError"),
}


def test_every_error_of_the_package_has_a_status_and_what_helps() -> None:
    found: dict[int, list[str]] = {}
    for name, kind in sorted(vars(errors).items()):
        if isinstance(kind, type) and issubclass(kind, SensegraphError):
            error = kind.__new__(kind)
            Exception.__init__(error, f"what is wrong: {name}")
            status, told = describe_failure(error)
            assert told == {"code": name, "message": f"what is wrong: {name}", "next": suggest_next(name)}
            found.setdefault(status, []).append(name)
    assert {status: tuple(names) for status, names in sorted(found.items())} == STATUSES
    assert suggest_next("unheard of") == "retry"


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (Refused(404, "no"), 404, {"code": "NotFound", "message": "no", "next": "change"}),
        (HTTPException(418, "tea"), 418, {"code": "Internal", "message": "tea", "next": "none"}),
        (
            OSError(2, "No such file", "a.txt"), 500,
            {"code": "Internal", "message": "a.txt cannot be used (No such file).", "next": "none"},
        ),
        (OSError("odd"), 500, {"code": "Internal", "message": "A file cannot be used (odd).", "next": "none"}),
        (
            ValueError("secret"), 500,
            {"code": "Internal", "message": "The server failed; its log says how.", "next": "retry"},
        ),
    ],
)  # fmt: skip
def test_other_failures_are_told_without_their_inside(error: Exception, status: int, told: dict[str, str]) -> None:
    assert describe_failure(error) == (status, told)
    answer = render_failure(error)
    assert (answer.status_code, json.loads(answer.body)) == (status, {"error": told})


@pytest.mark.parametrize(
    ("refused", "named"),
    [
        (Refused(401, "who?"), {"www-authenticate": "Bearer"}),
        (Refused(429, "wait", 7), {"retry-after": "7"}),
        (Refused(403, "no"), {}),
    ],
)
def test_what_is_refused_says_how_to_come_in_or_when(refused: Refused, named: dict[str, str]) -> None:
    headers = render_failure(refused).headers
    assert {name: headers[name] for name in ("www-authenticate", "retry-after") if name in headers} == named


def counted(**limits: Any) -> Metrics:
    """What three requests and two questions leave."""
    metrics = Metrics(Limits(**limits))
    for status in (200, 200, 404):
        metrics.count_request("GET", "/x", status)
    metrics.count_question(Usage(calls=2, prompt_tokens=30, completion_tokens=4, seconds=0.3))
    metrics.count_question(Usage(calls=1, embedding_tokens=6, cost_usd=0.5, seconds=2.5))
    return metrics


def test_counts_are_told_in_the_text_format_of_prometheus() -> None:
    metrics = counted()
    metrics.running = 3
    metrics.jobs.update({"done": 2})
    told = metrics.render()
    values = dict(re.findall(r"(?m)^sensegraph_(\S+) (\S+)$", told))
    buckets = [values[f'question_seconds_bucket{{le="{b}"}}'] for b in (0.1, 0.3, 1.0, 3.0, 100.0, "+Inf")]
    assert buckets == ["0", "1", "1", "2", "2", "2"]
    assert (values["question_seconds_sum"], values["question_seconds_count"]) == ("2.800", "2")
    assert values['requests_total{method="GET",route="/x",status="200"}'] == "2"
    assert values['requests_total{method="GET",route="/x",status="404"}'] == "1"
    tokens = [values[f"{name}_tokens_total"] for name in ("prompt", "completion", "embedding")]
    assert (values["calls_total"], tokens, values["cost_usd_total"]) == ("3", ["30", "4", "6"], "0.5")
    assert (values["questions_running"], values['jobs_total{state="done"}']) == ("3", "2")
    assert read_memory() > 1_000_000
    assert 0 <= float(values["up_seconds"]) < 3600
    bounds = [float(b) for b in re.findall(r'le="([\d.]+)"', told)]
    assert bounds == sorted(set(bounds))


@pytest.mark.parametrize(
    ("limits", "over"),
    [
        ({}, False), ({"day_tokens": 41}, False), ({"day_tokens": 40}, True), ({"day_cost": 0.51}, False),
        ({"day_cost": 0.5}, True),
    ],
)  # fmt: skip
def test_a_day_may_cost_less_than_its_bound(
    limits: dict[str, Any], over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = counted(**limits)
    if not over:
        metrics.check_day()
        return
    with pytest.raises(BudgetExceeded, match="tomorrow"):
        metrics.check_day()
    metrics._day = "2001-01-01"  # the next day begins with nothing
    metrics.check_day()
    assert metrics.render().count("sensegraph_calls_total 3") == 1
