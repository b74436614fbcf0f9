"""Conditions compared, as tables: pairs with their tests, win rates, what verdicts owe to place and length, costs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sensegraph.lab.experiments import sheets
from sensegraph.lab.experiments.experiment import Outcome, Verdicts
from sensegraph.lab.experiments.sheets import format_count, format_number, format_signed, make_table
from sensegraph.lab.judging.judgements import Marks, reasons_by_criterion, theme_shares
from sensegraph.lab.scores.statistics import LEVEL, Pair, count_compared, format_p_value, least_p_values
from sensegraph.types import Usage

HOW = (
    "Tables of every pair of conditions: z and p are those of Wilcoxon's signed-rank test, two-sided, exact below 10 "
    "differences; questions without a difference take no part in them. p Holm is corrected over all pairs of one "
    "table. The 95 % interval is that of the mean difference, or of the win rate, over resampled questions. "
    f"Better is said only where p Holm is below {LEVEL} and the interval leaves out 0 (a rate of 50). n counts the "
    "questions that both conditions have a value for, and z/√n, the effect, is over these, −1 to 1; wins, even and "
    "losses add up to them. p sign is the sign test on wins and losses, p normal that of Shapiro and Wilk's test on "
    "the differences."
)
_NOTE = (
    "Win rates in percent, of the row against the column: win 100, tie 50, loss 0, mean over replicates and questions. "
    f"Bold: p Holm below {LEVEL} and an interval of the difference without 0."
)


def describe_evaluation(found: Outcome) -> str:
    """Who worked, on how much, at what cost: what no table may go without."""
    whole = sum((c.usage for c in found.costs.values()), Usage())
    judging = sum((u for u in found.spent.values()), Usage())
    listed = [r for answers in found.answers.values() for r in answers if not r.failure]
    words = sum(r.words for r in listed) / len(listed) if listed else 0.0
    judge = f", judge {found.judge}" if found.judge else ", no judge"
    questions = format_count(len(found.questions), "question")
    return (
        f"Engine {found.engine}{judge}; {questions}; answers: {_describe_usage(whole)}, "
        f"{whole.seconds:,.1f} s, {words:,.0f} words each on average; measuring: {_describe_usage(judging)}."
    )


def _describe_usage(usage: Usage) -> str:
    calls = usage.calls + usage.embedding_calls
    into = usage.prompt_tokens + usage.embedding_tokens
    return f"{format_count(calls, 'call')}, {into:,} tokens in, {usage.completion_tokens:,} out"


def explain_lack_of_power(listed: Sequence[Pair]) -> str:
    """Why none of these pairs can differ by more than chance, whatever was measured; "" where one can."""
    questions, (bound, corrected) = count_compared(listed), least_p_values(listed)
    if not questions:
        return "no question has a value under two conditions"
    if corrected < LEVEL:
        return ""
    more = f", nor p Holm over {len(listed)} pairs below {format_p_value(corrected)}" if len(listed) > 1 else ""
    return f"with {format_count(questions, 'question')} p cannot be below {format_p_value(bound)}{more}"


def tabulate_pairs(name: str, listed: Sequence[Pair], digits: int = 2, *, rates: bool = False) -> sheets.Table:
    """A row a pair of conditions: means, difference with interval, tests, counts; `rates` are win rates of a judge."""
    what = ["win rate, first", "95 %", "second"] if rates else ["first", "second", "difference", "95 %"]
    head = ["pair", "better", *what, "p Holm", "z", "p", "z/√n", "wins", "even", "losses", "p sign", "p normal", "n"]
    return make_table(f"{name}: every pair of conditions", head, [_make_pair_row(p, digits, rates) for p in listed])


def _make_pair_row(p: Pair, digits: int, rates: bool) -> sheets.Cells:
    interval = p.rate if rates else p.difference
    if not rates:
        between = f"{format_signed(interval.low, digits)} … {format_signed(interval.high, digits)}"
        first, second = (format_number(mean, digits) for mean in p.means)
        figures = [first, second, format_signed(interval.mean, digits), between]
    elif p.n:
        between = f"{format_number(interval.low, digits)} … {format_number(interval.high, digits)}"
        figures = [format_number(interval.mean, digits), between, format_number(100 - interval.mean, digits)]
    else:
        figures = ["–", "–", "–"]
    better = sheets.Cell(p.better or "–", strong=bool(p.better))
    corrected = sheets.Cell(format_p_value(p.p_holm), strong=p.p_holm < LEVEL)
    test = format_signed(p.z), format_p_value(p.p) + (" exact" if p.exact else ""), format_signed(p.effect)
    counts = str(p.wins), str(p.ties), str(p.losses)
    others = format_p_value(p.sign_p), "–" if p.normal is None else format_p_value(p.normal), f"{p.n:,}"
    return [f"{p.first} – {p.second}", better, *figures, corrected, *test, *counts, *others]


def report_verdicts(found: Outcome) -> Iterable[sheets.Section]:
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
    folded = sheets.Fold("Every pair of conditions, with tests", tests)
    parts: list[sheets.Part] = [told_rules, sheets.Grid(tuple(maps), f"{_NOTE} {describe_evaluation(found)}"), folded]
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
    yield sheets.Section("Win rates", tuple(parts))
    yield sheets.Section("Can the judge be trusted?", tuple(_report_bias(found.verdicts)))


def tabulate_win_rates(criterion: str, listed: Sequence[Pair], names: Sequence[str]) -> sheets.Table:
    """The win rate of every condition against every other, one criterion."""
    rates = {}
    for p in listed:
        if p.n:
            for pair, mean in zip(((p.first, p.second), (p.second, p.first)), p.means, strict=True):
                rates[pair] = sheets.Cell(format_number(mean, 1), shade=mean / 100, strong=bool(p.better))
    empty = sheets.Cell("–")
    rows: list[sheets.Cells] = [[row, *(rates.get((row, column), empty) for column in names)] for row in names]
    caption = f"{criterion}, {format_count(max((p.n for p in listed), default=0), 'question')}"
    return make_table(caption, ["", *names], rows)


def _report_bias(found: Verdicts) -> Iterable[sheets.Items | sheets.Table]:
    whole, b = found.bias.whole, found.bias
    shares = [
        ["first place wins, of the verdicts with a winner", _format_percent(whole.first), "50 % is fair"],
        ["same winner in both orders", _format_percent(whole.consistent), "below 60 % differences are noise"],
        ["ties", _format_percent(whole.ties), ""],
        ["replicates that agree", _format_percent(b.agreement), ""],
    ]
    fair = "0 is fair; a control should be below"
    shares += [[f"longer answers win by {c} (Spearman)", format_number(r), fair] for c, r in b.length.items()]
    cells: list[sheets.Cells] = [[label, value, sheets.Cell(words, words=True)] for label, value, words in shares]
    yield make_table("What the verdicts owe to place and length", ["", "share", "how to read it"], cells)
    # what the judge's reasons appeal to, by criterion (edge2024, §5; G43)
    by_criterion = {c: theme_shares(listed) for c, listed in reasons_by_criterion(found.judgements).items()}
    if any(share for appeals in by_criterion.values() for share in appeals.values()):
        named = list(dict.fromkeys(theme for appeals in by_criterion.values() for theme in appeals))
        rows = [[theme, *(_format_percent(appeals.get(theme)) for appeals in by_criterion.values())] for theme in named]
        note = (
            "Share of the reasons that speak of it; wording is matched, in English only. All reasons: verdicts.jsonl."
        )
        yield make_table("What the judge's reasons appeal to", ["", *by_criterion], rows, note)
    yield sheets.Items(b.warnings or ("No warning: neither place nor inconsistency is out of bounds.",))


def _format_percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def tabulate_marks(given: Marks) -> sheets.Table:
    """Scores with their spread over runs and over questions, stated apart."""
    rows = []
    for m in given.marked():
        figures = map(format_number, (m.mean, m.over_runs, m.over_questions))
        rows.append([f"{m.criterion}, {m.condition}", *figures, str(m.missing)])
    head = ["", "mean", "± over runs", "± over questions", "missing"]
    runs = format_count(given.rules.replicates, "run")
    note = f"Standard deviations of the means of {runs}, and of the means of the questions."
    return make_table(f"Scores from {given.rules.low} to {given.rules.high}", head, rows, note)


def describe_wins(criterion: str, listed: Sequence[Pair]) -> str:
    """The wins by one criterion that are more than chance, in a sentence."""
    better = [f"{p.better} {max(p.means):.0f} % over {p.worse}" for p in listed if p.better]
    least = min((p.p_holm for p in listed), default=1.0)
    nothing = f"no difference that is more than chance (least p Holm {format_p_value(least)})"
    if why := explain_lack_of_power(listed):
        nothing = f"{why}: no difference can be more than chance"
    return f"Win rate, {criterion}: {', '.join(better) or nothing}."
