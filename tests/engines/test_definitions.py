"""Who somebody is and what something is, answered offline: texts, questions, and the first lines of the answers."""

from __future__ import annotations

from random import Random

import pytest

from sensegraph import Corpus, Document
from sensegraph.answering.looked_up_chunks import KEPT, find_named_chunks
from sensegraph.engines.offline.answers.asked import Asked
from sensegraph.engines.offline.answers.composing import compose_answer
from sensegraph.engines.offline.answers.definitions import answer_definition
from sensegraph.engines.offline.answers.source_sentences import read_source_sentences
from sensegraph.language.defining import AskedName, rate_mention, read_asked_name
from sensegraph.questions import Scope
from sensegraph.types import Context, Inquiry, NameCounts, Passage, Source, WordCounts

Texts = dict[str, str]  # title → text


def written(question: str, texts: Texts, name: NameCounts | None = None) -> str:
    passages = tuple(
        Passage("chunk", f"{i:012d}-c", text, 1.0, title, (Source(f"{i:012d}-c", 0, len(text)),), (), 1)
        for i, (title, text) in enumerate(texts.items())
    )
    draft = compose_answer(Inquiry(question, Context(passages), len(texts), counted=WordCounts(9, (), name)))
    for statement in draft.statements:  # what is cited stands there
        for source in statement.sources:
            text = next(p.text for p in passages if p.id == source.chunk)
            assert text[source.start : source.end].strip()
    return "".join(s.text for s in draft.statements)


def first_line(question: str, texts: Texts) -> str:
    return written(question, texts).partition("\n")[0]


KEEPER = {
    "minutes": "Dora Quill met the council in May. Dora Quill is a lock keeper on the Marne canal. "
    "She keeps three locks."
}
TALK = {
    "talk": "MIRA TAL: Hello. I'm your host, Mira Tal, chief editor of the Harbour Review.\n\nJON DEE: Hi.\n\n"
    "MIRA TAL: Today our guest is Jon Dee, a diver and author. Jon is a patient man.\n\nJON DEE: Thanks, Mira."
}
MANUAL = {
    "mkbarge.1": "NAME\n       mkbarge, rmbarge - make and remove barges\n\nSYNOPSIS\n       mkbarge [OPTION]\n\n"
    "DESCRIPTION\n       mkbarge makes a barge of planks. It needs root."
}
GLOSSARY = {"terms": "* **FBO**: Fleet Board of Orl.\n* **GRT**: Gross register tonnage.\n* **Fog**: Cloud on the sea."}

