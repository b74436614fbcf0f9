import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sensegraph.engines.offline.reports.sentence_choice import Candidate, choose_sentences, is_repeat
from sensegraph.engines.offline.reports.sentence_quality import (
    rate_quality,
    stem_text,
    tidy_sentence,
    weigh_stems,
)
from sensegraph.language.speakers import recase_label
from sensegraph.language.text import detect_language

NEGATIONS = re.compile(r"\b(?:not|never|no|none|nothing|cannot)\b|n't\b", re.IGNORECASE)
MODALS = re.compile(r"\b(?:can|could|may|might|must|shall|should|will|would|ought)\b", re.IGNORECASE)
spoken = st.lists(
    st.sampled_from(
        "and but so well yeah um uh , . ? you know I mean think guess sort of kind like right it is the a not never "
        "don't no can should would might that we we, were going [MUSIC] {pause} because model KEVIN SCOTT: --".split()
    ),
    max_size=25,
).map(" ".join)


# ── stems ──


def test_stems_leave_out_stop_words_and_endings():
    assert stem_text("The proteins were binding to Kevin's viruses.") == ["protein", "bind", "kevin", "virus"]


def test_hyphens_and_curly_apostrophes_do_not_hide_words():
    assert stem_text("Self-driving cars don’t drive") == stem_text("self driving cars don't drive")


def test_german_is_stemmed_as_german():
    assert stem_text("Die Universitäten wurden im Jahr 1810 gegründet.") == ["universitat", "jahr", "1810", "gegrund"]


def test_han_text_becomes_pairs_of_characters_with_latin_words_kept():
    assert stem_text("泰晤士报在Boston") == ["泰晤", "晤士", "士报", "报在", "boston"]
    assert stem_text("水") == ["水"]


def test_the_language_of_a_short_name_can_be_given():
    assert stem_text("Nationen", "de") == stem_text("Die Nationen und die Nation sind hier.", "de")[:1]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The register was signed by the clergyman.", "en"),
        ("Er hat die Stadt nicht wieder gesehen.", "de"),
        ("Il est dans la ville avec les autres.", "fr"),
        ("Los niños están en la casa de su madre.", "es"),
        ("东京是日本的首都。", "zh"),
        ("Москва является столицей России.", "ru"),
        ("القاهرة عاصمة مصر", ""),
        ("Kafka", "en"),
        ("", "en"),
    ],
)
def test_the_language_of_a_text_is_told(text, code):
    assert detect_language(text) == code


# ── tidy ──


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("And, you know, I think that the boom bust cycle is over.", "The boom bust cycle is over."),
        ("So, um, I mean, we, we kind of built it.", "We, we kind of built it."),
        ("That means, like, getting companies to volunteer.", "That means, like, getting companies to volunteer."),
        ("It 's just uh {disfmarker} I {disfmarker} I 'd say that 's fine .", "It's just I I'd say that's fine."),
        ("[MUSIC] Hello there. [Laughter] (laughs)", "Hello there."),
        ("They trained a model, right?", "They trained a model, right?"),
        ("Offer to sell, sell, import, and transfer the Work.", "Offer to sell, sell, import, and transfer the Work."),
        ("Turn left, right, and left again.", "Turn left, right, and left again."),
        ("A gap of 5 mm is allowed.", "A gap of 5 mm is allowed."),
        ("-5 °C is the lowest value.", "-5 °C is the lowest value."),
        ("Get /users/{id} (breakfast included) [ENTER].", "Get /users/{id} (breakfast included) [ENTER]."),
        ("The value of a[0] is that of the first [12].", "The value of a[0] is that of the first."),
        ("This kind of thing never works.", "This kind of thing never works."),
        ("So many people came.", "So many people came."),
        ("I think so.", "I think so."),
        ('Say "git add -u ." here .', 'Say "git add -u ." here.'),
        ("He said **yes.", "He said yes."),
        ("Do you know what I mean?", "Do you know what I mean?"),
        ("[the bank] said so.", "[the bank] said so."),
        ("Es ist, so denke ich, so eine Sache  für die Kinder.", "Es ist, so denke ich, so eine Sache für die Kinder."),
    ],
)
def test_sentences_are_trimmed_lightly(raw, shown):
    assert tidy_sentence(raw) == shown


@given(spoken)
@example("no no not not never never don't don't")
def test_tidying_never_loses_a_negation(sentence):
    assert len(NEGATIONS.findall(tidy_sentence(sentence))) >= len(NEGATIONS.findall(sentence))


_HEARD = {"um", "uh", "music", "pause"}  # hesitations, and what a transcript marks


@given(
    st.lists(
        st.sampled_from(
            "sell, sell Sell import and, right, like, sort of kind of you know, I mean, okay? that that is is mm 5 5 "
            "-5 (break) (music) {id} [ENTER] a[0] um, uh [MUSIC] {pause} the well, so .xz not no".split()
        ),
        max_size=20,
    ).map(" ".join)
)
@example("make, use, offer to sell, sell, import, and transfer the Work.")
@example("go left, right, and sort of straight on, you know, okay?")
@example("and, (music)")  # of which the word in parenthesis is shown, which no recording marks so
def test_a_shown_sentence_is_one_run_of_the_words_of_its_source(sentence):
    tidied = tidy_sentence(sentence)
    told, shown = ([w for w in re.findall(r"\w+", text.casefold()) if w not in _HEARD] for text in (sentence, tidied))
    assert re.search(r"\w", tidied) or not told
    assert shown in [told[i : i + len(shown)] for i in range(len(told) + 1)]


