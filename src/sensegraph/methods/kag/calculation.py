"""Calculation over numbers, dates and sets, without running anything that somebody wrote: the Math of logical forms.

paper: Liang et al. 2024 (KAG) has a model write a program for this, and runs it; here an expression is read by a
grammar of + − × ÷, comparisons and nine functions, and what is not of it is refused. What cannot be worked out is
`Unknown` with its reason, never 0: dates that are missing, units that differ, a division by zero.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import fmean

from sensegraph.language.word_lists import ENGLISH_MONTH, SHORT_MONTHS

LARGEST = 1e18


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its unit, empty where it has none."""

    value: float
    unit: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """A date; month and day are 0 where they are not known."""

    year: int
    month: int = 0
    day: int = 0


@dataclass(frozen=True, slots=True)
class Unknown:
    """What could not be worked out, and why."""

    reason: str


Scalar = str | Number | Moment | bool
Value = Scalar | Unknown | tuple[Scalar, ...]


def read_date(text: str) -> Moment | None:
    """The first date or year that stands in `text`."""
    for pattern, order in _DATES:
        if found := pattern.search(text):
            given = {field: found[i + 1] for i, field in enumerate(order)}
            name = given.get("month", "")
            month = int(name) if name.isdigit() else SHORT_MONTHS.index(name[:3].casefold()) + 1 if name else 0
            moment = Moment(int(given["year"]), month, int(given.get("day", 0)))
            try:
                date(moment.year, moment.month or 1, moment.day or 1)
            except ValueError:
                return Moment(moment.year)
            return moment
    return None


def read_number(text: str) -> Number | None:
    """The first number that stands in `text`, with the word after it as unit; thousands may have commas."""
    found = _NUMBER.search(text)
    if not found:
        return None
    value = float(found[1].replace(",", "").replace("−", "-")) * _SCALES.get((found[2] or "").casefold(), 1.0)
    if not abs(value) <= LARGEST:
        return None
    unit = (found[3] or "").casefold()
    return Number(value, "" if unit in _NO_UNITS else unit)


def read_scalar(value: Scalar) -> Scalar:
    """A text as the date or number that it is, where it is one."""
    return (read_date(value) or read_number(value) or value) if isinstance(value, str) else value


def order_of_value(value: Scalar) -> tuple[float, ...]:
    """What numbers or dates are ordered by."""
    if isinstance(value, Moment):
        return (value.year, value.month, value.day)
    return (value.value,) if isinstance(value, Number) else (0.0,)


def write_value(value: Value) -> str:
    """A value as it is told; a set with commas."""
    if isinstance(value, tuple):
        return ", ".join(map(write_value, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Number):
        number = f"{value.value:,.0f}" if value.value == int(value.value) else f"{value.value:,.4g}"
        return f"{number} {value.unit}".strip()
    if isinstance(value, Moment):
        parts = (f"{value.year:04}", f"{value.month:02}", f"{value.day:02}")
        return "-".join(parts[: 3 if value.day else 2 if value.month else 1])
    return f"unknown ({value.reason})" if isinstance(value, Unknown) else value


_NAMED = rf"({ENGLISH_MONTH})\.?"
_YEAR = r"([12]\d{3}|[3-9]\d{2})"
_DATES = (
    (re.compile(r"\b([12]\d{3})-(\d{2})-(\d{2})\b"), ("year", "month", "day")),
    (re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_NAMED},?\s+{_YEAR}\b", re.I), ("day", "month", "year")),
    (re.compile(rf"\b{_NAMED}\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}\b", re.I), ("month", "day", "year")),
    (re.compile(rf"\b{_NAMED},?\s+{_YEAR}\b", re.I), ("month", "year")),
    (re.compile(r"\b(1\d{3}|20\d{2})\b(?![,.]\d)"), ("year",)),
)  # fmt: skip
_NUMBER = re.compile(
    r"(?i)(?<![\w.\-–])([-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d{1,18}(?:\.\d+)?)\s?(thousand|million|billion|trillion)?\s?(%|[^\W\d_]{1,20})?",
)
_NO_UNITS = frozenset("in of and the to by at on for was is are were with from or a an as that which".split())
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}


