"""What every method does where nothing is said: a setting that changes is a change that users notice."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from sensegraph.methods import load_method

SETTINGS = """
graphrag: depth=2 context_tokens=8000 seed=0 select='score' threshold=0.7 top=0 least_grade=1 votes=1
  keep_parents=False
local: context_tokens=12000 text=0.5 reports=0.1 history=0.1 top_entities=10 top_relations=10 hops=1
drift: primer_reports=20 primer_folds=5 rounds=3 width=5 depth=2 hyde='auto' context_tokens=12000 text=0.5
  reports=0.1 top_entities=10 top_relations=10 same_question=0.95 stop_score=0.0 reduce_tokens=8000 max_calls=40
  seed=0
ts: context_tokens=8000 seed=0
hybrid: vector=20 bm25=10 graph=20 hops=1 c=60.0 vector_weight=0.1 bm25_weight=1.0 graph_weight=1.0 fusion='prior'
  text_share=0.3 damping=0.7 seed_floor=0.5 k=10 context_tokens=8000 diversify='none' balance=0.7
walk: borne=0.6 text=0.3 named=0.1 first=50 power=3.0 damping=0.7 steps=8 bridge=1.0 bridges=5 covered=0.1
  titled=0.8 mentioned=0.4 untied=0.05 spread=10 dialogue=0.5 hubbed=0.3 linked=0.25 k1=1.2 b=0.6 top=100
  context_tokens=8000 diversify='none' balance=0.7
bm25: k=10 context_tokens=8000 diversify='none' balance=0.7
lazygraphrag: budget=100 questions=3 tests=5 batch=5 patience=5 best=5 neighbours=1 shown=100 refined=True
  hypothesis=False unit='chunk' ranking='auto' context_tokens=8000
fastgraphrag: named_floor=0.4 named_top=1 generic_floor=0.0 generic_top=20 exact=True specificity=False damping=0.85
  tolerance=0.001 floor=0.005 entities=128 relations=64 chunks=8 mention=0.25 edges='simple' identity='auto'
  identity_floor=0.8 identity_neighbours=3 entity_tokens=4000 relation_tokens=3000 text_tokens=9000 refined=True
lightrag: preset='current' mode='auto' top=0 entity_tokens=0 relation_tokens=0 text_tokens=0 chunks=20
  cosine_floor=0.2 related=5 sources=200 selection='vector' ranking='auto' keywords='joined' named=True refined=True
leanrag: seeds=10 chunks=5 by='auto' root='auto' relations=True findings=False context_tokens=12000
hirag: mode='hirag' top=20 top_m=10 cosine_floor=0.2 by='auto' depth=2 path_only=False order='auto'
  report_tokens=12500 bridge_tokens=12500 relation_tokens=20000 entity_tokens=5000 text_tokens=20000
  context_tokens=32000
kag: plan='auto' rounds=3 exact=0.9 free=0.8 chunks=20 share=0.5 rank_share=1.0 enough=50.0 branches=2 whole=0.25
  damping=0.7 step_tokens=4000 context_tokens=8000 k=20
hipporag: version=2 linking='auto' filter='auto' facts=5 phrases=5 phrase_share=0.3 passage_factor=0.0 damping=0.5
  tolerance=1e-06 parallel=1.0 synonyms=True seed_floor=0.5 top=200 read=5 context_tokens=8000
linearrag: iterations=3 delta=0.4 quantile=0.9 kappa=3 dense=0.05 dense_words=10.0 passages=0.05 damping=0.5
  tolerance=1e-06 seed_floor=0.5 comparing='auto' top=200 read=5 context_tokens=8000
raptor: search='collapsed' k=5 no_overlap=False comparing='auto' top=200 context_tokens=2000
graft: top=1 explain=0 context_tokens=8000
naive: top=100 context_tokens=8000 diversify='none' balance=0.7
"""
LINES = dict(line.split(": ", 1) for line in SETTINGS.strip().replace("\n  ", " ").splitlines())


@pytest.mark.parametrize("name", LINES)
def test_the_settings_of_a_method_are_those_that_users_know(name: str) -> None:
    made: Any = load_method(name)
    told = [(f.name, getattr(made, f.name)) for f in fields(made) if f.name not in ("name", "requires", "reads")]
    plain = (f"{field}={value!r}" for field, value in told if isinstance(value, int | float | str))
    assert " ".join(plain) == LINES[name]
