"""Values as TOML text (https://toml.io/en/v1.0.0): what `tomllib` reads back to the same values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["key", "string", "value"]

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_WIDTH = 104


def key(name: str) -> str:
    """A key, quoted where it has to be."""
    return name if _BARE.match(name) else string(name)


def string(text: str) -> str:
    """A string. Text of several lines is written as such where nothing in it would be read as an escape.

    Raises ValueError for a lone surrogate, which no TOML text can hold.
    """
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("text that is not Unicode cannot be written as TOML")
    plain = text.isprintable() or all(letter.isprintable() or letter in "\n\t" for letter in text)
    if "\n" in text and plain and "'''" not in text and not text.endswith("'"):
        return f"'''\n{text}'''"
    if '"' in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    return _quoted(text)


def _quoted(text: str) -> str:
    """On one line; what cannot be seen as its number."""
    return "".join(
        letter if letter.isprintable() else f"\\U{ord(letter):08x}"
        for letter in json.dumps(text, ensure_ascii=False)
    )


def value(given: Any, *, inline: bool = False) -> str:
    """A truth value, whole number, string, array or inline table. Long arrays take several lines, except
    within an inline table, which TOML keeps on one."""
    match given:
        case bool():
            return "true" if given else "false"
        case int():
            return str(given)
        case str():
            return _quoted(given) if inline and "\n" in given else string(given)
        case Mapping():
            pairs = ", ".join(f"{key(name)} = {value(inner, inline=True)}" for name, inner in given.items())
            return f"{{ {pairs} }}" if pairs else "{}"
        case Sequence():
            return _array([value(inner, inline=inline) for inner in given], inline)
        case _:
            raise TypeError(f"no TOML for {type(given).__name__}")


def _array(items: list[str], inline: bool) -> str:
    row = f"[{', '.join(items)}]"
    if inline or len(row) <= 80:
        return row
    lines, line = ["["], "   "
    for item in items:
        if len(line) + len(item) + 2 > _WIDTH and line.strip():
            lines.append(line)
            line = "   "
        line += f" {item},"
    return "\n".join([*lines, line, "]"])
