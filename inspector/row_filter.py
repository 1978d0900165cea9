"""What a person types to narrow a table down: `status=failed name="two words" ended_at=NULL`."""

from __future__ import annotations

import shlex

from inspector.table_views import Pairs
from persistence.records import Cell, TableShape

__all__ = ["completion", "parse", "written"]


def parse(line: str, shape: TableShape) -> tuple[Pairs, str]:
    """The columns and values of a line, and what of it cannot be used (empty: nothing)."""
    try:
        words = shlex.split(line)
    except ValueError:
        return (), "a quote is still open"
    pairs: dict[str, Cell] = {}
    problem = ""
    for word in words:
        name, equals, value = word.partition("=")
        column = shape.column(name) or next(
            (each for each in shape.columns if each.name.casefold() == name.casefold()), None
        )
        if not equals:
            problem = problem or "write column=value"
        elif column is None:
            problem = problem or f"there is no column {name}"
        else:
            pairs[column.name] = _value(value)
    return tuple(pairs.items()), problem


def written(pairs: Pairs) -> str:
    """The pairs as a line that `parse` reads."""
    return " ".join(
        shlex.quote(f"{name}={'NULL' if value is None else value}")
        for name, value in pairs
        if not isinstance(value, bytes)
    )


def completion(line: str, shape: TableShape | None) -> str | None:
    """The line with the name of a column completed; None when there is nothing to complete."""
    head, blank, word = line.rpartition(" ")
    if shape is None or not word or "=" in word:
        return None
    for column in shape.columns:
        if column.name.startswith(word) and shlex.quote(column.name) == column.name:
            return f"{head}{blank}{column.name}="
    return None


def _value(text: str) -> Cell:
    if text.upper() == "NULL":
        return None
    for number in (int, float):
        try:
            found = number(text)
        except ValueError:
            continue
        if str(found) == text:  # `007` and `1e5` are texts; a number is what would be written so
            return found
    return text
