"""`store-inspector doctor STORE`: what a store is, how it is read, what lies beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from inspector.cli.options import json_option, store_argument

if TYPE_CHECKING:
    from persistence.lineage.report import LineageReport
    from persistence.records import StoreFacts
    from persistence.statedb import StateDB


@click.command("doctor")
@store_argument(required=False)
@json_option
def command(store: str | None, as_json: bool) -> None:
    """Say what a store is, how it is read, and what lies beside it.

    \b
    Examples:
      store-inspector doctor ~/.lionagi/state.db
      store-inspector doctor state.db --json | python3 -m json.tool
    """
    from inspector.cli.listing import write
    from inspector.reports import doctor, shapes
    from persistence.location import locate

    location = locate(store)
    report: LineageReport | None = None
    if location.path is not None:
        # The examination needs the standard library alone: nothing of the engine is loaded.
        from persistence.lineage import examine

        report = examine(location)
        if report.read_only.refusal is not None:
            raise report.read_only.refusal
        found = doctor.facts_of(report)
    else:
        found = _server_facts(store)
    if as_json:
        parts = doctor.doctor_shape(found)
        if report is not None:
            parts["opens"] = doctor.opens_shape(report)
        write(f"{shapes.document(store=shapes.store_shape(found), **parts)}\n")
    else:
        verdicts = report.verdicts if report is not None else ()
        write("".join(f"{line}\n" for line in doctor.doctor_lines(found, verdicts)))


def _server_facts(store: str | None) -> StoreFacts:
    from inspector.cli.running import with_store

    async def facts(db: StateDB) -> StoreFacts:
        return await db.facts()

    return with_store(store, facts)
