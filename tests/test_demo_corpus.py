"""The bundled documents of Brackwater Labs, and the questions on them, agree with each other and in all their sums."""

from __future__ import annotations

import re
import tomllib
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from importlib.resources import files
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from sensegraph.documents import load

DATA = Path(str(files("sensegraph"))) / "data"
DEMO = DATA / "demo"
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in sorted(DEMO.iterdir())}
QUESTIONS = tomllib.loads((DATA / "demo-questions.toml").read_text(encoding="utf-8"))["questions"]
ASKED = [pytest.param(question, id=str(number)) for number, question in enumerate(QUESTIONS, 1)]

CAST = (
    *("Mara Voss", "Idris Kalloway", "Priya Raman", "Jonas Weil", "Ruth Adeyemi", "Helge Strand", "Dana Whitlock"),
    *("Alexandra Chen", "Samir Haddad", "Lena Okafor", "Tomas Lindqvist", "Owen Pike", "Alexander Chen"),
    *("Viktor Salo", "Celia Brandt", "Ines Duarte", "Greta Thiele", "Nora Bright"),
)
OTHER_NAMES = {
    *("Alex Chen", "Dear Alex", "Dear Celia", "Dear Lena", "Dear Mara", "Dear Viktor", "Dear Mr", "Mr Weil"),
    *("Brackwater Labs", "Quillon Components", "Components Ltd", "Ardent Marine", "Sondra Micro", "Harbour Gazette"),
    *("Selby Sound", "Dunmore Quay", "Isla Marrow", "Cala Verde", "Port Aster", "St Brigid", "Project Lantern"),
}
PAIR = re.compile(r"\b([A-Z][a-z]+)(?= ([A-Z][a-z]+)\b)")
WRAPPED = re.compile(r"(?<=.{60})\n(?=\S)")
OPENERS = {"After", "Amendment", "Between", "By", "From", "In", "The", "With"}  # words that begin a sentence
MONTHS = "January February March April May June July August September October November December".split()


def flat(text: str) -> str:
    """A text with every run of white space as one space."""
    return " ".join(text.split())


def holds(text: str, phrase: str) -> bool:
    """Whether a phrase stands in a text as whole words, in any case: 2.1 does not stand in 2.2.1, nor 7 in QP-7."""
    words = r"(?<![\w-])(?<!\w[.,])" + re.escape(flat(phrase)) + r"(?![\w-]|[.,]\w)"
    return re.search(words, flat(text), re.I) is not None


def number(name: str, pattern: str) -> int:
    """The one number that a document states in these words."""
    found = re.findall(pattern, flat(TEXTS[name]))
    assert len(set(found)) == 1, (name, pattern, found)
    return int(found[0])


def written_date(text: str) -> date:
    """The date that a document bears: of its mail header or front matter, else the first that it tells."""
    if mail := re.search(r"^Date: (\w{3}, .*)$", text, re.M):
        moment: datetime = parsedate_to_datetime(mail[1])
        assert mail[1].startswith(moment.strftime("%a")), mail[1]
        return moment.date()
    if front := re.search(r"\A---\n.*?^date: (\S+)$.*?^---$", text, re.M | re.S):
        return date.fromisoformat(front[1])
    found = re.search(rf"\b(\d\d?) ({'|'.join(MONTHS)}) (20\d\d)\b", text)
    assert found, text[:80]
    return date(int(found[3]), MONTHS.index(found[2]) + 1, int(found[1]))


# ── the documents ──


def test_forty_documents_hold_between_120_and_250_words_each():
    counts = {name: len(text.split()) for name, text in TEXTS.items()}
    assert len(counts) == 40
    assert {name: count for name, count in counts.items() if not 120 <= count <= 250} == {}


def test_the_date_in_the_name_of_a_file_is_the_date_in_its_text():
    assert {name: str(written_date(text)) for name, text in TEXTS.items()} == {name: name[:10] for name in TEXTS}
    assert len(TEXTS) == 40


def test_every_document_is_read_and_has_a_title_line():
    loaded = load([DEMO])
    assert loaded.skipped == ()
    assert [document.id for document in loaded.documents] == list(TEXTS)
    first = {d.id: d.title or next(filter(None, d.text.splitlines())) for d in loaded.documents}
    assert len(set(first.values())) == 40, "each document has a title of its own"
    assert [name for name, title in first.items() if not 2 <= len(title.split()) <= 8] == []


@pytest.mark.parametrize("person", CAST)
def test_each_person_of_the_cast_stands_in_a_document(person: str):
    assert [name for name, text in TEXTS.items() if holds(text, person)]


def test_nobody_else_is_named():
    paired = [
        (name, " ".join(match.groups()))
        for name, text in TEXTS.items()
        for match in PAIR.finditer(WRAPPED.sub(" ", text))
        if match[1] not in OPENERS
    ]
    assert len(paired) > 200
    assert sorted({pair for pair in paired if pair[1] not in {*CAST, *OTHER_NAMES}}) == []


