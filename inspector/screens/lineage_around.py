"""What the Lineage place says beside: the files, the rows of schema_meta, and the store's surroundings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from inspector import formats, safe
from inspector.screens.lineage_entries import PageOf
from inspector.typeset.lines import Line, Run, prefixed, wrap
from inspector.widgets.field_list import field_lines
from inspector.widgets.section_list import Build, Entry, Section
from persistence.records import Preview

if TYPE_CHECKING:
    from persistence.lineage import LineageReport
    from persistence.records import FileFacts

__all__ = ["around"]

FIRST = ("lineage", "version")
"""The rows that decide; they stand before the others."""
LABEL = 10


def around(report: LineageReport) -> Iterator[Section]:
    if report.files:
        yield Section("files", "files of the store", tuple(_files(report.files)))
    yield Section("meta", "schema_meta", tuple(_rows(report)), _meta_note(report))
    yield Section("around", "around it", tuple(_surroundings(report)))


# -- files ----------------------------------------------------------------------------------------------


def _files(files: Sequence[FileFacts]) -> Iterator[Entry]:
    wide = max(safe.width(safe.text(file.name)) for file in files)
    for file in files:
        name, role = safe.text(file.name), "plain" if file.exists else "quiet"
        yield Entry(f"file {name}", _columns(name, _file_runs(file), wide, role))


def _file_runs(file: FileFacts) -> list[Run]:
    if not file.exists:
        return [Run(f"{'none':>8}", "quiet")]
    when = formats.clock(file.modified) if file.modified is not None else ""
    runs = [Run(f"{formats.size(file.size):>8}  "), Run(f"{when}  ", "quiet"), Run(safe.text(file.state))]
    if file.links > 1:
        runs.append(Run(f"  ▲ {file.links} names", "notice"))
    return runs


def _columns(name: str, said: Sequence[Run], wide: int, role: str) -> Build:
    def build(room: int) -> list[Line]:
        column = max(10, min(wide, room // 2))
        lines = wrap(said, max(8, room - column - 2))
        return prefixed(Run(" " * (column + 2)), lines, first=Run(f"{safe.fit(name, column)}  ", role))

    return build


# -- rows -----------------------------------------------------------------------------------------------


def _meta_note(report: LineageReport) -> str:
    if report.seen is None:
        return "its rows could not be read"
    if not report.seen.rows:
        return "no rows" if report.seen.meta == "table" else f"{report.seen.meta}"
    return ""


def _rows(report: LineageReport) -> Iterator[Entry]:
    rows = report.seen.rows if report.seen is not None else ()
    ordered = sorted(rows, key=lambda row: (row.key not in FIRST, str(row.key)))
    wide = max((safe.width(safe.cell(row.key)) for row in ordered), default=0)
    for number, row in enumerate(ordered):
        value: object = row.value
        if row.size is not None and isinstance(value, str | bytes):
            value = Preview(value, row.size)
        role = "strong" if row.key in FIRST else "quiet"
        yield Entry(f"meta {number} {safe.cell(row.key)}", _row(safe.cell(row.key), value, wide, role))


def _row(name: str, value: object, wide: int, role: str) -> Build:
    def build(room: int) -> list[Line]:
        column = max(10, min(wide, room * 2 // 3))
        lines = field_lines(value, room - column - 2)  # type: ignore[arg-type]
        label = Run(f"{safe.fit(name, column)}  ", role)
        return prefixed(Run(" " * (column + 2)), lines, first=label)

    return build


# -- surroundings ---------------------------------------------------------------------------------------


def _surroundings(report: LineageReport) -> Iterator[Entry]:
    library = [Run(safe.text(report.library))]
    if report.exposed_to_wal_reset:
        library.append(Run("\n▲ exposed to the WAL-reset race", "notice"))
    yield _fact("read by", library)
    if (header := report.header) is not None:
        kept = "write-ahead log" if header.journal_mode == "wal" else "rollback journal"
        pages = f"{formats.count(header.pages)} pages of {formats.count(header.page_size)} bytes"
        yield _fact("kept with", [Run(kept), Run(f"\n{pages}", "quiet")])
    if report.files:
        yield _names(report.links)
        yield _fact("open in", _openers(report))
        yield _fact("backups", _backups(report))
    held = [Run("\nthe kernel held the reading thread", "quiet")] if report.kernel_held else []
    yield _fact("examined", [Run(formats.exact_time(report.at)), *held])


def _fact(label: str, runs: Sequence[Run], leads: object = None) -> Entry:
    def build(room: int) -> list[Line]:
        lines = wrap(runs, max(8, room - LABEL - 1))
        return prefixed(Run(" " * (LABEL + 1)), lines, first=Run(f"{label:<{LABEL}} ", "quiet"))

    return Entry(f"around {label}", build, leads)


def _names(links: int) -> Entry:
    if links > 1:
        words = f"▲ {links} names for one file (hard links)"
        return _fact("names", [Run(words, "notice")], PageOf("second-name"))
    return _fact("names", [Run("this one"), Run(", no other hard link", "quiet")])


def _openers(report: LineageReport) -> list[Run]:
    if report.openers is None:
        return [Run("the system does not say", "quiet")]
    if not report.openers:
        return [Run("no other program"), Run(", as far as this user may know", "quiet")]
    runs: list[Run] = []
    for one in report.openers:
        start = "\n" if runs else ""
        locks = ", with locks" if one.locks else ""
        runs.append(Run(f"{start}{safe.text(one.program, limit=40)}", "live"))
        runs.append(Run(f" (process {one.pid}{locks}): "))
        runs.append(Run(", ".join(safe.text(name) for name in one.files), "quiet"))
    return runs


def _backups(report: LineageReport) -> list[Run]:
    if report.backups is None:
        return [Run("the folder may not be listed", "quiet")]
    if not report.backups:
        return [Run("none beside it")]
    runs: list[Run] = []
    for file in report.backups:
        runs.append(Run(f"{'' if not runs else chr(10)}{safe.text(file.name)}"))
        runs.append(Run(f"  {formats.size(file.size)}, {safe.text(file.state)}", "quiet"))
    return runs
