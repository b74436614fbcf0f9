"""Metadata: any fields to sorted pairs of a name and a scalar."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, datetime, time

from sensegraph.documents.decoding import clean_text
from sensegraph.types import Scalar

_LARGEST = 2**63 - 1


def flatten_fields(fields: Mapping[str, object]) -> tuple[tuple[str, Scalar], ...]:
    """`fields` sorted by name; what is nested becomes compact JSON text, a number that is none becomes None."""
    return tuple(sorted(((clean_text(str(k)), to_scalar(v)) for k, v in fields.items()), key=lambda pair: pair[0]))


def to_scalar(value: object) -> Scalar:
    """`value` as a scalar that every reader can hold: larger integers than 64 bits become text."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST:
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return clean_text(json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, default=str))
