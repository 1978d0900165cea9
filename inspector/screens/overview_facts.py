"""What a store is, in a few lines: whose, how it opens, what reads it, its files, and what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content

from inspector import formats, safe
from persistence.records import Route

if TYPE_CHECKING:
    from persistence.lineage import LineageReport
    from persistence.records import FileFacts, ReadInfo, StoreFacts

__all__ = ["facts_content"]

LABEL = 9
RACE = "exposed to the WAL-reset race"


def facts_content(
    facts: StoreFacts | None, read: ReadInfo | None, report: LineageReport | None = None
) -> Content:
    """The lines; what is not known yet is said to be, and nothing is guessed."""
    if facts is None:
        return Content.styled("reading what it is …", ".quiet")
    return Content("\n").join(list(_lines(facts, read, report)))


def _lines(facts: StoreFacts, read: ReadInfo | None, report: LineageReport | None) -> Iterator[Content]:
    yield Content.assemble((_what(facts), ".strong"), *_extent(facts))
    writes = list(_writes(report))
    beside = report is not None and report.native.opens is True
    yield _fact("opens", *_opens(read), *(writes if beside else ()))
    if writes and not beside:
        yield _fact("", *writes)
    library = (facts.library, ".plain")
    if facts.exposed_to_wal_reset:
        yield _fact("read by", library, ("  ▲ ", ".notice"), (RACE, ".notice"))
    else:
        yield _fact("read by", library)
    kept = [f"journal {facts.journal_mode}" if facts.journal_mode else "", facts.encoding or ""]
    if facts.page_size:
        kept.append(f"pages of {formats.size(facts.page_size)}")
    if facts.backend == "postgresql":  # what comes in another order than of a file
        kept += [f"text ordered by {facts.extra.get('text_order') or 'the server'}", "rows by key"]
    words = ", ".join(safe.text(word) for word in kept if word)
    if words:
        yield _fact("kept as", (words, ".plain"))
    if facts.files:
        yield _fact("files", *_files(facts.files))
    if facts.known_tables and facts.missing_tables:
        shown = ", ".join(facts.missing_tables[:4])
        more = len(facts.missing_tables) - 4
        words = f"{shown}{f' and {more} more' if more > 0 else ''}"
        yield _fact("lacks", (safe.text(words), ".quiet"))


def _fact(label: str, *parts: tuple[str, str]) -> Content:
    return Content.assemble((f"{label:<{LABEL}}", ".quiet"), *parts)


def _what(facts: StoreFacts) -> str:
    kind = "PostgreSQL database" if facts.backend == "postgresql" else "SQLite file"
    if facts.lineage is not None:
        version = f", schema {safe.clip(safe.text(facts.version), 20)}" if facts.version is not None else ""
        return f"{safe.clip(safe.text(facts.lineage), 40)} store{version}"
    if facts.known_tables:
        version = f", schema {safe.clip(safe.text(facts.version), 20)}" if facts.version is not None else ""
        return f"state store that records no lineage{version}"
    return f"{kind} of another kind"


def _extent(facts: StoreFacts) -> Iterator[tuple[str, str]]:
    if facts.size is not None:
        yield f"  {formats.size(facts.size)}", ".plain"
    if facts.tables is not None:
        yield f"  {formats.several(facts.tables, 'table')}", ".quiet"


def _opens(read: ReadInfo | None) -> Iterator[tuple[str, str]]:
    yield "✓ ", ".ok"
    yield "read-only", ".plain"
    if read is None:
        return
    held = ", kernel-held" if read.kernel_held and read.route is not Route.SERVER else ""
    yield f" ({read.route}{held})", ".quiet"


def _writes(report: LineageReport | None) -> Iterator[tuple[str, str]]:
    """The two ways that write, once it is known whose the store is; `2` says how."""
    if report is None:
        return
    native, compatibility = report.native, report.compatibility
    if native.opens:
        yield "  ✓ ", ".ok"
        yield "natively", ".plain"
    else:
        yield "✗ ", ".refuse"
        yield "natively", ".plain"
        if native.refusal is not None:
            yield f" ({safe.text(native.refusal.code)})", ".quiet"
    if compatibility.opens is None:
        yield "  ? ", ".notice"
        yield "by a profile", ".plain"


def _files(files: tuple[FileFacts, ...]) -> Iterator[tuple[str, str]]:
    there = [file for file in files if file.exists]
    for number, file in enumerate(there):
        name = safe.text(file.name)
        suffix = next((end for end in ("-journal", "-wal", "-shm") if name.endswith(end)), None)
        shown = suffix if number and suffix else safe.clip(name, 32)
        state = f" ({safe.text(file.state)})" if file.state and number else ""
        yield f"{'  ' if number else ''}{shown} ", ".plain"
        yield f"{formats.size(file.size)}{state}", ".quiet"
    if len(there) == 1:
        yield "  nothing beside it", ".quiet"