def test_addresses_and_the_telephone_number_are_of_ranges_kept_for_fiction():
    everything = "\n".join(TEXTS.values())
    hosts = re.findall(r"@([\w.-]+\w)", everything)
    assert len(hosts) > 10
    assert {host.rsplit(".", 1)[-1] for host in hosts} == {"example"}
    assert re.findall(r"\+\d[\d ]{8,}", everything) == ["+44 7700 900142"]


def test_the_package_brings_the_documents_and_the_questions_along():
    root = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
    packed = {f.distribution_path.replace("\\", "/") for f in WheelBuilder(str(root)).recurse_included_files()}
    wanted = {f"sensegraph/data/demo/{name}" for name in TEXTS} | {"sensegraph/data/demo-questions.toml"}
    assert len(wanted) == 41
    assert sorted(wanted - packed) == []


# ── the sums ──


def test_the_buoys_in_the_water_follow_from_those_laid_out_and_taken_in():
    january = "2023-01-12-board-minutes.md"
    ports = [int(n) for n in re.findall(r"\b(\d+) at [A-Z]", flat(TEXTS[january]))]
    assert len(ports) == 5
    before = number(january, r"(\d+) Heron buoys are in the water")
    assert before == sum(ports) == 74
    north = "2023-03-28-field-log-norderhaven-dunmore-quay.txt"
    laid = (
        number("2023-03-15-field-log-selby-sound.txt", r"installed (\d+) Heron buoys at Selby Sound"),
        number(north, r"installed (\d+) Heron buoys at Norderhaven"),
        number(north, r"and (\d+) at Dunmore Quay"),
    )
    assert sum(laid) == number(north, r"makes (\d+) buoys in March") == 32
    spring = number(north, r"(\d+) Heron buoys are now in the water")
    assert spring == before + sum(laid)
    aster = number("2023-09-04-sales-minutes.txt", r"Port Aster has signed: (\d+) Heron buoys")
    assert aster == number("2023-11-08-undertow-2.0.md", r"Port Aster, with (\d+) buoys since October")
    winter = number("2024-01-11-board-minutes.md", r"(\d+) Heron buoys are in the water")
    assert winter == spring + aster
    recovered = number("2024-01-11-board-minutes.md", r"water, (\d+) of which are to be recovered")
    assert recovered == number("2023-12-11-cala-verde.txt", r"recover your (\d+) buoys")
    left = number("2024-01-11-board-minutes.md", r"which leaves (\d+)")
    assert left == winter - recovered == 102
    kilbrae = number("2024-03-12-sales-minutes.txt", r"signed today: (\d+) Heron buoys")
    assert kilbrae == number("2024-05-16-field-log-kilbrae.txt", r"installed (\d+) Heron buoys")
    summer = number("2024-05-16-field-log-kilbrae.txt", r"(\d+) buoys are now in the water")
    assert summer == left + kilbrae
    tarnholm = number("2024-10-07-sales-minutes.txt", r"signed for (\d+) Heron 2 buoys")
    assert tarnholm == number("2024-11-19-field-log-tarnholm.txt", r"installed (\d+) Heron 2 buoys")
    assert tarnholm == number("2024-12-12-board-minutes.md", r"(\d+) of them Heron 2")
    last = number("2024-11-19-field-log-tarnholm.txt", r"(\d+) buoys are now in the water")
    assert last == number("2024-12-12-board-minutes.md", r"(\d+) buoys in the water") == summer + tarnholm == 122


def test_the_customers_follow_from_those_who_came_and_left():
    def told(name: str, pattern: str) -> int:
        words = "five fifth six sixth seven seventh".split()
        found = re.findall(pattern, flat(TEXTS[name]))
        assert len(found) == 1, (name, pattern, found)
        return 5 + words.index(found[0]) // 2

    first = flat(TEXTS["2023-01-12-board-minutes.md"])
    listed = re.search(r"has five customers: (.*?)\.", first)
    assert listed
    assert len(re.split(r", | and ", listed[1])) == 5
    aster = told("2023-09-04-sales-minutes.txt", r"Port Aster is the (\w+) customer")
    after_cala_verde = told("2024-01-11-board-minutes.md", r"Cala Verde, Brackwater has (\w+) customers")
    kilbrae = told("2024-03-12-sales-minutes.txt", r"With Kilbrae, BWL has (\w+) customers again")
    tarnholm = told("2024-10-07-sales-minutes.txt", r"Tarnholm is our (\w+) customer")
    last = told("2024-12-12-board-minutes.md", r"Brackwater has (\w+) customers")
    assert (5, aster, after_cala_verde, kilbrae, tarnholm, last) == (5, 6, 5, 6, 7, 7)


def test_two_sensors_for_each_of_the_buoys_of_march_make_the_delivery_the_claim_and_the_contract():
    memo = "2023-08-18-memo-qp-7-drift.md"
    buoys = number(memo, r"(\d+) buoys with \d+ sensors are affected")
    assert buoys == number("2023-03-28-field-log-norderhaven-dunmore-quay.txt", r"makes (\d+) buoys in March")
    assert {
        number("2023-02-20-delivery-note.txt", r"received (\d+) QP-7"),
        number(memo, r"\d+ buoys with (\d+) sensors are affected"),
        number("2023-08-25-claim-q-2302.eml", r"replace all (\d+) sensors"),
        number("2023-11-20-contract-amendment-2.txt", r"replaces (\d+) QP-7 sensors"),
    } == {2 * buoys}


