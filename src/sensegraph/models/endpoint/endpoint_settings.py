"""Where a model is and how it is treated: the table `[endpoint]` of the settings. The key itself is no setting."""

from __future__ import annotations

from dataclasses import dataclass, field

from sensegraph.errors import SettingsError
from sensegraph.models.endpoint.approvals import USUAL, is_address


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """Any OpenAI-compatible endpoint. It is used when `model` is set; without it everything stays on this machine.

    Prices are in US dollars per million tokens; limits of 0 mean none. `timeout_s` bounds one attempt; before the next
    it waits as long as the endpoint asks, else about `backoff_s`, doubled each time.
    """

    base_url: str = field(default="https://api.openai.com/v1", repr=False)  # may hold a password
    model: str = ""
    embedding_model: str = ""
    rerank_model: str = ""
    api_key_env: str = USUAL
    temperature: float | None = 0.0
    seed: int | None = None
    concurrency: int = 16
    requests_per_minute: int = 0
    tokens_per_minute: int = 0
    timeout_s: float = 120.0
    max_retries: int = 6
    backoff_s: float = 0.5
    price_prompt: float = 0.0
    price_completion: float = 0.0
    price_embedding: float = 0.0
    price_rerank: float = 0.0
    max_tokens_total: int = 0
    max_cost_usd: float = 0.0


def check_endpoint(settings: EndpointSettings, api_key: str) -> None:
    """Raise SettingsError for settings that cannot work together, or a key that no header can hold.

    Called when an endpoint is made and not when settings are read: one table may complete another before that.
    """
    if not is_address(settings.base_url):
        raise SettingsError("endpoint.base_url must be http:// or https:// and a host; it usually ends with /v1.")
    if settings.concurrency < 1 or settings.timeout_s <= 0 or settings.backoff_s < 0 or settings.max_retries < 0:
        raise SettingsError(
            "endpoint.concurrency must be at least 1, endpoint.timeout_s above 0, endpoint.backoff_s and "
            "endpoint.max_retries at least 0."
        )
    prices = (settings.price_prompt, settings.price_completion, settings.price_embedding, settings.price_rerank)
    if settings.max_cost_usd and not any(prices):
        raise SettingsError("endpoint.max_cost_usd needs prices: set price_prompt, price_completion, …")
    if not all("!" <= c <= "~" for c in api_key):
        raise SettingsError("The API key holds a space or a character that no key has: copy it again.")
