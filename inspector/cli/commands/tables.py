"""`store-inspector tables STORE [TABLE]`: what tables there are, or the rows of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from inspector.cli.options import Listing, listing_options, store_argument

if TYPE_CHECKING:
    from persistence.reading.overview import TableCount
    from persistence.records import Cell, TableShape
    from persistence.statedb import StateDB


@click.command("tables")
@store_argument(required=True)
@click.argument("table", required=False)
@click.option("--shape", is_flag=True, help="The columns and keys of TABLE instead of its rows.")
@click.option("--count", is_flag=True, help="Count the rows of every table as well.")
@click.option("--order", metavar="COLUMN", help="Sort the rows of TABLE by a column.")
@click.option("--descending", is_flag=True, help="Largest first.")
@click.option("--where", multiple=True, metavar="COLUMN=TEXT", help="Only rows with this value (repeatable).")
@listing_options
def command(store: str, table: str | None, shape: bool, **given: Any) -> int:
    """List a store's tables and views, or the rows of one. Any SQLite file will do, whoever made it.

    \b
    Examples:
      store-inspector tables state.db
      store-inspector tables state.db messages --limit 20
      store-inspector tables state.db branches --where session_id=0f3c... --json
      store-inspector tables state.db sessions --shape
      store-inspector tables state.db artifacts --csv --limit 0 > artifacts.csv
    """
    from inspector.cli.running import with_store

    count, order, descending, where = (given.pop(k) for k in ("count", "order", "descending", "where"))
    asked = Listing.take(given)
    if table is None:
        if shape or order or descending or where:
            raise click.UsageError("--shape, --order, --descending and --where are for one TABLE.")
        return with_store(store, lambda db: _tables(db, asked, count))
    if shape:
        return with_store(store, lambda db: _shape(db, table, asked))
    conditions = dict(_condition(text) for text in where)
    return with_store(store, lambda db: _rows(db, table, asked, order, descending, conditions))


def _condition(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.BadParameter(f"{text!r} is not COLUMN=TEXT", param_hint="--where")
    return name, value


async def _tables(db: StateDB, asked: Listing, count: bool) -> int:
    from inspector.cli.listing import list_rows
    from inspector.reports.lists import ListSource
    from persistence.records import PENDING, Column

    shapes = await db.catalogue()
    counted: dict[str, Cell] = {}
    if count:
        async for found in db.counts():
            counted[found.table] = _counted(found)
    columns = [
        Column("name", "table", "text"),
        Column("kind", "kind", "text"),
        Column("group", "group", "text"),
        Column("columns", "columns", "number"),
        Column("primary_key", "key", "text"),
        Column("foreign_keys", "links to", "text"),
        Column("indexes", "indexes", "number"),
    ]
    if count:
        columns.append(Column("rows", "rows", "number"))
    rows: list[list[Cell]] = []
    for shape in shapes:
        links = ", ".join(dict.fromkeys(key.table for key in shape.foreign_keys))
        row: list[Cell] = [shape.name, shape.kind, shape.group, len(shape.columns)]
        row += [", ".join(shape.primary_key) or None, links or None, len(shape.indexes)]
        if count:
            row.append(counted.get(shape.name, PENDING))
        rows.append(row)
    assert db.last_read is not None
    return await list_rows(db, ListSource("tables", columns, rows, db.last_read), asked, what="tables")


def _counted(found: TableCount) -> Cell:
    """How many rows a table has; what was not counted is said, never shown as a number."""
    from persistence.records import Unreadable

    if found.rows is None:
        return Unreadable(found.why or "not counted")
    return found.rows if found.complete else Unreadable(f"more than {found.rows - 1:,}, not counted further")


async def _rows(
    db: StateDB,
    table: str,
    asked: Listing,
    order: str | None,
    descending: bool,
    where: dict[str, str],
) -> int:
    from inspector.cli.listing import list_rows
    from persistence.records import Order

    found = await _one(db, table)
    for name in [*where, *([order] if order else [])]:
        if found.column(name) is None:
            close = _nearest(name, [column.name for column in found.columns])
            raise click.UsageError(f"{found.name} has no column {name}{close}.")
    wanted = Order(order, descending) if order else None
    values = {name: await _typed(found, name, text) for name, text in where.items()}
    source = db.rows(found.name, order=wanted, where=values or None)
    return await list_rows(db, source, asked, what="rows", table=found.name)


async def _typed(shape: TableShape, name: str, text: str) -> str | int | float:
    """The text of a condition as the column would hold it: a number where the column holds numbers."""
    column = shape.column(name)
    declared = column.type.upper() if column is not None else ""
    if any(word in declared for word in ("INT", "REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL")):
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
    return text


async def _shape(db: StateDB, table: str, asked: Listing) -> int:
    from inspector import safe
    from inspector.cli.columns import columns_text
    from inspector.cli.listing import list_rows, write
    from inspector.reports.lists import ListSource
    from inspector.reports.tables import shape_lines, shape_object
    from persistence.records import Column

    found = await _one(db, table)
    columns: list[Column] = [
        Column("name", "column", "text"),
        Column("type", "type", "text"),
        Column("nullable", "null", "text"),
        Column("default", "default", "text"),
        Column("primary_key", "key", "number"),
    ]
    rows: list[list[Cell]] = [
        [c.name, c.type, "yes" if c.nullable else "no", c.default, c.primary_key or None]
        for c in found.columns
    ]
    if asked.form != "text":
        assert db.last_read is not None
        source = ListSource("columns", columns, rows, db.last_read)
        return await list_rows(db, source, asked, what="columns", table=shape_object(found))
    write(f"{safe.text(found.name)} ({found.kind})\n\n")
    lines, _ = columns_text(columns, rows, nothing="")
    write("".join(f"{line}\n" for line in lines))
    write("".join(f"{line}\n" for line in shape_lines(found)))
    return 0


async def _one(db: StateDB, table: str) -> TableShape:
    from persistence.errors import MissingTableError

    shapes = await db.catalogue()
    for shape in shapes:
        if shape.name == table:
            return shape
    for shape in shapes:  # SQLite's own names do not mind their case
        if shape.name.lower() == table.lower():
            return shape
    close = _nearest(table, [shape.name for shape in shapes])
    raise MissingTableError(
        f"There is no table or view {table} in this store.",
        where=db.location.display,
        observed=f"{len(shapes)} tables and views",
        remedy=f"See what there is: store-inspector tables STORE{close}.",
    )


def _nearest(name: str, names: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, names, n=1)
    return f"; is {close[0]} meant?" if close else ""
