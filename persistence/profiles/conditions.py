"""The conditions of an admission beside structure: whose store it is, its version, its journal mode, what is
asked of it, and for whom."""

from __future__ import annotations

from typing import NamedTuple

from persistence.lineage.compatibility import names_an_application
from persistence.lineage.report import RuleStep
from persistence.lineage.rows import Seen
from persistence.lineage.rules import Case, shown
from persistence.profiles.codes import finding
from persistence.profiles.records import Finding, Profile

__all__ = ["Asked", "conditions"]

_LINEAGE = {
    "compatibility-no-lineage": "lineage-absent",
    "compatibility-own": "lineage-own",
    "compatibility-names-nobody": "lineage-nobody",
}


class Asked(NamedTuple):
    """What is asked for: under which profile, for which owner, which operations."""

    profile: Profile
    owner: str | None
    operations: tuple[str, ...]


class _Said(NamedTuple):
    """What was answered, and what speaks against admission."""

    answer: str
    against: tuple[Finding, ...] = ()


def conditions(
    asked: Asked, where: str, seen: Seen | None, journal: str | None, owner_exists: bool | None
) -> tuple[list[Finding], list[RuleStep]]:
    """What speaks against admission, and each condition with its answer.

    `seen` None: the rows could not be read, and are not asked about. `owner_exists` None: it could not be
    asked.
    """
    found: list[Finding] = []
    steps: list[RuleStep] = []

    def ask(rule: str, question: str, source: str, said: _Said) -> None:
        found.extend(said.against)
        steps.append(RuleStep("compatibility", rule, question, source, said.answer, bool(said.against)))

    if seen is not None:
        question = "Is the profile made for the application the store names?"
        ask("lineage", question, "ADR-0128 D2, D7", _lineage(asked.profile, where, seen))
        question = "Is the store's version one the profile was narrowed to?"
        ask("version", question, "ADR-0128 D2", _version(asked.profile, seen))
    if journal is not None:
        ask("journal-mode", "Is its journal mode already WAL?", "ADR-0128 D1", _journal(journal.lower()))
    question = "Does the profile name every operation that is asked for?"
    ask("operations", question, "ADR-0128 D2, D4", _operations(asked))
    owner = _owner(asked, owner_exists, seen is not None)
    ask("owner", "Is the owner a principal of the store?", "ADR-0128 D5", owner)
    return found, steps


def _lineage(profile: Profile, where: str, seen: Seen) -> _Said:
    answer = names_an_application(Case(where, seen))
    expected = repr(profile.lineage)
    if answer.refusal is not None:
        code = _LINEAGE.get(answer.refusal.code, "lineage-nobody")
        against = finding(code, object="lineage", expected=expected, observed=answer.refusal.observed)
        return _Said(answer.words, (against,))
    name = seen.lineage[0]
    if name != profile.lineage:
        against = finding("lineage-other", object="lineage", expected=expected, observed=repr(name))
        return _Said(f"no: {name!r}", (against,))
    return _Said(f"yes: {name!r}")


def _version(profile: Profile, seen: Seen) -> _Said:
    if not profile.store_versions:
        return _Said("the profile is not narrowed")
    if len(seen.version) == 1 and seen.version[0] in profile.store_versions:
        return _Said(f"yes: {seen.version[0]!r}")
    listed = ", ".join(repr(version) for version in profile.store_versions)
    observed = shown(seen.version) if seen.version else "no version row"
    against = finding("version-unlisted", object="version", expected=listed, observed=observed)
    return _Said(f"no: {observed}", (against,))


def _journal(mode: str) -> _Said:
    if mode == "wal":
        return _Said(mode)
    return _Said(mode, (finding("journal-mode", object="journal mode", expected="wal", observed=mode),))


def _operations(asked: Asked) -> _Said:
    unlisted = [name for name in asked.operations if name not in asked.profile.operations]
    named = ", ".join(asked.profile.operations)
    against = [finding("operation-unlisted", object=name, expected=named, observed=name) for name in unlisted]
    return _Said(
        f"not {', '.join(unlisted)}" if unlisted else f"yes: {len(asked.operations)}", tuple(against)
    )


def _owner(asked: Asked, exists: bool | None, was_read: bool) -> _Said:
    rule, owner = asked.profile.owner, asked.owner
    if rule is None:
        if owner is None:
            return _Said("the profile has no owner rule")
        against = finding("owner-unruled", object=owner, expected="no owner", observed=repr(owner))
        return _Said("the profile has no owner rule", (against,))
    place = f"one of {rule.principals}.{rule.key}"
    if owner is None or not owner.strip():
        observed = "none" if owner is None else repr(owner)
        against = finding("owner-missing", object=rule.column, expected=place, observed=observed)
        return _Said(f"no owner is named: {observed}", (against,))
    if exists or not was_read:
        return _Said(f"yes: {owner!r}" if exists else "it could not be asked")
    observed = "no such principal" if exists is False else "there are no principals to ask"
    against = finding("owner-unknown", table=rule.principals, object=owner, expected=place, observed=observed)
    return _Said(f"no: {owner!r}", (against,))