@given(spoken)
def test_tidying_never_loses_a_modal_verb(sentence):
    assert {m.casefold() for m in MODALS.findall(tidy_sentence(sentence))} >= {
        m.casefold() for m in MODALS.findall(sentence)
    }


@given(spoken)
def test_tidying_twice_is_tidying_once(sentence):
    assert tidy_sentence(tidy_sentence(sentence)) == tidy_sentence(sentence)


@given(st.text(max_size=80))
def test_tidying_any_text_leaves_something_of_it(text):
    assert bool(tidy_sentence(text)) == bool(text.strip())


# ── quality ──


BINDS = "The spike protein binds to a receptor on the surface of the cell."
BUILT = "The team built a detector for the spike protein in two weeks."


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (BINDS, "To bind to a receptor on the surface of the cell."),
        (BINDS, "Does the protein bind to a receptor on the cell?"),
        (BINDS, "It binds to it: that is how it gets in I think."),
        (BINDS, "The spike protein binds to a receptor on the surface"),
        (BUILT, "Thank you for joining us on the show today, everyone."),
        (BUILT, "If the team had built a detector for the spike protein."),
        (BUILT, "A detector for the protein of the team of two weeks."),
        ("Die Stadt wurde im Jahr 1810 von den Preußen neu gegründet.", "Die Stadt im Jahr"),
        ("东京是日本的首都也是世界上人口最多的城市之一。", "东京是日本的首都吗？"),
    ],
)
def test_a_sentence_that_stands_alone_is_better(better, worse):
    assert rate_quality(better) >= 0.6 > rate_quality(worse)


@pytest.mark.parametrize(
    "sentence",
    [
        "The spike protein binds to a receptor on the surface.",
        "In nature we have examples like bone and tooth and seashells.",
        "Scrooge scattered the embers of the fire with a poker.",
        "The axial skeleton of the animal contains the spine and the chest.",
    ],
)
def test_a_finite_verb_is_found(sentence):
    assert rate_quality(sentence) >= 0.6


def test_english_rules_do_not_judge_german():
    assert rate_quality("Es wurde im Jahr 1810 von den Preußen in der Stadt neu gegründet.") == 1.0


@given(st.text(max_size=120))
def test_quality_lies_between_nought_and_one(text):
    assert 0 < rate_quality(text) <= 1


# ── speakers ──


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("KEVIN SCOTT", "Kevin Scott"),
        ("FEI-FEI LI", "Fei-Fei Li"),
        ("RANA EL KALIOUBY", "Rana el Kaliouby"),
        ("ANDREW NG", "Andrew Ng"),
        ("JJ ABRAMS", "JJ Abrams"),
        ("RONALD MCDONALD", "Ronald McDonald"),
        ("J.P. MORGAN", "J.P. Morgan"),
        ("TOBI LÜTKE", "Tobi Lütke"),
        ("WENCES CASARES (VOICEOVER)", "Wences Casares"),
        ("Lynne Neagle AM", "Lynne Neagle AM"),
        ("Professor E", "Professor E"),
    ],
)
def test_labels_are_written_as_names(label, name):
    assert recase_label(label) == name


# ── choosing ──


def candidate(text, worth=1.0):
    return Candidate(tuple(stem_text(text)), len(text.split()), worth)


def test_a_near_repeat_is_not_chosen_twice():
    texts = [
        "The virus enters the human cell quickly.",
        "The virus enters human cells very quickly.",
        "Bats carry viruses.",
    ]
    terms = [candidate(text) for text in texts]
    assert choose_sentences(terms, weigh_stems(c.terms for c in terms), 3) == [0, 2]


def test_nothing_that_repeats_what_was_used_is_chosen():
    used = candidate("The virus enters the human cell quickly.")
    assert choose_sentences([used], weigh_stems([used.terms]), 1, [used]) == []


def test_what_is_covered_counts_for_less():
    texts = ["Proteins fold and proteins bind.", "Proteins fold in water slowly.", "Teachers inspire girls in schools."]
    terms = [candidate(text) for text in texts]
    assert set(choose_sentences(terms, weigh_stems(c.terms for c in terms), 2)) >= {2}


def test_worth_decides_between_equals():
    poor, good = candidate("Bats carry viruses.", 0.3), candidate("Schools teach girls.", 1.0)
    assert choose_sentences([poor, good], weigh_stems([poor.terms, good.terms]), 1) == [1]


def test_a_sentence_cut_short_repeats_the_whole():
    whole = stem_text("Proteins bind receptors on the surface of every living cell")
    assert is_repeat(whole[:4], whole)
    assert not is_repeat(stem_text("Teachers inspire girls"), whole)


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=5), max_size=8), st.integers(0, 8))
def test_choices_are_distinct_and_no_more_than_asked_for(sentences, count):
    candidates = [Candidate(tuple(s), max(1, len(s))) for s in sentences]
    chosen = choose_sentences(candidates, weigh_stems(sentences), count)
    assert bool(chosen) == bool(count and any(sentences))
    assert len(chosen) == len(set(chosen)) <= count
    assert all(candidates[i].terms for i in chosen)
