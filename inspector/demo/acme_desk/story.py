"""Three weeks at the desk: what kim and lee had agents do about the tickets of the harbour office."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.demo.acme_desk.runs import Run
from inspector.demo.acme_desk.store import initialize, opened, transaction

__all__ = ["tell"]

DAY = 86_400.0
Step = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """A ticket, and the run that dealt with it; `ago` in days, `status` None: it is still at it."""

    owner: str
    ago: float
    subject: str
    agent: str
    asks: str
    steps: tuple[Step, ...]
    status: str | None = "completed"
    why: tuple[str, str] = ("run.completed.ok", "the agent said it was done")
    note: str | None = None
    pinned: bool = False
    remarks: tuple[str, ...] = ()


def _asked(tool: str, arguments: dict[str, Any], output: Any) -> tuple[Step, Step]:
    call = {"function": tool, "arguments": arguments}
    return ("call", call), ("result", {**call, "output": output})


STORY: tuple[Told, ...] = (
    Told(
        "lee", 20.4, "Printer at berth 3 prints upside down", "desk-helper",
        "The printer at berth 3 prints the tide table upside down since the storm. What changed?",
        (*_asked("printer_log", {"printer": "berth-3", "days": 3}, {"rows": ["duplex: on", "tray: rear"]}),
         ("say", "The storm did nothing. On Tuesday somebody chose the rear tray, which feeds the paper the other way."),
         ("say", "Set the tray back to *front*. The tables already printed are right when you turn them round.")),
        remarks=("Turned them round.", "Tray is set back."),
    ),
    Told(
        "kim", 17.1, "Chart room door sticks at high water", "desk-helper",
        "The door of the chart room sticks, but only around high water. Is that possible?",
        (*_asked("tide_table", {"port": "Sable Point", "days": 7}, {"high": ["03:12", "15:40"]}),
         *_asked("tickets_like", {"words": ["door", "sticks"]}, {"rows": [12, 31, 44]}),
         ("say", "Three older tickets say the same, all within an hour of high water. The quay lifts a little, and the frame with it."),
         ("say", "Plane four millimetres off the lower hinge side. I put the drawing into the ticket.")),
        note="carpenter comes on Friday", pinned=True, remarks=("Carpenter asked.",),
    ),
    Told(
        "lee", 13.8, "Fog signal heard twice", "fixer",
        "Two boats say they hear the fog signal twice. Find out whether it is an echo.",
        (*_asked("signal_times", {"station": "mole", "night": "last"}, {"error": "station does not answer"}),
         ("say", "The station at the mole does not answer, so I cannot tell the signal from its echo."),),
        "failed", ("run.failed.exception", "the station did not answer"),
        remarks=("Station was switched off for paint.",),
    ),
    Told(
        "kim", 9.2, "Who has the key of the lamp room?", "desk-helper",
        "Who had the key of the lamp room last, and where is it now?",
        (*_asked("key_book", {"key": "lamp room"}, {"rows": [["tomasz", "out"], ["kaede", "in"], ["?", "out"]]}),
         ("say", "Kaede brought it back on Sunday. Since then it is out again, and the line has no name."),
         ("say", "The handwriting is not mine to judge. I left a note on the hook.")),
        "completed", remarks=("It was in the other coat.",),
    ),
    Told(
        "lee", 6.5, "Coffee machine asks for a captain's licence", "fixer",
        "The coffee machine wants a captain's licence since its update. Turn that off.",
        (*_asked("machine_settings", {"machine": "coffee"}, {"profile": "bridge", "licence": True}),
         ("say", "It was given the profile of the bridge coffee machine of the ferry. I need a person to press *back* for ten seconds."),
         ("user", {"instruction": "Pressed. It says ahoy."}),
         ("say", "Then it is on the office profile again.")),
        note="do not update on Fridays", remarks=("Ahoy.",),
    ),
    Told(
        "kim", 3.3, "Berth list in three languages", "desk-helper",
        "Write the berth list for the weekend in English, Portuguese and Japanese.",
        (*_asked("berths", {"from": "sat", "to": "sun"}, {"free": [2, 5, 6], "taken": [1, 3, 4]}),
         ("say", "**Free:** 2, 5, 6\n\n**Livres:** 2, 5, 6\n\n**空き:** 2・5・6"),
         ("say", "The list hangs at the gate. The numbers are the same in all three; I compared them.")),
    ),
    Told(
        "lee", 1.2, "Seal on the slipway again", "fixer",
        "The seal is on the slipway again. Tell the boats that want to launch.",
        (*_asked("launches", {"day": "today"}, {"rows": ["Tern 10:00", "Marta K 11:30"]}),
         ("say", "Told Tern and Marta K: the slipway is taken until the tide is. Both use the crane."),),
        remarks=("Seal left at 12:10.",),
    ),
    Told(
        "kim", 0.04, "Night ferry: whose bicycle is that?", "desk-helper",
        "A bicycle came with the night ferry and nobody fetched it. Find the owner in the passenger list.",
        (*_asked("passengers", {"sailing": "night", "with": "bicycle"}, {"rows": 4}),
         ("say", "Four passengers had one with them. I write to all four."),),
        None, pinned=True,
    ),
)  # fmt: skip


def tell(path: Path, clock: float) -> dict[str, int]:
    """Makes a store with the story, ending at `clock`; how much of what is in it."""
    initialize(path)
    messages = 0
    with opened(path) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        with transaction(connection):
            for number, told in enumerate(STORY):
                messages += _record(connection, number, told, clock - told.ago * DAY)
    return {"runs": len(STORY), "messages": messages, "tickets": len(STORY)}


def _record(connection: sqlite3.Connection, number: int, told: Told, at: float) -> int:
    run = Run(connection, f"desk-{number + 1:02d}", told.owner)
    run.begin(
        at, told.subject, agent_name=told.agent, model="polaris-2", provider="meridian", project="front desk",
        desk_pinned=int(told.pinned), desk_note=told.note,
    )  # fmt: skip
    system = f"You are the {told.agent} of the harbour office's desk. Say what you do not know."
    steps: tuple[Step, ...] = (
        ("system", {"system_message": system}), ("user", {"instruction": told.asks}), *told.steps,
    )  # fmt: skip
    for place, (kind, content) in enumerate(steps):
        if kind == "say":
            content = {"assistant_response": content}
        run.say(at + 9.0 * place, kind, content, told.owner if kind == "user" else told.agent)
    if told.status is not None:
        run.end(at + 9.0 * len(steps), told.status, *told.why)
    ticket = connection.execute(
        "INSERT INTO tickets (subject, session_id, opened_by) VALUES (?, ?, ?)",
        (told.subject, run.id, told.owner),
    ).lastrowid
    for remark in told.remarks:
        connection.execute("INSERT INTO ticket_notes (ticket_id, body) VALUES (?, ?)", (ticket, remark))
    return len(steps)
