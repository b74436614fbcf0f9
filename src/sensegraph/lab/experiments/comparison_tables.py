"""Conditions compared, as tables: pairs with their tests, win rates, what verdicts owe to place and length, costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from sensegraph.lab.experiments import charts, sheets
from sensegraph.lab.experiments.experiment import Outcome, Verdicts
from sensegraph.lab.experiments.sheets import format_count, format_number, format_signed, make_table
from sensegraph.lab.judging.bias import describe_confounding
from sensegraph.lab.judging.judgements import Marks, reasons_by_criterion, theme_shares
from sensegraph.lab.judging.length_control import FEWEST, ControlledRate
from sensegraph.lab.scores.statistics import (
    EXACT,
    LEVEL,
    Interval,
    Pair,
    count_compared,
    format_p_value,
    least_p_values,
    wilson_interval,
)
from sensegraph.types import Usage

HOW = (
    "Tables of every pair of conditions: z and p are those of Wilcoxon's signed-rank test, two-sided, exact up to "
    f"{EXACT} differences; questions without a difference take no part in them. p Holm is corrected over all pairs of "
    "one measure. The 95 % interval of a mean or a mean difference is that of resampled questions, of a share or a win "
    f"rate Wilson's. Better is said only where p Holm is below {LEVEL} and the interval leaves out 0 (a rate of 50). n "
    "counts the questions that both conditions have a value for, and z/√n, the effect, is over these, −1 to 1; wins, "
    "even and losses add up to them. p sign is the sign test on wins and losses, p normal that of Shapiro and Wilk's "
    "test on the differences."
)
HOW_JUDGED = (
    "Win rates at equal length: the score of a question is modelled as logistic in how much longer the first answer is "
    "(tanh of the difference in words over its spread; Dubois et al. 2024), and the rate is the model's value at no "
    "difference, with the interval of the profile likelihood and the p of the likelihood ratio. Where one side has the "
    f"longer answer in all but {FEWEST - 1} questions or fewer, nothing tells it from length, and no rate is given. Of "
    "a judge whose verdicts follow length, better is said only where a condition also wins the questions in which its "
    "answer is not the longer one (Wilson's interval above 50); of a judge that goes by place, and changes its winner "
    "with it in more than 40 % of the pairs, never. Plain win rates stand beside: they mix quality and length."
)
_NOTE = (
    "Win rates in percent, of the row against the column: win 100, tie 50, loss 0, mean over replicates and questions. "
    "Bold: better by more than chance."
)
_NOT_TOLD = "not told"


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


def tabulate_pairs(
    name: str,
    listed: Mapping[str, Sequence[Pair]],
    digits: int = 2,
    *,
    rates: bool = False,
    higher: str = "better",
) -> sheets.Table:
    """A row a measure and pair of conditions: means, difference with interval, tests, counts.

    `rates` are win rates of a judge. `higher` is what the one with the higher mean is called; it is marked where that
    is better. The measures are named where there are several.
    """
    several = len(listed) > 1
    what = ["win rate, first", "95 %", "second"] if rates else ["first", "second", "difference", "95 %"]
    head = ["pair", higher, *what, "p Holm", "z", "p", "z/√n", "wins", "even", "losses", "p sign", "p normal", "n"]
    rows = []
    for measure, pairs in listed.items():
        made = [_make_pair_row(p, digits, rates, marked=higher == "better") for p in pairs]
        rows += [[sheets.Cell(measure, words=True), *row] for row in made] if several else made
    caption = f"{name}: every pair of conditions"
    return make_table(caption, ["measure", *head] if several else head, rows, name=f"{sheets.make_slug(name)}-pairs")


def _make_pair_row(p: Pair, digits: int, rates: bool, *, marked: bool) -> list[sheets.Cell | str]:
    interval = p.rate if rates else p.difference
    form, figures = partial(format_number, digits=digits), [sheets.Cell("–")] * 3
    ends: sheets.Figures = (("low", interval.low), ("high", interval.high))
    if not rates:
        between = f"{format_signed(interval.low, digits)} … {format_signed(interval.high, digits)}"
        first, second = (_show_figure(form(mean), mean) for mean in p.means)
        apart = _show_figure(format_signed(interval.mean, digits), interval.mean)
        figures = [first, second, apart, sheets.Cell(between, figures=ends)]
    elif p.n:
        between = f"{form(interval.low)} … {form(interval.high)}"
        won, lost = (_show_figure(form(share), share) for share in (interval.mean, 100 - interval.mean))
        figures = [won, sheets.Cell(between, figures=ends), lost]
    better = sheets.Cell(p.better or "–", strong=marked and bool(p.better), words=True)
    corrected = _show_p(p.p_holm, strong=p.p_holm < LEVEL)
    plain = _show_p(p.p, " exact" if p.exact else "", (("exact", float(p.exact)),))
    test = _show_figure(format_signed(p.z), p.z), plain, _show_figure(format_signed(p.effect), p.effect)
    counts = str(p.wins), str(p.ties), str(p.losses)
    others = _show_p(p.sign_p), sheets.Cell("–") if p.normal is None else _show_p(p.normal), f"{p.n:,}"
    return [show_pair(p.first, p.second), better, *figures, corrected, *test, *counts, *others]


def show_pair(first: str, second: str) -> sheets.Cell:
    """Two conditions as a cell; for programs each by itself."""
    return sheets.Cell(f"{first} – {second}", words=True, figures=(("first", first), ("second", second)))


def _show_figure(text: str, value: float) -> sheets.Cell:
    return sheets.Cell(text, figures=(("", value),))


def _show_p(p: float, mark: str = "", more: sheets.Figures = (), *, strong: bool = False) -> sheets.Cell:
    return sheets.Cell(f"{format_p_value(p)}{mark}", strong=strong, figures=(("", p), *more))


def report_verdicts(found: Outcome) -> Iterable[sheets.Section]:
    """The judge's part of the report: win rates at equal length and plain, and what the verdicts owe to place."""
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
    listed = [(c, every, found.verdicts.bias.controlled[c]) for c, every in found.verdicts.pairs.items()]
    controlled = tuple(tabulate_controlled_rates(c, rates, names) for c, _, rates in listed)
    plain = tuple(tabulate_win_rates(criterion, every, names) for criterion, every, _ in listed)
    tests = tuple(tabulate_pairs(criterion, {criterion: every}, 1, rates=True) for criterion, every, _ in listed)
    parts: list[sheets.Part] = [
        told_rules,
        sheets.Grid(controlled, f"{_NOTE} {_NOT_TOLD}: one side is (nearly) always the longer one."),
        *draw_charts(found.verdicts, names),
        *(tabulate_rate_pairs(criterion, every, rates) for criterion, every, rates in listed),
        sheets.Grid(plain, f"{_NOTE} {describe_evaluation(found)}"),
        HOW_JUDGED,
        sheets.Fold("Every pair of conditions by plain win rates, with tests", tests),
    ]
    if found.verdicts.agreement:
        rows: list[sheets.Cells] = [
            [c, str(a.comparisons), str(a.tied), str(a.missing), str(a.even), str(a.decided), _show_share(a.interval)]
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


def draw_charts(found: Verdicts, names: Sequence[str]) -> Iterable[sheets.Picture]:
    """Of each criterion the matrix of win rates at equal length, the rates with intervals, and wins against length."""
    for criterion, every in found.pairs.items():
        rates = found.bias.controlled[criterion]
        name = sheets.make_slug(criterion)
        drawn = {
            "wins": charts.draw_win_matrix(criterion, names, rates),
            "intervals": charts.draw_rates(criterion, every, rates),
            "length": charts.draw_length_effect(criterion, found.judgements),
        }
        for what, svg in drawn.items():
            yield sheets.Picture(f"{what}-{name}", f"{criterion}: {what}", svg)


def tabulate_controlled_rates(criterion: str, rates: Sequence[ControlledRate], names: Sequence[str]) -> sheets.Table:
    """The win rate at equal length of every condition against every other, one criterion."""
    cells = {}
    for r in rates:
        for pair, turned in ((r.pair, False), (r.pair[::-1], True)):
            if r.rate:
                mean = 100 - r.rate.mean if turned else r.rate.mean
                cells[pair] = sheets.Cell(format_number(mean, 1), shade=mean / 100, strong=bool(r.better))
            elif r.n:
                cells[pair] = sheets.Cell(_NOT_TOLD)
    caption = f"{criterion} at equal length, {format_count(max((r.n for r in rates), default=0), 'question')}"
    return _tabulate_matrix(caption, cells, names)


def tabulate_win_rates(criterion: str, listed: Sequence[Pair], names: Sequence[str]) -> sheets.Table:
    """The plain win rate of every condition against every other, one criterion."""
    cells = {}
    for p in listed:
        if p.n:
            for pair, mean in zip(((p.first, p.second), (p.second, p.first)), p.means, strict=True):
                cells[pair] = sheets.Cell(format_number(mean, 1), shade=mean / 100)
    caption = f"{criterion} plain, {format_count(max((p.n for p in listed), default=0), 'question')}"
    return _tabulate_matrix(caption, cells, names)


def _tabulate_matrix(caption: str, cells: Mapping[tuple[str, str], sheets.Cell], names: Sequence[str]) -> sheets.Table:
    empty = sheets.Cell("–")
    rows: list[sheets.Cells] = [[row, *(cells.get((row, column), empty) for column in names)] for row in names]
    return make_table(caption, ["", *names], rows)


def tabulate_rate_pairs(criterion: str, listed: Sequence[Pair], rates: Sequence[ControlledRate]) -> sheets.Table:
    """A row a pair: what is better, the win rate of the first at equal length with its test, and the plain one."""
    rows: list[sheets.Cells] = []
    for p, r in zip(listed, rates, strict=True):
        told = (show_interval(r.rate, 1), _show_p(r.p_holm)) if r.rate else (_NOT_TOLD, "–")
        better = sheets.Cell(r.better or "–", strong=bool(r.better), words=True)
        lengths = f"{r.longer:,}", f"{r.shorter:,}"
        unaided = show_interval(r.unaided, 1) if r.follows_length else "–"
        plain = show_interval(p.rate, 1) if p.n else "–"
        rows.append([show_pair(p.first, p.second), better, *told, unaided, *lengths, plain, f"{p.n:,}"])
    head = ["pair", "better", "at equal length", "p Holm", "not longer", "longer", "shorter", "plain", "n"]
    note = (
        "Win rates of the first in percent with 95 % intervals. Longer, shorter: questions in which its answer is. Not "
        "longer: of the one that is ahead, the win rate where its answer is not the longer one, which decides where a "
        "judge follows length."
    )
    return make_table(f"{criterion}: win rates at equal length, and plain", head, rows, note)


def show_interval(value: Interval, digits: int, n: int | None = None) -> sheets.Cell:
    """A mean with its interval as a cell, and with the number of its questions where that has to be said."""
    mean, low, high = (format_number(v, digits) for v in (value.mean, value.low, value.high))
    figures: sheets.Figures = (("mean", value.mean), ("low", value.low), ("high", value.high))
    text = f"{mean} [{low}, {high}]" + (f" (n {n:,})" if n is not None else "")
    return sheets.Cell(text, figures=(*figures, ("n", float(n))) if n is not None else figures)


def _report_bias(found: Verdicts) -> Iterable[sheets.Items | sheets.Table]:
    whole, b = found.bias.whole, found.bias
    shares: list[tuple[str, sheets.Cell, str]] = [
        ("first place wins, of the verdicts with a winner", _share_of(whole.first, whole.decided), "50 % is fair"),
        ("same winner in both orders", _share_of(whole.consistent, whole.orders), "below 60 % differences are noise"),
        ("ties", _share_of(whole.ties, whole.verdicts - whole.missing), ""),
        ("replicates that agree", _show_percent(b.agreement), ""),
    ]
    for criterion, effect in b.length.items():
        shares.append((f"longer answers win by {criterion}", _show_share(effect.share), "50 % is fair"))
        told = f"0 is fair; a control should be below; p Holm {format_p_value(effect.p_holm)}"
        correlation = sheets.Cell(format_number(effect.correlation), figures=(("mean", effect.correlation),))
        shares.append((f"length and score by {criterion} (rank correlation)", correlation, told))
    cells: list[sheets.Cells] = [[label, value, sheets.Cell(words, words=True)] for label, value, words in shares]
    yield make_table("What the verdicts owe to place and length", ["", "share", "how to read it"], cells)
    # what the judge's reasons appeal to, by criterion (edge2024, §5; G43)
    by_criterion = {c: theme_shares(listed) for c, listed in reasons_by_criterion(found.judgements).items()}
    if any(share for appeals in by_criterion.values() for share in appeals.values()):
        named = list(dict.fromkeys(theme for appeals in by_criterion.values() for theme in appeals))
        appealing: list[sheets.Cells] = [
            [theme, *(_show_percent(appeals.get(theme)) for appeals in by_criterion.values())] for theme in named
        ]
        note = (
            "Share of the reasons that speak of it; wording is matched, in English only. All reasons: verdicts.jsonl."
        )
        yield make_table("What the judge's reasons appeal to", ["", *by_criterion], appealing, note)
    none = "No warning: neither place nor length decides more than chance would."
    yield sheets.Items((*(b.warnings or (none,)), *b.remarks))


def _share_of(share: float | None, count: int) -> sheets.Cell:
    return _show_share(None if share is None else wilson_interval(share, count))


def _show_share(share: Interval | None) -> sheets.Cell:
    """A share from 0 to 1 as percent, with its interval."""
    if share is None:
        return sheets.Cell("–")
    mean, low, high = (100 * v for v in (share.mean, share.low, share.high))
    return sheets.Cell(f"{mean:.1f} % [{low:.1f}, {high:.1f}]", figures=(("mean", mean), ("low", low), ("high", high)))


def _show_percent(share: float | None) -> sheets.Cell:
    return sheets.Cell("–") if share is None else sheets.Cell(f"{100 * share:.1f} %", figures=(("mean", 100 * share),))


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


def describe_wins(criterion: str, listed: Sequence[Pair], rates: Sequence[ControlledRate]) -> str:
    """What is better by one criterion at equal length, with the plain win rates; and what cannot be told."""
    told = []
    for p, r in zip(listed, rates, strict=True):
        plain = f"{max(p.means) if (p.means[0] >= p.means[1]) == (r.better == p.first) else min(p.means):.0f} %"
        if r.better and r.rate:
            mean = r.rate.mean if r.better == p.first else 100 - r.rate.mean
            told.append(f"{r.better} {mean:.0f} % over {r.worse} (plain {plain})")
        elif p.better and not r.can_tell:
            told.append(f"{describe_confounding(r)}; plain, {p.better} wins {max(p.means):.0f} %")
        elif p.better:
            why = "the judge goes by place" if r.held else "not at equal length"
            told.append(f"{p.better} over {p.worse} in plain win rates only ({max(p.means):.0f} %; {why})")
    if told:
        return f"Win rate at equal length, {criterion}: {'; '.join(told)}."
    if why := explain_lack_of_power(listed):
        return f"Win rate at equal length, {criterion}: {why}: no difference can be more than chance."
    least = format_p_value(min((r.p_holm for r in rates), default=1.0))
    return f"Win rate at equal length, {criterion}: no difference that is more than chance (least p Holm {least})."