MOST_CHARACTERS = 400
MOST_DEPTH = 20
MOST_VALUES = 1_000


class _Refused(ValueError):
    """Ends a calculation; its text is the reason."""


def calculate_expression(content: str, values: Mapping[str, Value]) -> Value:
    """The value of an expression over `values` by their aliases.

    Functions: count, sum, mean, min, max, abs, days (between two dates), union, both (what two sets share).
    """
    if len(content) > MOST_CHARACTERS:
        return Unknown(f"the expression has {len(content)} characters, at most {MOST_CHARACTERS} are read")
    try:
        # The numbers, names and signs of an expression; anything else is refused
        text = content.strip()
        signs, place = list[str](), 0
        while place < len(text):
            found = _SIGN.match(text, place)
            if not found:
                raise _Refused(f"{text[place : place + 20].strip()!r} belongs in no calculation")
            signs.append(found[0].strip())
            place = found.end()
        return _Expression(signs, values).whole()
    except _Refused as e:
        return Unknown(str(e))


def calculate_words(words: str, inputs: Sequence[Value]) -> Value:
    """The value that words ask for over `inputs`: how many, the sum, the difference, which is earlier, the same."""
    rule = next((name for name, pattern in _SPOKEN.items() if re.search(pattern, words, re.I)), "")
    try:
        if not inputs:
            raise _Refused("there is nothing to calculate with")
        if not rule:
            raise _Refused(f"no calculation is known by the words {words[:60]!r}")
        return _check_size(_FUNCTIONS[rule](inputs))
    except _Refused as e:
        return Unknown(str(e))


# ── what words and functions do ──


def _flatten_values(inputs: Sequence[Value]) -> list[Scalar]:
    """All values of all inputs; refused where one is unknown or there are too many."""
    flat: list[Scalar] = []
    for value in inputs:
        if isinstance(value, Unknown):
            raise _Refused(value.reason)
        flat += value if isinstance(value, tuple) else (value,)
    if len(flat) > MOST_VALUES:
        raise _Refused(f"there are {len(flat)} values, at most {MOST_VALUES} are taken")
    return flat


def _comparable_values(inputs: Sequence[Value]) -> list[Number] | list[Moment]:
    """The values as numbers of one unit, or as dates; refused where they are of unlike kinds, or none."""
    flat = [read_scalar(v) for v in _flatten_values(inputs)]
    numbers = [v for v in flat if isinstance(v, Number)]
    moments = [v for v in flat if isinstance(v, Moment)]
    if flat and len(moments) == len(flat):
        return moments
    if not flat or len(numbers) != len(flat):
        raise _Refused("these are not all numbers, nor all dates" if flat else "there is nothing to calculate with")
    if len({n.unit for n in numbers}) > 1:
        raise _Refused(f"the units {' and '.join(sorted({n.unit or 'none' for n in numbers}))} differ")
    return numbers


def _need_numbers(inputs: Sequence[Value]) -> list[Number]:
    found = _comparable_values(inputs)
    numbers = [v for v in found if isinstance(v, Number)]
    if len(numbers) != len(found):
        raise _Refused("dates cannot be added")
    return numbers


def _fold_numbers(inputs: Sequence[Value], fold: Callable[[Iterable[float]], float] = sum) -> Value:
    numbers = _need_numbers(inputs)
    return Number(fold(n.value for n in numbers), numbers[0].unit)


