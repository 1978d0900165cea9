"""One action of the journal whole: every line of it, as text and as JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from inspector import formats, safe
from inspector.actions.journal import Entry, journal_files, read_line
from inspector.reports import shapes
from persistence.errors import StoreError

__all__ = ["entry_document", "entry_lines", "entry_object", "found_entries"]


async def found_entries(wanted: str) -> tuple[Entry, ...]:
    """The lines of the one action whose id is `wanted` or begins with it. Raises StoreError for none, or
    for the beginning of several."""
    found = await asyncio.to_thread(_look, wanted)
    ids = sorted({entry.id for entry in found})
    if len(ids) == 1:
        return tuple(found)
    what = "Several actions begin with this." if ids else "There is no such action in the journal."
    raise StoreError(
        what,
        code="ambiguous-entry" if ids else "no-such-entry",
        expected="the id of one action",
        observed=", ".join(ids[:5]) or wanted,
        remedy="See which there are: store-inspector journal.",
    )


def _look(wanted: str) -> list[Entry]:
    found = []
    for path in journal_files():
        try:
            lines = path.read_bytes().split(b"\n")
        except OSError:
            continue
        for line in lines:
            if wanted.encode("utf-8", "surrogateescape") in line:
                entry = read_line(line)
                if isinstance(entry, Entry) and entry.id.startswith(wanted):
                    found.append(entry)
    return found


def entry_lines(entries: Sequence[Entry]) -> Iterator[str]:
    """An action's lines for reading."""
    for entry in entries:
        yield f"{formats.exact_time(entry.when)}  {safe.text(entry.action)}  {safe.text(entry.event)}"
        said = {
            "store": entry.store,
            "lineage": entry.lineage,
            "version": entry.version,
            "profile": entry.profile,
            "owner": entry.owner,
            "source": entry.source,
            "run": entry.run,
            "meant": ", ".join(f"{name} {count}" for name, count in entry.operations.items()) or None,
            "committed": ", ".join(map(str, entry.committed)) or None,
            "left": entry.note,
        }
        for name, value in (entry.refusal or {}).items():
            if value not in (None, [], ""):
                said[f"refused {name}" if name == "type" else name] = _text(value)
        said["took"] = None if entry.seconds is None else formats.duration(entry.seconds)
        said["by"] = f"store-inspector {entry.tool}, process {entry.pid}"
        for name, value in said.items():
            if value is not None:
                yield f"  {name:<12} {safe.text(value)}"


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def entry_object(entry: Entry) -> dict[str, Any]:
    """An entry as JSON; `committed` as in the answer of the action."""
    shape = dict(shapes.value({**asdict(entry), "committed": None}))
    shape["committed"] = [{"transaction": each.name, "count": each.count} for each in entry.committed]
    shape["when"] = shapes.instant(entry.when)
    return shape


def entry_document(entries: Sequence[Entry]) -> str:
    """An action whole, as the JSON object of a command."""
    rows = [entry_object(each) for each in entries]
    return shapes.document(entry=entries[0].id, rows=rows, next=None, complete=True)
