"""What is taken a picture of: each a store, a place, some keys, a size and a theme."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["SHOTS", "Shot", "take"]

WIDE = (120, 40)
SMALL = (80, 24)
FERRY = "6e944a5e-96c5-4138-a0c6-d60eb66535b3"

KIM = ("~", "enter", "~", "w", "~", "down", "down", "enter", "~")
"""On the place Admission: the first profile, and kim as the owner."""


COPY = ("j", "j", "enter", "~", "enter", "~", "slash", *"berth", "~", "enter", "~", "enter", "~", "p", "~",
        "enter", "~", *KIM[3:])  # fmt: skip
"""On the place Actions: the newest berth plan of the harbour office, under the first profile and as kim."""
LINEAGE = ("a", "c", "m", "e", "minus", "d", "e", "s", "k")


@dataclass(frozen=True)
class Shot:
    """`at` is an address as `--at` takes it; `keys` are pressed there, `~` among them waits for loads.

    `writes`: started with --allow-writes. `journal`: there is one, with a few entries.
    """

    name: str
    store: str | None = "harbour.db"
    at: str | None = None
    keys: Sequence[str] = field(default_factory=tuple)
    size: tuple[int, int] = WIDE
    theme: str = "lion-dark"
    writes: bool = False
    journal: bool = False


SHOTS: tuple[Shot, ...] = (
    Shot("open", store=None),
    Shot("overview", at="overview"),
    Shot("found", at="overview", keys=("~", "j", "enter", "~")),
    Shot("notices", store="logbook.db", at="overview", keys=("~", "i", "~")),
    Shot("lineage", store="customs.db", at="lineage"),
    Shot("lineage-interrupted", store="power-cut.db", at="lineage"),
    Shot("lineage-page", store="customs.db", at="lineage", keys=("enter", "~")),
    Shot("admission", store="managed-mail.db", at="admission", keys=KIM),
    Shot("admission-admitted", store="managed.db", at="admission", keys=KIM),
    Shot(
        "admission-ceiling",
        store="managed-priority.db",
        at="admission",
        keys=(*KIM, "tab", *"jjjjjjjj", *"lll", "~"),
    ),
    Shot("admission-links", store="managed.db", at="admission", keys=(*KIM, "tab", "tab", "~")),
    Shot("admission-finding", store="managed-follow-up.db", at="admission", keys=(*KIM, "enter", "~")),
    Shot("runs", at="runs"),
    Shot("runs-filtered", at="runs", keys=("slash", *"status:failed,timed_out agent:", "~")),
    Shot("run-conversation", at=f"run/{FERRY}", keys=("~", "j", "j")),
    Shot("run-timeline", at=f"run/{FERRY}/timeline"),
    Shot("run-branches", at=f"run/{FERRY}/branches"),
    Shot("run-signals", at=f"run/{FERRY}/signals"),
    Shot("run-history", at=f"run/{FERRY}/history"),
    Shot("run-artifacts", at=f"run/{FERRY}/artifacts"),
    Shot("run-raw", at=f"run/{FERRY}/raw"),
    Shot("progressions", at="progressions"),
    Shot("progression", at="progressions", keys=("~", "enter", "~")),
    Shot("artifacts", at="artifacts"),
    Shot("expected-files", at=f"artifacts/{FERRY}"),
    Shot("definitions", at="definitions"),
    Shot("definition", at="definitions/agent%2Ftidekeeper"),
    Shot("definition-changes", at="definitions/agent%2Ftidekeeper/changes", keys=("G", "m", "g", "~")),
    Shot("tables", at="tables"),
    Shot("table-rows", at="tables/messages"),
    Shot("table-structure", at="tables/branches", keys=("v", "~")),
    Shot("table-links", at="tables/sessions", keys=("~", "b", "~")),
    Shot("cell", at="tables/messages", keys=(*"jjj", "~", *["right"] * 3, "enter", "~")),
    Shot("stars", store="stars.sqlite", at="tables/observations"),
    Shot("export", at="runs", keys=("e", "~")),
    Shot("help", at="runs", keys=("question_mark", "~")),
    Shot("palette", at="runs", keys=("ctrl+p", *"run", "~")),
    Shot("themes", at="runs", keys=("t", "~")),
    Shot("refused", store="gallery.json"),
    Shot("runs-lion-light", at="runs", theme="lion-light"),
    Shot("runs-high-contrast", at="runs", theme="high-contrast"),
    Shot("runs-mono", at="runs", theme="mono"),
    Shot("run-lion-light", at=f"run/{FERRY}", keys=("~", *"jjj", "pagedown"), theme="lion-light"),
    Shot("small-overview", at="overview", size=SMALL),
    Shot("small-lineage", store="power-cut.db", at="lineage", size=SMALL),
    Shot("small-admission", store="managed-priority.db", at="admission", keys=KIM, size=SMALL),
    Shot("small-runs", at="runs", size=SMALL),
    Shot("small-run", at=f"run/{FERRY}", size=SMALL),
    Shot("small-tables", at="tables/messages", size=SMALL),
    Shot("small-definition", at="definitions/agent%2Ftidekeeper/changes", size=SMALL),
    Shot("small-open", store=None, size=SMALL),
    Shot("journal", store="managed.db", at="journal", journal=True),
    Shot("journal-entry", store="managed.db", at="journal", keys=("j", "enter", "~"), journal=True),
    Shot("actions-closed", store="managed.db", at="actions"),
    Shot("actions", store="managed.db", at="actions", keys=(*COPY, "tab", *LINEAGE, "~"), writes=True),
    Shot("small-actions", store="managed.db", at="actions", keys=COPY, size=SMALL, writes=True),
    # The last of them: it writes into the store.
    Shot(
        "actions-done",
        store="managed.db",
        at="actions",
        keys=(*COPY, "tab", *LINEAGE, "enter", "~"),
        writes=True,
    ),
)


async def settled(pilot: Any) -> None:
    from textual.worker import WorkerCancelled

    for _ in range(4):
        with suppress(WorkerCancelled):
            await pilot.app.workers.wait_for_complete()
        if pilot.app.session.passage is not None:
            await pilot.app.session.passage.ended()
        await pilot.pause(0.05)


CELL = 12.2  # units of the export a cell is wide
_TEXT = re.compile(r'textLength="[\d.]+"([^>]*>)([^<]*)</text>')


def straight(svg: str) -> str:
    """The export with each text as long as its cells; Rich counts characters and squeezes wide ones."""
    from rich.cells import cell_len

    def corrected(found: re.Match[str]) -> str:
        length = CELL * cell_len(html.unescape(found[2]))
        return f'textLength="{length:.1f}"{found[1]}{found[2]}</text>'

    return _TEXT.sub(corrected, svg)


def tell_journal() -> None:
    """The journal of somebody who tried a managed store out."""
    from inspector.actions.journal import Entry, Journal, Phase
    from screenshots.make import CLOCK

    given: dict[str, Any] = {
        "store": "~/stores/managed.db",
        "lineage": "acme-desk",
        "version": "7",
        "owner": "kim",
        "profile": "acme-desk-fresh-run@1",
        "pid": 4711,
    }
    refusal = {
        "type": "StateCompatibilityRefused",
        "code": "column-extra",
        "where": "sessions.priority",
        "message": "A column is there that the profile does not know.",
        "expected": "no such column",
        "observed": "priority TEXT NOT NULL",
        "remedy": "Have a new version of the profile made.",
    }
    probe = (
        Phase("progression", 2),
        Phase("session"),
        Phase("branch"),
        Phase("live message"),
        Phase("status"),
    )
    journal = Journal()
    journal.path.unlink(missing_ok=True)
    other = given | {"store": "~/stores/managed-priority.db"}
    for entry in (
        Entry("probe", "tried", **given, when=CLOCK - 5400),
        Entry("probe", "done", **given, run="0b6c41d2", committed=probe, when=CLOCK - 5300, seconds=0.12),
        Entry("probe", "refused", **other, refusal=refusal, when=CLOCK - 1500),
        Entry("copy-run", "interrupted", **given, run="6e944a5e", committed=(Phase("message", 212),),
              source="~/stores/harbour.db 6e944a5e", when=CLOCK - 600, seconds=2.4,
              note="No session was made, so no reader sees anything of it."),
        Entry("record", "done", **given, run="c1f0aa07", source="night.jsonl", when=CLOCK - 90, seconds=0.8,
              committed=(Phase("session"), Phase("live message", 48), Phase("status"))),
    ):  # fmt: skip
        journal.append(entry)


async def take(shot: Shot, stores: Path) -> str:
    """The application's own export of what a shot shows."""
    from itertools import chain, repeat
    from types import SimpleNamespace

    from inspector import settings
    from inspector.actions import carrying
    from inspector.app import InspectorApp
    from inspector.formats import at_time
    from screenshots.make import CLOCK

    location = None if shot.store is None else f"{stores}/{shot.store}"
    config = settings.load({"theme": shot.theme, "history": False})
    if shot.journal:
        tell_journal()
    carrying.time = SimpleNamespace(monotonic=chain((0.0,), repeat(0.125)).__next__)  # type: ignore[attr-defined]
    with at_time(CLOCK):
        app = InspectorApp(
            location, start_place=shot.at, config=config, gallery=stores, allow_writes=shot.writes
        )
        async with app.run_test(size=shot.size, notifications=True) as pilot:
            await settled(pilot)
            for key in shot.keys:
                await (settled(pilot) if key == "~" else pilot.press(key))
            await settled(pilot)
            svg = straight(app.export_screenshot(title="Store Inspector"))
        if app.fault is not None:
            raise app.fault
    return svg
