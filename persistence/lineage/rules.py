"""The rules of ADR-0128 D7, each a function of its own with the question it asks and the answer it got.

A rule is given the case so far and returns an Answer; an answer with a `refusal` ends a mode's way. The
order is `NATIVE` (and `SERVER` for PostgreSQL): what lies beside the file, then whose the store is, and only
then its version, its tables and their shape. So lineage is asked before version everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from persistence.errors import (
    ForeignLineageError,
    LineageRefusal,
    SchemaTooNewError,
    UnreadableStoreError,
    UnrecognizedStoreError,
)
from persistence.lineage.remedies import remedy
from persistence.lineage.rows import MetaKind, Seen
from persistence.lineage.shape import misfits
from persistence.lineage.version import Value, Version, VersionKind, classify
from persistence.schema.known import LINEAGE, SCHEMA_VERSION

__all__ = [
    "CONNECTION",
    "LATER",
    "NATIVE",
    "PARTS",
    "READ",
    "SERVER",
    "Answer",
    "Asked",
    "Case",
    "Damage",
    "Rule",
    "ask",
    "shown",
    "whose",
]


class Damage(NamedTuple):
    """Something about the store's files for which its own rows decide nothing (DECISIONS 18)."""

    code: str
    observed: str


class Case(NamedTuple):
    """What the rules are asked about: the store (as it may be shown), what was seen, what is damaged."""

    where: str
    seen: Seen | None
    damage: tuple[Damage, ...] = ()

    @property
    def lineage(self) -> tuple[Value, ...]:
        return self.seen.lineage if self.seen is not None else ()

    @property
    def version(self) -> Version:
        return classify(self.seen.version if self.seen is not None else ())


class Answer(NamedTuple):
    """What a rule answered: a few words, the refusal it makes, or a notice for an open that goes on.

    `settles` says that nothing further needs to be asked.
    """

    words: str
    refusal: LineageRefusal | None = None
    notice: str | None = None
    settles: bool = False


class Rule(NamedTuple):
    """A rule by name, with its question and where it stands."""

    name: str
    question: str
    source: str
    ask: Callable[[Case], Answer]


def _refuse(kind: type[LineageRefusal], case: Case, rule: str, message: str, **fields: str) -> LineageRefusal:
    code = fields.pop("code", kind.default_code)
    lineage = case.lineage
    return kind(
        message,
        code=code,
        where=case.where,
        rule=rule,
        lineage=lineage[0] if len(lineage) == 1 else (lineage or None),
        version=case.version.shown,
        remedy=fields.pop("remedy", None) or remedy(code),
        **fields,
    )


def shown(values: tuple[Value, ...]) -> str:
    """Values exactly as they are, for a sentence."""
    return ", ".join(repr(value) for value in values)


# -- what lies beside the file ------------------------------------------------------------------------


def parts_agree(case: Case) -> Answer:
    """Damage never decides in favour of opening."""
    if not case.damage:
        return Answer("yes")
    first = case.damage[0]
    observed = "; ".join(damage.observed for damage in case.damage)
    if first.code == "second-name":
        message = "The file has a second name: what was written under that name may not be seen from here."
    else:
        message = "What belongs to the store could not all be read, so the file's own rows decide nothing."
    refusal = _refuse(
        UnreadableStoreError,
        case,
        "parts-agree",
        message,
        code=first.code,
        expected="a file, and beside it nothing that contradicts it or cannot be read",
        observed=observed,
    )
    return Answer(f"no: {observed}", refusal)


def rows_read(case: Case) -> Answer:
    """A file that cannot be read at all decides nothing here; the connection that is opened decides."""
    if case.seen is None:
        return Answer("no: the connection that would be opened decides", settles=True)
    return Answer(f"yes: {case.seen.words}")


# -- whose it is --------------------------------------------------------------------------------------


def is_new(case: Case) -> Answer:
    """A store without any table is new."""
    seen = _seen(case)
    if seen.tables or seen.meta != MetaKind.ABSENT:
        return Answer(f"no: {len(seen.tables)} tables")
    return Answer("yes: a native open would make its schema", settles=not _stands_in_the_way(seen))


def _stands_in_the_way(seen: Seen) -> bool:
    return bool(misfits(seen))


def meta_is_a_table(case: Case) -> Answer:
    """A view, a virtual table or another spelling under the name `schema_meta` is none of this lineage's."""
    meta = _seen(case).meta
    if meta == MetaKind.TABLE:
        return Answer("yes")
    if meta == MetaKind.ABSENT:
        return Answer("there is none")
    return Answer(
        f"no: {meta}",
        _refuse(
            UnrecognizedStoreError,
            case,
            "meta-is-a-table",
            "What is called schema_meta is not the table a lionagi release makes.",
            code="meta-odd",
            expected="a table named schema_meta",
            observed=f"schema_meta is there as: {meta}",
        ),
    )


