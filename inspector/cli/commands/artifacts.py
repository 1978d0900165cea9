"""`store-inspector artifacts STORE [RUN]`: recorded outcomes; the files expected of a run, then and now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from inspector.cli.options import Listing, listing_options, store_argument

if TYPE_CHECKING:
    from persistence.statedb import StateDB


@click.command("artifacts")
@store_argument(required=True)
@click.argument("run", required=False)
@click.option(
    "--key",
    "shape",
    type=click.Choice(("invocation", "session", "both", "none")),
    help="Only artifacts whose key names these.",
)
@click.option("--verify", is_flag=True, help="The files expected of RUN: contract, recorded, and now.")
@listing_options
def command(store: str, run: str | None, shape: str | None, verify: bool, **given: Any) -> int:
    """List the artifacts of a store or of one run, with what is at their paths now.

    With --verify: the run's expected files, what was recorded of them, and what is there now. What is said of
    files is an observation of this moment, not evidence: none is opened, and nothing is recorded.

    \b
    Examples:
      store-inspector artifacts state.db
      store-inspector artifacts state.db --key session --limit 20
      store-inspector artifacts state.db 0f3c2a91
      store-inspector artifacts state.db 0f3c2a91 --verify --json
    """
    from inspector.cli.running import with_store

    asked = Listing.take(given)
    if verify and run is None:
        raise click.UsageError("--verify is for one RUN.")
    if run is not None and shape is not None:
        raise click.UsageError("--key is for the artifacts of a whole store.")
    if verify and run is not None:
        return with_store(store, lambda db: _verify(db, run, asked))
    return with_store(store, lambda db: _list(db, run, shape, asked))


async def _list(db: StateDB, run: str | None, shape: Any, asked: Listing) -> int:
    from inspector.cli.listing import list_rows

    if run is None:
        return await list_rows(db, db.artifacts(shape), asked, what="artifacts")
    return await list_rows(db, db.artifacts_of(await _run(db, run)), asked, what="artifacts")


async def _run(db: StateDB, text: str) -> str:
    from persistence.errors import StoreError

    found = await db.find_run(text)
    if found is None:
        raise StoreError(
            "There is no such run in this store.",
            code="no-such-run",
            where=db.location.display,
            observed=text,
            remedy="See which there are: store-inspector runs STORE.",
        )
    return found


async def _verify(db: StateDB, run: str, asked: Listing) -> int:
    from inspector import safe
    from inspector.cli.listing import list_rows, say
    from inspector.fixed_source import FixedSource
    from inspector.reports import shapes
    from inspector.verification_rows import COLUMNS, OBSERVATION, compared_files, rows_of, summary

    session = await _run(db, run)
    found = await db.verification(session)
    assert found is not None and db.last_read is not None
    source = FixedSource("files", COLUMNS, rows_of(compared_files(found)), db.last_read)
    told = {
        "session_id": session,
        "contract": shapes.value(found.contract),
        "recorded": shapes.value(found.recorded),
        "now": None if found.now is None else shapes.value(dict(found.now.result)),
        "why": found.why or (None if found.now is None else found.now.unusable_root),
        "observation": OBSERVATION,
    }
    status = await list_rows(db, source, asked, what="files", verification=told)
    if asked.form == "text":
        say(safe.text(summary(found)))
        say(f"what is there now is {OBSERVATION}")
    return status