def _difference_between(inputs: Sequence[Value]) -> Value:
    found = _comparable_values(inputs)
    if len(found) != 2:
        raise _Refused(f"a difference is between two values, not {len(found)}")
    one, other = found
    if isinstance(one, Number) and isinstance(other, Number):
        return Number(abs(one.value - other.value), one.unit)
    return Number(float(abs(_need_date(one).year - _need_date(other).year)), "years")


def _days_between(inputs: Sequence[Value]) -> Value:
    found = [_need_date(v) for v in _comparable_values(inputs)]
    if len(found) != 2 or not all(m.day for m in found):
        raise _Refused("days are counted between two whole dates")
    one, other = (date(m.year, m.month, m.day) for m in found)
    return Number(float(abs((one - other).days)), "days")


def _need_date(value: Number | Moment) -> Moment:
    if isinstance(value, Moment):
        return value
    raise _Refused("a date is needed here")


def _absolute_number(inputs: Sequence[Value]) -> Value:
    (one, *_) = numbers = _need_numbers(inputs)
    if len(numbers) != 1:
        raise _Refused("abs takes one number")
    return Number(abs(one.value), one.unit)


def _common_values(inputs: Sequence[Value]) -> Value:
    """What all inputs hold, compared as text without case."""
    sets = [{write_value(v).casefold() for v in _flatten_values([value])} for value in inputs]
    return tuple(
        v for v in dict.fromkeys(_flatten_values(inputs[:1])) if all(write_value(v).casefold() in s for s in sets)
    )


def _share_a_value(inputs: Sequence[Value]) -> Value:
    sets = [{write_value(v).casefold() for v in _flatten_values([value])} for value in inputs]
    if len(sets) < 2 or not all(sets):
        raise _Refused("there are no two values to compare")
    return set.intersection(*sets) != set()


_FUNCTIONS: Mapping[str, Callable[[Sequence[Value]], Value]] = {
    "count": lambda inputs: Number(float(len(dict.fromkeys(_flatten_values(inputs))))),
    "sum": _fold_numbers,
    "mean": lambda inputs: _fold_numbers(inputs, fmean),
    "min": lambda inputs: min(_comparable_values(inputs), key=order_of_value),
    "max": lambda inputs: max(_comparable_values(inputs), key=order_of_value),
    "abs": _absolute_number,
    "days": _days_between,
    "difference": _difference_between,
    "union": lambda inputs: tuple(dict.fromkeys(_flatten_values(inputs))),
    "both": _common_values,
    "same": _share_a_value,
}
_LESS = "min minimum first earlier earliest older oldest smaller smallest fewer fewest less least lower lowest shorter"
_MORE = "max maximum last later latest younger youngest larger largest bigger more most higher highest longer greater"
_SPOKEN = {
    "days": r"\bhow many days\b|\bdays (?:between|from)\b",
    "difference": r"\bdifference\b|\bhow (?:many|much) (?:more|less|fewer|years|older|younger|longer)\b|\bbetween\b",
    "mean": r"\b(?:mean|average)\b",
    "sum": r"\b(?:sum|total|together|combined|altogether)\b",
    "both": r"\b(?:both|intersection|in common|shared?)\b",
    "same": r"\b(?:same|equal)\b",
    "union": r"\b(?:union|either|all of)\b",
    "count": r"\b(?:how many|count|number)\b",
    "min": rf"\b(?:{_LESS.replace(' ', '|')})\b",
    "max": rf"\b(?:{_MORE.replace(' ', '|')})\b",
}


# ── expressions ──


_SIGN = re.compile(r"\s*(?:(\d+(?:,\d{3})*(?:\.\d+)?)|(#?[A-Za-z]\w*|#\d+)|(<=|>=|==|!=|[-+*/×÷−(),<>=≤≥]))")


