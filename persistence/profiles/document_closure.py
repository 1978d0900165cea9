"""The structural half of a document: tables, columns, keys, checks, foreign keys, triggers and views as read.

Only the form is judged here; whether the parts agree with each other is `document_rules`' to say.
"""

from __future__ import annotations

from collections.abc import Mapping

from persistence.profiles.document_nodes import Node
from persistence.profiles.records import (
    CheckShape,
    Closure,
    ClosureTable,
    ColumnShape,
    Generated,
    Incoming,
    IndexShape,
    IndexTerm,
    KeyShape,
    LinkShape,
    ObjectShape,
    UniqueShape,
    folded,
)

__all__ = ["ACTIONS", "CONFLICTS", "TABLE_KEYS", "closure_of"]

ACTIONS = ("NO ACTION", "RESTRICT", "SET NULL", "SET DEFAULT", "CASCADE")
CONFLICTS = ("ABORT", "ROLLBACK", "FAIL", "IGNORE", "REPLACE")

TABLE_KEYS = (
    "strict",
    "without_rowid",
    "primary_key",
    "columns",
    "uniques",
    "checks",
    "links",
    "indexes",
    "insert",
    "update",
    "unwritten",
)
"""What a table of the document may say; the last three are its write rule."""


def closure_of(root: Mapping[str, Node]) -> Closure:
    """The closure the document's `tables`, `incoming` and `objects` declare."""
    tables: dict[str, ClosureTable] = {}
    if (node := root.get("tables")) is not None:
        for name, table in node.children().items():
            if folded(name) in tables:
                table.fault("this table is declared twice: the case of a name does not count")
            else:
                tables[folded(name)] = _table(name, table)
        if not tables:
            node.fault("a profile without tables describes nothing")
    incoming = [_incoming(node) for node in _items(root, "incoming")]
    objects = [_object(node) for node in _items(root, "objects")]
    return Closure(tables, tuple(incoming), tuple(objects))


def _table(name: str, node: Node) -> ClosureTable:
    found = node.keys(*TABLE_KEYS, needed=("columns",))
    columns: dict[str, ColumnShape] = {}
    for column, inner in found["columns"].children().items() if "columns" in found else ():
        if folded(column) in columns:
            inner.fault("this column is declared twice: the case of a name does not count")
        else:
            columns[folded(column)] = _column(column, inner)
    if "columns" in found and not columns:
        found["columns"].fault("a table has columns")
    return ClosureTable(
        name,
        tuple(columns.values()),
        primary_key=_key(found["primary_key"]) if "primary_key" in found else None,
        uniques=tuple(_unique(item) for item in _items(found, "uniques")),
        checks=tuple(_check(item) for item in _items(found, "checks")),
        links=tuple(_link(item) for item in _items(found, "links")),
        indexes=tuple(_index(item) for item in _items(found, "indexes")),
        strict=_flag(found, "strict"),
        without_rowid=_flag(found, "without_rowid"),
    )


def _column(name: str, node: Node) -> ColumnShape:
    said = node.keys("type", "nullable", "default", "generated", "stored", "collation", "conflict")
    generated = None
    if "generated" in said:
        generated = Generated(said["generated"].text(), stored=_flag(said, "stored"))
        if "default" in said:
            said["default"].fault("a generated column has no default")
    elif "stored" in said:
        said["stored"].fault("stored is said of generated columns alone")
    return ColumnShape(
        name,
        type=said["type"].text(blank=True) if "type" in said else "",
        nullable=said["nullable"].flag() if "nullable" in said else True,
        default=_text(said, "default"),
        generated=generated,
        collation=_collation(said),
        conflict=_conflict(said),
    )


def _key(node: Node) -> KeyShape:
    """`["id"]`, or a table with `columns` and what is special about it."""
    if isinstance(node.value, list):
        return KeyShape(_terms(node))
    said = node.keys("columns", "rowid", "autoincrement", "conflict", needed=("columns",))
    terms = _terms(said["columns"]) if "columns" in said else ()
    rowid, counted = _flag(said, "rowid"), _flag(said, "autoincrement")
    if rowid and len(terms) > 1:
        said["rowid"].fault("one column can be the row id, not several")
    if counted and not rowid:
        said["autoincrement"].fault("AUTOINCREMENT is for the row id: rowid = true")
    return KeyShape(terms, rowid=rowid, autoincrement=counted, conflict=_conflict(said))


