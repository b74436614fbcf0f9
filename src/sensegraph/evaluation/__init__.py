"""Measuring: retrieval against judged documents, with paired statistics.

    read_set(folder) ─▶ JudgedSet ─▶ measure(set, methods, index, runtime) ─▶ Measured ─▶ text, JSON, runs

A method gives a ranking of documents (`Evidence.documents`); metrics compare it with the judgements of a question;
statistics compare two methods on the same questions.
"""

from sensegraph.evaluation.clock import Cost
from sensegraph.evaluation.judged import JudgedSet, Query, read_set
from sensegraph.evaluation.retrieval import Measured, Measuring, Result, measure
from sensegraph.evaluation.runs import Named

__all__ = ["Cost", "JudgedSet", "Measured", "Measuring", "Named", "Query", "Result", "measure", "read_set"]
