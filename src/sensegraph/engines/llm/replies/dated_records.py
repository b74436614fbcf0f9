"""Dates in what a model extracted: those stay whose year the text says."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace
from typing import TypeVar
from unicodedata import decimal

from sensegraph.types import ExtractedClaim, ExtractedRelation, Extraction

D = TypeVar("D", ExtractedClaim, ExtractedRelation)
_YEAR = re.compile(r"(?<!\d)\d{4}")


def drop_foreign_dates(found: Extraction, said: str) -> tuple[Extraction, int]:
    """`found` without the dates whose year does not stand in `said`, and how many those were (G06, N90)."""
    years = set(_YEAR.findall("".join(str(decimal(c, c)) for c in said)))
    claims, fewer = _keep_known_dates(found.claims, years)
    relations, lost = _keep_known_dates(found.relations, years)
    return replace(found, claims=claims, relations=relations), fewer + lost


def _keep_known_dates(records: tuple[D, ...], years: Set[str]) -> tuple[tuple[D, ...], int]:
    lost, kept = 0, []
    for record in records:
        starts, ends = (d if d[:4] in years else "" for d in (record.starts, record.ends))
        lost += (starts != record.starts) + (ends != record.ends)
        kept.append(replace(record, starts=starts, ends=ends))
    return tuple(kept), lost
