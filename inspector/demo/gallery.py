"""What the gallery holds and where: a card for each store, and the index file that says so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from inspector.reports import shapes

__all__ = ["CARDS", "INDEX", "Card", "read_index", "shape", "write_index"]

INDEX = "gallery.json"


@dataclass(frozen=True, slots=True)
class Card:
    """One store of the gallery. `store` is its path once it is built; `live`: it is being written."""

    name: str
    title: str
    story: str
    file: str
    store: str = ""
    live: bool = False
    size: int | None = None
    holds: str = ""  # what is in it, in a few words: `326 runs, 3,104 messages`


CARDS: tuple[Card, ...] = (
    Card(
        "harbour",
        "The harbour office",
        "Sixty days of tide boards, a night ferry and a comet, with a few things worth a look.",
        "harbour.db",
    ),
    Card(
        "night-watch",
        "The night watch",
        "The same kind of store while another program writes it. Follow it as it grows.",
        "night-watch.db",
        live=True,
    ),
    Card(
        "stars",
        "The star catalogue",
        "No state store, just somebody's SQLite file: any table of any file can be looked at.",
        "stars.sqlite",
    ),
)


def write_index(folder: Path, cards: Sequence[Card], clock: float) -> None:
    body = {**shapes.head(), "clock": clock, "cards": [asdict(card) for card in cards]}
    (folder / INDEX).write_text(json.dumps(body, indent=1), encoding="ascii")


def read_index(folder: Path) -> tuple[Card, ...]:
    """The cards of a gallery that was built there; none when there is none."""
    try:
        body = json.loads((folder / INDEX).read_bytes())
        return tuple(_card(folder, row) for row in body["cards"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()


def _card(folder: Path, row: dict[str, Any]) -> Card:
    known = {name: row[name] for name in ("name", "title", "story", "file", "live", "size", "holds")}
    return replace(Card(**known), store=str(folder / Path(known["file"]).name))


def shape(card: Card) -> dict[str, Any]:
    """The row of `demo --build-only --json`."""
    return {name: value for name, value in asdict(card).items() if name != "file"}