def _terms(node: Node) -> tuple[IndexTerm, ...]:
    terms = tuple(_term(item) for item in node.items())
    if not terms and isinstance(node.value, list):
        node.fault("at least one column is needed")
    return terms


def _term(node: Node) -> IndexTerm:
    if isinstance(node.value, str):
        return IndexTerm(node.text())
    said = node.keys("column", "expression", "collation", "descending")
    if isinstance(node.value, dict) and ("column" in said) == ("expression" in said):
        node.fault("one of column and expression is needed")
    return IndexTerm(
        _text(said, "column"), _text(said, "expression"), _collation(said), _flag(said, "descending")
    )


def _unique(node: Node) -> UniqueShape:
    said = node.keys("columns", "where", "conflict", "name", needed=("columns",))
    terms = _terms(said["columns"]) if "columns" in said else ()
    return UniqueShape(terms, _text(said, "where"), _conflict(said), _text(said, "name"))


def _check(node: Node) -> CheckShape:
    if isinstance(node.value, str):
        return CheckShape(node.text())
    said = node.keys("expression", "name", needed=("expression",))
    return CheckShape(_text(said, "expression") or "", _text(said, "name"))


def _index(node: Node) -> IndexShape:
    said = node.keys("name", "columns", "where", needed=("name", "columns"))
    terms = _terms(said["columns"]) if "columns" in said else ()
    return IndexShape(_text(said, "name") or "", terms, _text(said, "where"))


_LINK = ("parent", "on_update", "on_delete", "match", "deferred")


def _link(node: Node) -> LinkShape:
    return _link_of(node.keys("columns", "table", *_LINK, needed=("columns", "table")))


def _incoming(node: Node) -> Incoming:
    said = node.keys("from", "columns", "table", *_LINK, needed=("from", "columns", "table"))
    return Incoming(_text(said, "from") or "", _link_of(said))


def _link_of(said: Mapping[str, Node]) -> LinkShape:
    link = LinkShape(
        _names(said, "columns"),
        _text(said, "table") or "",
        parent_columns=_names(said, "parent"),
        on_update=said["on_update"].word(*ACTIONS) if "on_update" in said else "NO ACTION",
        on_delete=said["on_delete"].word(*ACTIONS) if "on_delete" in said else "NO ACTION",
        match=said["match"].text().upper() if "match" in said else "NONE",
        deferred=_flag(said, "deferred"),
    )
    if link.parent_columns and len(link.parent_columns) != len(link.columns):
        said["parent"].fault(f"{len(link.columns)} columns cannot point at {len(link.parent_columns)}")
    return link


def _object(node: Node) -> ObjectShape:
    said = node.keys("kind", "name", "table", "sql", "touches", "writes", needed=("kind", "name", "sql"))
    kind = said["kind"].word("trigger", "view", "virtual") if "kind" in said else "view"
    if kind == "trigger" and "table" not in said:
        node.fault("a trigger stands on a table: table is missing")
    if kind != "trigger" and "table" in said:
        said["table"].fault(f"a {kind} stands on no table; what it reads is named under touches")
    return ObjectShape(
        kind,  # type: ignore[arg-type]  # one of the three words
        _text(said, "name") or "",
        _text(said, "table"),
        _text(said, "sql") or "",
        touches=_names(said, "touches"),
        writes=_names(said, "writes"),
    )


# -- parts ---------------------------------------------------------------------------------------------------


def _items(found: Mapping[str, Node], name: str) -> list[Node]:
    return list(found[name].items()) if name in found else []


def _text(found: Mapping[str, Node], name: str) -> str | None:
    return found[name].text() if name in found else None


def _names(found: Mapping[str, Node], name: str) -> tuple[str, ...]:
    return found[name].texts() if name in found else ()


def _flag(found: Mapping[str, Node], name: str) -> bool:
    return found[name].flag() if name in found else False


def _collation(found: Mapping[str, Node]) -> str | None:
    """A collation; BINARY is what there is without one."""
    said = _text(found, "collation")
    return None if said is None or said.upper() == "BINARY" else said.upper()


def _conflict(found: Mapping[str, Node]) -> str | None:
    """A conflict clause; ABORT is what there is without one."""
    said = found["conflict"].word(*CONFLICTS) if "conflict" in found else "ABORT"
    return None if said == "ABORT" else said
