"""Logical forms: a question as a short program of retrieval and calculation steps over variables.

paper: Liang et al. 2024 (KAG), the logical form solver; its five functions, read from what a model or a person wrote

    Step1: Who directed Big Eyes?
    Action1: Retrieval(s=s1:Film[Big Eyes], p=p1:director, o=o1:Person)
    Step2: Who is the spouse of #1?
    Action2: Retrieval(s=o1, p=p2:spouse, o=o2:Person)
    Action3: Output(o2)

A step may also be a question in plain words, or `Big Eyes >> director`; `#1` is the result of the first step. Nothing
that is read here is ever executed: a plan is data, and its arithmetic is worked out by `calculation.py`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace

from sensegraph.methods.kag.forms import (
    MARK,
    OPERATIONS,
    Condition,
    Deduce,
    Form,
    Math,
    Output,
    Parsed,
    Plan,
    Retrieval,
    Sort,
    Term,
)


def validate_plan(steps: Sequence[Form], errors: Sequence[str] = (), repairs: Sequence[str] = ()) -> Parsed:
    """The steps as a plan: one output at the end, every alias bound before it is used, no cycle."""
    wrong, right = [*errors], [*repairs]
    outputs = [s for s in steps if isinstance(s, Output)]
    inner = [s for s in steps if not isinstance(s, Output)]
    if len(outputs) > 1:
        wrong.append(f"there are {len(outputs)} outputs, one is needed")
    if not inner:
        wrong.append("there is no step")
    left, bound, ordered = list(inner), dict[str, None](), list[Form]()
    while step := next((s for s in left if not list(_missing_aliases(s, bound))), None):
        left.remove(step)
        bound |= dict.fromkeys(aliases_bound(step))
        ordered.append(step)
    loose = dict[str, None]()
    for step in left:
        later = {a for other in left if other is not step for a in aliases_bound(other)}
        for alias in _missing_aliases(step, bound):
            why = "bound only by steps that need it themselves" if alias in later else "never bound"
            loose[f"{alias!r} is used, but {why}"] = None
    wrong += loose
    if ordered != inner and not loose:
        right.append("steps stood before what they need")
    last = outputs[0] if outputs else Output(tuple(bound)[-1:])
    if not outputs:
        right.append("there was no output")
    wrong += [f"the output {a!r} is bound by no step" for a in last.aliases if a not in bound and not loose]
    if not last.aliases:
        wrong.append("nothing is put out")
    return Parsed(None if wrong else Plan((*ordered, last)), tuple(wrong), tuple(right))


def terms_of(step: Retrieval) -> tuple[Term, Term, Term]:
    """Subject, predicate, object."""
    return (step.subject, step.predicate, step.object)


def aliases_used(step: Form) -> tuple[str, ...]:
    """The aliases that a step may read: those of its arguments, and those that its words mark."""
    if isinstance(step, Retrieval):
        terms = terms_of(step)
        found = [t.alias for t in terms if not t.name] + [m for t in terms for m in MARK.findall(t.name)]
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


def _missing_aliases(step: Form, bound: Iterable[str]) -> Iterator[str]:
    """The aliases that must be bound before `step`: a retrieval may leave free what it binds, but needs a start."""
    known = set(bound)
    if not isinstance(step, Retrieval):
        yield from (a for a in aliases_used(step) if a not in known)
        return
    free = {t.alias for t in terms_of(step) if not t.name}
    marks = MARK.findall(" ".join([step.text, *(t.name for t in terms_of(step))]))
    for alias in aliases_used(step):
        # the words may name an alias, and the subject may be the result of a numbered step
        needed = alias in marks or (alias == step.subject.alias and alias.isdigit())
        if alias not in known and (alias not in free or needed):
            yield alias
    ends = (step.subject, step.object)
    if not step.text and not any(t.name or t.alias in known for t in ends):
        yield step.subject.alias or step.object.alias or "?"


MOST_STEPS = 30
MOST_CHARACTERS = 20_000

_NAMES = (  # what the five functions are called by those who write plans, first as here
    "retrieval retrieve get_spo getspo spo search",
    "sort rank order_by",
    "math maths calculate compute",
    "deduce judge logic reason",
    "output get return answer finish",
)
_FUNCTIONS = {name: names.split()[0] for names in _NAMES for name in names.split()}
_CALL = re.compile(r"^([A-Za-z_]\w*)\s*\((.*)\)\s*[.;,]?$", re.DOTALL)
_OPEN = re.compile(r"^([A-Za-z_]\w*)\s*\((.*)$", re.DOTALL)
_LABEL = re.compile(r"^(?:[-*•]\s*)?(?:(step|action|question|sub-?question|q)\s*(\d*)\s*[:.)]|\(?\d+\s*[.):])\s*", re.I)
_TERM = re.compile(r"^(?:(?P<alias>#?\w*)\s*:)?\s*+(?P<type>[^\[\]]*+)(?:\[(?P<name>.*)\])?$", re.DOTALL)
_ALIAS = re.compile(r"^(?:#\d+|[a-z]\w{0,20})$")
_LIKE_ALIAS = re.compile(r"^(?:#\d+|[a-z]{1,8}_?\d+)$")
_CONDITION = re.compile(r"^(#?\w+)\.(\w+)\s*(<=|>=|!=|=|<|>)\s*(.+)$", re.DOTALL)
_QUOTES = "`'\"“”‘’ \t"
_ARROW = re.compile(r"(?:(?<!\s)\s++)?(?:>>|→|->)\s*")


def parse_plan(lines: str | Sequence[str]) -> Parsed:
    """The plan that a text, or a list of steps, writes down."""
    text = lines if isinstance(lines, str) else "\n".join(" ".join(line.split()) for line in lines)
    reader = _Reader()
    if len(text) > MOST_CHARACTERS:
        return Parsed(None, (f"the plan has {len(text)} characters, at most {MOST_CHARACTERS} are read",))
    for line in text.splitlines():
        reader.read(line)
    reader.end()
    if len(reader.steps) > MOST_STEPS:
        return Parsed(None, (f"the plan has {len(reader.steps)} steps, at most {MOST_STEPS} are taken",))
    return validate_plan(_mark_references(reader.steps), tuple(reader.errors), tuple(reader.repairs))


class _Reader:
    """Reads a plan line by line, and keeps count of what could not be read or had to be put right."""

    def __init__(self) -> None:
        self.steps: list[Form] = []
        self.errors: list[str] = []
        self.repairs: list[str] = []
        self.text = ""  # the words of a step whose action has not come yet
        self.held = ""  # a call whose bracket is still open

    def read(self, line: str) -> None:
        """Take one line."""
        line = line.strip().strip("`").strip()
        if self.held:
            line, self.held = f"{self.held} {line}", ""
        label = _LABEL.match(line)
        body = (line[label.end() :] if label else line).strip()
        if not body or body.casefold() in ("json", "text", "plan", "plaintext"):
            return
        call = _CALL.match(body)
        # a line that is no known call is meant as one if it is a word, a bracket, and an argument with a name
        if call and (call[1].casefold() in _FUNCTIONS or re.match(r"^\w+\s*\([^)]*=", body)):
            self._called(call[1], call[2])
        elif (begun := _OPEN.match(body)) and begun[1].casefold() in _FUNCTIONS and body.count("(") > body.count(")"):
            self.held = body
        elif label and (label[1] or "").casefold() == "step":
            self._said()
            self.text = body.strip(_QUOTES)
        else:
            self._said()
            self._worded(body.strip(_QUOTES))

    def end(self) -> None:
        """Take what is still open."""
        if self.held and (call := _OPEN.match(self.held)):
            self.repairs.append("a bracket was not closed")
            self.held = ""
            self._called(call[1], call[2])
        self._said()

    def _said(self) -> None:
        """A step that has words and no action."""
        text, self.text = self.text, ""
        if text:
            self._worded(text)

    def _worded(self, text: str) -> None:
        """A step in plain words, or `subject >> relation`."""
        alias = str(len(self.steps) + 1)
        subject, *path = _ARROW.split(text)
        if not path:
            self.steps.append(Retrieval(Term(), Term(), Term(alias), text=text))
            return
        for relation in path:  # `A >> director >> spouse` is two steps
            alias = str(len(self.steps) + 1)
            start = Term(subject[1:]) if re.fullmatch(r"#\d+", subject) else Term("", "", subject)
            self.steps.append(Retrieval(start, Term("", relation), Term(alias), text=f"{subject} {relation}"))
            subject = f"#{alias}"

    def _called(self, name: str, inside: str) -> None:
        """A function with its arguments."""
        text, self.text = self.text, ""
        function = _FUNCTIONS.get(name.casefold())
        parts = _split_arguments(inside)
        if function is None:
            self.errors.append(f"there is no function {name!r}")
        elif function == "output":
            self.steps.append(Output(tuple(_read_alias(p.partition("=")[2] or p) for p in parts), text))
        elif function == "retrieval":
            self.steps.append(self._retrieval(parts, text))
        else:
            self._other(function, _read_arguments(parts), text)

    def _retrieval(self, parts: Sequence[str], text: str) -> Retrieval:
        terms, where = dict[str, Term](), list[Condition]()
        for position, part in enumerate(parts):
            if found := _CONDITION.match(part):
                where.append(Condition(found[1].removeprefix("#"), found[2], found[3], found[4].strip(_QUOTES)))
                continue
            name, equals, value = part.partition("=")
            key = name.strip().casefold()[:1] if equals else "spo"[min(position, 2)]
            if key not in "spo":
                self.errors.append(f"a retrieval has no argument {name.strip()!r}")
                continue
            terms[key] = _read_term(value if equals else part)
        subject, object_, number = terms.get("s", Term()), terms.get("o", Term()), str(len(self.steps) + 1)
        if subject.alias == number and not subject.name:  # this step's own variable, and no result of an earlier one
            subject = replace(subject, alias=f"s{number}")
        if not any(t.alias and not t.name for t in terms.values()):  # what is looked for is called by the step
            if object_.name and not subject.name:
                subject = replace(subject, alias=f"s{number}")
            else:
                object_ = replace(object_, alias=object_.alias or number)
        return Retrieval(subject, terms.get("p", Term()), object_, tuple(where), text)

    def _other(self, function: str, given: dict[str, str], text: str) -> None:
        first = given.get("", "")
        listed = given.get("inputs", given.get("input", ""))
        if listed and re.fullmatch(r"[#\w\s,]*#[#\w\s,]*", first):  # `inputs=#1, #2` comes in two pieces
            listed = f"{listed} {first}"
        inputs = tuple(re.findall(r"\w+", listed))
        target = _read_alias(given.get("target", "")) or str(len(self.steps) + 1)
        if function == "sort":
            order = given.get("direction", given.get("orderby", given.get("order", "desc"))).casefold()
            alias = _read_alias(given.get("set", given.get("alias", first)))
            limit = re.findall(r"\d+", given.get("limit", given.get("topn", "0")))
            self.steps.append(Sort(alias, not order.startswith("asc"), int(limit[0][:6]) if limit else 0, target, text))
            return
        content, arrow, after = given.get("content", first).partition("→")
        target = _read_alias(after) if arrow else target
        if not inputs:
            inputs = tuple(dict.fromkeys(w.lstrip("#") for w in re.findall(r"#?\w+", content) if _LIKE_ALIAS.match(w)))
        if function == "math":
            self.steps.append(Math(content.strip(), inputs, target, text))
            return
        operation = next((o for o in OPERATIONS if o.casefold() == given.get("op", "").casefold()), "")
        if not operation:
            self.repairs.append(f"the decision {given.get('op', '')!r} is not known, and was taken as a judgement")
        self.steps.append(Deduce(operation or OPERATIONS[0], content.strip(), inputs, target, text))


def _read_alias(text: str) -> str:
    return text.strip().strip(_QUOTES).removeprefix("#")


def _mark_references(steps: Sequence[Form]) -> list[Form]:
    """The steps with all that they refer to marked: `#n`, which no step is called by, as what step n finds."""
    found = dict[str, str]()
    for number, step in enumerate(steps, 1):
        found[str(number)] = target_of(step, found.values())
    called = {a for a in found.values() if a}

    def resolve(name: str) -> str:
        return name if name in called else found.get(name) or name

    def mark(match: re.Match[str]) -> str:
        return f"#{resolve(match[1])}"

    plain = re.compile(rf"(?<![#\w])({'|'.join(sorted(a for a in called if _LIKE_ALIAS.match(a)) or ['(?!)'])})\b")
    marked: list[Form] = []
    for step in steps:
        if isinstance(step, Math | Deduce):
            step = replace(step, content=MARK.sub(mark, step.content), inputs=tuple(map(resolve, step.inputs)))
        elif isinstance(step, Retrieval):
            subject, predicate, object_ = (
                replace(t, alias=resolve(t.alias), name=MARK.sub(mark, t.name)) for t in terms_of(step)
            )
            step = replace(step, subject=subject, predicate=predicate, object=object_)
        elif isinstance(step, Sort):
            step = replace(step, alias=resolve(step.alias))
        else:
            step = replace(step, aliases=tuple(map(resolve, step.aliases)))
        if isinstance(step, Math):  # all aliases of its expression stand among its inputs
            named = (w for w in re.findall(r"\w+", step.content) if w in called and w != step.target)
            step = replace(step, inputs=tuple(dict.fromkeys([*step.inputs, *named])))
        marked.append(replace(step, text=plain.sub(r"#\1", MARK.sub(mark, step.text))))
    return marked


def _read_arguments(parts: Sequence[str]) -> dict[str, str]:
    """Arguments by their names; those without one under the empty name, joined."""
    found: dict[str, str] = {}
    for part in parts:
        match = re.match(r"^(\w+)\s*=\s*(?!=)(.*)$", part, re.DOTALL)
        name, value = (match[1].casefold(), match[2]) if match else ("", part)
        value = value.strip()
        bare = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "`'\"" else value
        found[name] = f"{found[name]}, {bare}" if name in found else bare
    return found


def _read_term(text: str) -> Term:
    """`alias:type[name]`; what is neither an alias nor in brackets is a name where it has a capital, else a type."""
    text = text.strip().strip(_QUOTES)
    found = _TERM.match(text)
    if not found:
        return Term("", "", text.strip("[]"))
    alias, kind, name = found["alias"] or "", found["type"].strip().strip(_QUOTES), (found["name"] or "").strip(_QUOTES)
    if not alias and _ALIAS.match(kind) and (name or _LIKE_ALIAS.match(kind)):
        return Term(kind.removeprefix("#"), "", name)
    if not alias and not name and kind != kind.lower():
        return Term("", "", kind)
    return Term(alias.removeprefix("#"), kind, name)


def _split_arguments(text: str) -> list[str]:
    """The arguments between commas outside of brackets and quotes."""
    parts, depth, quote, start = list[str](), 0, "", 0
    for i, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in '`"':
            quote = sign
        elif sign in "[({":
            depth += 1
        elif sign in "])}":
            depth = max(0, depth - 1)
        elif sign == "," and not depth:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in (*parts, text[start:]) if p.strip()]
