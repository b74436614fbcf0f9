"""Whether a text is a transcript, who speaks in it, and what is no speaker."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensegraph.engines.offline.extraction.corpus_reading import (
    observe_documents,
    read_documents,
    survey_documents,
)
from sensegraph.engines.offline.extraction.observations import read_entries
from sensegraph.language.blocks import read_blocks
from sensegraph.language.speakers import find_labels, judge_label, read_turns, split_spoken
from sensegraph.language.transcripts import (
    Talk,
    add_talks,
    find_corpus_speakers,
    find_speakers,
    knows_speakers,
    observe_talk,
)
from sensegraph.types import Chunk

CHAT = (
    "Anna: Shall we light the lamp tonight?\n"
    "Tom: I have no oil left, so you must wait.\n"
    "Anna: When do you get some?\n"
    "Tom: On Friday, I think.\n"
    "Anna: Then we wait for you.\n"
    "Tom: Thank you.\n"
)
SHORT = "Tom: Did you see the boat at the quay?\nIvar: I saw it, it is yours.\n"
PLAIN = [
    pytest.param(read_blocks(text).text, id=f"{path.stem}-{number}")
    for path in sorted((Path(__file__).parents[1] / "data" / "no_transcripts").glob("*.txt"))
    for number, text in enumerate(path.read_text(encoding="utf-8").split("\n=====\n"))
]


def speakers(text: str) -> set[str]:
    return set(find_speakers(observe_talk(text)))


def read(*texts: str) -> tuple[dict[str, str], list[str]]:
    """The speakers of a corpus as the offline engine reads it, and all descriptions."""
    documents = [(Chunk(f"d{i}", f"d{i}", 0, len(t), 0, t, ""),) for i, t in enumerate(texts)]
    seen = observe_documents(documents)
    told, known = survey_documents(seen)
    found = read_documents(list(zip(documents, seen, told, strict=True)))
    return read_entries(known).speakers, [e.description for xs in found for x in xs for e in x.entities]


# ── texts that are transcripts ──


@pytest.mark.parametrize(
    ("text", "who"),
    [
        (CHAT, {"anna", "tom"}),
        (CHAT.upper().replace("ANNA:", "ANNA BERG:").replace("TOM:", "TOM REEVE:"), {"anna berg", "tom reeve"}),
        (CHAT.replace("Anna:", "Project Manager:").replace("Tom:", "Speaker 2:"), {"project manager", "speaker 2"}),
        (
            CHAT.replace("Anna:", "PhD A:").replace("Tom:", "Hon. Bill Reeve (Minister of Lamps):"),
            {"phd a", "hon. bill reeve"},
        ),
        (CHAT.replace("Anna:", "AnnaBerg:").replace("Tom:", "Sage:"), {"annaberg", "sage"}),
        (CHAT.replace(": ", ":\n"), {"anna", "tom"}),
        ("Petra: Kannst du mir helfen?\nUwe: Ich komme gleich zu dir.\n" * 3, {"petra", "uwe"}),
        ("Иван: Вы можете нам помочь?\nОльга: Я скоро к вам приду.\n" * 3, {"иван", "ольга"}),
        ("王芳：你好，你今天来吗？\n李明：我晚上到你家去。\n" * 3, {"王芳", "李明"}),
    ],
    ids=["chat", "capitals", "roles", "notes", "nicknames", "label-above", "german", "russian", "chinese"],
)
def test_a_talk_is_a_transcript_and_its_labels_are_speakers(text: str, who: set[str]) -> None:
    assert speakers(text) == who


def test_turns_are_told_with_their_speaker_from_label_to_label() -> None:
    turns = read_turns(CHAT, {"anna": "Anna", "tom": "Tom"})
    assert [turns.at(CHAT.index(said)) for said in ("Shall", "I have", "When", "Then")] == [
        "Anna",
        "Tom",
        "Anna",
        "Anna",
    ]
    assert CHAT[turns.behind(0) :].startswith(" Shall")


def test_a_talk_whose_lines_are_wrapped_is_one_all_the_same() -> None:
    text = CHAT.replace("so you must", "so you\nmust").replace("Shall we light", "Shall we\nlight")
    assert speakers(read_blocks(text).text) == {"anna", "tom"}


@pytest.mark.parametrize("before", ["", "# A talk\n\n"], ids=["plain", "markdown"])
def test_each_turn_of_a_transcript_is_a_block(before: str) -> None:
    found = read_blocks(before + CHAT)
    text = before + CHAT
    turns = [text[b.start : b.end] for b in found.blocks if b.kind == "turn"]
    assert turns == CHAT.splitlines()
    assert [line for line in found.text.split("\n") if line][-6:] == turns


# ── texts that are none ──


@pytest.mark.parametrize("text", PLAIN)
def test_mails_minutes_forms_and_lists_are_no_transcripts(text: str) -> None:
    assert speakers(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "Anna: yes.\nTom: no.\n" + "The lamp is lit at dusk.\n" * 40,
        "Anna: light the lamp\nTom: buy the oil\n" * 4,
        "Anna: I say that you come, do you?\n" * 6,
        "Oslo: You ski here.\nBergen: We have rain.\nHamar: Do you skate?\nMoss: I was there.\n" * 4,
    ],
    ids=["few lines", "no speech", "nobody answers", "always in one order"],
)
def test_a_text_that_lacks_one_sign_of_talk_is_no_transcript(text: str) -> None:
    assert speakers(text) == set()


@pytest.mark.parametrize(
    "label",
    ["Present", "kind", "From", "Possible values are", "Next meeting", "RuntimeError", "Frage", "Décision", "时间",
     "EP-12", "Signed-off-by", "Of Course",
     "Straße"],
)  # fmt: skip
def test_a_field_a_clause_or_a_code_names_nobody(label: str) -> None:
    assert judge_label(label) == (False, False)


@pytest.mark.parametrize(
    "label",
    ["Anna", "KEVIN O’NEIL", "The Chair", "Professor E", "Mr. Fox", "Rana el Kaliouby", "LiMing", "王芳", "Mark"],
)
def test_a_name_or_a_role_names_somebody_by_itself(label: str) -> None:
    assert judge_label(label) == (True, True)


# ── what the corpus knows ──


def test_a_short_chat_is_a_transcript_where_the_corpus_knows_who_talks() -> None:
    alone = find_corpus_speakers({"short": observe_talk(SHORT)})
    both = find_corpus_speakers({"short": observe_talk(SHORT), "chat": observe_talk(CHAT)})
    assert alone == (frozenset(), frozenset())
    assert both == ({"anna", "tom"}, {"chat", "short"})


def test_minutes_stay_what_they_are_beside_a_talk_of_the_same_people() -> None:
    minutes = "Present: Anna, Tom\nDecision: We buy oil.\nTom: orders it by Friday\n" + "The quay is closed.\n" * 9
    known, works = find_corpus_speakers({"minutes": observe_talk(minutes), "chat": observe_talk(CHAT)})
    assert (known, works) == ({"anna", "tom"}, {"chat"})


def test_who_comes_back_in_short_chats_only_is_a_speaker_too() -> None:
    talks = {f"s{i}": observe_talk(SHORT.replace("boat", f"boat {i}")) for i in range(3)}
    known, works = find_corpus_speakers(talks | {"chat": observe_talk(CHAT)})
    assert known == {"anna", "tom", "ivar"}
    assert len(works) == 4


def test_front_matter_and_mail_fields_make_no_speakers_in_an_index() -> None:
    page = "---\ntitle: Oil\nkind: email\n---\n\nFrom: Anna Berg. To: Tom Reeve.\n\nWe need oil. Do you have {}?\n"
    found, told = read(*(read_blocks(page.format(f"{i} barrels of Port Ellery")).text for i in range(5)))
    assert found == {}
    assert told
    assert not any(t.startswith(("kind:", "Anna Berg:")) for t in told)


def test_a_talk_in_an_index_is_told_under_the_names_of_its_speakers() -> None:
    found, told = read(CHAT + "Tom: I sail to Port Ellery for you.\n", SHORT + "Tom: I think Port Ellery is far.\n")
    assert found == {"anna": "Anna", "tom": "Tom"}
    assert "Tom: I think Port Ellery is far." in told


# ── laws ──

_LINES = st.lists(
    st.sampled_from(
        [
            "Anna: Do you come?",
            "Tom: I come.",
            "Note: we close.",
            "The quay is closed.",
            "IDA HOLM: We see you there.",
            "",
            "X:",
        ]
    ),
    max_size=30,
)


@given(_LINES)
def test_labels_are_spans_in_order(lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    found = find_labels(text)
    assert bool(found) == any(":" in line for line in lines)
    assert all(text[label.end - 1] == ":" for label in found)
    assert [label.start for label in found] == sorted({label.start for label in found})
    assert all(label.named for label in found if label.sure)


@given(st.lists(_LINES, max_size=5).flatmap(lambda parts: st.tuples(st.just(parts), st.permutations(parts))))
@settings(max_examples=50)
def test_what_a_corpus_knows_does_not_depend_on_the_order_of_its_documents(both: tuple[list[list[str]], ...]) -> None:
    one, other = ([observe_talk("\n".join(lines)) for lines in parts] for parts in both)
    assert add_talks(one) == add_talks(other)
    names = [f"w{i}" for i in range(len(one))]
    ordered = {name: observe_talk("\n".join(lines)) for name, lines in zip(names, both[0], strict=True)}
    assert find_corpus_speakers(ordered) == find_corpus_speakers(dict(reversed(ordered.items())))


@given(_LINES)
def test_whoever_speaks_opens_a_line_and_knows_the_talk(lines: list[str]) -> None:
    talk = observe_talk("\n".join(lines) + "\n")
    found = find_speakers(talk)
    assert found <= talk.counts.keys()
    assert not knows_speakers(talk, frozenset())
    assert find_speakers(Talk()) == frozenset()


@given(st.text(alphabet="Anna: I“”.\n", max_size=60))
def test_a_text_is_taken_apart_without_loss(text: str) -> None:
    for size in (0, len(text) // 2, len(text)):
        name, said = split_spoken(text, size)
        assert (f"{name}: {said}" if name else said) == text


@pytest.mark.parametrize(
    ("text", "size", "parts"),
    [
        ("Anna Berg: It works.", 9, ("Anna Berg", "It works.")),
        ("Anna Berg: It works.", 20, ("", "Anna Berg: It works.")),
        ("Anna Berg (host): “It works.”", 40, ("Anna Berg (host)", "“It works.”")),
        ("Note: “It works.”", 40, ("", "Note: “It works.”")),
        ("It works.", 4, ("", "It works.")),
    ],
)
def test_a_name_before_the_words_of_a_span_is_who_says_them(text: str, size: int, parts: tuple[str, str]) -> None:
    assert split_spoken(text, size) == parts
