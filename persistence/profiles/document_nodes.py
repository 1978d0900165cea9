"""A parsed TOML document walked with its faults kept: what is wrong, at which key, on which line.

Reading goes on behind a fault with a value that fits, so that one pass finds everything.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from persistence.profiles.document_lines import KeyPath, line_of, lines_of
from persistence.profiles.toml_text import key as toml_key

__all__ = ["Document", "Fault", "Node", "dotted"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something a document says that no profile can: `key` is dotted as TOML writes it, `line` from 1.

    `blank`: a reason that is still to be written, the one thing a derived document is missing.
    """

    key: str
    message: str
    line: int | None = None
    blank: bool = False

    def __str__(self) -> str:
        where = f"line {self.line}, " if self.line is not None else ""
        return f"{where}{self.key or 'the document'}: {self.message}"


@dataclass(slots=True)
class Document:
    """The text of a profile and what was found wrong with it so far; `source` is where it was read from."""

    text: str
    source: str
    faults: list[Fault] = field(default_factory=list)
    _lines: dict[KeyPath, int] | None = None

    def root(self) -> Node | None:
        """The document's table; None, and a fault, when the text is not TOML."""
        try:
            found = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            message, line = _place(str(error), self.text)
            self.faults.append(Fault("", f"this is not TOML: {message}", line))
            return None
        except RecursionError:
            self.faults.append(Fault("", "this nests too deep to be a profile"))
            return None
        return Node(self, (), found)

    def fault(self, path: KeyPath, message: str, *, blank: bool = False) -> None:
        if self._lines is None:  # only a document with faults is read a second time
            self._lines = lines_of(self.text)
        self.faults.append(Fault(dotted(path), message, line_of(self._lines, path), blank))


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the document and its place in it."""

    document: Document
    path: KeyPath
    value: Any

    def fault(self, message: str, *more: str | int, blank: bool = False) -> None:
        """Something wrong here, or at the keys `more` below."""
        self.document.fault((*self.path, *more), message, blank=blank)

    # -- tables ----------------------------------------------------------------------------------------

    def keys(self, *known: str, needed: Sequence[str] = ()) -> Mapping[str, Node]:
        """The children of a table by key; a fault for a key nobody knows, and for a needed one not there."""
        found = self.children()
        for name in found:
            if name not in known:
                self.fault(f"there is no such key{_nearest(name, known)}", name)
        for name in needed:
            if name not in found and isinstance(self.value, dict):
                self.fault(f"{name} is missing")
        return {name: node for name, node in found.items() if name in known}

    def children(self) -> Mapping[str, Node]:
        """The children of a table whose keys are names of the author's."""
        if not isinstance(self.value, dict):
            self.fault(f"expected a table, found {_kind(self.value)}")
            return {}
        return {name: Node(self.document, (*self.path, name), inner) for name, inner in self.value.items()}

    # -- values ----------------------------------------------------------------------------------------

    def items(self) -> Iterator[Node]:
        """The elements of an array."""
        if not isinstance(self.value, list):
            self.fault(f"expected an array, found {_kind(self.value)}")
            return
        for number, inner in enumerate(self.value):
            yield Node(self.document, (*self.path, number), inner)

    def text(self, *, blank: bool = False) -> str:
        """A string; `blank` allows an empty one."""
        if not isinstance(self.value, str):
            self.fault(f"expected a string, found {_kind(self.value)}")
            return ""
        if not blank and not self.value.strip():
            self.fault("expected a string that says something, found a blank one")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """An array of strings without repetition."""
        found: list[str] = []
        for node in self.items():
            word = node.text()
            if word in found:
                node.fault(f"{word} is named twice")
            else:
                found.append(word)
        return tuple(found)

    def word(self, *known: str) -> str:
        """One of some words, in any case; answered as they are spelled in `known`."""
        said = self.text()
        for word in known:
            if said.upper() == word.upper():
                return word
        if isinstance(self.value, str):
            self.fault(f"expected {' or '.join(known)}, found {said!r}")
        return known[0]

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            self.fault(f"expected true or false, found {_kind(self.value)}")
            return False
        return self.value

    def number(self) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.fault(f"expected a whole number, found {_kind(self.value)}")
            return 0
        return self.value


def _kind(value: Any) -> str:
    words = {dict: "a table", list: "an array", bool: "a truth value", int: "a number", str: "a string"}
    return words.get(type(value), f"a {type(value).__name__}")


def dotted(path: KeyPath) -> str:
    """A path as TOML writes it, with positions in brackets."""
    said = ""
    for part in path:
        if isinstance(part, int):
            said += f"[{part}]"
        else:
            said += f".{toml_key(part)}" if said else toml_key(part)
    return said


def _nearest(name: str, known: Sequence[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name.lower(), known, n=1)
    return f"; is {close[0]} meant?" if close else f"; known are {', '.join(known)}"


def _place(message: str, text: str) -> tuple[str, int | None]:
    """What `tomllib` says, and the line it names at the end: `... (at line 3, column 7)`."""
    end = " (at end of document)"
    if message.endswith(end):
        return message.removesuffix(end), text.rstrip("\n").count("\n") + 1
    head, found, tail = message.rpartition(" (at line ")
    if not found:
        return message, None
    number = tail.partition(",")[0]
    return head, int(number) if number.isdecimal() else None
