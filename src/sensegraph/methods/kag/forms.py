"""A question as a short program of retrieval and calculation steps over variables: the values, and what makes a plan.

paper: Liang et al. 2024 (KAG), the logical form solver and its five functions; `logical_forms.py` reads them

Aliases stand without the mark `#`; in words, `#o1` is the value of the alias o1, `#1` that of a step without a name.
Nothing of a plan is ever executed: it is data, and its arithmetic is worked out by `calculation.py`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

MARK = re.compile(r"#(\w+)")


@dataclass(frozen=True, slots=True)
class Term:
    """An end of a retrieval, or its edge: `alias:type[name]`, each part may be missing; a name may hold `#1`."""

    alias: str = ""
    type: str = ""
    name: str = ""

    def __str__(self) -> str:
        named, alias = f"[{self.name}]" if self.name else "", mark_alias(self.alias)
        return f"{alias}:{self.type}{named}" if self.type or named else alias


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold of a field of an alias: `o1.year > 1990`."""

    alias: str
    field: str
    operator: str
    value: str

    def __str__(self) -> str:
        return f"{mark_alias(self.alias)}.{self.field}{self.operator}{self.value}"


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Bind whatever matches subject – predicate – object; `text` is the sub-question."""

    subject: Term
    predicate: Term
    object: Term
    where: tuple[Condition, ...] = ()
    text: str = ""

    @property
    def terms(self) -> tuple[Term, Term, Term]:
        """Subject, predicate, object."""
        return (self.subject, self.predicate, self.object)


@dataclass(frozen=True, slots=True)
class Sort:
    """The values of `alias` in order, the first `limit` of them (0: all)."""

    alias: str
    descending: bool = True
    limit: int = 0
    target: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Math:
    """A calculation over numbers, dates and sets: `content` is an expression, or words that name one over `inputs`."""

    content: str
    inputs: tuple[str, ...] = ()
    target: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Deduce:
    """A decision from what is bound: judgement, entailment, extract, choice or multiChoice."""

    operation: str
    content: str
    inputs: tuple[str, ...] = ()
    target: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """What the plan results in."""

    aliases: tuple[str, ...]
    text: str = ""


Form = Retrieval | Sort | Math | Deduce | Output
OPERATIONS = ("judgement", "entailment", "extract", "choice", "multiChoice")


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in an order in which every alias is bound before it is used; the last one is the output."""

    steps: tuple[Form, ...]

    @property
    def output(self) -> Output:
        """The aliases that the plan results in."""
        last = self.steps[-1]
        return last if isinstance(last, Output) else Output(())


@dataclass(frozen=True, slots=True)
class Parsed:
    """A plan, None where `errors` say why there is none; `repairs` are what was put right in it."""

    plan: Plan | None
    errors: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()


def validate_plan(steps: Sequence[Form], errors: Sequence[str] = (), repairs: Sequence[str] = ()) -> Parsed:
    """The steps as a plan: one output at the end, every alias bound before it is used, no cycle."""
    wrong, right = [*errors], [*repairs]
    outputs = [s for s in steps if isinstance(s, Output)]
    inner = [s for s in steps if not isinstance(s, Output)]
    if len(outputs) > 1:
        wrong.append(f"there are {len(outputs)} outputs, one is needed")
    if not inner:
        wrong.append("there is no step")
    ordered, loose = _order_steps(inner)
    wrong += loose
    if [s for s, _ in ordered] != inner and not loose:
        right.append("steps stood before what they need")
    bound = [alias for _, binds in ordered for alias in binds]
    last = outputs[0] if outputs else Output(tuple(bound[-1:]))
    if not outputs:
        right.append("there was no output")
    wrong += [f"the output {a!r} is bound by no step" for a in last.aliases if a not in bound and not loose]
    if not last.aliases:
        wrong.append("nothing is put out")
    return Parsed(None if wrong else Plan((*(s for s, _ in ordered), last)), tuple(wrong), tuple(right))


def aliases_used(step: Form) -> tuple[str, ...]:
    """The aliases that a step may read: those of its arguments, and those that its words mark."""
    if isinstance(step, Retrieval):
        found = [t.alias for t in step.terms if not t.name] + [m for t in step.terms for m in MARK.findall(t.name)]
    elif isinstance(step, Sort):
        found = [step.alias]
    elif isinstance(step, Output):
        found = [*step.aliases]
    else:
        found = [*MARK.findall(step.content), *step.inputs]
    return tuple(dict.fromkeys(a for a in (*MARK.findall(step.text), *found) if a))


