"""What a job is to do, as the server tells its process."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Kind = Literal["sync", "build", "collect", "remove", "resolve", "merge", "forbid"]


class JobRequest(msgspec.Struct, frozen=True):
    """What is to be done, to which corpus, under which settings.

    `documents` are those to remove, `names` those that are one entity (`merge`), or are not (`forbid`).
    """

    kind: Kind
    root: str
    settings: dict[str, Any] = {}
    documents: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