PEOPLE = [
    ("Who is Dora Quill?", KEEPER, "Dora Quill is a lock keeper on the Marne canal."),
    ("Who was Quill?", KEEPER, "Dora Quill is a lock keeper on the Marne canal."),
    ("Tell me about Dora Quill", KEEPER, "Dora Quill is a lock keeper on the Marne canal."),
    ("Can you tell me who Dora Quill is?", KEEPER, "Dora Quill is a lock keeper on the Marne canal."),
    (
        "Who is Dora Quill?",
        {"a": "Rain fell. The lock keeper, Dora Quill, opened the gate by hand on Monday. Everybody was glad."},
        "The lock keeper, Dora Quill, opened the gate by hand on Monday.",
    ),
    (
        "Who is Dora Quill?",
        {"a": "Dora Quill sang. Then Dora Quill, a retired teacher, went home. Dora Quill was tired."},
        "Then Dora Quill, a retired teacher, went home.",
    ),
    (
        "Who is Dora Quill?",
        {"a": "The barge was late. Dora May Quill (born 1950) was a French engineer who drew bridges."},
        "Dora May Quill (born 1950) was a French engineer who drew bridges.",
    ),
    (
        "Who is Mira Tal?",
        TALK,
        "“I'm your host, Mira Tal, chief editor of the Harbour Review.” — Mira Tal",
    ),
    ("Who is Jon Dee?", TALK, "“Today our guest is Jon Dee, a diver and author.” — Mira Tal"),
    (
        "Wer ist Anna Berg?",
        {"a": "Der Hafen war leer. Anna Berg ist eine Lotsin aus Bremen. Sie kam gestern mit dem Boot."},
        "Anna Berg ist eine Lotsin aus Bremen.",
    ),
    (
        "Qui est Léa Morel ?",
        {"a": "Le port était vide. Léa Morel est une pilote de Brest. Elle est venue hier avec le bateau."},
        "Léa Morel est une pilote de Brest.",
    ),
    (
        "¿Quién es Ana Ruiz?",
        {"a": "El puerto estaba vacío. Ana Ruiz es una pilota de Cádiz. Llegó ayer con el barco."},
        "Ana Ruiz es una pilota de Cádiz.",
    ),
]
THINGS = [
    (
        "What is a windlass?",
        {"a": "The crew was tired. They used a windlass all day. A windlass is a machine that lifts an anchor."},
        "A windlass is a machine that lifts an anchor.",
    ),
    (
        "What are windlasses?",
        {"a": "The crew was tired. They used a windlass all day. A windlass is a machine that lifts an anchor."},
        "A windlass is a machine that lifts an anchor.",
    ),
    (
        "What is drayage?",
        {"a": "Costs of drayage rose again. By drayage we mean the transport of goods over a short distance."},
        "By drayage we mean the transport of goods over a short distance.",
    ),
    (
        "What is a Clear copy?",
        {"a": 'A Clear copy costs more. A "Clear" copy of the Paper means a copy that a machine can read with ease.'},
        'A "Clear" copy of the Paper means a copy that a machine can read with ease.',
    ),
    (
        "What does FBO stand for?",
        {"a": "The FBO met on Friday in the old hall. The Fleet Board of Orl (FBO) sets the rates for all ships."},
        "The Fleet Board of Orl (FBO) sets the rates for all ships.",
    ),
    ("What does FBO mean?", GLOSSARY, "**FBO**: Fleet Board of Orl."),
    ("What is fog?", GLOSSARY, "**Fog**: Cloud on the sea."),
    ("what is mkbarge", MANUAL, "mkbarge, rmbarge - make and remove barges."),
    (
        "What is Lent Cargo?",
        {"licence": 'Section 1.\n\n1.4. "Lent Cargo"\n    means goods that a ship holds for another.\n\n1.5. "Ton"'},
        '1.4. "Lent Cargo" means goods that a ship holds for another.',
    ),
    (
        "What is the Tidal?",
        {"a": "You talked about this planner that Bo designed and called ‘the Tidal’ last year. The Tidal sank."},
        "You talked about this planner that Bo designed and called ‘the Tidal’ last year.",
    ),
    (
        "What is the Otter?",
        {"a": "The planner Bluefin, known inside the company as Otter, is quick.", "b": "An otter swims."},
        "The planner Bluefin, known inside the company as Otter, is quick.",
    ),
    (
        "What is Moor Gate?",
        {"Moor Gate": "Built by monks in 1350, it is the oldest gate of the town.", "b": "Moor Gate is a pub."},
        "Built by monks in 1350, it is the oldest gate of the town.",
    ),
    (
        "Was ist ein Poller?",
        {"a": "Der Hafen war leer. Ein Poller ist ein Pfosten, an dem man Schiffe festmacht."},
        "Ein Poller ist ein Pfosten, an dem man Schiffe festmacht.",
    ),
    (
        "Qu'est-ce qu'une bitte ?",
        {"a": "Le port était vide. Une bitte est un poteau sur lequel on amarre les navires."},
        "Une bitte est un poteau sur lequel on amarre les navires.",
    ),
    ("什么是灯塔？", {"a": "港口很安静。灯塔是指引船只的建筑物。昨天有雾。"}, "灯塔是指引船只的建筑物。"),
]


@pytest.mark.parametrize(("question", "texts", "line"), PEOPLE + THINGS)
def test_an_answer_begins_with_the_sentence_that_says_it(question: str, texts: Texts, line: str) -> None:
    assert first_line(question, texts) == line


