"""Citation recall and precision on answers made by hand (ALCE), and who says what bears what."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.answering.grounding.citations import (
    ByInference,
    ByWords,
    Citations,
    Reference,
    choose_supporter,
    score_citations,
    split_cited_statements,
)
from sensegraph.errors import SettingsError, UnsupportedTask
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.trials import Check, Support
from wired import runtime

TEXTS = {1: "Oslo is large.", 2: "Bergen is wet.", 3: "Moss is small.", 4: "Oslo is large and old."}
BY_NUMBER = {Reference(n): text for n, text in TEXTS.items()}


def scored(text: str, most: int = 3) -> Citations:
    return score_citations([(split_cited_statements(text), BY_NUMBER)], ByWords(), most)[0]


def test_a_statement_that_its_one_citation_bears_counts_and_so_does_the_citation() -> None:
    found = scored("Oslo is large. [1] Bergen is dry. [2]")
    assert (found.recall, found.precision) == (0.5, 0.5)


def test_a_statement_without_a_citation_is_not_borne() -> None:
    found = scored("Oslo is large. [1] Bergen is wet.")
    assert (found.recall, found.precision, found.uncited) == (0.5, 1.0, 1)


def test_without_any_citation_both_are_0_and_without_a_statement_neither_is_defined() -> None:
    assert (scored("Oslo is large.").recall, scored("Oslo is large.").precision) == (0.0, 0.0)
    assert (scored("").recall, scored("").precision) == (None, None)


def test_of_two_citations_that_are_both_needed_both_count() -> None:
    found = scored("Oslo is large and Bergen is wet. [1][2]")
    assert (found.recall, found.precision) == (1.0, 1.0)


def test_a_citation_that_the_others_do_not_need_does_not_count() -> None:
    found = scored("Oslo is large. [1][3]")
    assert (found.recall, found.precision) == (1.0, 0.5)


def test_two_citations_that_each_suffice_both_count() -> None:
    assert scored("Oslo is large. [1][4]").precision == 1.0


def test_a_citation_that_leads_nowhere_stays_in_the_denominator() -> None:
    found = scored("Oslo is large. [1][9]")
    assert (found.recall, found.precision, found.dangling) == (1.0, 0.5, (Reference(9),))
    assert scored("Oslo is large. [9]").precision == 0.0


def test_a_list_that_goes_on_cannot_be_verified() -> None:
    statements = split_cited_statements("Oslo is large [Data: Reports (1, +more)].")
    (found,) = score_citations([(statements, {Reference(1, "reports"): TEXTS[1]})], ByWords())
    assert (found.recall, found.precision, found.more) == (1.0, 0.5, 1)


def test_at_most_three_citations_of_a_statement_are_scored_but_all_that_lead_nowhere() -> None:
    assert scored("Oslo is large. [1][2][3][4]").scored == 3
    assert scored("Oslo is large. [1][2][3][4][8][9]").scored == 5
    assert scored("Oslo is large. [2][3][1]", most=2).recall == 0.0


def test_no_verdict_is_not_support_and_is_counted() -> None:
    class Silent:
        name, wide = "silence", False

        def supported(self, checks: Sequence[Check]) -> list[Support]:
            return [Support(None, "no verdict") for _ in checks]

    (found,) = score_citations([(split_cited_statements("Oslo is large. [1]"), BY_NUMBER)], Silent())
    assert (found.recall, found.unjudged) == (0.0, 1)


def test_texts_without_a_word_bear_nothing() -> None:
    assert ByWords().supported([Check("Oslo is large.", ("", " ")), Check("Oslo is large.", ())])[0].holds is False


def test_an_engine_that_can_judge_support_does_and_its_verdicts_are_stored(server, store: SqliteStore) -> None:  # type: ignore[no-untyped-def]
    rt = runtime(store, server)
    checks = [Check("Oslo is large.", ("Oslo is large and old.",)), Check("Oslo is small.", ("Oslo is large.",))]
    by = choose_supporter(rt)
    assert by.name == "support by scripted"
    assert [s.holds for s in by.supported(checks)] == [True, False]
    calls = len(server.done())
    assert [s.holds for s in choose_supporter(rt).supported([*checks, Check("Oslo.", ())])] == [True, False, False]
    assert len(server.done()) == calls == 2


def test_words_are_taken_where_the_engine_cannot_judge_and_a_model_is_never_pretended(built) -> None:  # type: ignore[no-untyped-def]
    rt: Runtime = offline(built.runtime())
    assert choose_supporter(rt).name == "lexical support"
    with pytest.raises(UnsupportedTask, match="support"):
        choose_supporter(rt, "model")


def offline(rt: Runtime) -> Runtime:
    from dataclasses import replace

    from sensegraph.engines.offline.engine import ClassicalEngine

    return replace(rt, engine=ClassicalEngine())


def test_inference_needs_its_extra_or_a_folder(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SettingsError, match=r"sensegraph\[rerank\]|is no folder"):
        ByInference(str(tmp_path / "none"))


LABELS = {0: "contradiction", 1: "Entailment", 2: "neutral"}
VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] oslo is large bergen wet .".split()


def tiny(folder: Path, labels: dict[int, str], likeliest: int | None = None) -> Path:
    """A model of inference with a few random weights, of whose labels one may always be the likeliest."""
    torch: Any = pytest.importorskip("torch")
    transformers: Any = pytest.importorskip("transformers")
    pytest.importorskip("sentence_transformers")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=len(VOCABULARY), id2label=labels, max_position_embeddings=64, **sizes)
    model = transformers.BertForSequenceClassification(config)
    if likeliest is not None:
        model.classifier.bias.data[likeliest] = 99.0
    model.save_pretrained(folder)
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@pytest.mark.slow
def test_a_model_of_inference_says_what_its_likeliest_label_is(tmp_path: Path) -> None:
    by = ByInference(str(tiny(tmp_path, LABELS)))
    checks = [Check("Oslo is large.", ("Bergen is wet.",)), Check("Oslo is wet.", ("Oslo is large.", "Oslo is wet."))]
    found = by.supported(checks)
    assert (by.name, [type(s.holds) for s in found]) == (f"support by {tmp_path.name}", [bool, bool])
    assert [by.supported([c])[0] for c in checks] == found
    assert by.supported([]) == []


@pytest.mark.slow
def test_a_model_without_the_label_is_no_model_of_inference(tmp_path: Path) -> None:
    by = ByInference(str(tiny(tmp_path, {0: "no", 1: "yes"})))
    with pytest.raises(SettingsError, match="'entailment'"):
        by.supported([Check("Oslo is large.", ("Bergen is wet.",))])


@pytest.mark.slow
@pytest.mark.parametrize("likeliest", [0, 1, 2])
def test_what_entails_most_is_support(likeliest: int, tmp_path: Path) -> None:
    by = ByInference(str(tiny(tmp_path, LABELS, likeliest)))
    found = by.supported([Check("Oslo is large.", ("Oslo is large.",))])
    assert [s.holds for s in found] == [LABELS[likeliest] == "Entailment"]


@pytest.mark.parametrize("likeliest", [0, 1, 2])
def test_what_entails_most_is_support_whatever_library_says_so(
    likeliest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library stands beyond the edge of the package; here it is one that always says the same."""

    class Saying:
        def __init__(self, folder: str, local_files_only: bool) -> None:
            assert (folder, local_files_only) == (str(tmp_path), True)
            self.model = SimpleNamespace(config=SimpleNamespace(id2label=LABELS))

        def predict(self, pairs: list[tuple[str, str]], show_progress_bar: bool) -> np.ndarray:
            assert (pairs, show_progress_bar) == ([("Oslo is old.\nIt is large.", "Oslo is large.")], False)
            return np.eye(3)[[likeliest]]

    library: Any = ModuleType("sentence_transformers")
    library.CrossEncoder, library.__spec__ = Saying, ModuleSpec("sentence_transformers", None)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    (found,) = ByInference(str(tmp_path)).supported([Check("Oslo is large.", ("Oslo is old.", "It is large."))])
    assert found == Support(LABELS[likeliest] == "Entailment", "")
