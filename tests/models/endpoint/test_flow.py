"""How many calls are under way at once, and who waits for whom."""

from __future__ import annotations

import threading
import time

from sensegraph.models.endpoint.flow import Gate
from sensegraph.models.endpoint.wire import Patience


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def pass_through(gate: Gate, times: int) -> None:
    for _ in range(times):
        gate.enter()
        gate.leave(good=True)


def test_as_many_are_let_in_as_are_set() -> None:
    gate = Gate(2)
    assert [gate.enter() > 0, gate.enter() > 0] == [True, True]
    entered = threading.Event()
    late = threading.Thread(target=lambda: (gate.enter(), entered.set()), daemon=True)
    late.start()
    assert not entered.wait(0.05)
    gate.leave(good=True)
    assert entered.wait(60)


def test_a_pause_holds_for_all_and_halves_once_what_was_begun_before_it() -> None:
    clock = Clock()
    gate = Gate(16, clock)
    began = gate.enter()
    clock.now += 1
    assert gate.brake(began, 3.0) == 104.0
    assert (gate.width, gate.left()) == (8, 3.0)
    gate.brake(began, 1.0)  # another of the calls that were under way
    assert (gate.width, gate.left()) == (8, 3.0)
    clock.now += 4
    gate.brake(clock.now, 0.0)
    assert (gate.width, gate.left()) == (4, 0.0)


def test_the_first_after_a_pause_goes_alone_until_it_has_its_reply() -> None:
    clock = Clock()
    gate = Gate(4, clock)
    gate.brake(gate.enter(), 0.0)
    gate.leave(good=False)
    gate.enter()
    entered = threading.Event()
    threading.Thread(target=lambda: (gate.enter(), entered.set()), daemon=True).start()
    assert not entered.wait(0.15)
    gate.leave(good=True)
    assert entered.wait(60)


def test_a_stretch_of_good_replies_lets_one_more_in_up_to_what_is_set() -> None:
    clock = Clock()
    gate = Gate(3, clock)
    gate.brake(clock.now, 0.0)
    assert gate.width == 1
    pass_through(gate, 7)
    assert gate.width == 1
    pass_through(gate, 1)
    assert gate.width == 2
    pass_through(gate, 8)
    assert gate.width == 3
    pass_through(gate, 100)
    assert gate.width == 3


def test_what_is_used_up_is_waited_for_without_a_brake() -> None:
    clock = Clock()
    gate = Gate(3, clock)
    gate.hold(2.0)
    assert (gate.left(), gate.width) == (2.0, 3)
    gate.hold(0.0)
    assert gate.left() == 2.0


def test_a_reply_may_take_long_to_begin_and_not_long_between_two_bytes() -> None:
    now = time.monotonic()
    patience = Patience(first_byte=600.0, silence=60.0)
    assert (patience.left(now - 500, heard=False), patience.left(now - 500, heard=True)) == (600.0, 60.0)
    bounded = Patience(first_byte=600.0, silence=60.0, whole=10.0)
    assert 5 < bounded.left(now - 4, heard=True) <= 6
    assert bounded.left(now - 20, heard=False) < 0
