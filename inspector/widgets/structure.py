"""How a table is made, as the store has it: columns, keys, links, checks, indexes, triggers and its SQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import dedent

from inspector import formats, safe
from inspector.typeset.lines import Line, Run, fold, line, prefixed, visible
from inspector.widgets.tall_list import TallList
from persistence.records import ForeignKey, Index, TableColumn, TableShape

__all__ = ["Structure", "structure_text"]

NAME = 28  # cells a column's name takes at most
TYPE = 16


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the structure; `table` is where `enter` leads."""

    runs: Line
    table: str | None = None
    hang: int = 2  # cells further lines of it are indented by


class Structure(TallList):
    """`show` a shape; `table_at` says which table the line under the cursor leads to."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._facts: list[Fact] = []

    def show(self, shape: TableShape) -> None:
        self._facts = list(_facts(shape))
        self.set_count(len(self._facts), keep=False)

    def table_at(self, index: int) -> str | None:
        return self._facts[index].table if 0 <= index < len(self._facts) else None

    def lines_of(self, index: int) -> Sequence[Line]:
        fact = self._facts[index]
        cut = fold(fact.runs, max(8, self.room - fact.hang))
        return [cut[0], *prefixed(Run(" " * fact.hang), cut[1:])] if cut else [()]


def structure_text(shape: TableShape) -> str:
    """The same as plain text, for the clipboard and a file."""
    return "\n".join("".join(run.text for run in fact.runs).rstrip() for fact in _facts(shape)) + "\n"


def _facts(shape: TableShape) -> Iterable[Fact]:
    if shape.unreadable is not None:
        yield Fact(line(("✗ its shape cannot be read: ", "refuse"), (safe.text(shape.unreadable), "plain")))
        yield Fact(())
    yield _head(formats.several(len(shape.columns), "column"), _kind(shape))
    links = {name: key for key in shape.foreign_keys for name in key.columns}
    wide = min(NAME, max([safe.width(safe.text(column.name)) for column in shape.columns], default=1))
    typed = min(TYPE, max([safe.width(safe.text(column.type)) for column in shape.columns], default=1))
    for column in shape.columns:
        yield _column(column, links.get(column.name), wide, typed)
    if shape.primary_key and len(shape.primary_key) > 1:
        yield from _section("primary key", [Fact(line("  ", (_names(shape.primary_key), "code")))])
    yield from _section("unique", [Fact(line("  ", (_names(columns), "code"))) for columns in shape.unique])
    yield from _section("links out", [_link_out(key) for key in shape.foreign_keys])
    yield from _section("links in", [_link_in(table, key) for table, key in shape.referenced_by])
    yield from _section(
        "checks", [Fact(line("  ", (visible(check), "code")), hang=4) for check in shape.checks]
    )
    yield from _section(
        "indexes", [_index(index) for index in sorted(shape.indexes, key=lambda index: index.name)]
    )
    for name, sql in shape.triggers:
        yield from _section(f"trigger {safe.text(name)}", _code(sql))
    if shape.sql:
        yield from _section("SQL", _code(shape.sql))


def _kind(shape: TableShape) -> str:
    words = [] if shape.kind == "table" else [shape.kind if shape.kind == "view" else f"{shape.kind} table"]
    if shape.strict:
        words.append("STRICT")
    if shape.without_rowid:
        words.append("WITHOUT ROWID")
    return ", ".join(words)


def _head(title: str, more: str = "") -> Fact:
    return Fact(line((title, "strong"), (f"  {more}" if more else "", "quiet")))


def _section(title: str, facts: Sequence[Fact]) -> Iterable[Fact]:
    if facts:
        yield Fact(())
        yield _head(title)
        yield from facts


def _column(column: TableColumn, link: ForeignKey | None, wide: int, typed: int) -> Fact:
    said: list[Run] = []

    def say(words: str, role: str = "quiet") -> None:
        said.append(Run(("" if not said else ", ") + words, role))

    if column.primary_key:
        say("key", "accent")
    if not column.nullable:
        say("not null")
    if column.default is not None:
        say(f"default {safe.text(column.default, limit=80)}")
    if column.generated is not None:
        say(f"generated {safe.text(column.generated, limit=80)}".rstrip())
    if column.collation and column.collation.upper() != "BINARY":
        say(f"collate {safe.text(column.collation)}")
    if column.hidden:
        say("hidden")
    table = None
    if link is not None:
        table = link.table
        said.append(Run("  → " if said else "→ ", "ok"))
        said.append(Run(_there(link), "code"))
    name = safe.fit(safe.text(column.name), wide)
    kind = safe.fit(safe.text(column.type) or "·", typed)
    return Fact((Run(f"  {name}  ", "plain"), Run(f"{kind}  ", "code"), *said), table, hang=4)


def _link_out(key: ForeignKey) -> Fact:
    return Fact(
        line("  ", (_names(key.columns), "code"), (" → ", "ok"), (_there(key), "code"), *_acts(key)),
        key.table,
    )


def _link_in(table: str, key: ForeignKey) -> Fact:
    names = ", ".join(safe.text(name) for name in key.columns)
    return Fact(
        line(
            "  ", (f"{safe.text(table)}.{names}", "code"), (" → ", "ok"), (_names(key.references), "code"),
            *_acts(key),
        ),
        table,
    )  # fmt: skip


def _acts(key: ForeignKey) -> list[tuple[str, str]]:
    words = [
        f"on {event} {action.lower()}"
        for event, action in (("delete", key.on_delete), ("update", key.on_update))
        if action.upper() != "NO ACTION"
    ]
    return [(f"  {', '.join(words)}", "quiet")] if words else []


def _index(index: Index) -> Fact:
    names = []
    for at, name in enumerate(index.columns):
        down = at < len(index.descending) and index.descending[at]
        names.append(("(expression)" if name is None else safe.text(name)) + (" desc" if down else ""))
    runs = [("(" + ", ".join(names) + ")", "code")]
    if index.unique:
        runs.append(("  unique", "quiet"))
    if index.where:
        runs.append((f"  where {safe.text(index.where)}", "quiet"))
    return Fact(line("  ", (f"{safe.text(index.name)}  ", "plain"), *runs), hang=4)


def _code(sql: str) -> list[Fact]:
    """The statement as it was written, but for the indent all its lines after the first have in common."""
    first, *more = visible(sql).split("\n")
    rest = dedent("\n".join(more)).split("\n") if more else []
    return [Fact(line("  ", (text, "code")), hang=4) for text in (first, *rest)]


def _names(names: Iterable[str]) -> str:
    return "(" + ", ".join(safe.text(name) for name in names) + ")"


def _there(key: ForeignKey) -> str:
    columns = ", ".join(safe.text(name) for name in key.references)
    return f"{safe.text(key.table)}.{columns}" if columns else safe.text(key.table)
