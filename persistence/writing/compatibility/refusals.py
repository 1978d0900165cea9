"""Why compatibility mode does not do what a profile does not name (ADR-0128 D6, A.1)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from persistence.errors import StateCompatibilityRefused
from persistence.profiles.records import Profile

__all__ = ["not_named", "unknown_operations", "why_not"]

_MAINTENANCE: Final = "it is maintenance, which is its manager's"
_DELETES: Final = "it removes rows, and compatibility mode removes none"
_CONTROL: Final = "it resumes, controls or adopts rows this run did not make"
_DEFINITIONS: Final = "workflow definitions wait for a profile that has their revisions"
_PROJECT: Final = "it touches rows of a project that this run did not make"
_ORCHESTRATION: Final = "orchestration, flows, schedules and engines are outside a fresh run"
_ORDER: Final = "it could change the order of a progression of others"
_SQL: Final = "SQL that writes is no operation of a manifest"

_WHY: Final = {
    **dict.fromkeys(("vacuum", "checkpoint", "prune", "preview_prune", "erase_content"), _MAINTENANCE),
    **dict.fromkeys(("migrate", "create_all", "rebuild", "backfill", "stamp"), _MAINTENANCE),
    **dict.fromkeys(("import_session", "insert_rows", "repair"), _MAINTENANCE),
    **dict.fromkeys(("repair_session_progression", "repair_branch_progression"), _MAINTENANCE),
    **dict.fromkeys(("set_progression", "extend_progression"), _ORDER),
    **dict.fromkeys(("attach_session_invocation", "insert_session_control"), _CONTROL),
    **dict.fromkeys(("finalize_session_control", "touch_session_activity"), _CONTROL),
    **dict.fromkeys(("set_session_provenance", "mark_session_control_applying"), _CONTROL),
    **dict.fromkeys(("create_workflow_def", "update_workflow_def", "save_definition"), _DEFINITIONS),
    **dict.fromkeys(("register_project", "create_project", "update_project"), _PROJECT),
    **dict.fromkeys(("execute", "transaction"), _SQL),
}
_KINDS: Final = ("show", "play", "team", "schedule", "engine", "invocation", "dispatch")


def why_not(operation: str) -> str:
    """In a few words, why an operation that no profile of a fresh run names is not done."""
    found = _WHY.get(operation)
    if found is not None:
        return found
    if operation.startswith("delete"):
        return _DELETES
    if any(kind in operation for kind in _KINDS):
        return _ORCHESTRATION
    return "the profile does not name it"


def unknown_operations(profile: Profile, known: Collection[str]) -> StateCompatibilityRefused | None:
    """The refusal of a profile that names operations there are none of; None when it names none such."""
    unknown = [name for name in profile.operations if name not in known]
    if not unknown:
        return None
    return StateCompatibilityRefused(
        "The profile names operations the manifest does not have. Nothing was opened.",
        code="not-in-manifest",
        operation="open",
        profile=profile.identity,
        expected=", ".join(known),
        observed=", ".join(unknown),
        remedy="Use a profile made for this version, or one that leaves them out.",
    )


def not_named(operation: str, profile: Profile, where: str | None = None) -> StateCompatibilityRefused:
    """The refusal of an operation that the profile does not name; no argument was looked at."""
    why = why_not(operation)
    also = "" if why == "the profile does not name it" else ", and the profile does not name it"
    return StateCompatibilityRefused(
        f"{operation}: {why}{also}. Nothing was done.",
        code="not-in-profile",
        operation=operation,
        profile=profile.identity,
        where=where,
        expected=", ".join(profile.operations),
        observed=operation,
        remedy="The application that manages the store can do it; this program records fresh runs in it.",
    )
