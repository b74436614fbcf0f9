"""What `import sensegraph` promises."""

from __future__ import annotations

import pytest

import sensegraph
from sensegraph import errors


@pytest.mark.parametrize("name", sensegraph.__all__)
def test_a_public_name_is_there_and_says_what_it_is(name: str):
    assert getattr(sensegraph, name).__doc__


def test_the_public_names_are_those_of_the_documentation():
    expected = {"Answer", "Citation", "Corpus", "Document", "Evidence", "Passage", "SensegraphError", "Usage"}
    assert expected <= set(sensegraph.__all__)
    assert sensegraph.__all__ == sorted(sensegraph.__all__)


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = sensegraph.nonsense


def test_star_import_gives_exactly_the_public_names():
    assert len(sensegraph.__all__) > 10
    found: dict[str, object] = {}
    exec("from sensegraph import *", found)
    assert found.keys() - {"__builtins__"} == set(sensegraph.__all__)


def test_every_error_stands_in_the_tree_that_the_docstring_draws():
    kinds = [v for v in vars(errors).values() if isinstance(v, type) and issubclass(v, errors.SensegraphError)]
    assert len(kinds) > 5
    for kind in kinds:
        assert kind.__name__ in (errors.__doc__ or "")