@pytest.mark.parametrize(("question", "texts", "line"), PEOPLE[:9] + THINGS[:2] + THINGS[7:8])
def test_a_name_in_small_letters_has_the_same_answer(question: str, texts: Texts, line: str) -> None:
    assert written(question.lower(), texts) == written(question, texts)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_chunks_does_not_matter(seed: int) -> None:
    tied = {"a": "We saw Ora Quist run. Ora Quist ran.", "b": "We saw Ora Quist eat. Ora Quist ate."}
    for question, texts, _ in [*PEOPLE, *THINGS, ("Who is Ora Quist?", tied, "")]:
        texts = {**texts, "x": "Nothing is here but the sea and the sky.", **KEEPER, **MANUAL}
        titles = Random(seed).sample(sorted(texts), len(texts))
        answers = {written(question, {t: texts[t] for t in order}) for order in (titles, sorted(texts))}
        assert len(answers) == 1


HERON = {"a": "Heron is a green buoy north of the pier.", "b": "The Heron is the fishing boat of Tom Reeve."}
CHEN = {"a": "Alex Chen is a nurse at the clinic of Bern.", "b": "Alex Chen, the pilot of Lowmouth, wrote of fog."}
ORR = {"Sam Orr (painter)": "Sam Orr (1901–1970) was a Welsh painter.", "Sam Orr (chemist)": "Sam Orr is a chemist."}
KAI = {"a": "Kai Lund is a cook. Kai Lund came late.", "b": "Kai Berg is a judge. Kai Berg was ill. Kai sang."}


@pytest.mark.parametrize(
    ("question", "texts", "heading"),
    [
        ("What is Heron?", HERON, "Several may bear the name Heron:"),
        ("Who is Alex Chen?", CHEN, "Several may bear the name Alex Chen:"),
        ("Who is Sam Orr?", ORR, "Several may bear the name Sam Orr:"),
        ("Who is Kai?", KAI, "“Kai” may stand for several:"),
    ],
)
def test_each_who_bears_a_name_has_a_line(question: str, texts: Texts, heading: str) -> None:
    lines = written(question, texts).split("\n")
    assert lines[0] == heading
    assert sorted(lines[2:]) == sorted(f"- {text.partition('. ')[0].rstrip('.')}." for text in texts.values())


def test_two_full_names_that_begin_like_the_name_have_a_line_each() -> None:
    texts = {"a": "The painter, Samuel Orr, ate with Sam Orr.", "b": "Samantha Orr, head cook"}
    assert written("Who is Sam Orr?", texts).split("\n") == [
        "“Sam Orr” may stand for several:",
        "",
        "- Samantha Orr, head cook.",
        "- The painter, Samuel Orr, ate with Sam Orr.",
    ]


def test_people_of_one_name_have_a_line_each() -> None:
    texts = {"a": "Samuel Orr is a pilot. We saw Sam Orr late.", "b": "Samantha Orr is a nurse. We saw Sam Orr early."}
    for question in ("Which people are called Sam Orr?", "What persons are named Sam Orr?"):
        assert sorted(written(question, texts).splitlines()[2:]) == [
            "- Samantha Orr is a nurse.",
            "- Samuel Orr is a pilot.",
        ]


def test_brackets_behind_a_person_hold_no_other_name() -> None:
    answer = written("Who is Dora Quill?", {"a": "Present: Dora Quill (CEO), Bo Isk (CTO), and the council of Orl."})
    assert answer == "Present: Dora Quill (CEO), Bo Isk (CTO), and the council of Orl."


def test_two_texts_on_one_person_are_not_two_people() -> None:
    texts = {**KEEPER, "letter": "Dora Quill is the keeper of three locks on the canal."}
    assert written("Who is Dora Quill?", texts) == "Dora Quill is the keeper of three locks on the canal."


def test_the_page_that_is_asked_for_by_its_whole_title_comes_first() -> None:
    assert first_line("Who is Sam Orr (chemist)?", ORR) == "Sam Orr is a chemist."


@pytest.mark.parametrize(
    "text",
    [
        "A boat was named Dora Quill's pride. Everybody was glad.",
        "Everybody was glad, since we saw Dora Quill, a better day would come.",
        "Everybody was glad that Dora Quill came.",
        "Dora Quill is one of my favourites.",
        "Dora Quill asked for oil and for a new rope.",
        "Dora Quill, that talk was long.",
        "We have a guest with us, Dora Quill.",
        "Dora Quill: growth would show on old buoys first.",
    ],
)
def test_what_only_looks_like_a_definition_is_none(text: str) -> None:
    assert first_line("Who is Dora Quill?", {"a": text}).startswith("The texts never say outright")