def test_the_contradictions_stand_where_the_questions_need_them():
    ferry, gazette = "2023-05-10-inc-014.md", "2023-05-12-harbour-gazette.txt"
    assert number(ferry, r"(\d+) buoys carry sensors of the new batch") == 31
    assert number(ferry, r"was (\d+) centimetres too high") == 40
    assert number("2023-09-29-inc-014-closed.md", r"was (\d+) centimetres too high") == 40
    assert number(gazette, r"wrong by (\d+) centimetres") == 60
    assert number("2024-02-05-brochure.md", r"[Mm]ore than (\d+)") == 120
    assert holds(TEXTS["2024-01-15-inc-021.md"], "database")
    assert not holds(TEXTS["2024-01-15-inc-021.md"], "certificate")
    assert holds(TEXTS["2024-01-24-inc-021-second-version.md"], "This version replaces that of 15 January")


def test_three_incidents_are_reported_and_no_fourth():
    assert set(re.findall(r"INC-\d+", "\n".join(TEXTS.values()))) == {"INC-014", "INC-021", "INC-027"}


def test_what_nobody_says_stays_unsaid():
    autumn = [text for name, text in TEXTS.items() if "2024-08-14" <= name < "2024-10"]
    assert len(autumn) == 3
    weil = [sentence for text in autumn for sentence in re.split(r"[.!?]\s", text) if "Weil" in sentence]
    assert weil == [
        "On 1 October 2024 Jonas Weil becomes CEO, and Mara Voss follows Helge Strand as chair of the board"
    ]
    revenue = [s for text in TEXTS.values() for s in re.split(r"[.!?]\s", text) if re.search("revenue", s, re.I)]
    assert len(revenue) == 2
    assert {year for s in revenue for year in re.findall(r"20\d\d", s)} == {"2023", "2024"}


# ── the questions ──


def test_there_are_thirty_questions_with_the_same_fields_each():
    assert len(QUESTIONS) == 30
    assert len({question["question"] for question in QUESTIONS}) == 30
    fields = {"question", "answer", "keys", "forbidden", "documents", "kind"}
    assert {frozenset(q.keys() - {"abstains"}) for q in QUESTIONS} == {frozenset(fields)}
    assert all(isinstance(k, list) and k for q in QUESTIONS for k in q["keys"])


@pytest.mark.parametrize("question", ASKED)
def test_the_answer_of_a_question_is_right_by_its_own_keys(question: dict):
    assert question["answer"].endswith(".")
    assert [key for key in question["keys"] if not any(holds(question["answer"], phrase) for phrase in key)] == []
    assert [phrase for phrase in question["forbidden"] if holds(question["answer"], phrase)] == []


@pytest.mark.parametrize("question", [p for p in ASKED if p.values[0]["documents"]])
def test_every_key_of_a_question_stands_in_one_of_its_documents(question: dict):
    assert sorted(set(question["documents"]) - set(TEXTS)) == []
    bodies = [TEXTS[name] for name in question["documents"]]
    assert question["keys"]
    for key in question["keys"]:
        assert any(holds(body, phrase) for body in bodies for phrase in key), key


def test_every_forbidden_phrase_stands_in_a_document_so_that_it_can_mislead():
    phrases = [phrase for question in QUESTIONS for phrase in question["forbidden"]]
    assert len(phrases) > 30
    assert [phrase for phrase in phrases if not any(holds(text, phrase) for text in TEXTS.values())] == []


def test_the_last_question_alone_has_no_answer():
    assert [q["question"] for q in QUESTIONS if q.get("abstains")] == [QUESTIONS[-1]["question"]]
    assert (QUESTIONS[-1]["keys"], QUESTIONS[-1]["documents"]) == ([], [])
    assert all(q["keys"] and q["documents"] for q in QUESTIONS[:-1])
    assert not any(holds(text, "2021") for text in TEXTS.values())


@pytest.mark.parametrize(
    ("text", "phrase", "found"),
    [
        ("Undertow 2.1 adds a monitor.", "2.1", True),
        ("It was Undertow 2.1.", "Undertow 2.1", True),
        ("Undertow 2.2.1 corrects it.", "2.1", False),
        ("Undertow 2.2.1 corrects it.", "Undertow 2.2", False),
        ("the QP-7 sensor", "7", False),
        ("a credit of 48,000 euros", "48", False),
        ("for 5 hours\nand 20 minutes", "5 hours and 20 minutes", True),
        ("Jonas Weil (CTO), Ruth Adeyemi", "jonas weil (CTO)", True),
        ("sensors", "sensor", False),
    ],
)
def test_a_phrase_is_found_as_whole_words(text: str, phrase: str, found: bool):
    assert holds(text, phrase) == found
