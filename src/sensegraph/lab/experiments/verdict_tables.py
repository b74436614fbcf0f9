"""What a judge said, as tables: win rates as heat maps, tests, and what the verdicts owe to place and length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sensegraph.lab.experiments.accounts import stated
from sensegraph.lab.experiments.experiment import Outcome, Verdicts
from sensegraph.lab.experiments.pair_tables import hopeless, pairs
from sensegraph.lab.experiments.sheets import (
    Cell,
    Fold,
    Grid,
    Items,
    Part,
    Section,
    Table,
    Words,
    chance,
    many,
    number,
    table,
)
from sensegraph.lab.judging.marks import Marks
from sensegraph.lab.judging.reasons import reasons, themes
from sensegraph.lab.scores.pairs import LEVEL, Pair

_NOTE = (
    "Win rates in percent, of the row against the column: win 100, tie 50, loss 0, mean over replicates and questions. "
    f"Bold: p Holm below {LEVEL} and an interval of the difference without 0."
)


def sections(found: Outcome) -> Iterable[Section]:
    """The judge's part of the report: win rates, and the report on bias that goes with them always."""
    if found.verdicts is None:
        return
    given, rules = found.verdicts.judgements, found.verdicts.judgements.rules
    orders = "both orders" if rules.both_orders else "one order, drawn by the seed"
    flip = " Other winners in the two orders are a tie." if rules.both_orders else ""
    shown = " Shown was only what each answer says alone." if rules.differential else ""
    told_rules = (
        f"Judge {found.judge}, rules {rules.name}: {many(rules.replicates, 'replicate')} of every comparison "
        f"in {orders}, {many(len(given.verdicts), 'verdict')}, {given.missing:,} of them missing.{flip}{shown}"
    )
    names = [c.name for c in found.conditions]
    listed = list(found.verdicts.pairs.items())
    maps = [heat(criterion, every, names) for criterion, every in listed]
    tests = tuple(pairs(criterion, every, 1, rates=True) for criterion, every in listed)
    folded = Fold("Every pair of conditions, with tests", tests)
    parts: list[Part] = [Words(told_rules), Grid(tuple(maps), f"{_NOTE} {stated(found)}"), folded]
    if found.verdicts.agreement:
        rows = [
            [c, str(a.comparisons), str(a.tied), str(a.missing), str(a.even), str(a.decided), _percent(a.share)]
            for c, a in found.verdicts.agreement.items()
        ]
        head = ["", "comparisons", "judge tied", "missing", "counts equal", "decided", "agree"]
        note = (
            "Comprehensiveness against the number of claims, diversity against clusters at 0.5: "
            "by majority of verdicts."
        )
        parts.append(table("Do judge and counts agree?", head, rows, note))
    yield Section("Win rates", tuple(parts))
    yield Section("Can the judge be trusted?", tuple(_bias(found.verdicts)))


def heat(criterion: str, listed: Sequence[Pair], names: Sequence[str]) -> Table:
    """The win rate of every condition against every other, one criterion."""
    rates = {}
    for p in listed:
        if p.n:
            for pair, mean in zip(((p.first, p.second), (p.second, p.first)), p.means, strict=True):
                rates[pair] = Cell(number(mean, 1), shade=mean / 100, strong=bool(p.better))
    rows: list[list[Cell | str]] = [[row, *(rates.get((row, column), Cell("–")) for column in names)] for row in names]
    caption = f"{criterion}, {many(max((p.n for p in listed), default=0), 'question')}"
    return table(caption, ["", *names], rows)


def _bias(found: Verdicts) -> Iterable[Items | Table | Words]:
    whole, b = found.bias.whole, found.bias
    shares = [
        ["first place wins, of the verdicts with a winner", _percent(whole.first), "50 % is fair"],
        ["same winner in both orders", _percent(whole.consistent), "below 60 % differences are noise"],
        ["ties", _percent(whole.ties), ""],
        ["replicates that agree", _percent(b.agreement), ""],
        *(
            [f"longer answers win by {c} (Spearman)", number(r), "0 is fair; a control should be below"]
            for c, r in b.length.items()
        ),
    ]
    cells: list[list[Cell | str]] = [[label, value, Cell(words, words=True)] for label, value, words in shares]
    yield table("What the verdicts owe to place and length", ["", "share", "how to read it"], cells)
    # what the judge's reasons appeal to, by criterion (edge2024, §5; G43)
    by_criterion = {criterion: themes(listed) for criterion, listed in reasons(found.judgements).items()}
    if any(share for appeals in by_criterion.values() for share in appeals.values()):
        named = list(dict.fromkeys(theme for appeals in by_criterion.values() for theme in appeals))
        rows = [[theme, *(_percent(appeals.get(theme)) for appeals in by_criterion.values())] for theme in named]
        note = (
            "Share of the reasons that speak of it; wording is matched, in English only. All reasons: verdicts.jsonl."
        )
        yield table("What the judge's reasons appeal to", ["", *by_criterion], rows, note)
    yield Items(b.warnings or ("No warning: neither place nor inconsistency is out of bounds.",))


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def marks(given: Marks) -> Table:
    """Scores with their spread over runs and over questions, stated apart."""
    rows = [
        [f"{m.criterion}, {m.condition}", number(m.mean), number(m.over_runs), number(m.over_questions), str(m.missing)]
        for m in given.marked()
    ]
    head = ["", "mean", "± over runs", "± over questions", "missing"]
    note = (
        f"Standard deviations of the means of {many(given.rules.replicates, 'run')}, and of the means of the questions."
    )
    return table(f"Scores from {given.rules.low} to {given.rules.high}", head, rows, note)


def told(criterion: str, listed: Sequence[Pair]) -> str:
    """The wins by one criterion that are more than chance, in a sentence."""
    better = [
        f"{p.better} {max(p.means):.0f} % over {p.second if p.better == p.first else p.first}"
        for p in listed
        if p.better
    ]
    least = min((p.p_holm for p in listed), default=1.0)
    nothing = f"no difference that is more than chance (least p Holm {chance(least)})"
    if why := hopeless(listed):
        nothing = f"{why}: no difference can be more than chance"
    return f"Win rate, {criterion}: {', '.join(better) or nothing}."
