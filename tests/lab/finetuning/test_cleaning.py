"""Personal data is out of the data before anything is made of it (R28)."""

from __future__ import annotations

from dataclasses import replace

from finetuning_towns import NO_PAD, asked, example, passage, source
from sensegraph.lab.finetuning.data.example_types import FORMS, DroppedQuestion, SourceQuestion, format_example_line
from sensegraph.lab.finetuning.data.examples import BEGIN, END, make_examples
from sensegraph.lab.finetuning.data.report import Reporter, format_data_report
from sensegraph.lab.finetuning.data.sources import mask_source
from sensegraph.personal.finding import build_finder
from sensegraph.personal.masking import Masker
from sensegraph.personal.personal_settings import PersonalSettings

MAIL = "ada.finch@skerry.example.org"
KINDS = ("email", "phone")


def mask(text: str) -> str:
    return Masker(build_finder(PersonalSettings(kinds=KINDS))).text(text)[0]  # type: ignore[arg-type]


def reachable(number: int) -> SourceQuestion:
    """A question whose answer is an address, which its gold passage and its reasoning quote."""
    gold = replace(passage(number, oracle=True), text=f"{passage(number).text} Write to {MAIL} about lamp {number}.")
    reasoning = f"It says: {BEGIN} Write to {MAIL} about lamp {number}. {END}"
    return replace(asked(number, answers=(MAIL, MAIL)), oracles=(gold,), reasoning=reasoning)


def test_no_form_holds_what_was_masked_and_quotes_are_still_verbatim():
    pool = [replace(passage(n), text=f"{passage(n).text} Mail {n}.{MAIL}.", title=f"Town of {MAIL}") for n in range(40)]
    how = replace(NO_PAD, style="cot")
    clean = mask_source(source([reachable(3), reachable(5), DroppedQuestion("x", "gone")], pool), mask, KINDS)
    reporter = Reporter(clean, how)
    items = list(make_examples(clean.questions, clean.pool, how))
    for item in items:
        reporter.add(item)
    said = "".join(format_example_line(example(i), form) for i in items[:2] for form in FORMS)
    assert "finch@" not in said
    assert "[EMAIL]" in example(items[0]).target
    assert example(items[0]).answers == ("[EMAIL]",)
    report = reporter.report()
    assert report.sound
    assert report.masked is not None
    assert dict(report.masked)["email"] == sum(
        text.count("[EMAIL]")
        for e in map(example, items[:2])
        for text in (e.question, e.target, *(t for p in e.passages for t in (p.title, p.text)))
    )
    assert "personal data replaced: " in format_data_report(report)
    assert items[2] == DroppedQuestion("x", "gone")


def test_data_that_was_not_cleaned_says_nothing_of_it():
    assert Reporter(source([]), NO_PAD).report().masked is None


def test_a_pool_is_cleaned_where_it_is_read():
    passages = [passage(0), replace(passage(1), text=f"Mail {MAIL}.")]
    pool = mask_source(source([], passages), mask, KINDS).pool
    assert (len(pool), pool[0], pool[1].text) == (2, passage(0), "Mail [EMAIL].")
    assert [p.text for p in pool[1:]] == ["Mail [EMAIL]."]
