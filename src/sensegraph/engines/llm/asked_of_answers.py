"""What a model is shown of answers, sentences and corpora that it is to judge: never who wrote them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sensegraph.trials import Check, Excerpt, Trial, Wish

FORMS: Mapping[str, str] = MappingProxyType(
    {"persona": "personas", "task": "tasks", "question": "questions", "reverse": "reverse-questions"}
)
_TAG = re.compile(r"<(?=\s*/?\s*(?:answer|text))", re.IGNORECASE)
_ABOUT = 60  # characters by which an item is named in errors


def message(item: Trial | Wish | Excerpt | Check) -> str:
    """The user's message about `item`."""
    if isinstance(item, Trial):
        return _of_trial(item)
    if isinstance(item, Wish):
        return _of_wish(item)
    return _of_excerpt(item) if isinstance(item, Excerpt) else _of_check(item)


def named(item: Trial | Wish | Excerpt | Check) -> str:
    """What errors call `item`."""
    if isinstance(item, Trial):
        return f"answers to {_short(item.question)!r}"
    if isinstance(item, Wish):
        return f"{item.count} × {item.wanted}"
    return repr(_short(item.sentence if isinstance(item, Excerpt) else item.statement))


def _of_trial(trial: Trial) -> str:
    """The criterion stands before and after the answers (edge2024, app. F.1)."""
    if not trial.criterion:  # a contrast is by no criterion
        return f"Question: {_line(trial.question)}\n\n{_answers(trial)}"
    what = f"{trial.criterion}. {_line(trial.definition)}"
    scaled = bool(trial.bands) or len(trial.answers) == 1
    scale = f"\n\nScale: from {trial.low} to {trial.high}\n{trial.bands}".rstrip() if scaled else ""
    return (
        f"Question: {_line(trial.question)}\n\nCriterion: {what}{scale}\n\n{_answers(trial)}\n\n"
        f"Once more the criterion, by which alone to judge: {what}"
    )


def _answers(trial: Trial) -> str:
    """The answers under their places; what looks like the end of one is made harmless."""
    names = "AB" if trial.bands else "12"
    tags = [f"answer_{n}" for n in names] if len(trial.answers) > 1 else ["answer"]
    return "\n\n".join(_enclosed(tag, text) for tag, text in zip(tags, trial.answers, strict=True))


def _of_wish(wish: Wish) -> str:
    parts = [f"Wanted: {wish.count}" + (f", of the class {wish.kind}" if wish.kind else "")]
    given = (("Collection", wish.about), ("Person", wish.persona), ("Task", wish.task))
    parts += [f"{name}: {_line(text)}" for name, text in given if text.strip()]
    if wish.wanted == "reverse":
        parts += [_enclosed("answer", "\n\n".join(wish.texts))]
    else:
        parts += [_enclosed("text", text) for text in wish.texts]
    return "\n\n".join([*parts, *_listed("Known", wish.known)])


def _of_excerpt(excerpt: Excerpt) -> str:
    parts = [f"Question: {_line(excerpt.question)}"] if excerpt.question.strip() else []
    parts += _listed("Sentences before", excerpt.before)
    parts += [f"Sentence: {_line(excerpt.sentence)}"]
    return "\n\n".join([*parts, *_listed("Sentences after", excerpt.after)])


def _of_check(check: Check) -> str:
    texts = "\n\n".join(_enclosed("text", text) for text in check.evidence if text.strip())
    return f"Statement: {_line(check.statement)}\n\n{texts}\n\nThe statement again: {_line(check.statement)}"


def _listed(title: str, texts: Sequence[str]) -> list[str]:
    return [f"{title}:\n" + "\n".join(f"- {_line(t)}" for t in texts)] if texts else []


def _enclosed(tag: str, text: str) -> str:
    return f"<{tag}>\n{_TAG.sub('‹', text.strip())}\n</{tag}>"


def _line(text: str) -> str:
    return " ".join(text.split())


def _short(text: str) -> str:
    line = _line(text)
    return line if len(line) <= _ABOUT else line[: _ABOUT - 1] + "…"
