"""Reasoning in verbatim quotes, and the check that a quote is one.

source: RAFT, Zhang et al. 2024: quotes between marks, the answer in a last line
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sensegraph.lab.finetuning.data.answer_containment import find_answer, is_polar
from sensegraph.lab.finetuning.data.example_types import Passage
from sensegraph.language.text import collect_terms, split_sentences

BEGIN, END = "##begin_quote##", "##end_quote##"
REASON, ANSWER = "##Reason:", "##Answer:"
_QUOTE = re.compile(f"{re.escape(BEGIN)}(.*?){re.escape(END)}", re.DOTALL)


def reason_by_quotes(question: str, answers: Sequence[str], oracles: Sequence[Passage]) -> str:
    """Reasoning by rule: of each gold passage the sentence that holds an answer, else that nearest to the question."""
    said = []
    for passage in oracles:
        # of equal sentences the first is quoted
        sought = collect_terms(" ".join((question, *(a for a in answers if not is_polar(a)))))
        spans = split_sentences(passage.text) or [(0, len(passage.text))]
        texts = [passage.text[a:b] for a, b in spans]
        sentence = max(texts, key=lambda t: (bool(find_answer(t, answers)), len(sought & collect_terms(t))))
        said.append(f"{passage.title or 'A passage'} says: {BEGIN} {sentence} {END}.")
    return " ".join(said)


def write_reasoned_answer(reasoning: str, answer: str) -> str:
    """What is learnt in the style `cot`: the reasoning, where there is any, and the answer in a line of its own."""
    return f"{REASON} {reasoning}\n{ANSWER} {answer}" if reasoning else f"{ANSWER} {answer}"


def extract_quotes(text: str) -> list[str]:
    """The quotes of a text, without their marks."""
    return [q.strip() for q in _QUOTE.findall(text)]


def find_quote_fault(reasoning: str, passages: Sequence[Passage]) -> str:
    """What is wrong with the quotes of a reasoning; nothing where each stands in a passage, white space aside."""
    if reasoning.count(BEGIN) != reasoning.count(END) or len(found := extract_quotes(reasoning)) != reasoning.count(
        BEGIN
    ):
        return "a quote of the reasoning has no end"
    if not found:
        return "the reasoning quotes nothing"
    shown = [" ".join(p.text.split()) for p in passages]
    if any(not q or not any(" ".join(q.split()) in text for text in shown) for q in found):
        return "a quote of the reasoning stands in no passage"
    return ""
