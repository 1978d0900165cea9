"""Compatibility profiles in words and as data: what one says, what is wrong with one, what differs, which
there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inspector import safe
from inspector.reports.marked_down import code, fenced, prose
from inspector.reports.wrapped import wrapped

if TYPE_CHECKING:
    from persistence.basics import ReadInfo
    from persistence.profiles.catalogue import Entry
    from persistence.profiles.diff import Difference
    from persistence.profiles.lint import Linted
    from persistence.profiles.records import ClosureTable, ColumnShape, LinkShape, Profile, WriteRule

__all__ = [
    "diff_lines",
    "diff_shape",
    "entry_lines",
    "entry_shape",
    "linted_lines",
    "linted_shape",
    "profile_lines",
    "profile_markdown",
    "profile_shape",
]

KINDS = {"fault": "✗", "fill": "✗", "hazard": "✗", "notice": "▲"}


# -- one profile -----------------------------------------------------------------------------------------


def profile_shape(profile: Profile, reference: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """`profile` is the document as JSON, with its `identity` and `source`; `manifest` if asked for."""
    import tomllib

    from inspector.reports import shapes
    from persistence.profiles.dump import dump

    document = tomllib.loads(dump(profile))
    shape = {"profile": {"identity": profile.identity, "source": profile.source, **document}}
    return shape if reference is None else {**shape, "manifest": shapes.value(reference)}


def profile_lines(profile: Profile, reference: Mapping[str, Any] | None = None) -> Iterator[str]:
    """What a profile says, as visible lines of plain text."""
    owner = profile.owner
    yield safe.text(profile.identity)
    yield from _pairs(_facts(profile))
    for key, table in profile.closure.tables.items():
        yield ""
        yield from _table_lines(table, profile.writes.get(key), owner.column if owner else None)
    incoming = [f"{safe.text(one.table)}{_link(one.link)}" for one in profile.closure.incoming]
    yield from _listed("tables outside that point at these", incoming)
    objects = [
        f"{one.kind} {safe.text(one.name)}{f' on {safe.text(one.table)}' if one.table else ''}"
        for one in profile.closure.objects
    ]
    yield from _listed("triggers, views and virtual tables that touch these", objects)
    if reference is not None:
        yield from _manifest_lines(reference)


def _facts(profile: Profile) -> list[tuple[str, str]]:
    return [
        ("source", safe.text(profile.source)),
        ("for stores of", safe.text(profile.lineage)),
        ("versions", ", ".join(map(safe.text, profile.store_versions)) or "any"),
        ("owner", _owner(profile)),
        ("operations", ", ".join(map(safe.text, profile.operations))),
        ("keeps", ", ".join(map(safe.text, profile.invariants)) or "nothing that is named"),
    ]


def _owner(profile: Profile) -> str:
    owner = profile.owner
    if owner is None:
        return "none: rows are kept apart by the run that made them"
    return f"{safe.text(owner.column)}, one of {safe.text(owner.principals)}.{safe.text(owner.key)}"


def profile_markdown(profile: Profile, reference: Mapping[str, Any] | None = None) -> str:
    """The same as a page of documentation: what may be written as a grid, the operations with their SQL."""
    lines = [f"# Profile {code(profile.identity)}", ""]
    lines += [f"- {label}: {prose(said)}" for label, said in _facts(profile)]
    owner = profile.owner.column if profile.owner is not None else None
    for key, table in profile.closure.tables.items():
        lines += ["", f"## Table {code(table.name)}", ""]
        rule = profile.writes.get(key)
        if rule is None or not (rule.insert or rule.update):
            lines.append("Only read.")
            continue
        lines += ["| column | type | insert | update | owner | left out, because |", "| --- " * 6 + "|"]
        for column, marks, reason in _grid(table, rule, owner):
            cells = ["✓" if mark in marks else "" for mark in ("insert", "update", "owner")]
            kind = code(column.type) if column.type else ""
            said = prose(safe.text(reason))
            lines.append(f"| {_celled(code(column.name))} | {_celled(kind)} | {' | '.join(cells)} | {said} |")
    for operation in reference["operations"] if reference is not None else ():
        lines += ["", f"## Operation {code(operation['name'])}", "", prose(safe.text(operation["does"])), ""]
        lines += [f"- {label}: {prose(safe.text(said))}" for label, said in _manifest_rows(operation)]
        for statement in operation["statements"]:
            lines += ["", *fenced(safe.lines(statement["sql"]), "sql")]
    return "\n".join(lines) + "\n"


def _celled(text: str) -> str:
    """Code in a table: the one sign that ends a cell even there."""
    return text.replace("|", "\\|")


def _grid(
    table: ClosureTable, rule: WriteRule, owner: str | None
) -> Iterator[tuple[ColumnShape, list[str], str]]:
    """Each column with what may be done to it (`insert`, `update`, `owner`), and why it may be left out."""
    from persistence.profiles.records import folded

    marks = {
        "insert": {folded(name) for name in rule.insert},
        "update": {folded(name) for name in rule.update},
    }
    marks["owner"] = set() if owner is None else {folded(owner)}
    reasons = {folded(name): reason for name, reason in rule.unwritten.items()}
    for column in table.columns:
        name = folded(column.name)
        yield column, [mark for mark, names in marks.items() if name in names], reasons.get(name, "")


def _table_lines(table: ClosureTable, rule: WriteRule | None, owner: str | None) -> Iterator[str]:
    """A table as a grid: what may be inserted, updated, is the owner's, or is left out and why."""
    options = [word for word, on in (("STRICT", table.strict), ("WITHOUT ROWID", table.without_rowid)) if on]
    written = rule is not None and (rule.insert or rule.update)
    yield f"{safe.text(table.name)}{f' ({chr(44).join(options)})' if options else ''}" + (
        "" if written else ": only read"
    )
    wide = max((safe.width(safe.text(column.name)) for column in table.columns), default=0)
    for column, marks, why in _grid(table, rule, owner) if rule is not None and written else ():
        head = f"  {safe.fit(safe.text(column.name), wide)}  {', '.join(marks) or '—':<14}  "
        reason = safe.text(why)
        yield from wrapped(reason, indent=" " * safe.width(head), first=head) if reason else (head.rstrip(),)
    for link in table.links:
        yield f"  → {_link(link).strip()}"