def test_a_common_word_with_an_article_is_no_name_unless_a_text_says_what_it_is() -> None:
    assert "never say outright" not in written("What is the pier?", {"a": "They saw the pier at night. It was wet."})
    assert first_line("What is the pier?", {"a": "The pier is a bridge that ends at sea."}).startswith("The pier is a")


def test_where_no_text_says_it_the_answer_says_so() -> None:
    text = "The barge was late. Everybody was glad that Dora Quill came to the harbour in the evening."
    told = "The texts never say outright who Dora Quill is; they show:"
    assert written("Who is Dora Quill?", {"a": text}) == (
        f"{told}\n\n- Everybody was glad that Dora Quill came to the harbour in the evening."
    )


def test_a_part_of_a_name_stands_for_it_only_near_it_and_where_nobody_else_bears_it() -> None:
    alone = {"a": "We met Kim Ode at noon. Kim is a rower from Lund."}
    assert first_line("Who is Kim Ode?", alone) == "Kim is a rower from Lund."
    shared = {"a": "We met Kim Ode and Kim Sol at noon. Kim is a rower from Lund."}
    assert first_line("Who is Kim Ode?", shared).startswith("The texts never say outright")


def test_where_a_name_comes_from_is_told() -> None:
    text = "Bluefin needs no oil. Bluefin derives from an old word for herring. Bluefin was late."
    assert first_line("Where does the name Bluefin come from?", {"a": text}) == (
        "Bluefin derives from an old word for herring."
    )


def test_what_is_only_called_so_needs_the_sentence_before_it() -> None:
    text = "The yard launched the Tern 5. The ship, known in the yard as Bluefin, was drawn by Ann Lee."
    assert written("What is Bluefin?", {"a": text}).splitlines()[2] == "- The yard launched the Tern 5."
    whole = "The yard launched the Tern 5. Tern 5, known in the yard as Bluefin, was drawn by Ann Lee."
    assert "launched" not in written("What is Bluefin?", {"a": whole})


def test_a_text_in_several_passages_begins_once() -> None:
    """The first sentence of every passage counted as that of a text about the name."""
    parts = {
        "a": "Bluefin\n\nBluefin is a program for tides.",
        "b": "Wait until Bluefin has read the file.\n\nIt is slow.",
    }
    passages = tuple(
        Passage("chunk", name, text, title="Bluefin", sources=(Source(f"{'d' * 12}-{name}", 0, len(text)),))
        for name, text in reversed(parts.items())
    )
    told = answer_definition(Asked("What is Bluefin?", passages, tuple(read_source_sentences(passages, "en"))))
    assert told is not None
    assert told.statements[0].text == "Bluefin is a program for tides."


def test_other_names_and_counts_stand_at_the_end() -> None:
    text = "Bluefin, known inside the company as Project Eel, is a program that plans tides. It is slow."
    counts = NameCounts(12, 4, True)
    assert written("What is Bluefin?", {"a": text}, counts).endswith(
        "\n\nAlso called: Project Eel.\n\nNamed in 12 passages of 4 documents."
    )
    many = written("What is Bluefin?", {"a": text}, NameCounts(200, 2, False))
    assert many.endswith("Named in at least 200 passages of 2 documents.")
    assert written("What is Bluefin?", {"a": text}, NameCounts(200, 1, False)).endswith("Also called: Project Eel.")


def test_another_name_leads_to_what_that_is() -> None:
    texts = {"a": "The planner Bluefin, known inside as Eel, is quick.", "b": "Bluefin is a program that plans tides."}
    assert "Bluefin is a program that plans tides." in written("What is Eel?", texts)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is run-parts?", "run-parts"),
        ("what's a copyleft", "copyleft"),
        ("What is the House of Lords?", "House of Lords"),
        ('What is meant by "salvage"?', "salvage"),
        ("What does the term salvage mean?", "salvage"),
        ("What does the harbour code mean by salvage?", "salvage"),
        ("What counts as a derelict under the harbour code?", "derelict"),
        ("where does the name Bluefin come from", "Bluefin"),
        ("Who is The Who?", "Who"),
        ("What is La Paz?", "La Paz"),
        ("Wofür steht TÜV?", "TÜV"),
        ("Was versteht man unter Bergung?", "Bergung"),
        ("Parle-moi de Brest", "Brest"),
        ("¿Qué significa estribor?", "estribor"),
        ("孔子是谁？", "孔子"),
    ],
)
def test_the_name_is_read_from_the_question(question: str, name: str) -> None:
    found = read_asked_name(question)
    assert found is not None
    assert found.text == name


