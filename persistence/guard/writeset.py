"""The statements a compatibility connection runs, as data: built from the manifest, enforced by the guard.

Texts are compared whole, so there is no SQL to be read and nothing to be read wrongly: what is not one of
these texts does not run (ADR-0128 D3, DESIGN 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from persistence.engines.statements import Statement
    from persistence.profiles.records import Profile

__all__ = ["Allowed", "Verb", "WriteSet", "allowed", "write_set"]

Verb = Literal["insert", "update", "select"]


@dataclass(frozen=True, slots=True)
class Allowed:
    """One statement of the manifest. `names` are its positional parameters in order, `owner` those among
    them that must be the owner; `operations` are the operations that declare it, and no other runs it;
    `changes` is the least and the most rows one run of it may change."""

    text: str
    verb: Verb
    table: str
    names: tuple[str, ...]
    owner: tuple[str, ...]
    operations: frozenset[str]
    changes: tuple[int, int] = (1, 1)
    positions: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Raises ValueError for a statement whose owner parameters are not among its parameters."""
        unknown = set(self.owner) - set(self.names)
        if unknown:
            raise ValueError(f"no parameter of the statement on {self.table}: {sorted(unknown)}")
        if not self.operations:
            raise ValueError(f"no operation declares the statement on {self.table}: {self.text:.60}")
        wanted = set(self.owner)
        positions = tuple(number for number, name in enumerate(self.names) if name in wanted)
        object.__setattr__(self, "positions", positions)


@dataclass(frozen=True, slots=True)
class WriteSet:
    """What one profile lets one owner do: every statement, by its exact text."""

    profile: Profile
    owner: str | None
    statements: Mapping[str, Allowed]

    def __post_init__(self) -> None:
        object.__setattr__(self, "statements", MappingProxyType(dict(self.statements)))


def allowed(
    statement: Statement,
    verb: Verb,
    table: str,
    *,
    operations: Iterable[str],
    owner: Iterable[str] = (),
    changes: tuple[int, int] = (1, 1),
) -> Allowed:
    """The entry of a compiled statement. `owner` names the parameters that carry the owner."""
    compiled = statement.compiled("sqlite")
    return Allowed(
        compiled.sql,
        verb,
        table,
        compiled.names,
        tuple(owner),
        frozenset(operations),
        (0, 0) if verb == "select" else changes,
    )


def write_set(profile: Profile, owner: str | None, statements: Iterable[Allowed]) -> WriteSet:
    """The write set of these statements; one that several operations declare is one entry for all of them.

    Raises ValueError when two entries of the same text differ in anything else.
    """
    found: dict[str, Allowed] = {}
    for entry in statements:
        there = found.get(entry.text, entry)
        both = there.operations | entry.operations
        if _alone(there) != _alone(entry):
            raise ValueError(f"two declarations of one statement differ: {entry.text:.80}")
        found[entry.text] = Allowed(
            entry.text, entry.verb, entry.table, entry.names, entry.owner, both, entry.changes
        )
    return WriteSet(profile, owner, found)


def _alone(entry: Allowed) -> tuple[object, ...]:
    return entry.verb, entry.table, entry.names, frozenset(entry.owner), entry.changes
