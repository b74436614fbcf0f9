"""What a model is shown of answers, sentences and corpora that it is to judge: never who wrote them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sensegraph.trials import Check, Excerpt, Trial, Wish

_TAG = re.compile(r"<(?=\s*/?\s*(?:answer|text))", re.IGNORECASE)
_ABOUT = 60  # characters by which an item is named in errors


def write_item_message(item: Trial | Wish | Excerpt | Check) -> str:
    """The user's message about `item`."""
    if isinstance(item, Trial):
        return _write_trial(item)
    if isinstance(item, Wish):
        parts = [f"Wanted: {item.count}" + (f", of the class {item.kind}" if item.kind else "")]
        given = (("Collection", item.about), ("Person", item.persona), ("Task", item.task))
        parts += [f"{name}: {_single_spaced(text)}" for name, text in given if text.strip()]
        reverse = item.wanted == "reverse"
        parts += [_enclose_text("answer", "\n\n".join(item.texts))] if reverse else _enclose_texts(item.texts)
        parts += _bullet_list("Known", item.known)
    elif isinstance(item, Excerpt):
        parts = [f"Question: {_single_spaced(item.question)}"] if item.question.strip() else []
        parts += _bullet_list("Sentences before", item.before)
        parts += [f"Sentence: {_single_spaced(item.sentence)}"]
        parts += _bullet_list("Sentences after", item.after)
    else:
        statement, texts = _single_spaced(item.statement), [text for text in item.evidence if text.strip()]
        parts = [f"Statement: {statement}", "\n\n".join(_enclose_texts(texts)), f"The statement again: {statement}"]
    return "\n\n".join(parts)


def name_item(item: Trial | Wish | Excerpt | Check) -> str:
    """What errors call `item`."""
    if isinstance(item, Wish):
        return f"{item.count} × {item.wanted}"
    kinds = {Trial: "question", Excerpt: "sentence", Check: "statement"}
    line = _single_spaced(getattr(item, kinds[type(item)]))
    short = line if len(line) <= _ABOUT else line[: _ABOUT - 1] + "…"
    return f"answers to {short!r}" if isinstance(item, Trial) else repr(short)


def _write_trial(trial: Trial) -> str:
    """The criterion stands before and after the answers (edge2024, app. F.1); a contrast has none.

    What looks like the end of an answer is made harmless.
    """
    names = "AB" if trial.bands else "12"
    tags = [f"answer_{n}" for n in names] if len(trial.answers) > 1 else ["answer"]
    answers = "\n\n".join(_enclose_text(tag, text) for tag, text in zip(tags, trial.answers, strict=True))
    if not trial.criterion:
        return f"Question: {_single_spaced(trial.question)}\n\n{answers}"
    what = f"{trial.criterion}. {_single_spaced(trial.definition)}"
    scaled = bool(trial.bands) or len(trial.answers) == 1
    scale = f"\n\nScale: from {trial.low} to {trial.high}\n{trial.bands}".rstrip() if scaled else ""
    return (
        f"Question: {_single_spaced(trial.question)}\n\nCriterion: {what}{scale}\n\n{answers}\n\n"
        f"Once more the criterion, by which alone to judge: {what}"
    )


def _bullet_list(title: str, texts: Sequence[str]) -> list[str]:
    return [f"{title}:\n" + "\n".join(f"- {_single_spaced(t)}" for t in texts)] if texts else []


def _enclose_texts(texts: Sequence[str]) -> list[str]:
    return [_enclose_text("text", text) for text in texts]


def _enclose_text(tag: str, text: str) -> str:
    return f"<{tag}>\n{_TAG.sub('‹', text.strip())}\n</{tag}>"


def _single_spaced(text: str) -> str:
    return " ".join(text.split())
