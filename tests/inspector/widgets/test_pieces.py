"""What of a line is left out when room is short, and what gives way before."""

from __future__ import annotations

from inspector.typeset.lines import line
from inspector.widgets.pieces import Piece, laid_out

PIECES = [
    Piece(line(("store.db", "strong")), weight=0),
    Piece(line(("no lineage recorded", "plain")), weight=5, gap=4),
    Piece(line(("READ-ONLY", "badge")), weight=0, gap=4),
    Piece(line(("settled 12:00:00", "plain")), weight=6, gap=4, short=line(("settled", "plain"))),
    Piece(line(("kernel-held", "quiet")), weight=2),
    Piece(line(("270 kB", "plain")), weight=4, right=True),
]


def said(room: int, *, spare: bool) -> str:
    out = [" "] * room
    for column, piece in laid_out(PIECES, room, spare=spare):
        out[column : column + piece.width] = list("".join(run.text for run in piece.text))
    return "".join(out)


def test_gaps_give_way_before_what_matters() -> None:
    assert "270 kB" not in said(60, spare=False)
    assert said(60, spare=True) == "store.db  no lineage recorded  READ-ONLY  settled     270 kB"


def test_what_matters_less_goes_first_and_the_gaps_stay_wide() -> None:
    for spare in (False, True):
        assert said(72, spare=spare).startswith("store.db    no lineage recorded    READ-ONLY    settled  ")
        assert said(72, spare=spare).endswith("270 kB") and "kernel-held" not in said(72, spare=spare)


def test_the_lightest_go_when_narrow_gaps_are_not_enough() -> None:
    assert said(40, spare=True).rstrip() == "store.db  READ-ONLY  settled"
