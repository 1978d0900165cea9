"""The places of the application: their number, their words, and where their screen is.

A place is registered here once it is built; its number never changes (SCREENS). Screens are imported
when they are first gone to.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.screens.place import Place

__all__ = ["PLACES", "PlaceInfo", "missing_reason", "place_info"]


@dataclass(frozen=True, slots=True)
class PlaceInfo:
    """A place. `key` is its number ("" for one reached otherwise: a run, Open), `says` what it answers.

    `letter` is the key of one without a number that is gone to from anywhere.
    `needs` names a table without which there is nothing to show. `parent` is where `esc` leads.
    """

    name: str
    title: str
    says: str
    screen: str  # "module:Class"
    key: str = ""
    letter: str = ""
    needs: str | None = None
    parent: str | None = None
    needs_store: bool = True

    def load(self) -> type[Place]:
        module, _, name = self.screen.partition(":")
        found: type[Place] = getattr(import_module(module), name)
        return found


PLACES: tuple[PlaceInfo, ...] = (
    PlaceInfo(
        "overview",
        "Overview",
        "What this store is, what it holds, and what is worth a look",
        "inspector.screens.overview:OverviewPlace",
        key="1",
    ),
    PlaceInfo(
        "lineage",
        "Lineage",
        "Whose store this is, what each open would do with it, and how that is known",
        "inspector.screens.lineage:LineagePlace",
        key="2",
    ),
    PlaceInfo(
        "admission",
        "Admission",
        "Whether a profile lets this store be written to, and if not, exactly why",
        "inspector.screens.admission:AdmissionPlace",
        key="3",
    ),
    PlaceInfo(
        "found",
        "Found",
        "The rows a check found",
        "inspector.screens.found:FoundPlace",
        parent="overview",
    ),
    PlaceInfo(
        "runs",
        "Runs",
        "What the runs did: newest first, filtered, sorted",
        "inspector.screens.runs:RunsPlace",
        key="4",
        needs="sessions",
    ),
    PlaceInfo(
        "run",
        "Run",
        "One run: its conversation, timeline, branches, signals, history, artifacts",
        "inspector.screens.run:RunPlace",
        needs="sessions",
        parent="runs",
    ),
    PlaceInfo(
        "progressions",
        "Progressions",
        "The order of every conversation: how long, who uses it, what is wrong with it",
        "inspector.screens.progressions:progressions_place",
        key="5",
        needs="progressions",
    ),
    PlaceInfo(
        "artifacts",
        "Artifacts",
        "What runs recorded as their outcome, and the files expected of them, then and now",
        "inspector.screens.artifacts:artifacts_place",
        key="6",
        needs="artifacts",
    ),
    PlaceInfo(
        "definitions",
        "Definitions",
        "What agents and playbooks were defined by: versions, what changed, the file now",
        "inspector.screens.definitions:definitions_place",
        key="7",
        needs="definitions",
    ),
    PlaceInfo(
        "tables",
        "Tables",
        "Every table of the store: its rows, its structure, its links",
        "inspector.screens.tables:tables_place",
        key="8",
    ),
    PlaceInfo(
        "actions",
        "Actions",
        "The gate: what may be written into a managed store, and every step before it",
        "inspector.screens.actions:ActionsPlace",
        key="0",
    ),
    PlaceInfo(
        "journal",
        "Journal",
        "Every action on a managed store and every refusal, the newest first",
        "inspector.screens.journal:JournalPlace",
        letter="J",
        needs_store=False,
    ),
    PlaceInfo(
        "open",
        "Open",
        "Choose a store: recent ones, the default one, the demo, or any name",
        "inspector.screens.open:OpenPlace",
        needs_store=False,
    ),
    PlaceInfo(
        "refused",
        "Refused",
        "Why the store does not open, and what to do",
        "inspector.screens.refused:RefusedPlace",
        needs_store=False,
    ),
)
"""In the order of the places line: 1 to 9, then 0, then those without a number."""


def place_info(name: str) -> PlaceInfo | None:
    return next((place for place in PLACES if place.name == name), None)


def missing_reason(place: PlaceInfo, tables: frozenset[str] | None) -> str | None:
    """Why this store has nothing for a place; None when it has, or when that is not known yet."""
    if place.needs is None or tables is None or place.needs in tables:
        return None
    return f"{place.title}: this store has no table {place.needs}"