def meta_has_pair(case: Case) -> Answer:
    """Without `key` and `value` columns nothing says whose the store is."""
    seen = _seen(case)
    if seen.meta != MetaKind.TABLE:
        return Answer("there is no such table")
    if seen.has_pair:
        return Answer("yes")
    names = ", ".join(f"{c.name} (generated)" if c.generated else c.name for c in seen.meta_columns)
    return Answer(
        f"no: {names}",
        _refuse(
            UnrecognizedStoreError,
            case,
            "meta-has-pair",
            "The store's schema_meta table does not have the two columns that say whose it is.",
            code="meta-columns",
            expected="schema_meta with the columns key and value",
            observed=f"schema_meta with the columns {names or 'none'}",
        ),
    )


def lineage_names(case: Case) -> Answer:
    """The lineage row, compared exactly (DECISIONS 11)."""
    rows = case.lineage
    if not rows:
        return Answer("there is no lineage row")
    if rows == (LINEAGE,):
        return Answer(f"this lineage: {LINEAGE!r}")
    if set(map(_exact, rows)) == {_exact(LINEAGE)}:
        return Answer(
            f"{len(rows)} rows, all {LINEAGE!r}",
            _refuse(
                UnrecognizedStoreError,
                case,
                "lineage-names",
                "The store has more than one lineage row, which no lionagi release makes.",
                code="lineage-twice",
                expected="one lineage row",
                observed=f"{len(rows)} lineage rows: {shown(rows)}",
            ),
        )
    return Answer(
        f"another application: {shown(rows)}",
        _refuse(
            ForeignLineageError,
            case,
            "lineage-names",
            "Another application manages this store, and it alone may migrate it."
            if len(rows) == 1
            else "The store's lineage rows do not all name lionagi, so it is another application's.",
            expected=f"the lineage row {LINEAGE!r}",
            observed=f"the lineage row{'s' if len(rows) > 1 else ''} {shown(rows)}",
        ),
    )


def _exact(value: Value) -> tuple[str, Value]:
    return type(value).__name__, value


def _own(case: Case) -> bool:
    return case.lineage == (LINEAGE,)


# -- its version --------------------------------------------------------------------------------------


def version_not_above(case: Case) -> Answer:
    """A newer schema is refused, in whatever spelling it says so beside this lineage's own row."""
    version = case.version
    above = version.kind is VersionKind.HIGHER or (version.above and _own(case))
    if version.kind is VersionKind.SEVERAL and version.above:
        above = True
    if not above:
        return Answer(f"yes: the version is {version.words}")
    return Answer(f"no: the version is {version.words}", _too_new(case, "version-not-above"))


def _too_new(case: Case, rule: str) -> LineageRefusal:
    found = shown(case.version.values)
    return _refuse(
        SchemaTooNewError,
        case,
        rule,
        f"The store is intact; its schema is version {found}, newer than the {SCHEMA_VERSION} this program "
        "writes.",
        expected=f"a version up to {SCHEMA_VERSION}",
        observed=f"version {found}",
    )


def version_is_a_releases(case: Case) -> Answer:
    """What a release writes; or, beside the lineage row, what the stamp may replace."""
    version = case.version
    if _seen(case).meta != MetaKind.TABLE:
        return Answer("there is no schema_meta, so no version is asked for")
    if version.kind in (VersionKind.LOWER, VersionKind.EQUAL):
        return Answer(f"yes: {version.kind}, {shown(version.values)}")
    if _own(case) and version.kind is not VersionKind.SEVERAL:
        notice = (
            f"The version is {version.words}: a native open takes it as missing and stamps {SCHEMA_VERSION}."
        )
        return Answer(f"taken as missing: {version.words}", notice=notice)
    message = (
        "The store has no lineage row and no version, so nothing says what shape a migration would meet."
        if version.kind is VersionKind.MISSING
        else "The store has more than one version row, which no lionagi release makes."
        if version.kind is VersionKind.SEVERAL
        else "The store has no lineage row, and its version is one that no lionagi release writes."
    )
    return Answer(
        f"no: the version is {version.words}",
        _refuse(
            UnrecognizedStoreError,
            case,
            "version-is-a-releases",
            message,
            code="version-missing" if version.kind is VersionKind.MISSING else "version-odd",
            expected=f"a version from 1 to {SCHEMA_VERSION}, as plain text",
            observed=f"the version is {version.words}",
        ),
    )


# -- its tables ---------------------------------------------------------------------------------------


