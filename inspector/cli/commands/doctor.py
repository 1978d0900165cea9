"""`store-inspector doctor STORE`: what a store is, how it is read, what lies beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from inspector.cli.options import json_option, store_argument

if TYPE_CHECKING:
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
    from inspector.cli.running import with_store
    from inspector.reports import doctor, shapes

    async def facts(db: StateDB) -> StoreFacts:
        return await db.facts()

    found = with_store(store, facts)
    if as_json:
        answer = shapes.document(store=shapes.store_shape(found), **doctor.doctor_shape(found))
        write(f"{answer}\n")
    else:
        write("".join(f"{line}\n" for line in doctor.doctor_lines(found)))
