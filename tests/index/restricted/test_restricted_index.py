"""An index as a filter and a moment leave it: what is still there, what is said of it, and what went on between."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.index.restricted.moment import restrict_to_time
from sensegraph.index.restricted.timeline import changes_between, entity_timeline
from sensegraph.questions import Condition, Scope
from sensegraph.types import Document

TEXTS = {
    "press-2012": "Anna Berg became chief executive of Nordwind in 2011. Anna Berg met Bo Lind in Ostby. Nordwind "
    "builds ships for Ostby. Anna Berg praised Nordwind.",
    "press-2016": "Bo Lind became chief executive of Nordwind in 2015. Bo Lind met Cora Dahl in Ostby. Cora Dahl "
    "keeps the Sea Museum of Ostby. The Sea Museum closed in 2019.",
    "press-2020": "Cora Dahl was chief executive of Nordwind from 2018 to 2020. Nordwind left Ostby. The Sea Museum "
    "thanked Cora Dahl and Bo Lind.",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    settings = {"index": {"temporal": {"functional": ["chief executive of"]}, "clusters": {"max_cluster_size": 4}}}
    with Corpus.open(tmp_path_factory.mktemp("press"), settings=settings) as made:
        made.add(
            Document(name, text, name.replace("-", " "), (("year", int(name[-4:])),), f"{name[-4:]}-06-01")
            for name, text in TEXTS.items()
        )
        made.build()
        yield made


def show(corpus: Corpus, scope: Scope) -> dict[str, object]:
    """What is left of the index: documents, names, links, what chunks and reports say, and the notes."""
    index = restrict_to_time(corpus.index(), scope)
    chunks = index.chunks([c.id for c in corpus.index().catalogue.chunks])
    names = {e.id: e.name for e in index.graph.entities}
    return {
        "documents": [d.id for d in index.catalogue.documents],
        "names": [f"{e.name} {e.frequency} {e.degree}" for e in index.graph.entities],
        "links": [f"{names[r.source]} | {names[r.target]} {r.weight:.3f}" for r in index.graph.relations],
        "text": [" ".join(c.text.split()) for c in chunks.values()],
        "reports": [f"{c.title}: {''.join(s.text for s in c.summary).strip()[:60]}" for c in index.hierarchy.clusters],
        "at the top": [c.title for c in index.clusters_at(0)],
        "numbers in notes": [re.findall(r"\d[\d-]*", note) for note in index.notes()],
    }


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (
            Scope(documents=("press-2016",)),
            {
                "documents": ["press-2016"],
                "names": [
                    "Nordwind 2 2",
                    "chief executive 1 4",
                    "Bo Lind 1 3",
                    "Sea Museum of Ostby 1 1",
                    "Cora Dahl 2 5",
                    "Sea Museum 1 1",
                    "Ostby 1 4",
                ],
                "links": [
                    "Cora Dahl | Sea Museum of Ostby 0.292",
                    "Bo Lind | chief executive 0.073",
                    "Bo Lind | Cora Dahl 0.103",
                    "Nordwind | Ostby 0.113",
                    "Cora Dahl | chief executive 0.073",
                    "Sea Museum | Cora Dahl 0.166",
                    "Cora Dahl | Ostby 0.103",
                    "Bo Lind | Ostby 0.153",
                    "chief executive | Ostby 0.049",
                    "Nordwind | chief executive 0.216",
                ],
                "text": [
                    (
                        "Bo Lind became chief executive of Nordwind in 2015. Bo Lind met Cora Dahl in "
                        "Ostby. Cora Dahl keeps the Sea Museum of Ostby. The Sea Museum closed in 2019."
                    )
                ],
                "reports": [
                    "Ostby, Bo Lind: Bo Lind met Cora Dahl in Ostby.\nBo Lind became chief executi",
                    "chief executive, Nordwind: Bo Lind became chief executive of Nordwind in 2015.",
                    (
                        "Cora Dahl, Sea Museum of Ostby, Sea Museum: Cora Dahl keeps the Sea Museum of "
                        "Ostby.\nThe Sea Museum clos"
                    ),
                ],
                "at the top": [
                    "Ostby, Bo Lind",
                    "chief executive, Nordwind",
                    "Cora Dahl, Sea Museum of Ostby, Sea Museum",
                ],
                "numbers in notes": [["1", "3"], ["3", "3"]],
            },
        ),
        (
            Scope(where=(Condition("year", ">", 2012),)),
            {
                "documents": ["press-2016", "press-2020"],
                "names": [
                    "Nordwind 4 2",
                    "chief executive 2 4",
                    "Bo Lind 3 4",
                    "Sea Museum of Ostby 1 1",
                    "Cora Dahl 4 5",
                    "Sea Museum 2 2",
                    "Ostby 3 4",
                ],
                "links": [
                    "Cora Dahl | Sea Museum of Ostby 0.292",
                    "Bo Lind | chief executive 0.073",
                    "Bo Lind | Cora Dahl 0.205",
                    "Nordwind | Ostby 0.227",
                    "Cora Dahl | chief executive 0.146",
                    "Sea Museum | Cora Dahl 0.333",
                    "Bo Lind | Sea Museum 0.092",
                    "Cora Dahl | Ostby 0.205",
                    "Bo Lind | Ostby 0.305",
                    "chief executive | Ostby 0.098",
                    "Nordwind | chief executive 0.431",
                ],
                "text": [
                    (
                        "Bo Lind became chief executive of Nordwind in 2015. Bo Lind met Cora Dahl in "
                        "Ostby. Cora Dahl keeps the Sea Museum of Ostby. The Sea Museum closed in 2019."
                    ),
                    (
                        "Cora Dahl was chief executive of Nordwind from 2018 to 2020. Nordwind left Ostby. "
                        "The Sea Museum thanked Cora Dahl and Bo Lind."
                    ),
                ],
                "reports": [
                    "Bo Lind, Ostby: Bo Lind became chief executive of Nordwind in 2015.\nThe Sea ",
                    ("chief executive, Nordwind: Bo Lind became chief executive of Nordwind in 2015.\nCora Dah"),
                    "Cora Dahl keeps the Sea Museum of Ostby: Cora Dahl keeps the Sea Museum of Ostby.",
                ],
                "at the top": [
                    "Bo Lind, Ostby",
                    "chief executive, Nordwind",
                    "Cora Dahl keeps the Sea Museum of Ostby",
                ],
                "numbers in notes": [["2", "3"], ["2", "3"]],
            },
        ),
        (
            Scope(as_of="2012"),
            {
                "documents": ["press-2012", "press-2016", "press-2020"],
                "names": [
                    "Nordwind 6 3",
                    "chief executive 3 4",
                    "Bo Lind 4 4",
                    "Anna Berg 3 2",
                    "Sea Museum 2 2",
                    "Ostby 4 5",
                ],
                "links": [
                    "Anna Berg | Ostby 0.146",
                    "Bo Lind | chief executive 0.073",
                    "Anna Berg | Nordwind 0.358",
                    "Nordwind | Ostby 0.113",
                    "Bo Lind | Ostby 0.153",
                    "chief executive | Ostby 0.049",
                    "Nordwind | chief executive 0.216",
                ],
                "text": [
                    "The Sea Museum closed in 2019.",
                    "",
                    "Anna Berg became chief executive of Nordwind in 2011. Anna Berg met Bo Lind in Ostby. "
                    "Nordwind builds ships for Ostby. Anna Berg praised Nordwind.",
                ],
                "reports": [
                    "Bo Lind and Ostby: ",
                    "Nordwind, chief executive and Anna Berg: Anna Berg met Bo Lind in Ostby.",
                    "Cora Dahl keeps the Sea Museum of Ostby: ",
                ],
                "at the top": [
                    "Bo Lind and Ostby",
                    "Nordwind, chief executive and Anna Berg",
                    "Cora Dahl keeps the Sea Museum of Ostby",
                ],
                "numbers in notes": [["2012"], ["2"], ["2"]],
            },
        ),
        (
            Scope(as_of="2016", unknown="exclude"),
            {
                "documents": ["press-2012", "press-2016", "press-2020"],
                "names": ["Nordwind 6 3", "chief executive 3 4", "Bo Lind 4 4", "Cora Dahl 4 5", "Ostby 4 5"],
                "links": [
                    "Bo Lind | chief executive 0.073",
                    "Nordwind | Ostby 0.113",
                    "Cora Dahl | chief executive 0.073",
                    "chief executive | Ostby 0.049",
                    "Nordwind | chief executive 0.216",
                ],
                "text": ["Bo Lind became chief executive of Nordwind in 2015.", "", ""],
                "reports": [
                    "Bo Lind and Ostby: ",
                    "Nordwind, chief executive and Anna Berg: ",
                    "Cora Dahl keeps the Sea Museum of Ostby: ",
                ],
                "at the top": [
                    "Bo Lind and Ostby",
                    "Nordwind, chief executive and Anna Berg",
                    "Cora Dahl keeps the Sea Museum of Ostby",
                ],
                "numbers in notes": [["2016"], ["3"]],
            },
        ),
        (
            Scope(documents=("press-2012", "press-2016"), as_of="2012"),
            {
                "documents": ["press-2012", "press-2016"],
                "names": [
                    "Nordwind 4 3",
                    "chief executive 2 4",
                    "Bo Lind 3 3",
                    "Anna Berg 3 2",
                    "Sea Museum 1 1",
                    "Ostby 3 5",
                ],
                "links": [
                    "Anna Berg | Ostby 0.146",
                    "Bo Lind | chief executive 0.073",
                    "Anna Berg | Nordwind 0.358",
                    "Nordwind | Ostby 0.113",
                    "Bo Lind | Ostby 0.153",
                    "chief executive | Ostby 0.049",
                    "Nordwind | chief executive 0.216",
                ],
                "text": [
                    "The Sea Museum closed in 2019.",
                    "Anna Berg became chief executive of Nordwind in 2011. Anna Berg met Bo Lind in Ostby. "
                    "Nordwind builds ships for Ostby. Anna Berg praised Nordwind.",
                ],
                "reports": [
                    "Ostby, Bo Lind: Anna Berg met Bo Lind in Ostby.",
                    "chief executive, Nordwind, Anna Berg: Anna Berg became chief executive of Nordwind in 2011.",
                    "Sea Museum: The Sea Museum closed in 2019.",
                ],
                "at the top": ["Ostby, Bo Lind", "chief executive, Nordwind, Anna Berg", "Sea Museum"],
                "numbers in notes": [["2012"], ["1"], ["2", "3"], ["3", "3"], ["3"]],
            },
        ),
    ],
)
def test_an_index_is_what_a_filter_and_a_moment_leave(
    corpus: Corpus, scope: Scope, expected: dict[str, object]
) -> None:
    assert show(corpus, scope) == expected


def test_no_filter_leaves_the_index_itself(corpus: Corpus) -> None:
    index = corpus.index()
    assert restrict_to_time(index, Scope()) is index


@pytest.mark.parametrize(
    ("name", "since", "until", "expected"),
    [
        (
            "Nordwind",
            "",
            "",
            [
                ("2011 – before 2015", "Anna Berg became chi", "Bo Lind became chief", "functional"),
                ("2015 – before 2018", "Bo Lind became chief", "Cora Dahl was chief ", "functional"),
                ("2018 – 2020", "Cora Dahl was chief ", "", ""),
            ],
        ),
        (
            "Nordwind",
            "",
            "2012",
            [("2011 – before 2015", "Anna Berg became chi", "Bo Lind became chief", "functional")],
        ),
        ("Bo Lind", "", "", [("2015 – before 2018", "Bo Lind became chief", "Cora Dahl was chief ", "functional")]),
        ("Bo Lind", "", "2012", []),
        ("Sea Museum", "", "", [("until 2019", "The Sea Museum close", "", "")]),
        ("Sea Museum", "", "2012", [("until 2019", "The Sea Museum close", "", "")]),
    ],
)
def test_an_entity_has_a_timeline(
    corpus: Corpus, name: str, since: str, until: str, expected: list[tuple[str, str, str, str]]
) -> None:
    index = corpus.index()
    (entity,) = [e for e in index.graph.entities if e.name == name]
    found = entity_timeline(index, entity, since, until)
    assert [(e.when, e.text[:20], e.ended_by[:20], e.reason) for e in found] == expected


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("2010", "2012", [("began", "", "Anna Berg be")]),
        (
            "2011",
            "2021",
            [
                ("changed", "Anna Berg be", "Bo Lind beca"),
                ("changed", "Bo Lind beca", "Cora Dahl wa"),
                ("ended", "The Sea Muse", ""),
            ],
        ),
        ("2012", "2016", [("changed", "Anna Berg be", "Bo Lind beca")]),
        ("2016", "2019", [("changed", "Bo Lind beca", "Cora Dahl wa")]),
        ("2015", "2015", []),
        ("2018", "2021", [("ended", "Cora Dahl wa", ""), ("ended", "The Sea Muse", "")]),
    ],
)
def test_facts_begin_end_and_change_between_two_moments(
    corpus: Corpus, first: str, last: str, expected: list[tuple[str, str, str]]
) -> None:
    found = changes_between(corpus.index(), first, last)
    texts = [(c.what, c.before.text if c.before else "", c.after.text if c.after else "") for c in found]
    assert [(what, before[:12], after[:12]) for what, before, after in texts] == expected


@pytest.mark.parametrize(
    "scope",
    [Scope(documents=("other",)), Scope(where=(Condition("colour", "=", "red"),)), Scope(since="2030"),
     Scope(known_at="2019"), Scope(as_of="2016", between=("2016", "")), Scope(between=("2016", "2015"))],
)  # fmt: skip
def test_a_filter_that_leaves_nothing_or_cannot_be_is_an_error(corpus: Corpus, scope: Scope) -> None:
    with pytest.raises(InputError):
        restrict_to_time(corpus.index(), scope)


@pytest.mark.parametrize(("first", "last"), [("2016", "2015"), ("then", "2016"), ("2015", "now")])
def test_changes_need_two_moments_in_order(corpus: Corpus, first: str, last: str) -> None:
    with pytest.raises(InputError):
        changes_between(corpus.index(), first, last)
