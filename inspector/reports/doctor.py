"""What `doctor` says of a store, as data and in words. It grows: lineage rules and admission come later."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from inspector import formats, safe
from inspector.reports import shapes

if TYPE_CHECKING:
    from persistence.records import FileFacts, StoreFacts

__all__ = ["doctor_lines", "doctor_shape", "whose"]


def whose(facts: StoreFacts) -> str:
    """Whose store it is, in words, by its own rows alone."""
    version = f", version {safe.text(facts.version)}" if facts.version is not None else ""
    if facts.lineage is not None:
        return f"{safe.text(facts.lineage)}{version}"
    if facts.known_tables:
        return f"no lineage is recorded{version}; it has tables of a lionagi store"
    return f"not a state store: none of its tables are known{version}"


def doctor_shape(facts: StoreFacts) -> dict[str, Any]:
    """The parts of the JSON answer beside `store` (DESIGN 10)."""
    return {
        "facts": {
            "journal_mode": facts.journal_mode,
            "page_size": facts.page_size,
            "encoding": facts.encoding,
            "application_id": facts.application_id,
            "user_version": facts.user_version,
            "tables": facts.tables,
            "known_tables": facts.known_tables,
            "missing_tables": list(facts.missing_tables),
            "exposed_to_wal_reset": facts.exposed_to_wal_reset,
            **{name: shapes.value(cell) for name, cell in facts.extra.items()},
        },
        "files": [
            {
                "name": file.name,
                "exists": file.exists,
                "size": file.size if file.exists else None,
                "modified": shapes.instant(file.modified) if file.modified is not None else None,
                "mode": f"{file.mode & 0o7777:04o}" if file.exists else None,
                "links": file.links if file.exists else None,
                "state": file.state,
            }
            for file in facts.files
        ],
        "schema_meta": [{"key": key, "value": shapes.value(value)} for key, value in facts.meta],
    }


def doctor_lines(facts: StoreFacts) -> Iterator[str]:
    """The same for people, as visible lines of plain text."""
    yield safe.text(facts.display)
    yield from _pairs(_head(facts))
    if facts.files:
        yield ""
        yield "files"
        wide = max(safe.width(safe.text(file.name)) for file in facts.files)
        for file in facts.files:
            yield f"  {safe.fit(safe.text(file.name), wide)}  {_file_words(file)}"
    if facts.meta:
        yield ""
        yield "schema_meta"
        yield from _pairs([(safe.text(key), safe.cell(value)) for key, value in facts.meta])
    if facts.known_tables and facts.missing_tables:
        yield ""
        yield "not in this store (an older release has no such tables)"
        yield from _wrapped(facts.missing_tables)


def _head(facts: StoreFacts) -> list[tuple[str, str]]:
    rows = [
        ("whose", whose(facts)),
        ("kind", "PostgreSQL database" if facts.backend != "sqlite" else "SQLite"),
    ]
    if facts.size is not None:
        rows.append(("size", f"{formats.size(facts.size)} ({formats.count(facts.size)} bytes)"))
    if facts.journal_mode is not None:
        rows.append(("journal", safe.text(facts.journal_mode)))
    if facts.tables is not None:
        known = f", {facts.known_tables} of them known" if facts.known_tables is not None else ""
        rows.append(("tables", f"{formats.count(facts.tables)}{known}"))
    if (read := facts.read) is not None:
        held = ", kernel-held" if read.kernel_held else ""
        rows.append(("read", f"{read.route}, {formats.exact_time(read.at)}{held}"))
    exposed = " ▲ exposed to the WAL-reset race of writers" if facts.exposed_to_wal_reset else ""
    rows.append(("read by", f"{safe.text(facts.library)}{exposed}"))
    rows += [("notice", f"▲ {safe.text(notice.text)}") for notice in (read.notices if read else ())]
    return rows


def _file_words(file: FileFacts) -> str:
    if not file.exists:
        return "none"
    parts = [formats.size(file.size)]
    if file.modified is not None:
        parts.append(formats.exact_time(file.modified))
    parts.append(f"mode {file.mode & 0o7777:04o}")
    if file.links > 1:
        parts.append(f"{file.links} names")
    if file.state:
        parts.append(safe.text(file.state))
    return ", ".join(parts)


def _pairs(rows: list[tuple[str, str]]) -> Iterator[str]:
    wide = max((safe.width(label) for label, _ in rows), default=0)
    for label, said in rows:
        yield f"  {safe.fit(label, wide)}  {said}"


def _wrapped(names: tuple[str, ...], width: int = 96) -> Iterator[str]:
    line = " "
    for name in names:
        if len(line) + len(name) + 1 > width:
            yield line
            line = " "
        line += f" {safe.text(name)}"
    yield line
