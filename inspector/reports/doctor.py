"""What `doctor` says of a store, as data and in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from inspector import formats, safe
from inspector.reports.lineage import beside_lines, trace_lines, verdict_lines

if TYPE_CHECKING:
    from persistence.lineage.report import LineageReport
    from persistence.profiles.records import AdmissionReport
    from persistence.records import Cell, FileFacts, StoreFacts

__all__ = ["doctor_lines", "doctor_shape", "document", "facts_of", "whose"]


def facts_of(report: LineageReport) -> StoreFacts:
    """The facts of a SQLite store as its examination found them: no engine is loaded for that."""
    from persistence.basics import Preview, ReadInfo, Route, StoreFacts
    from persistence.schema.known import TABLES

    seen, header = report.seen, report.header
    names = seen.tables if seen is not None else ()
    known = set(names) & set(TABLES)
    meta: list[tuple[str, Cell]] = []
    for row in seen.rows if seen is not None else ():
        value = row.value
        if row.size is not None and isinstance(value, str | bytes):
            value = Preview(value, row.size)  # type: ignore[assignment]
        meta.append((row.key if isinstance(row.key, str) else repr(row.key), value))
    route = report.read_only.route
    return StoreFacts(
        display=report.display,
        backend=report.location.backend,
        size=report.size,
        files=report.files,
        journal_mode=header.journal_mode if header is not None else None,
        lineage=_one(seen.lineage if seen is not None else ()),
        version=_one(seen.version if seen is not None else ()),
        meta=tuple(meta),
        library=report.library,
        exposed_to_wal_reset=report.exposed_to_wal_reset,
        page_size=header.page_size if header is not None else None,
        encoding=header.encoding if header is not None else None,
        tables=len(names) + len(seen.views) if seen is not None else None,
        known_tables=len(known) if seen is not None else None,
        missing_tables=tuple(name for name in TABLES if name not in known) if seen is not None else (),
        application_id=header.application_id if header is not None else None,
        user_version=header.user_version if header is not None else None,
        read=None
        if route is None
        else ReadInfo(Route(route), report.at, kernel_held=report.kernel_held, notices=tuple(report.notices)),
    )


def _one(values: tuple[Any, ...]) -> str | None:
    """The value a row has, as text; the last of several, None for none."""
    told = [value for value in values if value is not None]
    if not told:
        return None
    return told[-1] if isinstance(told[-1], str) else repr(told[-1])


def whose(facts: StoreFacts) -> str:
    """Whose store it is, in words, by its own rows alone."""
    version = f", version {safe.text(facts.version)}" if facts.version is not None else ""
    if facts.lineage is not None:
        return f"{safe.text(facts.lineage)}{version}"
    if facts.known_tables:
        return f"no lineage is recorded{version}; some of its tables have lionagi's names"
    return f"not a state store: none of its tables are known{version}"


def doctor_shape(facts: StoreFacts) -> dict[str, Any]:
    """The parts of the JSON answer beside `store` (DESIGN 10)."""
    from inspector.reports import shapes

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


def document(report: LineageReport, facts: StoreFacts, admission: AdmissionReport | None = None) -> str:
    """The whole answer as JSON text: what `doctor --json` prints and the *Lineage* screen exports."""
    from inspector.reports import shapes
    from inspector.reports.lineage import lineage_shape

    parts = {**doctor_shape(facts), **lineage_shape(report)}
    if admission is not None:
        from inspector.reports.admission import admission_shape, verdict_shape

        parts["verdicts"]["compatibility"].append(verdict_shape(admission))
        parts["admission"] = admission_shape(admission)
    if report.read_only.refusal is not None:
        parts["refusal"] = report.read_only.refusal.as_dict()
    text: str = shapes.document(store=shapes.store_shape(facts), **parts)
    return text


def doctor_lines(facts: StoreFacts, report: LineageReport, *, trace: bool = False) -> Iterator[str]:
    """The same for people, as visible lines of plain text; `trace` adds every read and rule."""
    yield safe.text(facts.display)
    yield from _pairs(_head(facts, readable=report.seen is not None))
    yield ""
    yield "opens"
    yield from (f"  {line}" for line in verdict_lines(report))
    if facts.files:
        yield ""
        yield "files"
        wide = max(safe.width(safe.text(file.name)) for file in facts.files)
        for file in facts.files:
            yield f"  {safe.fit(safe.text(file.name), wide)}  {_file_words(file)}"
    yield from (f"  {line}" for line in beside_lines(report))
    if facts.meta:
        yield ""
        yield "schema_meta"
        yield from _pairs([(safe.text(key), safe.cell(value)) for key, value in facts.meta])
    if facts.known_tables and facts.missing_tables:
        yield ""
        from persistence.schema.known import LINEAGE

        foreign = facts.lineage is not None and facts.lineage != LINEAGE
        why = "lionagi has them" if foreign else "an older release has no such tables"
        yield f"not in this store ({why})"
        yield from _wrapped(facts.missing_tables)
    if trace:
        yield ""
        yield from trace_lines(report)


def _head(facts: StoreFacts, *, readable: bool) -> list[tuple[str, str]]:
    rows = [
        ("whose", whose(facts) if readable else "not known: its rows could not be read"),
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
