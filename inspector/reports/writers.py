"""Rows as CSV, JSON, JSON lines or Markdown: one writer a format, text in pieces, nothing kept.

CSV and JSON are exact: text as it is stored (`encode` gives back the very bytes of what was not UTF-8), bytes
as base64 with a mark. CSV tells NULL (nothing) from an empty text (`""`). Markdown is for reading: its cells
are made visible as on the screen.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, get_args

from inspector.reports import shapes
from inspector.reports.encoding import encode
from persistence.records import Column, Mark, Preview, Unreadable

__all__ = ["ENDINGS", "FORMATS", "Form", "RowWriter", "encode", "form_of", "writer"]

Form = Literal["csv", "json", "jsonl", "markdown"]
FORMATS: tuple[Form, ...] = get_args(Form)
ENDINGS: dict[Form, str] = {"csv": ".csv", "json": ".json", "jsonl": ".jsonl", "markdown": ".md"}

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


class RowWriter(Protocol):
    """Text of a table, piece by piece; `encode` makes it bytes."""

    def begin(self) -> str: ...

    def row(self, cells: Sequence[Any]) -> str: ...

    def end(self, **summary: Any) -> str:
        """The close. `summary` is what an object closes with (`next`, `complete`, ...); others have no place
        for it."""


def form_of(name: str) -> Form | None:
    """The format a file's name asks for by its ending."""
    return next((form for form, ending in ENDINGS.items() if name.lower().endswith(ending)), None)


def writer(
    form: Form,
    columns: Sequence[Column],
    *,
    store: Mapping[str, Any] | None = None,
    neutralise: bool = False,
    extra: Mapping[str, Any] | None = None,
) -> RowWriter:
    """The writer for a format. `store` and `extra` go into the JSON object; `neutralise` keeps spreadsheets
    from taking text for a formula (CSV): a `'` before it."""
    names = shapes.unique_names(columns)
    match form:
        case "csv":
            return _Csv(names, neutralise)
        case "json":
            return _Json(names, store, extra or {})
        case "jsonl":
            return _JsonLines(names)
        case "markdown":
            return _Markdown(names)


class _Csv:
    _quoted = re.compile(r'[",\r\n]|^\s|\s$')

    def __init__(self, names: Sequence[str], neutralise: bool) -> None:
        self._names, self._neutralise = names, neutralise

    def begin(self) -> str:
        return self.row(self._names)

    def row(self, cells: Sequence[Any]) -> str:
        return ",".join(map(self._cell, cells)) + "\n"

    def end(self, **summary: Any) -> str:
        return ""

    def _cell(self, cell: Any) -> str:
        if cell is None:
            return ""
        text = _plain(cell)
        if self._neutralise and isinstance(cell, str) and text.startswith(_FORMULA):
            text = f"'{text}"
        if text and not self._quoted.search(text):
            return text
        return '"' + text.replace('"', '""') + '"'


def _plain(cell: Any) -> str:
    """A cell as exact text; what is not a value says what it is, in words that are no value."""
    match cell:
        case str():
            return cell
        case bytes() | bytearray() | memoryview():
            return f"base64:{b64encode(cell).decode('ascii')}"
        case Unreadable():
            return f"(not readable: {cell.why})"
        case Preview():
            return f"(too long: {cell.size} bytes)"
        case Mark():
            return f"({cell.value})"
        case bool():
            return "true" if cell else "false"
        case int() | float():
            odd = shapes.value(cell)
            return str(odd["number"]) if isinstance(odd, dict) else repr(cell)
        case _:
            return shapes.dumps(shapes.value(cell))


class _Json:
    """The object of DESIGN 10, a row a line."""

    def __init__(
        self, names: Sequence[str], store: Mapping[str, Any] | None, extra: Mapping[str, Any]
    ) -> None:
        self._names, self._first = names, True
        self._head: dict[str, Any] = shapes.head()
        if store is not None:
            self._head["store"] = store
        self._head |= {**extra, "columns": list(names)}

    def begin(self) -> str:
        return shapes.dumps(self._head)[:-1] + ', "rows": ['

    def row(self, cells: Sequence[Any]) -> str:
        comma, self._first = ("" if self._first else ","), False
        return f"{comma}\n{shapes.dumps(shapes.row_object(self._names, cells))}"

    def end(self, **summary: Any) -> str:
        tail = shapes.dumps(summary)[1:-1]
        return f"\n]{', ' if tail else ''}{tail}}}\n"


class _JsonLines:
    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def begin(self) -> str:
        return ""

    def row(self, cells: Sequence[Any]) -> str:
        return shapes.dumps(shapes.row_object(self._names, cells)) + "\n"

    def end(self, **summary: Any) -> str:
        return ""


class _Markdown:
    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def begin(self) -> str:
        return self.row(self._names) + "|" + " --- |" * max(1, len(self._names)) + "\n"

    def row(self, cells: Sequence[Any]) -> str:
        return "| " + " | ".join(map(_markdown_cell, cells)) + " |\n"

    def end(self, **summary: Any) -> str:
        return ""


_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&!])")


def _markdown_cell(cell: Any) -> str:
    from inspector import safe

    if isinstance(cell, str):
        shown = safe.lines(cell, limit=len(cell) or 1)
        return "<br>".join(_MARKUP.sub(r"\\\1", line) for line in shown.split("\n"))
    return _MARKUP.sub(r"\\\1", safe.cell(cell))