def aliases_bound(step: Form) -> tuple[str, ...]:
    """The aliases that a step may bind: of a retrieval those of its terms, the object last."""
    if isinstance(step, Retrieval):
        return tuple(dict.fromkeys(t.alias for t in (step.predicate, step.subject, step.object) if t.alias))
    return () if isinstance(step, Output) else (step.target,)


def target_of(step: Form, bound: Container[str] = ()) -> str:
    """The alias for what a step finds: of a retrieval the end, else the edge, that is neither named nor bound."""
    if not isinstance(step, Retrieval):
        return "" if isinstance(step, Output) else step.target
    free = [t.alias for t in (step.object, step.subject, step.predicate) if t.alias and not t.name]
    return next((a for a in free if a not in bound), free[0] if free else "")


def mark_alias(alias: str) -> str:
    """An alias as it is written: one that is a number with its mark."""
    return f"#{alias}" if alias.isdigit() else alias


def write_plan(plan: Plan) -> str:
    """The plan in the form that `parse` reads."""
    lines = []
    for number, step in enumerate(plan.steps, 1):
        if step.text:
            lines.append(f"Step{number}: {step.text}")
        lines.append(f"Action{number}: {_write_call(step)}")
    return "\n".join(lines)


def _write_call(step: Form) -> str:
    if isinstance(step, Retrieval):
        terms = [f"{n}={t}" for n, t in zip("spo", step.terms, strict=True) if str(t)]
        return f"Retrieval({', '.join([*terms, *map(str, step.where)])})"
    if isinstance(step, Output):
        return f"Output({', '.join(map(mark_alias, step.aliases))})"
    if isinstance(step, Sort):
        direction = "descending" if step.descending else "ascending"
        ends = f"set={mark_alias(step.alias)}, direction={direction}"
        return f"Sort({ends}, limit={step.limit}, target={mark_alias(step.target)})"
    name = f"Deduce(op={step.operation}, " if isinstance(step, Deduce) else "Math("
    inputs = " ".join(map(mark_alias, step.inputs))
    return f"{name}content=`{step.content}`, inputs={inputs}, target={mark_alias(step.target)})"


# ── order ──


def _order_steps(steps: Sequence[Form]) -> tuple[list[tuple[Form, tuple[str, ...]]], list[str]]:
    """Each step after those that bind what it uses, with the aliases that it binds first; and what is wrong."""
    left, bound = list(steps), dict[str, None]()
    ordered: list[tuple[Form, tuple[str, ...]]] = []
    while left:
        step = next((s for s in left if not list(_missing_aliases(s, bound))), None)
        if step is None:
            break
        left.remove(step)
        new = tuple(a for a in aliases_bound(step) if a not in bound)
        bound |= dict.fromkeys(new)
        ordered.append((step, new))
    wrong = dict[str, None]()
    for step in left:
        later = {a for other in left if other is not step for a in aliases_bound(other)}
        for alias in _missing_aliases(step, bound):
            why = "bound only by steps that need it themselves" if alias in later else "never bound"
            wrong[f"{alias!r} is used, but {why}"] = None
    return ordered, list(wrong)


def _missing_aliases(step: Form, bound: Iterable[str]) -> Iterator[str]:
    """The aliases that must be bound before `step`: a retrieval may leave free what it binds, but needs a start."""
    known = set(bound)
    if not isinstance(step, Retrieval):
        yield from (a for a in aliases_used(step) if a not in known)
        return
    free = {t.alias for t in step.terms if not t.name}
    marks = MARK.findall(" ".join([step.text, *(t.name for t in step.terms)]))
    for alias in aliases_used(
        step
    ):  # the words may name an alias, and the subject may be the result of a numbered step
        needed = alias in marks or (alias == step.subject.alias and alias.isdigit())
        if alias not in known and (alias not in free or needed):
            yield alias
    ends = (step.subject, step.object)
    if not step.text and not any(t.name or t.alias in known for t in ends):
        yield step.subject.alias or step.object.alias or "?"
