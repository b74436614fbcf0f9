"""What of an index does not hold at a moment: by the share of a span that states another time."""

from __future__ import annotations

from sensegraph.index.restricted.moment import Spans
from sensegraph.language.dates.intervals import span_through
from sensegraph.types import Chunk, Claim, Description, Source

TIMES = Spans({"c": [(0, 5), (20, 30)]}, {"c": [(10, 20)]}, span=span_through("2020", "2020"))
SURE = Spans(TIMES.holding, TIMES.outside, exclude=True, span=TIMES.span)
TEXT = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"


def test_what_states_another_time_is_blanked_and_with_exclude_what_states_none():
    chunk = Chunk("c", "d", 0, len(TEXT), 1, TEXT)
    assert TIMES.blanked(chunk).text == "abcdefghij" + " " * 10 + "uvwxyzABCDEFGHIJ"
    assert SURE.blanked(chunk).text == "abcde" + " " * 15 + "uvwxyzABCD" + " " * 6
    other = Chunk("other", "d", 0, len(TEXT), 1, TEXT)
    assert TIMES.blanked(other).text == TEXT
    assert SURE.blanked(other).text == " " * len(TEXT)


def test_what_lies_half_outside_is_left_out_and_with_exclude_what_lies_half_inside_is_kept():
    for spans, start, end, out in [
        (TIMES, 0, 10, False),
        (TIMES, 5, 15, True),
        (TIMES, 4, 15, False),
        (TIMES, 10, 20, True),
        (TIMES, 12, 12, False),
        (SURE, 0, 10, False),
        (SURE, 0, 11, True),
        (SURE, 1, 3, False),
        (SURE, 10, 20, True),
        (SURE, 25, 35, False),
        (SURE, 26, 35, True),
        (SURE, 36, 36, True),
    ]:
        assert spans.left_out(Source("c", start, end)) == out, (spans.exclude, start, end)
    assert not TIMES.left_out(Source("other", 0, 10))
    assert SURE.left_out(Source("other", 0, 10))


def test_what_a_model_said_of_its_time_counts_before_where_it_stands():
    inside, outside = Source("c", 0, 5), Source("c", 10, 20)
    assert not TIMES.elsewhere(Description("so", inside))
    assert TIMES.elsewhere(Description("so", outside))
    assert TIMES.elsewhere(Description("so", inside, "2010", "2011"))
    assert not TIMES.elsewhere(Description("so", outside, "2019", "2021"))
    assert TIMES.beyond(Claim("i", "s", "o", "t", "TRUE", "so", "2010", "2011", inside))
    assert TIMES.beyond(Claim("i", "s", "o", "t", "TRUE", "so", "", "", outside))
    assert not TIMES.beyond(Claim("i", "s", "o", "t", "TRUE", "so", "2020", "", outside))
    long = Source("c", 10, 10 + 601)
    assert TIMES.elsewhere(Description("In 2010 it was so.", long))
    assert not TIMES.elsewhere(Description("In 2020 it was so.", long))
    wide = Spans({}, {"c": [(10, 900)]}, span=TIMES.span)
    assert wide.elsewhere(Description("In 2020 it was so.", Source("c", 10, 10 + 600)))
    assert not wide.elsewhere(Description("In 2020 it was so.", long))
    assert wide.elsewhere(Description("So.", Source("c", 20, 400)))
    strict = Spans({}, {}, exclude=True, span=TIMES.span)
    assert strict.elsewhere(Description("It was so.", long))
    assert not strict.elsewhere(Description("In 2020 it was so.", long))
    nothing = Spans({}, {"c": [(0, 700)]})
    assert nothing.elsewhere(Description("In 2020 it was so.", long))
    assert not nothing.elsewhere(Description("In 2020 it was so.", long, "2010"))


def test_a_span_is_known_where_a_statement_that_holds_touches_it():
    assert TIMES.known(Source("c", 4, 10))
    assert not TIMES.known(Source("c", 5, 20))
    said = Spans({}, {}, {Source("c", 10, 20): ("no", "never")})
    assert list(said.against(Source("c", 19, 30))) == ["no", "never"]
    assert list(said.against(Source("c", 0, 11))) == ["no", "never"]
    for beside in (Source("c", 20, 30), Source("c", 0, 10), Source("e", 10, 20)):
        assert list(said.against(beside)) == []
