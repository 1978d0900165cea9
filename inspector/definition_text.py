"""A definition's versions, its texts, and what was made of comparing two of them; nothing here draws."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inspector import formats, safe
from inspector.comparing import Comparison, NotCompared, compare

if TYPE_CHECKING:
    from persistence.outside import OutsideFile
    from persistence.statedb import StateDB

__all__ = ["AgainstFile", "against_file", "changes", "compared", "content_of", "file_words"]


@dataclass(frozen=True, slots=True)
class AgainstFile:
    """A stored version against the file at its path: `word` is `same`, `differs`, `gone` or `cannot tell`."""

    word: str
    row: Mapping[str, Any]
    file: OutsideFile
    found: Comparison | NotCompared | None = None


def content_of(row: Mapping[str, Any]) -> str:
    """The stored text; what is no text as the one line that says so."""
    content = row.get("content")
    return content if isinstance(content, str) else safe.cell(content)


async def compared(old: str, new: str) -> Comparison | NotCompared:
    """`compare` on a thread, which stops when the task that waits for it is cancelled."""
    stopped = threading.Event()
    try:
        return await asyncio.to_thread(compare, old, new, cancelled=stopped.is_set)
    finally:
        stopped.set()


async def changes(
    db: StateDB, kind: str, name: str, old: int, new: int
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None, Comparison | NotCompared | None]:
    """Two versions and their comparison; None for a version that is not stored, and then no comparison."""
    before = await db.get_definition(kind, name, version=old)
    after = await db.get_definition(kind, name, version=new)
    if before is None or after is None:
        return before, after, None
    return before, after, await compared(content_of(before), content_of(after))


async def against_file(db: StateDB, kind: str, name: str, version: int | None = None) -> AgainstFile | None:
    """A version (None: the newest) against the file now at its path; None when it is not stored."""
    row = await db.get_definition(kind, name, version=version)
    if row is None:
        return None
    file = await db.file_at(row.get("path"))
    if file.state == "gone":
        return AgainstFile("gone", row, file)
    if file.text is None:
        return AgainstFile("cannot tell", row, file)
    if file.text == content_of(row):
        return AgainstFile("same", row, file)
    found = await compared(content_of(row), file.text)
    return AgainstFile("differs", row, file, found)


def file_words(found: AgainstFile) -> str:
    """The one sentence about a version and its file."""
    file, number = found.file, f"version {safe.cell(found.row.get('version'))}"
    match found.word:
        case "gone":
            return f"nothing is at the path of {number} now"
        case "same":
            return f"the file at its path is {number}, byte for byte"
        case "differs":
            if isinstance(found.found, Comparison) and found.found.endings:
                return f"the file differs from {number} in how lines end, and in nothing else"
            return f"the file at its path is not {number}: {formats.size(file.size or 0)} there now"
        case _:
            return f"the file cannot be held against {number}: {safe.text(file.why or file.state)}"
