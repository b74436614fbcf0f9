"""What a judge said, as tables: win rates as heat maps, tests, and what the verdicts owe to place and length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sensegraph.lab.experiments.accounts import describe_evaluation
from sensegraph.lab.experiments.experiment import Outcome, Verdicts
from sensegraph.lab.experiments.pair_tables import explain_lack_of_power, tabulate_pairs
from sensegraph.lab.experiments.sheets import (
    Cell,
    Fold,
    Grid,
    Items,
    Part,
    Section,
    Table,
    Words,
    format_count,
    format_number,
    format_p_value,
    make_table,
)
from sensegraph.lab.judging.judgements import Marks, reasons_by_criterion, theme_shares
from sensegraph.lab.scores.pairs import LEVEL, Pair

_NOTE = (
    "Win rates in percent, of the row against the column: win 100, tie 50, loss 0, mean over replicates and questions. "
    f"Bold: p Holm below {LEVEL} and an interval of the difference without 0."
)


def report_verdicts(found: Outcome) -> Iterable[Section]:
    """The judge's part of the report: win rates, and the report on bias that goes with them always."""
    if found.verdicts is None:
        return
    given, rules = found.verdicts.judgements, found.verdicts.judgements.rules
    orders = "both orders" if rules.both_orders else "one order, drawn by the seed"
    flip = " Other winners in the two orders are a tie." if rules.both_orders else ""
    shown = " Shown was only what each answer says alone." if rules.differential else ""
    told_rules = (
        f"Judge {found.judge}, rules {rules.name}: {format_count(rules.replicates, 'replicate')} of every comparison "
        f"in {orders}, {format_count(len(given.verdicts), 'verdict')}, {given.missing:,} of them missing.{flip}{shown}"
    )
    names = [c.name for c in found.conditions]
    listed = list(found.verdicts.pairs.items())
    maps = [tabulate_win_rates(criterion, every, names) for criterion, every in listed]
    tests = tuple(tabulate_pairs(criterion, every, 1, rates=True) for criterion, every in listed)
    folded = Fold("Every pair of conditions, with tests", tests)
    parts: list[Part] = [Words(told_rules), Grid(tuple(maps), f"{_NOTE} {describe_evaluation(found)}"), folded]
    if found.verdicts.agreement:
        rows = [
            [c, str(a.comparisons), str(a.tied), str(a.missing), str(a.even), str(a.decided), _format_percent(a.share)]
            for c, a in found.verdicts.agreement.items()
        ]
        head = ["", "comparisons", "judge tied", "missing", "counts equal", "decided", "agree"]
        note = (
            "Comprehensiveness against the number of claims, diversity against clusters at 0.5: "
            "by majority of verdicts."
        )
        parts.append(make_table("Do judge and counts agree?", head, rows, note))
    yield Section("Win rates", tuple(parts))
    yield Section("Can the judge be trusted?", tuple(_report_bias(found.verdicts)))


def tabulate_win_rates(criterion: str, listed: Sequence[Pair], names: Sequence[str]) -> Table:
    """The win rate of every condition against every other, one criterion."""
    rates = {}
    for p in listed:
        if p.n:
            for pair, mean in zip(((p.first, p.second), (p.second, p.first)), p.means, strict=True):
                rates[pair] = Cell(format_number(mean, 1), shade=mean / 100, strong=bool(p.better))
    rows: list[list[Cell | str]] = [[row, *(rates.get((row, column), Cell("–")) for column in names)] for row in names]
    caption = f"{criterion}, {format_count(max((p.n for p in listed), default=0), 'question')}"
    return make_table(caption, ["", *names], rows)


def _report_bias(found: Verdicts) -> Iterable[Items | Table | Words]:
    whole, b = found.bias.whole, found.bias
    shares = [
        ["first place wins, of the verdicts with a winner", _format_percent(whole.first), "50 % is fair"],
        ["same winner in both orders", _format_percent(whole.consistent), "below 60 % differences are noise"],
        ["ties", _format_percent(whole.ties), ""],
        ["replicates that agree", _format_percent(b.agreement), ""],
        *(
            [f"longer answers win by {c} (Spearman)", format_number(r), "0 is fair; a control should be below"]
            for c, r in b.length.items()
        ),
    ]
    cells: list[list[Cell | str]] = [[label, value, Cell(words, words=True)] for label, value, words in shares]
    yield make_table("What the verdicts owe to place and length", ["", "share", "how to read it"], cells)
    # what the judge's reasons appeal to, by criterion (edge2024, §5; G43)
    by_criterion = {
        criterion: theme_shares(listed) for criterion, listed in reasons_by_criterion(found.judgements).items()
    }
    if any(share for appeals in by_criterion.values() for share in appeals.values()):
        named = list(dict.fromkeys(theme for appeals in by_criterion.values() for theme in appeals))
        rows = [[theme, *(_format_percent(appeals.get(theme)) for appeals in by_criterion.values())] for theme in named]
        note = (
            "Share of the reasons that speak of it; wording is matched, in English only. All reasons: verdicts.jsonl."
        )
        yield make_table("What the judge's reasons appeal to", ["", *by_criterion], rows, note)
    yield Items(b.warnings or ("No warning: neither place nor inconsistency is out of bounds.",))


def _format_percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def tabulate_marks(given: Marks) -> Table:
    """Scores with their spread over runs and over questions, stated apart."""
    rows = [
        [
            f"{m.criterion}, {m.condition}",
            format_number(m.mean),
            format_number(m.over_runs),
            format_number(m.over_questions),
            str(m.missing),
        ]
        for m in given.marked()
    ]
    head = ["", "mean", "± over runs", "± over questions", "missing"]
    runs = format_count(given.rules.replicates, "run")
    note = f"Standard deviations of the means of {runs}, and of the means of the questions."
    return make_table(f"Scores from {given.rules.low} to {given.rules.high}", head, rows, note)


def describe_wins(criterion: str, listed: Sequence[Pair]) -> str:
    """The wins by one criterion that are more than chance, in a sentence."""
    better = [
        f"{p.better} {max(p.means):.0f} % over {p.second if p.better == p.first else p.first}"
        for p in listed
        if p.better
    ]
    least = min((p.p_holm for p in listed), default=1.0)
    nothing = f"no difference that is more than chance (least p Holm {format_p_value(least)})"
    if why := explain_lack_of_power(listed):
        nothing = f"{why}: no difference can be more than chance"
    return f"Win rate, {criterion}: {', '.join(better) or nothing}."
