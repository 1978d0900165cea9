"""Addresses and the way back."""

from __future__ import annotations

import pytest

from inspector.navigation import Address, History


@pytest.mark.parametrize(
    "address",
    [
        Address("runs"),
        Address("run", "0f3c"),
        Address("run", "a/b ?#%[x]\x1b", "timeline"),
        Address("tables", "caf\udce9"),
        Address("run", "日誌"),
        Address("admission", None, "links"),
    ],
)
def test_an_address_survives_its_text(address: Address) -> None:
    assert Address.parse(str(address)) == address


def test_the_text_of_an_address_is_plain() -> None:
    assert str(Address("run", "a/b\x1b")) == "run/a%2Fb%1B"


def test_a_view_needs_no_target() -> None:
    assert str(Address("admission", None, "links")) == "admission//links"
    assert Address.parse("runs/") == Address.parse("/runs") == Address("runs")


@pytest.mark.parametrize("text", ["", "/", "a/b/c/d"])
def test_no_address(text: str) -> None:
    with pytest.raises(ValueError, match="not an address"):
        Address.parse(text)


def test_history_goes_back_and_forward() -> None:
    history = History()
    for name in ("runs", "overview", "tables"):
        history.visit(Address(name))
    assert history.move(-1) == Address("overview")
    assert history.move(-1) == Address("runs")
    assert history.move(-1) is None
    assert history.current == Address("runs")
    assert history.move(1) == Address("overview")


def test_a_new_visit_forgets_what_was_ahead() -> None:
    history = History()
    for name in ("runs", "overview", "tables"):
        history.visit(Address(name))
    history.move(-2)
    history.visit(Address("run", "x"))
    assert history.move(1) is None
    assert history.move(-1) == Address("runs")


def test_the_same_place_twice_is_one_visit_and_a_view_replaces_one() -> None:
    history = History()
    history.visit(Address("runs"))
    history.visit(Address("run", "x"))
    history.visit(Address("run", "x"))
    history.replace(Address("run", "x", "timeline"))
    assert history.current == Address("run", "x", "timeline")
    assert history.move(-1) == Address("runs")
    assert history.move(1) == Address("run", "x", "timeline")


def test_history_is_bounded() -> None:
    history = History()
    for number in range(History.LIMIT * 3):
        history.visit(Address("run", str(number)))
    steps = 0
    while history.move(-1) is not None:
        steps += 1
    assert steps == History.LIMIT - 1
