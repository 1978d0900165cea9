"""`store-inspector progression STORE [ID]`: the lists of messages, or the positions of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from inspector.cli.options import Listing, listing_options, store_argument

if TYPE_CHECKING:
    from persistence.statedb import StateDB


@click.command("progression")
@store_argument(required=True)
@click.argument("progression", required=False, metavar="[ID]")
@click.option("--raw", is_flag=True, help="The list of ID as it lies in the store.")
@listing_options
def command(store: str, progression: str | None, raw: bool, **given: Any) -> int:
    """List the progressions of a store, or the positions of one with what is wrong with them.

    \b
    Examples:
      store-inspector progression state.db
      store-inspector progression state.db 7f3a21aa-7b1e-4c55-9d10-5a7be0c49ab4
      store-inspector progression state.db 7f3a21aa-7b1e-4c55-9d10-5a7be0c49ab4 --json
      store-inspector progression state.db 7f3a21aa-7b1e-4c55-9d10-5a7be0c49ab4 --raw
    """
    from inspector.cli.running import with_store

    asked = Listing.take(given)
    if progression is None:
        if raw:
            raise click.UsageError("--raw is for one ID.")
        return with_store(store, lambda db: _list(db, asked))
    if raw:
        return with_store(store, lambda db: _raw(db, progression))
    return with_store(store, lambda db: _one(db, progression, asked))


async def _list(db: StateDB, asked: Listing) -> int:
    from inspector.cli.listing import list_rows

    return await list_rows(db, db.progressions(), asked, what="progressions")


async def _one(db: StateDB, progression: str, asked: Listing) -> int:
    from inspector import safe
    from inspector.cli.listing import list_rows, say
    from inspector.progression_source import ProgressionSource

    transcript = await db.transcript(progression)
    if transcript.state == "missing":
        raise _missing(db, progression)
    async for _ in transcript.survey():
        pass
    told = {
        "id": progression,
        "state": transcript.state,
        "why": transcript.why,
        "length": transcript.length,
        "missing": transcript.dangling,
        "duplicates": transcript.duplicates,
        "out_of_order": transcript.out_of_order,
    }
    if asked.form == "text" and transcript.state != "list":
        why = f": {safe.text(transcript.why)}" if transcript.why else ""
        say(f"▲ the progression is {transcript.state}{why}")
    return await list_rows(db, ProgressionSource(transcript), asked, what="positions", progression=told)


async def _raw(db: StateDB, progression: str) -> int:
    import sys

    from inspector import safe
    from inspector.cli.output import write

    found = await db.raw_progression(progression)
    if found is None:
        raise _missing(db, progression)
    text = found if isinstance(found, str) else safe.cell(found)
    write(f"{safe.lines(text, limit=len(text)) if sys.stdout.isatty() else text}\n")
    return 0


def _missing(db: StateDB, progression: str) -> Exception:
    from persistence.errors import StoreError

    return StoreError(
        "There is no such progression in this store.",
        code="no-such-progression",
        where=db.location.display,
        observed=progression,
        remedy="See which there are: store-inspector progression STORE.",
    )
