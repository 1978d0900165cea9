"""The managed store's schema as a model: read from its SQL, changed by tests, written out in many ways."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from tests.persistence.profiles.acme import SQL

_COLUMN = re.compile(r'^  "?(\w+)"?\s+(TEXT|REAL|INTEGER|JSON|BLOB)\b\s*(.*?),?$')
_REFERENCES = re.compile(r"REFERENCES (\w+)\((\w+)\)((?: ON DELETE (?:CASCADE|SET NULL))?)")
_CHECK = re.compile(r"CHECK \((.*)\)")
_DEFAULT = re.compile(r"DEFAULT ('[^']*'|\d+)")


@dataclass
class Link:
    columns: tuple[str, ...]
    table: str
    parents: tuple[str, ...]
    tail: str = ""


@dataclass
class Column:
    name: str
    type: str
    required: bool = False
    default: str | None = None
    collation: str | None = None
    conflict: str | None = None
    computed: str | None = None


@dataclass
class Unique:
    columns: tuple[str, ...]
    conflict: str | None = None


@dataclass
class Table:
    name: str
    columns: list[Column]
    key: tuple[str, ...] = ()
    key_tail: str = ""
    uniques: list[Unique] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    options: list[str] = field(default_factory=list)

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)


@dataclass
class Model:
    """Tables by name, and the statements that come after them by what they make."""

    tables: dict[str, Table]
    after: list[str]

    def copy(self) -> Model:
        return copy.deepcopy(self)


@cache
def _base() -> Model:
    tables = {}
    for name, body in re.findall(r"CREATE TABLE (\w+) \(\n(.*?)\n\);", SQL, re.DOTALL):
        table = tables[name] = Table(name, [])
        for line in body.split("\n"):
            found = _COLUMN.match(line)
            if found is None:
                _constraint(table, line.strip().rstrip(","))
                continue
            column, kind, rest = found.groups()
            default, check, link = _DEFAULT.search(rest), _CHECK.search(rest), _REFERENCES.search(rest)
            table.columns.append(
                Column(column, kind, "NOT NULL" in rest.split("CHECK")[0], default[1] if default else None)
            )
            if "PRIMARY KEY" in rest:
                table.key = (column,)
            if "UNIQUE" in rest:
                table.uniques.append(Unique((column,)))
            if check:
                table.checks.append(check[1])
            if link:
                table.links.append(Link((column,), link[1], (link[2],), link[3]))
    after = re.findall(
        r"^CREATE (?:UNIQUE )?INDEX .*?;|^CREATE TRIGGER .*?END;|^CREATE VIEW .*?;", SQL, re.M | re.S
    )
    return Model(tables, [statement.rstrip(";") for statement in after])


def _constraint(table: Table, text: str) -> None:
    unique = re.fullmatch(r"UNIQUE \((.*)\)", text)
    link = re.fullmatch(r"FOREIGN KEY \((.*?)\) REFERENCES (\w+)\((.*?)\)(.*)", text)
    if unique:
        table.uniques.append(Unique(tuple(unique[1].split(", "))))
    elif link:
        table.links.append(Link(tuple(link[1].split(", ")), link[2], tuple(link[3].split(", ")), link[4]))
    else:
        raise AssertionError(text)


def base() -> Model:
    """A fresh model of the unchanged schema."""
    return _base().copy()


# -- writing it out -----------------------------------------------------------------------------------

_GAPS = (" ", "  ", "\n", "\t", " /* a ' \" ) note */ ", " -- a note, 'too'\n")
Style = Callable[[str], str]


class Writer:
    """Writes a model as SQL. With a source of chance every choice that means nothing is made at random."""

    def __init__(self, chance: random.Random | None = None) -> None:
        self._chance = chance

    def _may(self) -> bool:
        return self._chance is not None and self._chance.random() < 0.25

    def gap(self) -> str:
        return self._chance.choice(_GAPS) if self._chance is not None and self._may() else " "

    def name(self, name: str) -> str:
        if self._chance is None:
            return f'"{name}"'
        spelled = self._chance.choice((name, name, name.upper(), name.title()))
        return self._chance.choice(('"{}"', "[{}]", "`{}`", '"{}"')).format(spelled)

    def words(self, text: str) -> str:
        """Keywords in any case, with any gaps; strings and quoted names stay as they are."""
        parts = re.split(r"('(?:[^']|'')*'|\"[^\"]*\"|\[[^]]*\]|`[^`]*`|\s+)", text)
        made = []
        for part in parts:
            if not part:
                continue
            if part.isspace():
                made.append(self.gap())
            elif part[0] in "'\"[`":
                made.append(part)
            else:
                made.append(part.lower() if self._may() else part)
        return "".join(made)

    def statements(self, model: Model) -> list[str]:
        found: list[str] = []
        for table in model.tables.values():
            found += self._table(table)
        after = [self.words(statement) for statement in model.after]
        if self._may():
            found.append("CREATE TABLE unrelated (id INTEGER PRIMARY KEY, sessions TEXT, messages TEXT)")
        if self._may():
            after.append("CREATE INDEX plain ON messages (role, sender)")
        if self._may():
            after.append("CREATE VIEW apart AS SELECT 'messages' AS sessions FROM ticket_notes")
        return found + after

    def _table(self, table: Table) -> list[str]:
        inside = [self._column(table, column) for column in table.columns]
        constraints: list[str] = []
        extra: list[str] = []
        if table.key:
            columns = ", ".join(map(self.name, table.key))
            alone = len(table.key) == 1 and "AUTOINCREMENT" not in table.key_tail
            if alone and not self._may():
                at = [column.name for column in table.columns].index(table.key[0])
                inside[at] += self.words(f" PRIMARY KEY{table.key_tail}")
            elif "AUTOINCREMENT" in table.key_tail:
                at = [column.name for column in table.columns].index(table.key[0])
                inside[at] += " PRIMARY KEY AUTOINCREMENT"
            else:
                constraints.append(self._named(self.words(f"PRIMARY KEY ({columns}){table.key_tail}")))
        for number, unique in enumerate(table.uniques):
            columns = ", ".join(map(self.name, unique.columns))
            if unique.conflict is None and self._may():
                extra.append(f"CREATE UNIQUE INDEX {table.name}_{number} ON {table.name} ({columns})")
                continue
            tail = f" ON CONFLICT {unique.conflict}" if unique.conflict else ""
            if not tail and self._may():
                tail = " ON CONFLICT ABORT"
            constraints.append(self._named(self.words(f"UNIQUE ({columns}){tail}")))
        constraints += [self._named(f"CHECK ({self._wrapped(check)})") for check in table.checks]
        for link in table.links:
            self._link(table, link, inside, constraints)
        if self._chance is not None:
            self._chance.shuffle(constraints)
        body = f",{self.gap()}".join([*inside, *constraints])
        made = " IF NOT EXISTS" if self._may() else ""
        tail = f" {', '.join(table.options)}" if table.options else ""
        return [f"CREATE TABLE{made} {self.name(table.name)} ({self.gap()}{body}){tail}", *extra]

    def _wrapped(self, expression: str) -> str:
        return f"({self.words(expression)})" if self._may() else self.words(expression)

    def _named(self, constraint: str) -> str:
        named = f"CONSTRAINT c{self._chance.randrange(1000)} " if self._chance and self._may() else ""
        return named + constraint

    def _column(self, table: Table, column: Column) -> str:
        kind = column.type
        if kind == "INTEGER" and column.name not in table.key and not table.options and self._may():
            kind = "INT"
        parts = []
        if column.required:
            conflict = column.conflict or ("ABORT" if self._may() else None)
            parts.append(f"NOT NULL{f' ON CONFLICT {conflict}' if conflict else ''}")
        if column.default is not None:
            parts.append(f"DEFAULT ({column.default})" if self._may() else f"DEFAULT {column.default}")
        elif column.computed is None and column.name not in table.key and self._may():
            parts.append("DEFAULT NULL" if not column.required else "")
        if column.collation is not None:
            parts.append(f"COLLATE {column.collation}")
        elif self._may():
            parts.append("COLLATE BINARY")
        if column.computed is not None:
            parts.append(column.computed)
        if self._chance is not None:
            self._chance.shuffle(parts)
        spelled = f'"{kind}"' if self._may() else kind
        return f"{self.name(column.name)} {spelled} {self.words(' '.join(filter(None, parts)))}"

    def _link(self, table: Table, link: Link, inside: list[str], constraints: list[str]) -> None:
        pairs = list(zip(link.columns, link.parents, strict=True))
        if self._chance is not None:
            self._chance.shuffle(pairs)
        tail = link.tail
        if "ON UPDATE" not in tail and self._may():
            tail = f" ON UPDATE NO ACTION{tail}"
        if "DEFERR" not in tail and self._may():
            tail += " NOT DEFERRABLE"
        parents = f" ({', '.join(self.name(parent) for _, parent in pairs)})"
        if link.parents == ("id",) and self._may():
            parents = ""
        refers = self.words(f"REFERENCES {self.name(link.table)}{parents}{tail}")
        if len(pairs) == 1 and not self._may():
            at = [column.name for column in table.columns].index(link.columns[0])
            inside[at] += f" {refers}"
            return
        columns = ", ".join(self.name(column) for column, _ in pairs)
        constraints.append(self._named("FOREIGN KEY ") + f"({columns}) {refers}")
