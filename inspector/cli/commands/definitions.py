"""`store-inspector definitions STORE [NAME]`: authored texts in versions, one of them, what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from inspector.cli.options import Listing, listing_options, store_argument

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inspector.comparing import Comparison, NotCompared
    from persistence.statedb import StateDB

FILE = "file"


@click.command("definitions")
@store_argument(required=True)
@click.argument("name", required=False)
@click.option("--kind", help="Only this kind (agent, playbook, skill), where a name has several.")
@click.option("--version", "number", type=int, metavar="N", help="The content of this version of NAME.")
@click.option(
    "--diff",
    "pair",
    nargs=2,
    metavar="A B",
    help="What changed between two versions of NAME; `file`: now on disk.",
)
@listing_options
def command(
    store: str,
    name: str | None,
    kind: str | None,
    number: int | None,
    pair: tuple[str, str] | None,
    **given: Any,
) -> int:
    """List the definitions of a store, the versions of one, a version's content, or what changed.

    A and B are version numbers, or the word file for the file that is at the definition's path now.

    \b
    Examples:
      store-inspector definitions state.db
      store-inspector definitions state.db clerk
      store-inspector definitions state.db clerk --version 2 > clerk.md
      store-inspector definitions state.db clerk --diff 1 3
      store-inspector definitions state.db clerk --diff 3 file --json
    """
    from inspector.cli.running import with_store

    asked = Listing.take(given)
    if name is None:
        if number is not None or pair:
            raise click.UsageError("--version and --diff are for one NAME.")
        return with_store(store, lambda db: _list(db, kind, asked))
    if (number is not None or pair) and asked.form not in ("text", "json"):
        raise click.UsageError("--version and --diff answer as text or with --json.")
    if number is not None and pair:
        raise click.UsageError("--version and --diff are two different questions.")
    if pair:
        ends = _end(pair[0]), _end(pair[1])
        return with_store(store, lambda db: _diff(db, kind, name, ends, asked.form))
    if number is not None:
        return with_store(store, lambda db: _version(db, kind, name, number, asked.form))
    return with_store(store, lambda db: _versions(db, kind, name, asked))


def _end(text: str) -> int | None:
    """A version's number; None for the file."""
    if text == FILE:
        return None
    try:
        return int(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no version and not {FILE}", param_hint="--diff") from None


async def _list(db: StateDB, kind: str | None, asked: Listing) -> int:
    from inspector.cli.listing import list_rows
    from inspector.definition_rows import COLUMNS, latest_rows
    from inspector.fixed_source import FixedSource

    page = await db.list_definitions(kind=kind)
    _there(db, page)
    source = FixedSource("definitions", COLUMNS, latest_rows(page), page.read or _read(db))
    return await list_rows(db, source, asked, what="definitions")


async def _versions(db: StateDB, kind: str | None, name: str, asked: Listing) -> int:
    from inspector.cli.listing import list_rows
    from inspector.fixed_source import FixedSource
    from persistence.records import ABSENT, Column, Row

    kind = await _kind(db, kind, name)
    page = await db.list_definition_versions(kind, name)
    columns = [
        Column("version", "version", "number"),
        Column("created_at", "saved", "time"),
        Column("message", "message", "text"),
        Column("id", "id", "id"),
    ]
    rows = tuple(
        Row((row.get("id"),), tuple(row.get(column.name, ABSENT) for column in columns)) for row in page
    )
    source = FixedSource("versions", columns, rows, page.read or _read(db))
    return await list_rows(db, source, asked, what="versions", kind=kind, name=name)


async def _version(db: StateDB, kind: str | None, name: str, number: int, form: str) -> int:
    from inspector.cli.output import write
    from inspector.definition_text import content_of
    from inspector.reports import shapes

    row = await _row(db, await _kind(db, kind, name), name, number)
    if form == "json":
        store = shapes.store_shape(await db.facts(), db.last_read)
        write(f"{shapes.document(store=store, definition=shapes.value(row))}\n")
    else:
        write(_printable(content_of(row)))
    return 0


async def _diff(
    db: StateDB, kind: str | None, name: str, ends: tuple[int | None, int | None], form: str
) -> int:
    from inspector.cli.output import say, write
    from inspector.comparing import NotCompared
    from inspector.definition_text import compared
    from inspector.reports import shapes

    kind = await _kind(db, kind, name)
    texts: list[str] = []
    told: list[dict[str, Any]] = []
    for end in ends:
        text, about = await _one(db, kind, name, end)
        texts.append(text)
        told.append(about)
    found = await compared(texts[0], texts[1])
    if form == "json":
        store = shapes.store_shape(await db.facts(), db.last_read)
        body = {"kind": kind, "name": name, "old": told[0], "new": told[1], **_shape(found)}
        write(f"{shapes.document(store=store, **body)}\n")
        return 0
    if isinstance(found, NotCompared):
        say(f"▲ {found.why}")
        return 0
    names = [f"{name} {about['version'] or about['path']}" for about in told]
    write(_printable("".join(f"{line}\n" for line in _lines(found, names))))
    if found.same:
        say("the same but for how lines end" if found.endings else "the same")
    return 0


def _lines(found: Comparison, names: list[str]) -> list[str]:
    from inspector import safe
    from inspector.comparing import unified

    return list(unified(found, safe.text(names[0]), safe.text(names[1])))


def _shape(found: Comparison | NotCompared) -> dict[str, Any]:
    from inspector.comparing import NotCompared
    from inspector.reports import shapes

    if isinstance(found, NotCompared):
        return {"same": None, "reason": found.why, "lines": None}
    lines = [
        {"sort": line.sort, "old": line.old_number, "new": line.new_number}
        | ({"old_text": shapes.value(line.old)} if line.old_number is not None else {})
        | ({"new_text": shapes.value(line.new)} if line.new_number is not None else {})
        for line in found.lines
        if line.sort != "same"
    ]
    same = found.same and not found.endings
    return {"same": same, "line_endings_only": found.endings, "added": found.added, "removed": found.removed,
            "lines": lines}  # fmt: skip


async def _one(db: StateDB, kind: str, name: str, end: int | None) -> tuple[str, dict[str, Any]]:
    """A version's content or the file's, and what it is."""
    from inspector.definition_text import content_of
    from persistence.errors import StoreError

    row = await _row(db, kind, name, end)
    if end is not None:
        return content_of(row), {"version": end, "path": row.get("path")}
    file = await db.file_at(row.get("path"))
    if file.text is None:
        raise StoreError(
            "The file at the definition's path cannot be compared.",
            code="no-such-file",
            where=file.path or None,
            observed=file.why or file.state,
        )
    return file.text, {"version": None, "path": file.path, "size": file.size, "modified": file.modified}


async def _row(db: StateDB, kind: str, name: str, number: int | None) -> Mapping[str, Any]:
    row = await db.get_definition(kind, name, version=number)
    if row is None:
        raise _unknown(db, f"{kind} {name}, version {number}")
    return row


async def _kind(db: StateDB, kind: str | None, name: str) -> str:
    """The kind a name has; a usage error when it has several and none was given."""
    page = await db.list_definitions(kind=kind)
    _there(db, page)
    kinds = list(dict.fromkeys(str(row.get("kind")) for row in page if row.get("name") == name))
    if not kinds:
        raise _unknown(db, name)
    if len(kinds) > 1:
        raise click.UsageError(f"{name} is defined as {', '.join(kinds)}: say which with --kind.")
    return kinds[0]


def _unknown(db: StateDB, observed: str) -> Exception:
    from persistence.errors import StoreError

    return StoreError(
        "There is no such definition in this store.",
        code="no-such-definition",
        where=db.location.display,
        observed=observed,
        remedy="See which there are: store-inspector definitions STORE.",
    )


def _there(db: StateDB, page: Any) -> None:
    from persistence.errors import MissingTableError

    if page.missing.table:
        raise MissingTableError("There are no definitions in this store.", where=db.location.display)


def _read(db: StateDB) -> Any:
    assert db.last_read is not None
    return db.last_read


def _printable(text: str) -> str:
    """Exactly as stored into a file or a pipe; made visible on a terminal."""
    import sys

    from inspector import safe

    return safe.lines(text, limit=len(text)) if sys.stdout.isatty() else text