def _link(link: LinkShape) -> str:
    columns = ", ".join(map(safe.text, link.columns))
    parents = ", ".join(map(safe.text, link.parent_columns))
    actions = "".join(
        f" {word} {action}"
        for word, action in (("ON UPDATE", link.on_update), ("ON DELETE", link.on_delete))
        if action != "NO ACTION"
    )
    return f"({columns}) to {safe.text(link.table)}{f'({parents})' if parents else ''}{actions}"


def _manifest_rows(operation: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("reached from", "; ".join(operation["reached_from"])),
        ("rows", "; ".join(operation["rows"])),
        ("transaction", operation["transaction"]),
        ("refused", operation["when_it_refuses"]),
        ("keeps", "; ".join(one["invariant"] for one in operation["keeps"])),
        ("without", "; ".join(operation["without"])),
    ]
    return [(label, said) for label, said in rows if said]


def _manifest_lines(reference: Mapping[str, Any]) -> Iterator[str]:
    for operation in reference["operations"]:
        yield ""
        yield f"operation {operation['name']}"
        yield from wrapped(safe.text(operation["does"]))
        for label, said in _manifest_rows(operation):
            yield from wrapped(safe.text(said), indent=" " * 16, first=f"  {label:<12}  ")
        for statement in operation["statements"]:
            owned = ", carries the owner" if statement["carries_owner"] else ""
            yield f"  {statement['verb']} {safe.text(statement['table'])}{owned}"
            for line in safe.lines(statement["sql"]).split("\n"):
                yield f"      {line}"
        yield from wrapped(
            safe.text(", ".join(operation["tests"])), indent=" " * 16, first="  proved by     "
        )
    yield ""
    yield "without a statement"
    for what, why in reference["without_statements"].items():
        yield from wrapped(safe.text(f"{what}: {why}"), indent="    ", first="  ")


# -- lint ------------------------------------------------------------------------------------------------