def tables_are_known(case: Case) -> Answer:
    """Without a lineage row, unknown tables are another application's unless a release's store holds them."""
    seen = _seen(case)
    unknown = seen.unknown
    if _own(case):
        return Answer("not asked: the lineage row says whose it is")
    if not unknown:
        return Answer("yes: every table is one that lionagi components create")
    listed = ", ".join(unknown[:5]) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
    if seen.meta == MetaKind.TABLE and "sessions" in seen.tables:
        return Answer(f"no ({listed}), but schema_meta and sessions are there", notice=_beside(listed))
    without = "no schema_meta table" if seen.meta != MetaKind.TABLE else "no sessions table"
    return Answer(
        f"no: {listed}, and {without}",
        _refuse(
            UnrecognizedStoreError,
            case,
            "tables-are-known",
            f"The store has no lineage row and {without}, and holds tables no lionagi component creates.",
            code="unknown-tables",
            expected="only tables that lionagi components create, or schema_meta and sessions beside others",
            observed=f"{without}; {listed}",
        ),
    )


def _beside(listed: str) -> str:
    return f"Tables that no lionagi component creates lie beside its own: {listed}."


_CHANGES = "A migration would change another application's table."
_MEETS = "A migration would meet a table it does not know."


def shape_is_a_releases(case: Case) -> Answer:
    """Known tables must have shapes some release made (DECISIONS 10)."""
    wrong = misfits(_seen(case))
    if not wrong:
        return Answer("yes")
    first = wrong[0]
    rest = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    where = first.table if first.column is None else f"{first.table}.{first.column}"
    return Answer(
        f"no: {first.words}{rest}",
        _refuse(
            UnrecognizedStoreError,
            case,
            "shape-is-a-releases",
            f"The table {first.table} has lionagi's name, but no lionagi release made it so: {where} "
            f"{first.observed}. {_MEETS if _own(case) else _CHANGES}",
            code="foreign-shape",
            expected=f"{where}: {first.expected}",
            observed="; ".join(misfit.words for misfit in wrong[:8]) + (" …" if len(wrong) > 8 else ""),
        ),
    )


def _seen(case: Case) -> Seen:
    return case.seen if case.seen is not None else Seen()


PARTS = Rule(
    "parts-agree",
    "Can everything that belongs to the store be read, and does it agree?",
    "ADR-0128 D7; DECISIONS 18",
    parts_agree,
)
READ = Rule("rows-read", "Could the store's own rows be read?", "ADR-0128 D7", rows_read)
_NEW = Rule("is-new", "Is the store new, with no table at all?", "ADR-0128 D7", is_new)
_TABLE = Rule("meta-is-a-table", "Is schema_meta a table?", "ADR-0128 D7", meta_is_a_table)
_PAIR = Rule(
    "meta-has-pair", "Does schema_meta have the columns key and value?", "ADR-0128 D7", meta_has_pair
)
_LINEAGE = Rule(
    "lineage-names", "Whom does the lineage row name?", "ADR-0128 D7; DECISIONS 11", lineage_names
)
_ABOVE = Rule(
    "version-not-above",
    f"Is the version no higher than {SCHEMA_VERSION}?",
    "ADR-0128 D7, A.0; DECISIONS 9",
    version_not_above,
)
_RELEASE = Rule(
    "version-is-a-releases",
    "Is the version one that a lionagi release writes?",
    "ADR-0128 D7; DECISIONS 9",
    version_is_a_releases,
)
_TABLES = Rule(
    "tables-are-known",
    "Is every table one that a lionagi component creates?",
    "ADR-0128 D7",
    tables_are_known,
)
_SHAPE = Rule(
    "shape-is-a-releases",
    "Do the known tables have shapes some lionagi release made?",
    "ADR-0128 D7; DECISIONS 10",
    shape_is_a_releases,
)

NATIVE: tuple[Rule, ...] = (
    PARTS,
    READ,
    _NEW,
    _TABLE,
    _PAIR,
    _LINEAGE,
    _ABOVE,
    _RELEASE,
    _TABLES,
    _SHAPE,
)
"""A writable native open of a SQLite store, before any writable connection and on the first one."""

CONNECTION: tuple[Rule, ...] = NATIVE[2:]
"""What a writable connection asks of its own reads, and each writing transaction of schema application."""

LATER: tuple[Rule, ...] = (_LINEAGE,)
"""A connection opened after the schema was applied: a version above ours is not raised from a write."""

SERVER: tuple[Rule, ...] = (_LINEAGE, _ABOVE, _RELEASE)
"""A PostgreSQL database with a schema_meta table, by its rows alone."""


class Asked(NamedTuple):
    """A rule and its answer."""

    rule: Rule
    answer: Answer


def ask(case: Case, rules: tuple[Rule, ...] = NATIVE) -> tuple[Asked, ...]:
    """The rules in order, up to the first that refuses or settles."""
    asked: list[Asked] = []
    for rule in rules:
        answer = rule.ask(case)
        asked.append(Asked(rule, answer))
        if answer.refusal is not None or answer.settles:
            break
    return tuple(asked)


def whose(seen: Seen | None) -> str:
    """Whose store it is, in one word for a title: the lineage, or why there is none."""
    if seen is None:
        return "not readable"
    if seen.lineage:
        return " / ".join(value if isinstance(value, str) else repr(value) for value in seen.lineage)
    return "no lineage row"
