"""What can be written to a file: rows, or texts in one or more formats, with words for what it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspector.clipboard import Copy
    from inspector.reports.writers import Form
    from persistence.location import StoreLocation
    from persistence.reading.source import RowSource

__all__ = ["SPREADSHEET", "Exportable", "Written", "ending_of", "of_copy", "write"]

SPREADSHEET = "spreadsheet"
"""The form beside those of `inspector.reports.writers`: CSV in which no text is taken for a formula."""


@dataclass(frozen=True, slots=True)
class Exportable:
    """`what` says it in words a person can check (`runs, newest first, status:failed`); `name` starts the
    file's. Rows go through every format; `texts` make their own pieces for the formats they have.
    `of_store`: they are the open store's, so that JSON says which store that is."""

    what: str
    name: str
    rows: RowSource | None = None
    texts: Mapping[str, Callable[[], AsyncIterator[str]]] = field(default_factory=dict)
    of_store: bool = True

    @property
    def forms(self) -> tuple[str, ...]:
        from inspector.reports.writers import FORMATS

        if self.rows is None:
            return tuple(self.texts)
        exact, *others = FORMATS
        return (exact, SPREADSHEET, *others)


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, in words: rows (None: a text), bytes, and whether it is all there is."""

    path: Path
    size: int
    rows: int | None = None
    complete: bool = True
    reason: str | None = None


async def write(
    what: Exportable,
    form: str,
    target: Path,
    *,
    location: StoreLocation | None,
    store: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Written:
    """Writes it; the file appears whole or not at all. `store` is what JSON says of where it comes from.
    Raises StoreError."""
    from inspector.reports import export

    if what.rows is None:
        size = await export.export_text(what.texts[form](), target, location=location, overwrite=overwrite)
        return Written(target, size)
    done = await export.export_rows(
        what.rows,
        target,
        _form(form),
        location=location,
        store=store,
        neutralise=form == SPREADSHEET,
        overwrite=overwrite,
        progress=progress,
    )
    return Written(done.path, done.size, done.rows, done.complete, done.reason)


def _form(name: str) -> Form:
    from inspector.reports.writers import FORMATS

    return next(form for form in FORMATS if form == ("csv" if name == SPREADSHEET else name))


def ending_of(name: str) -> str:
    """How the name of a file in this form ends: `.csv`; `.txt` for a plain text."""
    from inspector.reports.writers import ENDINGS, FORMATS

    if name == "html":
        return ".html"
    return ENDINGS[_form(name)] if name in (*FORMATS, SPREADSHEET) else ".txt"


def of_copy(copy: Copy) -> Exportable:
    """A copy that is too big for a clipboard, as something to write."""

    async def pieces() -> AsyncIterator[str]:
        for start in range(0, len(copy.text), 1 << 20):
            yield copy.text[start : start + (1 << 20)]

    return Exportable(copy.what, copy.what.replace(" ", "-"), texts={"text": pieces})
