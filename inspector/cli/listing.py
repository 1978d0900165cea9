"""A row source as a command's answer, in any of its forms: streamed, counted, and saying what is missing."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from inspector import formats, safe
from inspector.cli.answered import Answered, refusal_of
from inspector.cli.cursor import read_cursor, write_cursor
from inspector.cli.options import Listing
from inspector.cli.output import say, write
from inspector.reports import shapes
from inspector.reports.writers import Form, RowWriter, writer

if TYPE_CHECKING:
    from persistence.reading.source import RowSource
    from persistence.records import Row
    from persistence.statedb import StateDB

__all__ = ["list_rows", "say", "write"]

PAGE = 200


async def list_rows(
    db: StateDB | None, source: RowSource, asked: Listing, *, what: str, where: str = "", **extra: Any
) -> int:
    """Prints the rows; the exit code. `what` names them in the plural, `extra` goes into the JSON object.

    Rows that are of no store have no `db`, and `where` they are instead.
    """
    after = read_cursor(source, asked.after) if asked.after else None
    if asked.form == "text":
        return await _as_text(db, source, asked, after, what, where)
    return await _as_data(db, source, asked, after, what, extra)


async def _as_data(
    db: StateDB | None,
    source: RowSource,
    asked: Listing,
    after: tuple[Any, ...] | None,
    what: str,
    extra: dict[str, Any],
) -> int:
    form = cast(Form, asked.form)
    store = shapes.store_shape(await db.facts()) if form == "json" and db is not None else None
    # CSV on a terminal would speak to it: only JSON, whose text is ASCII, goes there as it is.
    visible = sys.stdout.isatty() and form == "csv"
    out: RowWriter | None = None
    last: tuple[Any, ...] | None = None
    count, more = 0, False
    try:
        async for row in _rows(source, asked.limit, after):
            if out is None:  # with the first row the columns are known; until then a refusal is all
                out = writer(form, source.columns, store=store, extra=extra)
                write(out.begin())
            if asked.limit is not None and count >= asked.limit:
                more = True
                break
            count += 1
            last = row.key
            text = out.row(row.cells)
            write(safe.lines(text, limit=len(text)) if visible else text)
    except BrokenPipeError:
        raise
    except Exception as error:
        if out is None or form != "json":
            raise
        # The object is open: it is closed with what went wrong, so that it stays one object.
        cursor = write_cursor(source, last) if last is not None else None
        refusal = refusal_of(error)
        reason = refusal["message"]
        write(out.end(next=cursor, complete=False, reason=reason, refusal=refusal))
        raise Answered(error) from error
    if out is None:
        out = writer(form, source.columns, store=store, extra=extra)
        write(out.begin())
    cursor = write_cursor(source, last) if more and last is not None else None
    write(out.end(next=cursor, **_completeness(source, asked, more)))
    _notice(source, asked, count, more, cursor, what)
    return 0


async def _as_text(
    db: StateDB | None,
    source: RowSource,
    asked: Listing,
    after: tuple[Any, ...] | None,
    what: str,
    where: str,
) -> int:
    from inspector.cli.columns import columns_text
    from inspector.reports.lists import ListSource

    rows, more = await _previews(source, asked, after)
    nothing = "" if isinstance(source, ListSource) else "NULL"  # a list of ours has no NULLs, only gaps
    lines, hidden = columns_text(source.columns, [row.cells for row in rows], nothing=nothing)
    if rows:
        write("".join(f"{line}\n" for line in lines))
    read = None if db is None else db.last_read
    said = f"{formats.several(len(rows), what.removesuffix('s'), what)}"
    if read is not None:
        said += f"; {read.route} {formats.clock(read.at)}"
    say(f"{safe.text(where if db is None else db.location.display)}: {said}")
    for notice in read.notices if read is not None else ():
        say(f"▲ {safe.text(notice.text)}")
    if hidden:
        say(f"no room for: {', '.join(hidden)} (all of them with --json or --csv)")
    missing = [safe.text(column.label) for column in source.columns if column.missing]
    if missing:
        say(f"not in this store: {', '.join(missing)}")
    cursor = write_cursor(source, rows[-1].key) if more and rows else None
    _notice(source, asked, len(rows), more, cursor, what)
    return 0


async def _previews(
    source: RowSource, asked: Listing, after: tuple[Any, ...] | None
) -> tuple[list[Row], bool]:
    """The rows asked for and whether there are more; heads of long cells, where the place allows it."""
    wanted = None if asked.limit is None else asked.limit + 1
    rows: list[Row] = []
    if after is not None:
        rows = [row async for row in _rows(source, asked.limit, after)]
    else:
        while wanted is None or len(rows) < wanted:
            page = PAGE if wanted is None else min(PAGE, wanted - len(rows))
            window = await source.complete(await source.window(len(rows), page))
            rows += window.rows
            if len(window.rows) < page:
                break
    more = asked.limit is not None and len(rows) > asked.limit
    return (rows[: asked.limit] if more else rows), more


async def _rows(source: RowSource, limit: int | None, after: tuple[Any, ...] | None) -> AsyncIterator[Row]:
    wanted = None if limit is None else limit + 1
    async with aclosing(cast(Any, source.everything(limit=wanted, after=after))) as rows:
        async for row in rows:
            yield row


def _completeness(source: RowSource, asked: Listing, more: bool) -> dict[str, Any]:
    if more:
        return {"complete": False, "reason": f"limit {asked.limit}"}
    if part := source.extent.part_of:
        return {"complete": False, "reason": part}
    return {"complete": True}


def _notice(source: RowSource, asked: Listing, count: int, more: bool, cursor: str | None, what: str) -> None:
    if more:
        shown = formats.several(count, what.removesuffix("s"), what)
        say(f"only the first {shown}; more with --limit 0 or --after {cursor}")
    elif part := source.extent.part_of:
        say(f"▲ {safe.text(part)}")
