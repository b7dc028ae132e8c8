"""Tickets open one terminal, once, for a minute."""

from __future__ import annotations

from sessions.terminals.tickets import SECONDS, Tickets


def test_a_ticket_works_once_and_for_its_terminal_only() -> None:
    tickets = Tickets()
    first, second = tickets.issue("pty_a"), tickets.issue("pty_a")
    assert tickets.redeem("pty_a", first)
    assert not tickets.redeem("pty_a", first)
    assert not tickets.redeem("pty_b", second)
    assert not tickets.redeem("pty_a", second)
    assert not tickets.redeem("", "")


def test_a_ticket_ends() -> None:
    now = [0.0]
    tickets = Tickets(lambda: now[0])
    early, late = tickets.issue("pty_a"), tickets.issue("pty_a")
    now[0] = SECONDS - 0.01
    assert tickets.redeem("pty_a", early)
    now[0] = SECONDS
    assert not tickets.redeem("pty_a", late)


def test_tickets_that_nobody_uses_are_dropped() -> None:
    tickets = Tickets()
    first = tickets.issue("pty_a")
    for _ in range(1000):
        last = tickets.issue("pty_a")
    assert not tickets.redeem("pty_a", first)
    assert tickets.redeem("pty_a", last)
