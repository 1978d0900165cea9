"""A profile written as its TOML document; reading that document gives the same profile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from persistence.profiles.document_rules import leaves_out
from persistence.profiles.records import (
    CheckShape,
    ClosureTable,
    ColumnShape,
    Incoming,
    IndexShape,
    IndexTerm,
    KeyShape,
    LinkShape,
    ObjectShape,
    Profile,
    UniqueShape,
    WriteRule,
    folded,
)
from persistence.profiles.toml_text import key, value

__all__ = ["Comments", "dump"]


@dataclass(frozen=True, slots=True)
class Comments:
    """What to say in a document: at its top, above a key of its head or a table, and behind a column."""

    top: Sequence[str] = ()
    head: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)
    columns: Mapping[tuple[str, str], str] = field(default_factory=dict)


_HEAD = {
    "lineage": ("The application whose stores it is for: the value of the lineage row in schema_meta.",),
    "store_versions": ("Versions of the store it was made for. They narrow; no version admits by itself.",),
    "operations": ("What may be done under it, by the names of the facade's methods.",),
    "invariants": ("What readers may rely on, and the operations keep.",),
    "owner": ("Rows carry a principal in `column`; the principals are the `key` of the table `principals`.",),
    "tables": (
        "The tables the operations depend on. `insert` and `update` are the columns that may be written, and",
        "`unwritten` says for each column a new row leaves out why that is right.",
    ),
    "incoming": ("Foreign keys of tables outside that point at these tables.",),
    "objects": ("Triggers, views and virtual tables that touch these tables.",),
}


def dump(profile: Profile, comments: Comments | None = None) -> str:
    """The document of a profile, with a word on what each part is for."""
    said = comments or Comments()
    lines = [f"# {line}".rstrip() for line in said.top]
    lines += ["", "format = 1"] if lines else ["format = 1"]
    lines += [f"name = {value(profile.name)}", f"version = {profile.version}"]
    for name in ("lineage", "store_versions", "operations", "invariants"):
        given = getattr(profile, name)
        if not given:
            continue
        lines += ["", *_comment(name, said)]
        lines.append(f"{name} = {value(given)}")
    if profile.owner is not None:
        owner = profile.owner
        lines += ["", *_comment("owner", said), "[owner]"]
        lines += [f"{name} = {value(getattr(owner, name))}" for name in ("column", "principals", "key")]
    lines += ["", *_comment("tables", said)]
    for name, table in profile.closure.tables.items():
        lines += _table(table, profile.writes.get(name), said)
    lines += _blocks("incoming", map(_incoming, profile.closure.incoming), said)
    lines += _blocks("objects", map(_object, profile.closure.objects), said)
    return "\n".join(lines) + "\n"


def _comment(name: str, said: Comments) -> list[str]:
    return [f"# {line}".rstrip() for line in (*_HEAD.get(name, ()), *said.head.get(name, ()))]


def _table(table: ClosureTable, rule: WriteRule | None, said: Comments) -> list[str]:
    name = f"tables.{key(table.name)}"
    lines = ["", *(f"# {line}".rstrip() for line in said.tables.get(folded(table.name), ())), f"[{name}]"]
    lines += [f"{word} = true" for word in ("strict", "without_rowid") if getattr(table, word)]
    if table.primary_key is not None:
        lines.append(f"primary_key = {value(_key(table.primary_key))}")
    for word, shapes in (
        ("uniques", [_unique(one) for one in table.uniques]),
        ("checks", [_check(one) for one in table.checks]),
        ("links", [_link(one) for one in table.links]),
        ("indexes", [_index(one) for one in table.indexes]),
    ):
        if shapes:
            lines += [f"{word} = [", *(f"  {value(shape, inline=True)}," for shape in shapes), "]"]
    if rule is not None:
        lines += [f"insert = {value(rule.insert)}", f"update = {value(rule.update)}"]
    lines += ["", f"[{name}.columns]"]
    for column in table.columns:
        more = said.columns.get((folded(table.name), folded(column.name)))
        lines.append(f"{key(column.name)} = {value(_column(column))}{f'  # {more}' if more else ''}")
    if rule is not None and rule.unwritten:
        lines += ["", f"[{name}.unwritten]"]
        lines += [f"{key(name)} = {value(reason)}" for name, reason in _reasons(table, rule)]
    return lines


def _reasons(table: ClosureTable, rule: WriteRule) -> Iterable[tuple[str, str]]:
    """The reasons in the order of the table's columns, whatever else there is behind them."""
    left = {folded(column.name): number for number, column in enumerate(leaves_out(table, rule))}
    return sorted(rule.unwritten.items(), key=lambda one: left.get(folded(one[0]), len(left)))


def _column(column: ColumnShape) -> dict[str, Any]:
    shape: dict[str, Any] = {"type": column.type} if column.type else {}
    if not column.nullable:
        shape["nullable"] = False
    if column.default is not None:
        shape["default"] = column.default
    if column.generated is not None:
        shape["generated"] = column.generated.expression
        if column.generated.stored:
            shape["stored"] = True
    return shape | _given(collation=column.collation, conflict=column.conflict)


def _key(shape: KeyShape) -> Any:
    terms = [_term(term) for term in shape.terms]
    special = _given(
        rowid=shape.rowid or None, autoincrement=shape.autoincrement or None, conflict=shape.conflict
    )
    return {"columns": terms, **special} if special else terms


def _term(term: IndexTerm) -> Any:
    if term == IndexTerm(term.column) and term.column is not None:
        return term.column
    return _given(
        column=term.column,
        expression=term.expression,
        collation=term.collation,
        descending=term.descending or None,
    )


def _unique(shape: UniqueShape) -> dict[str, Any]:
    columns = [_term(term) for term in shape.terms]
    special = _given(where=shape.predicate, conflict=shape.conflict, name=shape.name)
    return {"columns": columns, **special}


def _check(shape: CheckShape) -> Any:
    return shape.expression if shape.name is None else {"expression": shape.expression, "name": shape.name}


def _index(shape: IndexShape) -> dict[str, Any]:
    columns = [_term(term) for term in shape.terms]
    return {"name": shape.name, "columns": columns, **_given(where=shape.predicate)}


def _link(link: LinkShape) -> dict[str, Any]:
    shape: dict[str, Any] = {"columns": link.columns, "table": link.table}
    if link.parent_columns:
        shape["parent"] = link.parent_columns
    for name, usual in (("on_update", "NO ACTION"), ("on_delete", "NO ACTION"), ("match", "NONE")):
        if getattr(link, name) != usual:
            shape[name] = getattr(link, name)
    return {**shape, "deferred": True} if link.deferred else shape


def _incoming(one: Incoming) -> dict[str, Any]:
    return {"from": one.table, **_link(one.link)}


def _object(one: ObjectShape) -> dict[str, Any]:
    shape = _given(kind=one.kind, name=one.name, table=one.table, sql=one.sql)
    return shape | _given(touches=one.touches or None, writes=one.writes or None)


def _blocks(name: str, shapes: Iterable[dict[str, Any]], said: Comments) -> list[str]:
    lines: list[str] = []
    for shape in shapes:
        lines += ["", *(_comment(name, said) if not lines else ()), f"[[{name}]]"]
        lines += [f"{word} = {value(given)}" for word, given in shape.items()]
    return lines


def _given(**parts: Any) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if part is not None}
