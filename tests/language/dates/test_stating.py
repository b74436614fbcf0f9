"""What sentences say of time, in four languages (N90; valid time §3, §7)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sensegraph.language.dates.intervals import holds_during, make_interval, span_through
from sensegraph.language.dates.moments import is_readable
from sensegraph.language.dates.stated_dates import stated_in

WRITTEN = "2020-06-15"  # a Monday

ENGLISH = [
    ("In 2011 Anna Berg became CEO of Nordwind.", "2011", ""),
    ("She was CEO from 2011 to 2018.", "2011", "2018"),
    ("She was CEO from 2011 until March 2018.", "2011", "2018-03"),
    ("Since March 2015 the toll is four crowns.", "2015-03", ""),
    ("The toll was four crowns until 31 December 2019.", "", "2019-12-31"),
    ("Between 2010 and 2012 the bridge was closed.", "2010", "2012"),
    ("The price was 12 crowns in 2015.", "2015", "2015"),
    ("The price was 12 crowns on 5 March 2015.", "2015-03-05", "2015-03-05"),
    ("The price was 12 crowns on March 5, 2015.", "2015-03-05", "2015-03-05"),
    ("The price was 12 crowns on the 5th of March 2015.", "2015-03-05", "2015-03-05"),
    ("The price was 12 crowns in Sept. 2015.", "2015-09", "2015-09"),
    ("The price was 12 crowns in March of 2015.", "2015-03", "2015-03"),
    ("The fair was held on 5–8 March 2015.", "2015-03-05", "2015-03-08"),
    ("The fair was held on March 5-8, 2015.", "2015-03-05", "2015-03-08"),
    ("The fair lasted from March to May 2015.", "2015-03", "2015-05"),
    ("Sales rose in Q3 2014.", "2014-07", "2014-09"),
    ("Sales rose in the third quarter of 2014.", "2014-07", "2014-09"),
    ("Sales rose in 2014 Q1.", "2014-01", "2014-03"),
    ("Sales rose in the second half of 2014.", "2014-07", "2014-12"),
    ("Sales rose in the 1990s.", "1990", "1999"),
    ("Trade grew in the 19th century.", "1801", "1900"),
    ("The season 2011/12 was long.", "2011", "2012"),
    ("The season 2011-13 was long.", "2011", "2013"),
    ("The years 2011–2013 were long.", "2011", "2013"),
    ("Before 2010 the office was in Ostby.", "", "2009"),
    ("She left Nordwind in 2018.", "", "2018"),
    ("He resigned on 3 May 2016.", "", "2016-05-03"),
    ("Anna became CEO in 2011 and stayed until 2018.", "2011", "2018"),
    ("She joined in 2004 and resigned in 2009.", "2004", "2009"),
    ("She died in 2015 and was succeeded by Bo Lind.", "", "2015"),
    ("As of 2015, it had 40 members.", "2015", "2015"),
    ("Caesar was killed in 44 BC.", "-0044", "-0044"),
    ("It was so in 12000 AD.", "+12000", "+12000"),
    ("Last year it was so.", "2019", "2019"),
    ("This year it is so.", "2020", "2020"),
    ("It is so next month.", "2020-07", "2020-07"),
    ("It was so last week.", "2020-06-08", "2020-06-14"),
    ("It was so yesterday.", "2020-06-14", "2020-06-14"),
    ("It is so today.", "2020-06-15", "2020-06-15"),
    ("It was so two years ago.", "2018", "2018"),
    ("It was so 3 months ago.", "2020-03", "2020-03"),
    ("It was so ten days ago.", "2020-06-05", "2020-06-05"),
    ("Logged on 2015-03-05.", "2015-03-05", "2015-03-05"),
    ("Logged in 2015-03.", "2015-03", "2015-03"),
    ("Logged on 2015/3/5.", "2015-03-05", "2015-03-05"),
    ("The law is in force since 2015-03-05.", "2015-03-05", ""),
    ("It was so in spring 2015.", "2015", "2015"),
    ("It had 1500 employees.", "", ""),
    ("It cost $2000 and weighed 1500 kg.", "", ""),
    ("There is no date here at all.", "", ""),
    ("Call 555-2015-77.", "", ""),
]
GERMAN = [
    ("Anna Berg wurde 2011 Chefin von Nordwind.", "2011", ""),
    ("Sie war von 2011 bis 2018 Chefin.", "2011", "2018"),
    ("Seit dem Jahr 2015 gilt der neue Preis.", "2015", ""),
    ("Seit März 2015 gilt der neue Preis.", "2015-03", ""),
    ("Der alte Preis galt bis Ende 2018.", "", "2018"),
    ("Zwischen 2010 und 2012 war die Brücke zu.", "2010", "2012"),
    ("Im Jahr 2015 kostete es 12 Kronen.", "2015", "2015"),
    ("Am 5. März 2015 kostete es 12 Kronen.", "2015-03-05", "2015-03-05"),
    ("Am 05.03.2015 kostete es 12 Kronen.", "2015-03-05", "2015-03-05"),
    ("Im Dezember 2015 kostete es 12 Kronen.", "2015-12", "2015-12"),
    ("Im dritten Quartal 2014 stieg der Umsatz.", "2014-07", "2014-09"),
    ("Im 1. Quartal 2014 stieg der Umsatz.", "2014-01", "2014-03"),
    ("In den 1990er Jahren stieg der Umsatz.", "1990", "1999"),
    ("Im 19. Jahrhundert stieg der Umsatz.", "1801", "1900"),
    ("Vor 2010 war das Büro in Ostby.", "", "2009"),
    ("Sie trat 2018 zurück.", "", "2018"),
    ("Sie trat 2018 dem Verein bei.", "2018", ""),
    ("Cäsar wurde 44 v. Chr. ermordet.", "-0044", ""),
    ("Letztes Jahr war es so.", "2019", "2019"),
    ("Im vergangenen Monat war es so.", "2020-05", "2020-05"),
    ("Gestern war es so.", "2020-06-14", "2020-06-14"),
    ("Vor zwei Jahren war es so.", "2018", "2018"),
    ("Vor 3 Tagen war es so.", "2020-06-12", "2020-06-12"),
    ("Ab 1. Januar 2019 gilt es.", "2019-01-01", ""),
    ("Der Ort hat 1500 Einwohner.", "", ""),
]
EAST = [
    ("价格是2015年3月5日的。", "2015-03-05", "2015-03-05"),
    ("2015年3月的价格。", "2015-03", "2015-03"),
    ("2015年的价格。", "2015", "2015"),
    ("从2011年到2018年他是市长。", "2011", "2018"),
    ("自2015年起实行。", "2015", ""),
    ("2015年以来实行。", "2015", ""),
    ("2014年第三季度上升。", "2014-07", "2014-09"),
    ("去年上升。", "2019", "2019"),
    ("昨天上升。", "2020-06-14", "2020-06-14"),
    ("1990年代上升。", "1990", "1999"),
    ("2011年から2018年まで市長だった。", "2011", "2018"),
    ("2018年まで市長だった。", "", "2018"),
    ("2014年第1四半期に上昇した。", "2014-01", "2014-03"),
]
UNREAD = [
    "It was so on 30 February 2015.",
    "It was so on 2018-13-01.",
    "It was so from 2020 to 2018.",
    "Am 31.04.2015 war es so.",
]


@pytest.mark.parametrize(("sentence", "first", "last"), [*ENGLISH, *GERMAN, *EAST])
def test_a_sentence_says_from_when_until_when(sentence: str, first: str, last: str) -> None:
    found = stated_in(sentence, WRITTEN)
    assert (found.first, found.last, found.unread) == (first, last, 0)


def test_the_table_holds_eighty_expressions_and_more() -> None:
    assert len({s for s, _, _ in [*ENGLISH, *GERMAN, *EAST]}) >= 80


@pytest.mark.parametrize("sentence", UNREAD)
def test_a_date_that_no_calendar_has_stays_unknown_and_is_counted(sentence: str) -> None:
    found = stated_in(sentence, WRITTEN)
    assert (found.first, found.last, found.unread) == ("", "", 1)


@pytest.mark.parametrize(
    "sentence", ["Last year it was so.", "Gestern war es so.", "去年上升。", "It was so two weeks ago."]
)
def test_without_the_time_of_writing_what_needs_it_stays_unknown(sentence: str) -> None:
    found = stated_in(sentence)
    assert (found.first, found.last, found.unread) == ("", "", 1)


def test_yesterday_is_unknown_where_only_the_year_of_writing_is_known() -> None:
    assert stated_in("It was so yesterday.", "2020").unread == 1
    assert stated_in("It was so last year.", "2020").first == "2019"


def test_all_that_is_found_is_a_moment() -> None:
    for sentence, first, last in [*ENGLISH, *GERMAN, *EAST]:
        found = stated_in(sentence, WRITTEN)
        assert bool(found.first or found.last) == bool(first or last), sentence
        assert all(is_readable(m) for m in (found.first, found.last) if m)


@pytest.mark.parametrize(
    ("sentence", "earliest"),
    [
        ("After 2010 the office was in Westby.", "2011"),
        ("Nach 2010 war das Büro in Westby.", "2011"),
        ("The clinic is to open after June 2024.", "2024-07"),
        ("She was elected in 2012, after 2010 had brought nothing.", ""),
        ("The landing must be finished no later than June 2022.", ""),
        ("The council will decide by March 2024.", ""),
        ("By the end of 2024 it was open.", ""),
        ("Her contract runs until at least 2021.", ""),
        ("It opens in June 2022 at the latest.", ""),
        ("The school moved no earlier than 2009.", ""),
        ("She was appointed before 2010.", ""),
        ("Her successor will be named before the end of July 2021.", ""),
        ("Der Bau muss spätestens im Juni 2022 fertig sein.", ""),
        ("Der Vertrag läuft mindestens bis 2025.", ""),
        ("It reported 33 vacancies, after 48 in April 2022.", ""),
        ("Sales were up from 4.5 million in 2020.", ""),
        ("Es waren 33 Stellen, gegenüber 48 im April 2022.", ""),
    ],
)
def test_a_bound_is_neither_a_beginning_nor_an_end(sentence: str, earliest: str) -> None:
    found = stated_in(sentence)
    known = ("2012", "") if "elected" in sentence else ("", "")
    assert ((found.first, found.last), found.earliest, found.unread) == (known, earliest, 0)


def test_what_is_not_before_a_moment_does_not_hold_before_it_and_may_behind_it() -> None:
    interval = replace(make_interval("", ""), earliest="2025")
    assert holds_during(interval, span_through("2024", "2024")) is False
    assert holds_during(interval, span_through("2025", "2025")) is None
