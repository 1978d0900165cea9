"""JSON read so that nothing of it is lost: digits, duplicate keys, NaN, and where it breaks.

Python's own reading would keep the last of two equal keys, round long numbers and take NaN in silence; a
person who looks at a stored value has to see what is stored.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["LONGEST", "Broken", "Node", "Number", "Object", "Odd", "read", "written"]

LONGEST = 16_000_000
"""Characters that are read into a tree; a longer text stays a text."""


class Number(str):
    """A number with the digits it was stored with."""

    __slots__ = ()


class Odd(str):
    """A word JSON does not have, which writers use all the same: NaN, Infinity, -Infinity."""

    __slots__ = ()


class Object(list[tuple[str, Any]]):
    """The members of an object in their order, equal keys included."""

    __slots__ = ()

    def duplicates(self) -> frozenset[str]:
        """Keys that stand here more than once."""
        if len({key for key, _ in self}) == len(self):
            return frozenset()
        return frozenset(key for key, times in Counter(key for key, _ in self).items() if times > 1)


Node: TypeAlias = "Object | list[Any] | str | Number | Odd | bool | None"


@dataclass(frozen=True, slots=True)
class Broken:
    """Why a text is no JSON, and where: `position` counts characters from 0, line and column from 1."""

    why: str
    position: int
    line: int
    column: int


def read(text: str) -> Node | Broken:
    """The document in a text. Never raises; on a thread of its own for a long one (16 MB take seconds)."""
    if len(text) > LONGEST:
        return Broken(f"longer than {LONGEST // 1_000_000} million characters", 0, 1, 1)
    try:
        found: Node = json.loads(
            text, object_pairs_hook=Object, parse_int=Number, parse_float=Number, parse_constant=Odd
        )
    except json.JSONDecodeError as error:
        return Broken(error.msg.lower(), error.pos, error.lineno, error.colno)
    except RecursionError:
        return Broken("nested too deep to be read", 0, 1, 1)
    return found


def written(node: Node, *, indent: int | None = 2) -> str:
    """The node as JSON again, digits and duplicate keys as they were. Raises RecursionError when too deep."""
    return "".join(_pieces(node, indent, 0))


def _pieces(node: Node, indent: int | None, depth: int) -> list[str]:
    match node:
        case Number() | Odd():
            return [str(node)]
        case str():
            return [json.dumps(node, ensure_ascii=False)]
        case bool() | None:
            return [json.dumps(node)]
    if isinstance(node, Object):
        members = [
            [json.dumps(key, ensure_ascii=False), ": ", *_pieces(value, indent, depth + 1)]
            for key, value in node
        ]
    else:
        values: list[Any] = node
        members = [_pieces(value, indent, depth + 1) for value in values]
    opening, closing = "{}" if isinstance(node, Object) else "[]"
    if not members:
        return [opening + closing]
    new_line = "" if indent is None else "\n" + " " * (indent * (depth + 1))
    out = [opening]
    for at, member in enumerate(members):
        out += ["," + (" " if indent is None else "") if at else "", new_line, *member]
    out += ["" if indent is None else "\n" + " " * (indent * depth), closing]
    return out
