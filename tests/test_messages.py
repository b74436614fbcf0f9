"""The messages of errors and notes are pinned in one place: tests/data/messages.txt."""

from __future__ import annotations

import ast

import messages


def test_every_message_is_the_one_that_is_pinned():
    """Where a message was meant to change: `python tests/messages.py` writes the file again."""
    found, pinned = messages.all_messages().splitlines(), messages.PINNED.read_text(encoding="utf-8").splitlines()
    assert len(pinned) > 700
    assert found == pinned


def test_no_two_kinds_of_error_are_all_that_is_seen():
    kinds = {line.split(":")[0].strip() for line in messages.all_messages().splitlines() if line.startswith(" ")}
    assert {"InputError", "SettingsError", "NotIndexed", "StoreError", "EmptyCorpus", "note"} <= kinds
    assert {"EndpointError", "EndpointDown", "ItemFailed", "BadParameter"} <= kinds


def test_a_message_is_seen_wherever_it_is_written():
    text = """
def f(x, notes):
    raise InputError(f"{x} is no number; " + "name one.")
def g(x, notes):
    said = "It is {} words long.".format(x)
    notes.append(f"{x} words were cut" if x else "nothing was cut")
    raise at.error(said)
def empty_note(x):
    return f"no word of {x} is known"
def h(x):
    return Answer("", notes=(f"{x} more of them", *["one of many"]))
"""
    assert sorted(messages.messages_of(ast.parse(text))) == [
        "InputError: {} is no number; name one.",
        "error: It is {} words long.",
        "note: no word of {} is known",
        "note: nothing was cut",
        "note: one of many",
        "note: {} more of them",
        "note: {} words were cut",
    ]
