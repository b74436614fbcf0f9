"""What an evaluation found, in short lines: differences that are more than chance, and what has to be known of them.

Lengths stand first where they differ: measures of overlap favour short answers and counts favour long ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from sensegraph.lab.experiments import comparison_tables
from sensegraph.lab.experiments.comparison_tables import explain_lack_of_power
from sensegraph.lab.experiments.experiment import Outcome
from sensegraph.lab.experiments.sheets import format_count, format_number
from sensegraph.lab.scores.statistics import Pair, count_compared

_WARNED = 5  # warnings about the judge that stand at the top
_ENDS = {0.0: "too hard, or no measure for such answers, and so nothing", 1.0: "too easy, and so nothing"}
_MOST = 0.75  # share of questions at an end of the scale from which a measure hardly tells conditions apart


def list_findings(found: Outcome) -> Iterable[str]:
    """The differences that are more than chance, in words; or that there are none."""
    if found.verdicts:
        for criterion, listed in found.verdicts.pairs.items():
            rates = found.verdicts.bias.controlled[criterion]
            yield comparison_tables.describe_wins(criterion, listed, rates)
        yield from found.verdicts.bias.warnings[:_WARNED]
    if len(found.conditions) > 1:
        yield from _list_differences(found)
        yield from _list_ends(found)
    else:
        yield "One condition: there is nothing to compare."
    for name, replies in found.answers.items():
        failed, refused = sum(bool(r.failure) for r in replies), sum(r.refused for r in replies)
        of, lacking = f"of {format_count(len(replies), 'answer')}", []
        if failed:
            lacking.append(f"{failed:,} {of} failed")
        if refused:
            lacking.append(f"{refused:,} {of} {'says that it' if refused == 1 else 'say that they'} cannot answer")
        if lacking:
            yield f"{name}: {', '.join(lacking)}."


def _list_differences(found: Outcome) -> Iterable[str]:
    """By group of measures what is more than chance, and what too few questions keep from being so; lengths first."""
    longer = [p for p in found.compared[0].pairs if p.better]
    if longer:
        told = ", ".join(f"{p.better} over {p.worse} ({_format_words(p, p.better, p.worse)})" for p in longer)
        yield (
            f"Length: longer answers by {told}. F1, ROUGE and exact match favour short answers, containment, recall "
            "and claims long ones: a difference between these conditions may be one of length."
        )
    beyond: dict[str, list[str]] = {}
    for group, listed in groupby(found.compared[1:], lambda c: c.measure.group):
        compared = list(listed)
        if why := explain_lack_of_power(max((c.pairs for c in compared), key=count_compared)):
            beyond.setdefault(why, []).append(group)
            continue
        # who is higher than whom, and by which measures where the group has several
        by: dict[tuple[str, str], list[str]] = {}
        for c in compared:
            for p in c.pairs:
                if p.better:
                    by.setdefault((p.better, p.worse), []).append(c.measure.name)
        better = []
        for (who, over), names in by.items():
            some = [f"{', '.join(names)} only: {len(names)} of {len(compared)} measures"]
            every = [f"all {len(compared)} measures"] if len(compared) > 1 else []
            notes = every if len(names) == len(compared) else some
            for p in longer:
                if {p.better, p.worse} == {who, over}:
                    notes = [*notes, f"its answers are {'longer' if p.better == who else 'shorter'}"]
            better.append(f"{who} over {over}" + (f" ({'; '.join(notes)})" if notes else ""))
        shown = f"more by {', '.join(better)}" if better else "no difference that is more than chance"
        yield f"{group}: {shown}."
    for why, groups in beyond.items():
        yield f"{', '.join(groups)}: {why}, so no difference can be more than chance."


def _format_words(p: Pair, *names: str) -> str:
    """The mean words of both, in the order of `names`."""
    means = dict(zip((p.first, p.second), p.means, strict=True))
    return " and ".join(format_number(means[name], 0) for name in names) + " words"


def _list_ends(found: Outcome) -> Iterable[str]:
    """Measures by which most questions have the same value under every condition: these tell nothing apart."""
    for group, listed in groupby(found.compared[1:], lambda c: c.measure.group):
        told: dict[str, list[str]] = {}
        for measure in (c.measure for c in listed):
            rows = [row for row in zip(*measure.values.values(), strict=True) if None not in row]
            equal = [row[0] for row in rows if len(set(row)) == 1]
            if not rows or len(equal) < _MOST * len(rows):
                continue
            ends = {end: equal.count(end) for end in _ENDS} if measure.share else {}
            end = next((end for end, count in ends.items() if count >= _MOST * len(rows)), None)
            count, where = (len(equal), "equal") if end is None else (ends[end], f"{end:.0f}")
            reason = "nothing" if end is None else _ENDS[end]
            shown = f"{measure.name} in {count:,} of {format_count(len(rows), 'question')}"
            told.setdefault(f"{where} under every condition by {{}}: {reason} to tell them apart by.", []).append(shown)
        yield from (f"{group}: {line.format(', '.join(names))}" for line, names in told.items())