@pytest.mark.parametrize(
    "question",
    [
        "Who is she?",
        "What is this about?",
        "Who was Dora Quill married to?",
        "What is the difference between a lock and a weir?",
        "When did Dora Quill come?",
        "What is Dora Quill talking about?",
        "Who is responsible for the locks, and why?",
    ],
)
def test_other_questions_ask_for_no_name(question: str) -> None:
    assert read_asked_name(question) is None


def test_what_stands_in_a_question_as_a_description_is_no_name() -> None:
    text = "The road is wide. Paris was the capital of France for long. The capital of France was moved to Tours."
    assert first_line("What is the capital of France?", {"a": text}).startswith("Paris was the capital of France")


def test_sentences_that_say_what_it_is_rate_above_those_that_name_it() -> None:
    name = AskedName("Dora Quill")
    said = ["That's right, Dora Quill.", "Did Dora Quill come?", "Dora Quill is a lock keeper on the Marne."]
    assert max(said, key=lambda text: rate_mention(name, text)) == said[-1]
    assert rate_mention(name, "Yes.") == 0


# ── in a corpus ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Texts that all name the host of a talk, one of which says who that is."""
    talks = [
        Document(f"talk-{i:02}", f"ADA ROWE: Tide {i} is high, says Ada Rowe.\n\nBO ISK: It is, Ada Rowe.", f"Talk {i}")
        for i in range(30)
    ]
    said = "Last year. Ada Rowe is a harbour master from Orl. Bo Isk, a diver, met her."
    root = tmp_path_factory.mktemp("harbour")
    corpus = Corpus.open(root, settings={"engine": "offline", "index": {"parts": ["names"]}})
    corpus.add(talks, [Document("note", said, "Note")])
    corpus.build()
    return corpus


def test_who_is_named_everywhere_is_found_by_the_name(harbour: Corpus) -> None:
    answer = harbour.query("who is ada rowe?")
    assert answer.text.startswith("Ada Rowe is a harbour master from Orl. [1]")
    assert answer.text.endswith("Named in 31 passages of 31 documents.")
    assert answer.citations[0].document == "note"
    assert not answer.abstained


def test_a_filter_keeps_its_documents_out_of_a_definition(harbour: Corpus) -> None:
    answer = harbour.query("Who is Ada Rowe?", scope=Scope(documents=("talk-*",)))
    assert "harbour master" not in answer.text
    assert answer.text.endswith("Named in 30 passages of 30 documents.")


def test_few_chunks_are_given_to_the_engine(harbour: Corpus) -> None:
    passages, counts = find_named_chunks("Who is Ada Rowe?", harbour.index())
    assert len(passages) == KEPT
    assert passages[0].title == "Note"
    assert counts == NameCounts(31, 31, True, ("Ada", "Rowe"))
    assert find_named_chunks("Who is Zed Null?", harbour.index()) == ([], None)
    assert find_named_chunks("Where is Ada Rowe?", harbour.index()) == ([], None)


def test_what_stands_nowhere_has_no_definition(harbour: Corpus) -> None:
    assert harbour.query("Who is Zed Null?").text == "Nothing in this corpus helps to answer the question."


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What does it mean to lease a mooring?", 'To "lease" a mooring means any use for pay by others.'),
        ("What is quayd for?", "quayd is a small program for the lighting of quays."),
        ("What is a mooring famous for?", "The sources do not answer this."),
    ],
)
def test_what_a_word_means_and_what_a_thing_is_for_are_told_by_what_it_is(question: str, first: str) -> None:
    rules = {
        "rules": 'To "lease" a mooring means any use for pay by others. If you lease a mooring, you must '
        "show a lamp. When you lease a mooring you waive all claims to the quay.",
        "manual": "quayd is a small program for the lighting of quays. Start quayd first.",
    }
    assert first_line(question, rules).startswith(first)
