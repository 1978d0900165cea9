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
FIELDS = ("name", "title", "story", "file", "live", "size", "holds", "look")


@dataclass(frozen=True, slots=True)
class Card:
    """One store of the gallery. `store` is its path once it is built; `live`: it is being written.

    `story` is told in the list, `look` says what to look at once it is open.
    """

    name: str
    title: str
    story: str
    file: str
    store: str = ""
    live: bool = False
    size: int | None = None
    holds: str = ""  # what is in it, in a few words: `326 runs, 3,104 messages`
    look: str = ""


CARDS: tuple[Card, ...] = (
    Card(
        "harbour",
        "The harbour office",
        "Sixty days of tide boards, a night ferry and a comet, with a few things worth a look.",
        "harbour.db",
        look="4 Runs, and in it the night ferry on Thursday. 1 Overview says what is worth a look.",
    ),
    Card(
        "night-watch",
        "The night watch",
        "The same kind of store while another program writes it. Follow it as it grows.",
        "night-watch.db",
        live=True,
        look="4 Runs: the newest grows while you read. f stops following, 2 Lineage says who writes.",
    ),
    Card(
        "stars",
        "The star catalogue",
        "No state store, just somebody's SQLite file: any table of any file can be looked at.",
        "stars.sqlite",
        look="8 Tables: links to follow, blobs to open. 2 Lineage: why a native open would keep its hands off.",
    ),
    Card(
        "customs",
        "The customs desk",
        "The same schema, and another application manages it: one row says so, and that decides.",
        "customs.db",
        look="2 Lineage: ForeignLineageError, and enter on it for the page. Reading goes on: 4 Runs.",
    ),
    Card(
        "tomorrow",
        "Tomorrow's harbour",
        "Intact, and newer than this program writes. There is no way down.",
        "tomorrow.db",
        look="2 Lineage: SchemaTooNewError, asked after the lineage and only then.",
    ),
    Card(
        "ticket-shop",
        "The ticket shop",
        "It has a table called sessions as well. Of visitors to a web shop.",
        "tickets.db",
        look="2 Lineage: the rule about shapes. A name alone proves nothing.",
    ),
    Card(
        "power-cut",
        "The power cut",
        "A killed transaction took the lineage row out of the file. The journal beside it still has it.",
        "power-cut.db",
        look="2 Lineage, how it was decided: the file alone names nobody; with its journal, customs-desk.",
    ),
    Card(
        "takeover",
        "The takeover that never was",
        "The file says customs-desk. Nobody ever committed that.",
        "takeover.db",
        look="2 Lineage: the journal takes the row back, so a native open would go on.",
    ),
    Card(
        "pilots-log",
        "The pilots' log",
        "What decides is in the write-ahead log and not yet in the file.",
        "pilots.db",
        look="2 Lineage: two reads, two answers; the one with the log decides.",
    ),
    Card(
        "wet-logbook",
        "The wet logbook",
        "The beginning of its log is lost, so nobody knows what was in it.",
        "logbook.db",
        look="2 Lineage: damage never decides in favour of opening. It is read as recovery would, and said so.",
    ),
    Card(
        "desk",
        "acme-desk",
        "Tickets of the harbour office, and what agents did about them. Another application manages it.",
        "managed.db",
        look="3 Admission, with the profile acme-desk-fresh-run and kim as the owner: admitted.",
    ),
    Card(
        "desk-priority",
        "acme-desk, with priorities",
        "Somebody gave sessions a priority that every row must have.",
        "managed-priority.db",
        look="3 Admission: one column nobody told the profile about, and every write would fail.",
    ),
    Card(
        "desk-mail",
        "acme-desk, with mail",
        "Sessions may come by mail now, and no longer from imported files.",
        "managed-mail.db",
        look="3 Admission: a changed check, both sides, the difference marked.",
    ),
    Card(
        "desk-follow-up",
        "acme-desk, with follow-ups",
        "A ticket appears by itself for every new session.",
        "managed-follow-up.db",
        look="3 Admission: a trigger would write for us, into a table the profile leaves alone.",
    ),
    Card(
        "desk-regrouped",
        "acme-desk, taken apart",
        "A branch used to name session and owner together. Now it names each for itself.",
        "managed-regrouped.db",
        look="3 Admission: one link became two; a branch could belong to another owner's session.",
    ),
    Card(
        "desk-rollback",
        "acme-desk, without its log",
        "The same tables to the last comma, and no write-ahead log.",
        "managed-rollback.db",
        look="3 Admission: everything holds but the journal mode, which is never switched here.",
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
    known = {name: row[name] for name in FIELDS}
    return replace(Card(**known), store=str(folder / Path(known["file"]).name))


def shape(card: Card) -> dict[str, Any]:
    """The row of `demo --build-only --json`."""
    return {name: value for name, value in asdict(card).items() if name != "file"}
