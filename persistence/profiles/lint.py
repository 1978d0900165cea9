"""Everything there is to say about a profile's document, before any store is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from persistence.profiles.catalogue import find, read_text
from persistence.profiles.document import faults_of
from persistence.profiles.document_lines import KeyPath, line_of, lines_of
from persistence.profiles.document_nodes import dotted
from persistence.profiles.records import Profile, folded

Kind: TypeAlias = Literal["fault", "fill", "hazard", "notice"]
_Said: TypeAlias = tuple[Kind, str, KeyPath]

__all__ = ["Linted", "Remark", "lint", "lint_text"]

_LOOKUPS = frozenset({"message_types"})
"""Tables whose rows belong to everybody, by the manifest's own rule (ADR-0128 D5)."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One line of the answer. `fault`: no profile can say this; `fill`: a reason still to be written;
    `hazard`: no store of this shape is ever admitted; `notice`: worth a look, and nothing more."""

    kind: Kind
    message: str
    key: str = ""
    line: int | None = None

    @property
    def refuses(self) -> bool:
        return self.kind != "notice"


@dataclass(frozen=True, slots=True)
class Linted:
    """What was found of the document at `source`; `profile` is None when it is none."""

    source: str
    profile: Profile | None
    remarks: tuple[Remark, ...]

    @property
    def clean(self) -> bool:
        """Whether the profile can be used; notices do not keep it from that."""
        return not any(remark.refuses for remark in self.remarks)


def lint(name: str | Path) -> Linted:
    """Reads the document of a path or a name. Raises ProfileError only when there is none to read."""
    path = find(name)
    return lint_text(read_text(path), str(path))


def lint_text(text: str, source: str) -> Linted:
    """The same for a document that is at hand."""
    profile, faults = faults_of(text, source)
    remarks = [Remark("fill" if one.blank else "fault", one.message, one.key, one.line) for one in faults]
    if profile is not None:
        lines = lines_of(text)
        for kind, message, path in (*_hazards(profile), *_notices(profile)):
            remarks.append(Remark(kind, message, dotted(path), line_of(lines, path)))
    return Linted(source, profile, tuple(remarks))


def _hazards(profile: Profile) -> Iterator[_Said]:
    """What the profile declares, and no admission ever lets pass."""
    from persistence.profiles.compare.hazards import hazards

    for found in hazards(profile.closure, profile.writes, profile.owner):
        observed = f" ({found.observed})" if found.observed else ""
        path = ("tables", profile.closure.tables[folded(found.table)].name) if found.table else ()
        yield "hazard", f"{found.object or 'it'}: {found.why}{observed} [{found.code}]", path


def _notices(profile: Profile) -> Iterator[_Said]:
    owner = profile.owner
    if not profile.store_versions:
        yield "notice", "no store version narrows it: stores of every version are tried", ("store_versions",)
    if owner is None:
        yield "notice", "without an owner rule, rows are kept apart by the run that made them", ("owner",)
    for key, rule in profile.writes.items():
        table = profile.closure.tables[key]
        path = ("tables", table.name)
        if not rule.insert and not rule.update:
            yield "notice", "its write rule allows nothing; without one it says the same", path
        elif owner is not None and key not in _LOOKUPS and table.column(owner.column) is None:
            yield "notice", f"it is written and has no {owner.column}: its rows belong to nobody", path
        for column, reason in rule.unwritten.items():
            if len(reason.split()) < 2:
                yield "notice", f"is {reason!r} all there is to say?", (*path, "unwritten", column)