class _Expression:
    """A recursive descent over the signs: comparison, sum, product, factor."""

    def __init__(self, signs: Sequence[str], values: Mapping[str, Value]) -> None:
        self.signs, self.values, self.place, self.depth = signs, values, 0, 0

    def whole(self) -> Value:
        """The value of all signs."""
        value = self._comparison()
        if self.place < len(self.signs):
            raise _Refused(f"{self.signs[self.place]!r} is one too many")
        return _check_size(value)

    def _next(self, *wanted: str) -> str:
        if self.place < len(self.signs) and (not wanted or self.signs[self.place] in wanted):
            self.place += 1
            return self.signs[self.place - 1]
        return ""

    def _comparison(self) -> Value:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise _Refused(f"the expression is nested more than {MOST_DEPTH} deep")
        left = self._sum()
        if sign := self._next("<", ">", "<=", ">=", "=", "==", "!=", "≤", "≥"):
            left = _compare_quantities(left, _ALIASES.get(sign, sign), self._sum())
        self.depth -= 1
        return left

    def _sum(self) -> Value:
        left = self._product()
        while sign := self._next("+", "-", "−"):
            right = self._product()
            if sign == "+":
                left = _fold_numbers([left, right])
                continue
            one, other = _comparable_values([left, right])
            if isinstance(one, Moment) and isinstance(other, Moment):
                left = Number(float(one.year - other.year), "years")
                continue
            (a,), (b,) = _need_numbers([one]), _need_numbers([other])
            left = Number(a.value - b.value, a.unit)
        return left

    def _product(self) -> Value:
        left = self._factor()
        while sign := self._next("*", "×", "/", "÷"):
            (one,), (other,) = _need_numbers([left]), _need_numbers([self._factor()])
            if sign in "*×":
                if one.unit and other.unit:
                    raise _Refused(f"{one.unit} times {other.unit} is no known unit")
                left = Number(one.value * other.value, one.unit or other.unit)
                continue
            if other.value == 0:
                raise _Refused("a division by zero")
            if other.unit and other.unit != one.unit:
                raise _Refused(f"{one.unit or 'a number'} by {other.unit} is no known unit")
            left = Number(one.value / other.value, "" if other.unit else one.unit)
        return left

    def _factor(self) -> Value:
        if self._next("-", "−"):
            (one,) = _need_numbers([self._factor()])
            return Number(-one.value, one.unit)
        if self._next("("):
            return self._closed(self._comparison())
        sign = self._next()
        if not sign or sign in "+*/×÷)," or sign[0] in "<>=!≤≥":
            raise _Refused(f"a value is missing before {sign or 'the end'!r}")
        if sign[0].isdigit():
            return Number(float(sign.replace(",", "")))
        return self._named(sign)

    def _named(self, name: str) -> Value:
        if self._next("("):
            if name.casefold() not in _FUNCTIONS:
                raise _Refused(f"there is no function {name!r}")
            inputs = [self._comparison()]
            while self._next(","):
                inputs.append(self._comparison())
            return self._closed(_FUNCTIONS[name.casefold()](inputs))
        alias = name.removeprefix("#")
        if alias not in self.values:
            raise _Refused(f"{name!r} is bound to nothing")
        return self.values[alias]

    def _closed(self, value: Value) -> Value:
        if not self._next(")"):
            raise _Refused("a bracket is not closed")
        return value


_ALIASES = {"≤": "<=", "≥": ">=", "==": "="}


def _compare_quantities(left: Value, sign: str, right: Value) -> Value:
    if sign in ("=", "!="):
        return (_share_a_value([left, right]) is True) == (sign == "=")
    one, other = _comparable_values([left, right])
    a, b = order_of_value(one), order_of_value(other)
    known = min(len([x for x in v if x]) for v in (a, b)) if isinstance(one, Moment) else 1
    if isinstance(one, Moment) and a[:known] == b[:known] and a != b:
        raise _Refused("one of the dates is not known well enough to compare")
    return {"<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}[sign]


def _check_size(value: Value) -> Value:
    if isinstance(value, Number) and not abs(value.value) <= LARGEST:
        raise _Refused("the result is too large")
    return value
