"""From questions to examples: gold passages among distractors, within a budget, in an order that says nothing.

What is learnt may be reasoning in verbatim quotes, each of which is checked. Whether a text holds an answer or a
passage is asked without regard to case, width and white space.

source: the paper GRAFT, section 4.1 (R02–R05); RAFT, Zhang et al. 2024, for P and reasoning: quotes between marks, the
answer in a last line (R29)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from random import Random

from sensegraph.errors import InputError
from sensegraph.lab.finetuning.data.example_types import (
    DataSettings,
    DroppedQuestion,
    Example,
    MadeExample,
    Passage,
    SourceQuestion,
    format_passage,
    format_prompt,
)
from sensegraph.lab.finetuning.data.sources import hash_text
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import HAN, collect_terms, count_tokens, fold

_RUN = re.compile(r"\w+")  # "Ada's" holds "Ada"
_POLAR = frozenset(("yes", "no"))
_folded = lru_cache(maxsize=4096)(fold)  # a passage is compared with many


def is_polar(answer: str) -> bool:
    """Whether an answer is yes or no, which a text may hold without saying anything of the question."""
    return fold(answer).strip(".! ") in _POLAR


def contains_answer(text: str, answer: str) -> bool:
    """Whether `text` holds `answer` as whole words, or, in a script without spaces, as it is written."""
    if HAN.search(answer):
        return fold(answer) in _folded(text)
    sought = _space_words(answer)
    return bool(sought.strip()) and sought in _space_words(text)


def _space_words(text: str) -> str:
    """The folded words of `text` with one blank around each."""
    return f" {' '.join(_RUN.findall(_folded(text)))} "


def find_answer(text: str, answers: Iterable[str], least: int = 1) -> str:
    """The first of `answers` with at least `least` words that `text` holds; yes and no are not looked for."""
    for answer in answers:
        words = _RUN.findall(answer)  # in a script without spaces characters are counted
        enough = sum(len(w) if HAN.search(w) else 1 for w in words) >= least
        if enough and not is_polar(answer) and contains_answer(text, answer):
            return answer
    return ""


def overlaps_passage(one: Passage, other: Passage) -> bool:
    """Whether two passages show the same stretch of one document, or one holds the whole text of the other."""
    (home, start, end), (place, begin, stop) = one.place, other.place
    if home == place and start < stop and begin < end:
        return True
    a, b = _folded(one.text), _folded(other.text)
    return a in b or b in a


def reject_distractor(passage: Passage, asked: SourceQuestion, chosen: Iterable[Passage], leak_words: int) -> str:
    """Why a passage cannot be a distractor of a question beside those that were chosen; nothing where it can."""
    if any(overlaps_passage(passage, p) for p in asked.oracles):
        return "overlaps a gold passage"
    if any(overlaps_passage(passage, p) for p in chosen):
        return "overlaps another distractor"
    return "holds the answer" if find_answer(passage.text, asked.sought, leak_words) else ""


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
    found = extract_quotes(reasoning)
    if not reasoning.count(BEGIN) == reasoning.count(END) == len(found):
        return "a quote of the reasoning has no end"
    if not found:
        return "the reasoning quotes nothing"
    shown = [" ".join(p.text.split()) for p in passages]
    if any(not q or not any(" ".join(q.split()) in text for text in shown) for q in found):
        return "a quote of the reasoning stands in no passage"
    return ""


_MISSES = 5  # passages in a row that do not fit: then the budget counts as used up
_SHUFFLED = 4096  # passages of a pool that is shuffled whole; from a larger one positions are drawn
_MARGIN = 2  # tokens between two passages


def make_examples(
    questions: Iterable[SourceQuestion | DroppedQuestion], pool: Sequence[Passage], how: DataSettings
) -> Iterator[MadeExample | DroppedQuestion]:
    """An example of every question that allows one, in their order; what was dropped stands in its place.

    Raises InputError for an empty `pool`.
    """
    check_pool(pool)
    for asked in questions:
        yield asked if isinstance(asked, DroppedQuestion) else make_example(asked, pool, how)


def check_pool(pool: Sequence[Passage]) -> None:
    """Raise InputError where there is no passage at all; from a small `pool` fewer distractors than wanted come."""
    if not pool:
        raise InputError("The corpus has no passage; add documents, and index them.")


def is_held_out(asked: SourceQuestion | DroppedQuestion, share: float, seed: int) -> bool:
    """Whether a question is held out of training: it rests on a gold passage of the `share` that is held out.

    So no example that is trained on has such a passage for an oracle, and every question that is held out needs one.
    """
    golds = () if isinstance(asked, DroppedQuestion) else asked.oracles
    return any(hash_text(f"held out {seed} {p.text}") < share * 2**64 for p in golds)


def split_held_out(
    questions: Iterable[SourceQuestion | DroppedQuestion], share: float, how: DataSettings
) -> Iterator[tuple[SourceQuestion | DroppedQuestion, bool]]:
    """Every question, in their order, with whether it is held out; on both sides there is one that can be used.

    Of few questions the rule of `is_held_out` may leave a side empty. Then the questions of one gold passage are held
    out, or all but those of one; where all questions rest on the same passages, questions are held out, and training
    sees their passages. Raises InputError where fewer than two questions can be used.
    """
    waiting: list[tuple[SourceQuestion | DroppedQuestion, bool]] = []
    sides: dict[bool, int] = {}
    for asked in questions:
        apart = is_held_out(asked, share, how.seed)
        if _can_use(asked, how):
            sides[apart] = sides.get(apart, 0) + 1
        waiting.append((asked, apart))
        if len(sides) == 2:
            yield from waiting
            waiting.clear()
    if not waiting:
        return
    used = [asked for asked, _ in waiting if isinstance(asked, SourceQuestion) and _can_use(asked, how)]
    if len(used) < 2:
        raise InputError(
            f"Holding questions out needs two that can be used, and there {'is 1' if used else 'are none'}: "
            "give or make more questions, or leave out --held-out."
        )
    held = _hold_few_out(used, share, how.seed, all_held=True in sides)
    yield from ((asked, asked.id in held) for asked, _ in waiting)


def _hold_few_out(used: Sequence[SourceQuestion], share: float, seed: int, *, all_held: bool) -> set[str]:
    """The ids of those that are held out of few questions that can be used: neither none of them nor all."""
    lowest = {q.id: min(hash_text(f"held out {seed} {p.text}") for p in q.oracles) for q in used}
    marks = sorted(set(lowest.values()))
    if len(marks) == 1:  # all rest on the same passage
        order = sorted(lowest, key=lambda name: hash_text(f"held out {seed} {name}"))
        return set(order[: min(len(order) - 1, max(1, round(share * len(order))))])
    bound = marks[-1] if all_held else marks[1]
    return {name for name, mark in lowest.items() if mark < bound}


def _can_use(asked: SourceQuestion | DroppedQuestion, how: DataSettings) -> bool:
    """Whether an example can be made of a question, whatever is drawn beside its gold passages."""
    if isinstance(asked, DroppedQuestion) or reject_question(asked, how):
        return False
    answer = (
        "; ".join(asked.answers) if how.style == "plain" else write_reasoned_answer(_reason(asked, asked.oracles), "")
    )
    return count_tokens(format_prompt(asked.question, asked.oracles)) + count_tokens(answer) <= how.max_tokens


def make_example(asked: SourceQuestion, pool: Sequence[Passage], how: DataSettings) -> MadeExample | DroppedQuestion:
    """The example of one question. It depends on the seed, the question's id and the pool alone."""
    random = Random(f"{how.seed} {asked.id}")
    kept = asked.oracles if random.random() < how.oracle_share else ()
    wanted = random.randint(*how.distractors) + len(asked.oracles) - len(kept)
    if reason := reject_question(asked, how):
        return DroppedQuestion(asked.id, reason, asked.type)
    answer = target = "; ".join(asked.answers) if how.answers == "all" else asked.answers[0]
    if how.style != "plain":
        # where the gold passages are left out nothing can be quoted, and the answer stands alone
        target = write_reasoned_answer(_reason(asked, kept) if kept else "", answer)
    room = how.max_tokens - count_tokens(format_prompt(asked.question, kept)) - count_tokens(target)
    if room < 0:
        return DroppedQuestion(asked.id, "its gold passages do not fit", asked.type)
    # passages near the question come first, then others as they are drawn
    drawn = (replace(pool[i], kind="random") for i in draw_positions(len(pool), random))
    chosen, passed_over = pick_distractors(chain(asked.near, drawn), asked, how, room, None if how.pad else wanted)
    while chosen and _count_example_tokens(asked, (*kept, *chosen), target) > how.max_tokens:
        chosen.pop()
    if not kept and not chosen:  # an example without any passage would teach to invent
        kept = asked.oracles
        target = target if how.style == "plain" else write_reasoned_answer(_reason(asked, kept), answer)
        if _count_example_tokens(asked, kept, target) > how.max_tokens:
            return DroppedQuestion(asked.id, "its gold passages do not fit", asked.type)
    passages = [*kept, *chosen]
    random.shuffle(passages)
    size = _count_example_tokens(asked, passages, target)
    made = (asked.type, asked.made, asked.answers, asked.written, asked.parts)
    example = Example(asked.id, asked.question, answer, tuple(passages), target, size, *made)
    if fault := find_quote_fault(target, passages) if how.style == "cot" and kept else "":
        return DroppedQuestion(asked.id, fault, asked.type)
    return MadeExample(example, tuple(sorted(passed_over.items())), len(chosen) < wanted)


