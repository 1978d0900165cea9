"""What `doctor` tells, and the plain way of asking it that need not wait for the command line's parser.

`doctor` is asked by scripts, of stores at rest, and answers in the time the parser takes to load; every other
way of asking it goes through `inspector.cli.commands.doctor`, which says the same.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from persistence.basics import Progress, StoreFacts
    from persistence.lineage import LineageReport
    from persistence.location import StoreLocation
    from persistence.profiles.records import AdmissionReport, Profile

__all__ = ["Asked", "plain", "tell"]


LARGE = 256 * 1024 * 1024
"""Bytes from which on a private copy is told of while it is made."""


class Asked(NamedTuple):
    """How `doctor` is asked: of which store (None: the default one), how, and under which profile."""

    store: str | None = None
    as_json: bool = False
    trace: bool = False
    profile: Profile | None = None
    owner: str | None = None


def plain(arguments: Sequence[str]) -> Asked | None:
    """What these arguments ask, when they are at most one store, `--json` and `--trace`; else None."""
    stores = [word for word in arguments if not word.startswith("-")]
    options = [word for word in arguments if word.startswith("-")]
    if len(stores) > 1 or not set(options) <= {"--json", "--trace"}:
        return None
    return Asked(stores[0] if stores else None, "--json" in options, "--trace" in options)


def tell(asked: Asked) -> int:
    """Prints the answer and returns the exit code. Raises StoreError where there is no such store."""
    gc.disable()  # what is loaded in the next moments stays until the end: no need to look for garbage in it
    try:
        return _tell(asked)
    finally:
        gc.enable()


def _tell(asked: Asked) -> int:
    from inspector.cli.output import write
    from inspector.reports import doctor
    from inspector.reports.lineage import exit_status
    from persistence.location import locate

    location = locate(asked.store)
    report, facts = _examined(location)
    if report.read_only.refusal is not None and not report.exists:
        raise report.read_only.refusal
    admission = _admission(location, asked)
    if asked.as_json:
        write(f"{doctor.document(report, facts, admission)}\n")
    else:
        write("".join(f"{line}\n" for line in doctor.doctor_lines(facts, report, trace=asked.trace)))
    if admission is None:
        return exit_status(report)
    from inspector.reports.admission import admission_lines
    from inspector.reports.admission import exit_status as admitted

    if not asked.as_json:
        write("".join(f"{line}\n" for line in ("", *admission_lines(admission, trace=asked.trace))))
    return admitted(admission)


def _admission(location: StoreLocation, asked: Asked) -> AdmissionReport | None:
    if asked.profile is None:
        return None
    from persistence.profiles.admission import admit

    return admit(location, asked.profile, owner=asked.owner)


def _examined(location: StoreLocation) -> tuple[LineageReport, StoreFacts]:
    from inspector.reports.doctor import facts_of

    if location.path is None:
        return _server(location)
    # The examination needs the standard library alone: nothing of the engine is loaded.
    from persistence.lineage import examine

    report = examine(location, progress=_large_copies())
    return report, facts_of(report)


def _large_copies() -> Callable[[Progress], None]:
    """Says once, on stderr, that a copy is being made, when it is one to wait for."""
    said = False

    def told(progress: Progress) -> None:
        nonlocal said
        if not said and progress.total is not None and progress.total > LARGE:
            from inspector import formats
            from inspector.cli.output import say

            said = True
            size = formats.size(progress.total)
            say(
                f"It can only be read from a private copy, and one of {size} is being made. Ctrl-C ends that."
            )

    return told


def _server(location: StoreLocation) -> tuple[LineageReport, StoreFacts]:
    import asyncio

    from persistence import StateDB
    from persistence.lineage import examine_server

    async def run() -> tuple[LineageReport, StoreFacts]:
        report = await examine_server(location)
        if report.error is not None:
            raise report.error
        async with StateDB(location) as db:
            return report, await db.facts()

    return asyncio.run(run())
