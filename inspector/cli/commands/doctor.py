"""`store-inspector doctor STORE`: whose store it is, how it is read, what each open would do, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from inspector.cli.options import json_option, store_argument

if TYPE_CHECKING:
    from persistence.basics import StoreFacts
    from persistence.lineage import LineageReport
    from persistence.location import StoreLocation


@click.command("doctor")
@store_argument(required=False)
@json_option
@click.option("--trace", is_flag=True, help="Also show every read that was made and every rule asked.")
def command(store: str | None, as_json: bool, trace: bool) -> int:
    """Say whose store it is, how it is read, and what each way of opening it would do.

    \b
    Examples:
      store-inspector doctor ~/.lionagi/state.db
      store-inspector doctor state.db --trace
      store-inspector doctor state.db --json | python3 -m json.tool

    \b
    Exit codes: 0 a native open would take it, 3 it would be refused, 4 no such store. Nothing is changed.
    """
    from inspector.cli.output import write
    from inspector.reports import doctor, shapes
    from inspector.reports.lineage import exit_status, lineage_shape
    from persistence.location import locate

    report, facts = _examined(locate(store))
    if report.read_only.refusal is not None and not report.exists:
        raise report.read_only.refusal
    if as_json:
        parts = {**doctor.doctor_shape(facts), **lineage_shape(report)}
        if report.read_only.refusal is not None:
            parts["refusal"] = report.read_only.refusal.as_dict()
        write(f"{shapes.document(store=shapes.store_shape(facts), **parts)}\n")
    else:
        write("".join(f"{line}\n" for line in doctor.doctor_lines(facts, report, trace=trace)))
    return exit_status(report)


def _examined(location: StoreLocation) -> tuple[LineageReport, StoreFacts]:
    from inspector.reports.doctor import facts_of

    if location.path is None:
        return _server(location)
    # The examination needs the standard library alone: nothing of the engine is loaded.
    from persistence.lineage import examine

    report = examine(location)
    return report, facts_of(report)


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
