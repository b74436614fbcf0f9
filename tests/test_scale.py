"""The measure of an index of many passages (bench/scale.py): its corpus is as it says, all figures are printed."""

from __future__ import annotations

from pathlib import Path

import pytest

import scale

PASSAGES = 60


def test_a_passage_of_the_corpus_names_five_entities_and_has_about_300_bytes():
    documents = [scale.document_of(i, PASSAGES) for i in range(PASSAGES)]
    assert 250 < sum(len(d.text) for d in documents) / PASSAGES < 350
    assert all(name in d.text for i, d in enumerate(documents) for name in scale.named_in(i, PASSAGES))
    assert len({scale.name_of(i) for i in range(5_000)}) == 5_000


@pytest.mark.slow
def test_every_figure_of_a_small_corpus_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    found = {phase: run(tmp_path, scale.Given(PASSAGES)) for phase, run in scale.RUN.items()}
    assert found["build"]["counts"]["documents"] == PASSAGES
    assert PASSAGES / 2 < found["build"]["counts"]["entities"] <= PASSAGES
    assert found["build"]["cpu"] > 0
    assert found["build"]["steps"]["extraction.extract"] > 0
    assert found["update"]["store"]["all"] > found["build"]["store"]["arrays"]
    assert found["more"]["steps"]["extraction.extract"] > 0
    assert all(figures["next"] > 0 for figures in found["questions"]["methods"].values())
    scale.print_tables(found, PASSAGES)
    printed = capsys.readouterr().out
    assert all(f"| {name} |" in printed for name in ("build", "update", "more", "nothing", *scale.METHODS))