def linted_shape(found: Linted) -> dict[str, Any]:
    """`profile` (identity, or null), `source`, `clean`, and the remarks as `rows`."""
    return {
        "profile": None if found.profile is None else found.profile.identity,
        "source": found.source,
        "clean": found.clean,
        "rows": [
            {"kind": one.kind, "line": one.line, "key": one.key, "message": one.message}
            for one in found.remarks
        ],
        "next": None,
        "complete": True,
    }


def linted_lines(found: Linted) -> Iterator[str]:
    """A line a remark, the way compilers write them."""
    source = safe.text(found.source)
    for one in found.remarks:
        where = f"{source}:{one.line}" if one.line is not None else source
        key = f" {safe.text(one.key)}:" if one.key else ""
        yield f"{where}: {KINDS[one.kind]}{key} {safe.text(one.message)}"
    refusing = sum(one.refuses for one in found.remarks)
    fill = sum(one.kind == "fill" for one in found.remarks)
    if found.profile is not None and found.clean:
        yield f"✓ {safe.text(found.profile.identity)} can be used"
    else:
        blanks = f", {fill} of them reasons to be written" if fill else ""
        yield f"✗ {source} cannot be used: {refusing} to correct{blanks}"


# -- difference ------------------------------------------------------------------------------------------


def diff_shape(a: str, b: str, found: Sequence[Difference], read: ReadInfo | None) -> dict[str, Any]:
    """`a`, `b`, how the store was read where `b` is one, and the differences as `rows`."""
    from inspector.reports import shapes

    shape: dict[str, Any] = {"a": a, "b": b}
    if read is not None:
        shape["store"] = {
            "display": b,
            "route": str(read.route),
            "read_at": shapes.instant(read.at),
            "snapshots": read.snapshots,
            "kernel_held": read.kernel_held,
        }
    rows = [{"where": one.where, "before": one.before, "after": one.after, "code": one.code} for one in found]
    return {**shape, "rows": rows, "next": None, "complete": True}


def diff_lines(a: str, b: str, found: Sequence[Difference]) -> Iterator[str]:
    """The differences as lines: where, then what A and what B says."""
    yield f"- {safe.text(a)}"
    yield f"+ {safe.text(b)}"
    if not found:
        yield ""
        yield "no difference"
    for one in found:
        code = f"  ({one.code})" if one.code is not None else ""
        yield ""
        yield f"{safe.text(one.where)}{code}"
        for sign, side in (("-", one.before), ("+", one.after)):
            if side is not None:
                yield from (f"  {sign} {line}" for line in safe.lines(side, limit=4_000).split("\n"))


# -- the catalogue ---------------------------------------------------------------------------------------


def entry_shape(one: Entry) -> dict[str, Any]:
    """A document that is found by name. `unreadable` says why one has no name."""
    shape = {
        "name": one.name,
        "version": one.version,
        "lineage": one.lineage,
        "operations": list(one.operations),
        "origin": one.origin,
        "path": str(one.path),
    }
    return shape if one.why is None else {**shape, "unreadable": one.why}


def entry_lines(found: Sequence[Entry]) -> Iterator[str]:
    """A line a document, in columns."""
    rows = [
        (
            safe.text(one.identity),
            f"for {safe.text(one.lineage)}" if one.lineage is not None else "",
            one.origin,
            safe.text(str(one.path)) if one.why is None else f"✗ {safe.text(one.why, limit=200)}",
        )
        for one in found
    ]
    wide = [max((safe.width(row[column]) for row in rows), default=0) for column in range(3)]
    for *cells, path in rows:
        yield "  ".join([*(safe.fit(cell, size) for cell, size in zip(cells, wide, strict=True)), path])
    if not rows:
        yield "no profiles"


def _pairs(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    rows = list(rows)
    wide = max(len(label) for label, _ in rows)
    for label, said in rows:
        yield from wrapped(said, indent=" " * (wide + 4), first=f"  {label:<{wide}}  ")


def _listed(title: str, rows: Sequence[str]) -> Iterator[str]:
    if rows:
        yield ""
        yield title
        yield from (f"  {row}" for row in rows)