def _reason(asked: SourceQuestion, kept: Sequence[Passage]) -> str:
    return asked.reasoning or reason_by_quotes(asked.question, asked.sought, kept)


def reject_question(asked: SourceQuestion, how: DataSettings) -> str:
    """Why no example can be made of a question; nothing where one can."""
    if not any(a.strip() for a in asked.answers):
        return "it has no answer"
    if not asked.oracles:
        return "it has no gold passage"
    return f"it has more than {how.most_oracles} gold passages" if len(asked.oracles) > how.most_oracles else ""


def _count_example_tokens(asked: SourceQuestion, passages: Sequence[Passage], target: str) -> int:
    return count_tokens(format_prompt(asked.question, passages)) + count_tokens(target)


def draw_positions(count: int, random: Random) -> Iterator[int]:
    """All numbers below `count` in a random order; of many, as long as few are taken, without listing them."""
    if count <= _SHUFFLED:
        yield from random.sample(range(count), count)
        return
    seen = set[int]()
    while len(seen) < count:
        position = random.randrange(count)
        if position not in seen:
            seen.add(position)
            yield position


def pick_distractors(
    candidates: Iterable[Passage], asked: SourceQuestion, how: DataSettings, room: int, most: int | None
) -> tuple[list[Passage], Counter[str]]:
    """Passages of `candidates`, in their order, that fit into `room` tokens: `most` of them, or as many as fit.

    Beside them the number of the passages that could not be taken, by reason.
    """
    chosen, passed_over, misses, hard = list[Passage](), Counter[str](), 0, 0
    for passage in candidates:
        if misses == _MISSES or len(chosen) == most:
            break
        if passage.kind == "hard" and hard == how.hard:
            continue
        if reason := reject_distractor(passage, asked, chosen, how.leak_words):
            passed_over[reason] += 1
        elif (size := count_tokens(format_passage(passage)) + _MARGIN) > room:
            misses += 1
        else:
            room, misses, hard = room - size, 0, hard + (passage.kind == "hard")
            chosen.append(passage)
    return chosen, passed_over
