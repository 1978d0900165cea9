"""A profile as a TOML document: its text read, checked, and made a `Profile` (ADR-0128 D2, D4, D5).

Every fault is found in one pass and says file, line and key. A document with one is no profile.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from persistence.errors import ProfileError
from persistence.profiles.document_closure import closure_of
from persistence.profiles.document_nodes import Document, Fault, Node
from persistence.profiles.document_rules import check
from persistence.profiles.records import OwnerRule, Profile, WriteRule, folded

__all__ = ["FORMAT", "NAME", "faults_of", "parse"]

FORMAT = 1
"""The form of the document; raised only when an older program would misread a newer document."""

NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*\Z")
"""A profile's name: lower-case words with hyphens between them."""

_KEYS = (
    "format",
    "name",
    "version",
    "lineage",
    "store_versions",
    "operations",
    "invariants",
    "owner",
    "tables",
    "incoming",
    "objects",
)
_NEEDED = ("format", "name", "version", "lineage", "operations", "tables")


def parse(text: str, source: str) -> Profile:
    """The profile a document describes; `source` is where it was read from, as people know it.

    Raises ProfileError, which names the first fault and has all of them.
    """
    profile, faults = faults_of(text, source)
    if profile is None:
        raise error_of(source, faults)
    return profile


def faults_of(text: str, source: str) -> tuple[Profile | None, tuple[Fault, ...]]:
    """The profile (None when there is a fault), and everything wrong with its document, by line."""
    document = Document(text, source)
    root = document.root()
    profile = None if root is None else _profile(root, source)
    if not document.faults:
        return profile, ()
    return None, tuple(sorted(document.faults, key=lambda fault: fault.line or 0))


def error_of(source: str, faults: tuple[Fault, ...]) -> ProfileError:
    """The refusal that names the first fault; a reason still to be written is named last."""
    first = min(faults, key=lambda fault: fault.blank)
    more = len(faults) - 1
    tail = f" There {'is one more fault' if more == 1 else f'are {more} more'}." if more else ""
    return ProfileError(
        f"The profile is not valid: {first.key or 'the document'}: {first.message}.{tail}",
        where=source if first.line is None else f"{source}:{first.line}",
        observed="\n".join(str(fault) for fault in faults) if more else None,
        remedy="The profile's author corrects the document; `profile lint` lists every fault.",
        faults=tuple((fault.line, fault.key, fault.message) for fault in faults),
    )


def _profile(root: Node, source: str) -> Profile:
    found = root.keys(*_KEYS, needed=_NEEDED)
    if "format" in found and (form := found["format"].number()) != FORMAT:
        found["format"].fault(f"this program reads format {FORMAT}, not {form}")
    name = found["name"].text() if "name" in found else ""
    if name.strip() and not NAME.match(name):
        found["name"].fault(f"expected lower-case words with hyphens between them, found {name!r}")
    version = found["version"].number() if "version" in found else 1
    if version < 1 and isinstance(found["version"].value, int):
        found["version"].fault(f"versions are counted from 1, found {version}")
    profile = Profile(
        name,
        version,
        found["lineage"].text() if "lineage" in found else "",
        closure_of(found),
        _writes(found),
        _texts(found, "operations"),
        _texts(found, "invariants"),
        _owner(found["owner"]) if "owner" in found else None,
        _texts(found, "store_versions"),
        source=source,
    )
    check(profile, root)
    return profile


def _texts(found: Mapping[str, Node], name: str) -> tuple[str, ...]:
    return found[name].texts() if name in found else ()


def _owner(node: Node) -> OwnerRule:
    said = node.keys("column", "principals", "key", needed=("column", "principals", "key"))
    words = {name: inner.text() for name, inner in said.items()}
    return OwnerRule(words.get("column", ""), words.get("principals", ""), words.get("key", ""))


def _writes(found: Mapping[str, Node]) -> dict[str, WriteRule]:
    """The write rules, by folded table name; a table that says nothing about writes is only read."""
    rules: dict[str, WriteRule] = {}
    tables = found["tables"].value if "tables" in found else None
    for name, value in tables.items() if isinstance(tables, dict) else ():
        if not isinstance(value, dict) or not {"insert", "update", "unwritten"} & set(value):
            continue
        node = Node(found["tables"].document, (*found["tables"].path, name), value)
        children = dict(node.children())
        reasons: dict[str, str] = {}
        if "unwritten" in children:
            for column, reason in children["unwritten"].children().items():
                reasons[column] = reason.value if isinstance(reason.value, str) else reason.text()
        rules[folded(name)] = WriteRule(_texts(children, "insert"), _texts(children, "update"), reasons)
    return rules
