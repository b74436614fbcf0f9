"""Measuring: answers of several methods side by side, and retrieval against judged documents; with paired statistics.

    Plan, conditions, questions ─▶ experiment ─▶ Outcome ─▶ evaluation_report ─▶ sheets (Markdown, HTML), JSON
        conditions: every answer, stored
        judge_calls, marks: what it is worth
    read_set(folder) ─▶ JudgedSet ─▶ measure(set, methods, index, runtime) ─▶ Measured ─▶ text, JSON, runs

`statistics` holds the tests, and compares conditions two by two on the same questions. A method gives a ranking of
documents (`Evidence.documents`); metrics compare it with the judgements of a question.
"""

from sensegraph.lab.retrieval.retrieval_scores import Measured, Measuring, Result, measure
from sensegraph.lab.retrieval.runs import Cost, Named
from sensegraph.lab.retrieval.test_collections import JudgedSet, Query, read_set

__all__ = ["Cost", "JudgedSet", "Measured", "Measuring", "Named", "Query", "Result", "measure", "read_set"]
