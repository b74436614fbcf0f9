"""Each parser takes twice as long for twice as much, whatever stands in it."""

from __future__ import annotations

import pytest

from growth import DOUBLINGS, FIRST, PARSERS, SHAPES, UNNOTICED, measure_cpu, measure_growth

MOST = 2.3  # a doubling; the square is 4


@pytest.mark.slow
@pytest.mark.parametrize("parser", PARSERS)
def test_five_doublings_of_any_shape_take_a_parser_as_many_times_as_long(parser: str) -> None:
    parse = PARSERS[parser]
    measure_cpu(parse, "Warm. A text of 12 May 1999.")
    measured = 0
    for shape in SHAPES:
        growth, seconds = measure_growth(parse, shape)
        for tries in range(2, 12):  # a busy machine takes longer now and then, and not always
            if growth <= MOST:
                break
            growth, seconds = min((growth, seconds), measure_growth(parse, shape, tries))
        assert growth <= MOST, f"{parser}, {shape!r}: {growth:.2f} a doubling, {seconds:.2f} s"
        measured += 1
    assert measured == len(SHAPES) > 40


def test_a_parser_that_takes_the_square_is_noticed() -> None:
    def parse(text: str) -> int:
        return sum(text.count("-", 0, end) for end in range(len(text)))

    growth, seconds = measure_growth(parse, "a", 3)
    assert growth > MOST
    assert seconds > UNNOTICED * 2**DOUBLINGS
    assert FIRST == 1_000
