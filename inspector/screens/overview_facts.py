"""What a store is, in a few facts: whose, how it opens, what reads it, its files, and what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector import formats, safe
from inspector.typeset.lines import Line, line
from inspector.widgets.fact_list import Fact
from persistence.records import Route

if TYPE_CHECKING:
    from persistence.lineage import LineageReport
    from persistence.records import FileFacts, ReadInfo, StoreFacts

__all__ = ["store_facts"]

RACE = "exposed to the WAL-reset race"


def store_facts(
    facts: StoreFacts | None, read: ReadInfo | None, report: LineageReport | None = None
) -> Iterator[Fact]:
    """What is not known yet is said to be, and nothing is guessed."""
    if facts is None:
        yield Fact("", (line(("reading what it is …", "quiet")),))
        return
    yield Fact("", (line((_what(facts), "strong")), *_extent(facts)))
    yield Fact("opens", (_opens(read), *_writes(report)))
    library = line((facts.library, "plain"))
    race = line(("▲ ", "notice"), (RACE, "notice"))
    yield Fact("read by", (library, race) if facts.exposed_to_wal_reset else (library,))
    kept = [f"journal {facts.journal_mode}" if facts.journal_mode else "", facts.encoding or ""]
    if facts.page_size:
        kept.append(f"pages of {formats.size(facts.page_size)}")
    if facts.backend == "postgresql":  # what comes in another order than of a file
        order = facts.extra.get("text_order")
        kept += [f"text ordered by {order if isinstance(order, str) else 'the server'}", "rows by key"]
    words = ", ".join(safe.text(word) for word in kept if word)
    if words:
        yield Fact("kept as", (line((words, "plain")),))
    if facts.files:
        yield Fact("files", tuple(_files(facts.files)))
    if facts.known_tables and facts.missing_tables:
        shown = ", ".join(facts.missing_tables[:4])
        more = len(facts.missing_tables) - 4
        words = f"{shown}{f' and {more} more' if more > 0 else ''}"
        yield Fact("lacks", (line((safe.text(words), "quiet")),))


def _what(facts: StoreFacts) -> str:
    kind = "PostgreSQL database" if facts.backend == "postgresql" else "SQLite file"
    if facts.lineage is not None:
        version = f", schema {safe.clip(safe.text(facts.version), 20)}" if facts.version is not None else ""
        return f"{safe.clip(safe.text(facts.lineage), 40)} store{version}"
    if facts.known_tables:
        version = f", schema {safe.clip(safe.text(facts.version), 20)}" if facts.version is not None else ""
        return f"state store that records no lineage{version}"
    return f"{kind} of another kind"


def _extent(facts: StoreFacts) -> Iterator[Line]:
    if facts.size is not None:
        yield line((formats.size(facts.size), "plain"))
    if facts.tables is not None:
        yield line((formats.several(facts.tables, "table"), "quiet"))


def _opens(read: ReadInfo | None) -> Line:
    opens = line(("✓ ", "ok"), ("read-only", "plain"))
    if read is None:
        return opens
    held = ", kernel-held" if read.kernel_held and read.route is not Route.SERVER else ""
    return (*opens, *line((f" ({read.route}{held})", "quiet")))


def _writes(report: LineageReport | None) -> Iterator[Line]:
    """The two ways that write, once it is known whose the store is; `2` says how."""
    if report is None:
        return
    native, compatibility = report.native, report.compatibility
    if native.opens:
        yield line(("✓ ", "ok"), ("natively", "plain"))
    else:
        code = f" ({safe.text(native.refusal.code)})" if native.refusal is not None else ""
        yield line(("✗ ", "refuse"), ("natively", "plain"), (code, "quiet"))
    if compatibility.opens is None:
        yield line(("? ", "notice"), ("by a profile", "plain"))


def _files(files: tuple[FileFacts, ...]) -> Iterator[Line]:
    there = [file for file in files if file.exists]
    for number, file in enumerate(there):
        name = safe.text(file.name)
        suffix = next((end for end in ("-journal", "-wal", "-shm") if name.endswith(end)), None)
        shown = suffix if number and suffix else safe.clip(name, 32)
        state = f" ({safe.text(file.state)})" if file.state and number else ""
        yield line((f"{shown} ", "plain"), (f"{formats.size(file.size)}{state}", "quiet"))
    if len(there) == 1:
        yield line(("nothing beside it", "quiet"))
