"""`store-inspector runs STORE`: the runs of a store, filtered as the application filters them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from inspector.cli.options import Listing, listing_options, store_argument

if TYPE_CHECKING:
    from persistence.statedb import StateDB

_FIELDS = ("status", "agent", "project", "model", "since", "until")


@click.command("runs")
@store_argument(required=False)
@click.argument("words", nargs=-1, metavar="[FILTER]...")
@click.option("--status", multiple=True, help="Only runs with this status (repeatable).")
@click.option("--agent", help="Only runs of this agent.")
@click.option("--project", help="Only runs of this project.")
@click.option("--model", help="Only runs with this model.")
@click.option("--since", help="Only runs from then on: 2d, 3h, 2026-03-04.")
@click.option("--until", help="Only runs up to then.")
@click.option("--order", metavar="COLUMN", help="Sort by a column of the answer.")
@click.option("--descending", is_flag=True, help="Largest first.")
@listing_options
def command(store: str | None, words: tuple[str, ...], **given: Any) -> int:
    """List the runs (sessions) of a store, newest first.

    FILTER is written as in the application: status:failed agent:planner since:2d words to find.

    \b
    Examples:
      store-inspector runs state.db
      store-inspector runs state.db status:failed,timed_out since:2d
      store-inspector runs state.db --agent pilot --limit 20 --json
      store-inspector runs state.db ferry --csv --limit 0 > runs.csv
    """
    from inspector.cli.running import with_store
    from inspector.run_query import parse

    order, descending = given.pop("order"), given.pop("descending")
    fields = {name: given.pop(name) for name in _FIELDS}
    query = parse(_line(words, fields))
    if query.problems:
        raise click.UsageError("; ".join(query.problems) + ".")
    asked = Listing.take(given)
    return with_store(store, lambda db: _runs(db, query.filter(), asked, order, descending))


def _line(words: tuple[str, ...], fields: dict[str, Any]) -> str:
    """What was asked for as one filter line; a value with blanks in it is quoted."""
    said = list(words)
    for name, value in fields.items():
        values = value if isinstance(value, tuple) else (value,) if value is not None else ()
        said += [f'{name}:"{text}"' for text in values]
    return " ".join(said)


async def _runs(db: StateDB, wanted: Any, asked: Listing, order: str | None, descending: bool) -> int:
    from inspector.cli.listing import list_rows
    from persistence.records import Order

    source = db.runs(wanted)
    if order is not None:
        await source.window(0, 1)  # what columns there are is known with the first load
        names = [column.name for column in source.columns if column.sortable and not column.missing]
        if order not in names:
            raise click.UsageError(f"Runs can be sorted by {', '.join(names)}; not by {order}.")
        source = source.ordered(Order(order, descending))
    return await list_rows(db, source, asked, what="runs")
