"""The steps of the gate (DESIGN 6), each with what it says, why it does not hold, and what would help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from persistence.errors import StateCompatibilityRefused, StoreError, StoreMissingError

if TYPE_CHECKING:
    from inspector.actions.gate import Gate
    from inspector.actions.preview import Preview
    from persistence.profiles.records import AdmissionReport

__all__ = ["STEPS", "Step", "preview_words", "steps_of"]

STEPS = ("writes", "profile", "owner", "admitted", "preview", "lineage")
"""The steps by name, in their order."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `held` None: it cannot be said before those in front of it hold. `says` is the step in a few
    words; `refusal` why it does not hold, what was expected and observed, and what would make it hold."""

    number: int
    name: str
    held: bool | None
    says: str
    refusal: StoreError | None = None


Found: TypeAlias = "tuple[bool | None, str, StoreError | None]"


def steps_of(gate: Gate) -> tuple[Step, ...]:
    """The six steps of a gate as they are now."""
    made = (
        _writes(gate), _profile(gate), _owner(gate), _admitted(gate), _previewed(gate), _named(gate),
    )  # fmt: skip
    return tuple(
        Step(number, name, held, says, refusal)
        for number, (name, (held, says, refusal)) in enumerate(zip(STEPS, made, strict=True), 1)
    )


def _writes(gate: Gate) -> Found:
    if not gate.allowed:
        error = StoreError(
            "This program was started without --allow-writes, so it writes into no store.",
            code="writes-not-allowed",
            where=gate.target.display,
            expected="--allow-writes",
            observed="not given",
            remedy="Start it again with --allow-writes, if writing into this store is what is meant.",
        )
        return False, "started without --allow-writes", error
    forbidden = gate.policy.refusal()
    if forbidden is not None:
        return False, "started with --allow-writes, and the configuration forbids it", forbidden
    return True, "started with --allow-writes", None


def _profile(gate: Gate) -> Found:
    if gate.profile is not None:
        return True, f"profile {gate.profile.identity}", None
    if gate.profile_error is not None:
        return False, "the profile cannot be used", gate.profile_error
    error = StoreError(
        "A store another application manages is written only under a profile that was chosen by name.",
        code="no-profile",
        where=gate.target.display,
        expected="a profile, by its name or its path",
        observed="none chosen",
        remedy="Name the one made for this store (--profile); store-inspector profile list shows which "
        "there are. None is ever picked.",
    )
    return False, "no profile is chosen", error


def _owner(gate: Gate) -> Found:
    if gate.profile is None:
        return None, "owner: a profile first", None
    if gate.target.path is None:  # no profile lets a server in, whoever the owner were
        return None, "owner: nobody is looked up on a server", None
    if gate.profile.owner is None and gate.owner is None:
        return True, "no owner rule: only rows that this run made", None
    found = _owner_finding(gate)
    if found is not None:
        return False, f"owner {gate.owner}" if gate.owner is not None else "no owner is chosen", found
    if gate.profile.owner is not None and not gate.owner:
        error = StoreError(
            "The profile has an owner rule, and nobody was named as the owner of what is written.",
            code="owner-missing",
            where=gate.target.display,
            expected=f"a principal of the table {gate.profile.owner.principals}",
            observed="none named",
            remedy="Name one (--owner). The column's default is never taken.",
        )
        return False, "no owner is chosen", error
    if gate.report is None:
        return None, f"owner {gate.owner} (not looked up yet)", None
    if not gate.report.admitted:
        return None, f"owner {gate.owner} (nobody is looked up in a store that is not admitted)", None
    return True, f"owner {gate.owner} (exists)", None


def _owner_finding(gate: Gate) -> StoreError | None:
    """What was found about the owner, when that is all that speaks against the store: in a store that is not
    admitted for another reason nobody is looked for."""
    refusing = () if gate.report is None else gate.report.refusing
    if gate.report is None or not refusing or not all(each.code.startswith("owner-") for each in refusing):
        return None
    return _check(gate.report)


def _admitted(gate: Gate) -> Found:
    if gate.report is None:
        return None, "not asked yet whether the store is admitted", None
    if not gate.report.admitted:
        passing = gate.report.passing is not None
        says = "not known yet whether it is admitted" if passing else "not admitted"
        says += "" if passing else f": {_several(len(gate.report.refusing))}"
        return False, says, _check(gate.report)
    when = "" if gate.report.read is None else f", {_clock(gate.report.read.at)}"
    cookie = "" if gate.report.cookie is None else f", schema cookie {gate.report.cookie}"
    return True, f"admitted now{when}{cookie}", None


def _previewed(gate: Gate) -> Found:
    if gate.plan_error is not None:
        return False, "no plan can be made", gate.plan_error
    if gate.preview is None:
        return None, "no preview yet", None
    says = preview_words(gate.preview)
    stops = gate.preview.stops
    if stops:
        return (
            False,
            f"{says}; {len(stops)} in the way",
            stops[0].error(gate.action.source or gate.action.name),
        )
    if not gate.was_shown:
        return None, f"{says} (not shown yet)", None
    return True, says, None


def _named(gate: Gate) -> Found:
    if not gate.lineage:
        return None, "type the store's lineage: not known yet", None
    if gate.typed is not None and gate.typed == gate.lineage:
        return True, f"lineage typed: {gate.lineage}", None
    error = StoreError(
        "The name of the store's lineage was not given, so nothing was written.",
        code="lineage-not-typed",
        where=gate.target.display,
        expected=gate.lineage,
        observed="nothing" if not gate.typed else gate.typed[:80],
        remedy=f"Read the preview. To go on, type the name exactly (--confirm {gate.lineage}).",
    )
    return False, f"type the lineage to go on: {gate.lineage}", error


def _check(report: AdmissionReport) -> StoreError | None:
    if report.passing is not None:
        return report.passing
    try:
        report.check()
    except StateCompatibilityRefused as error:
        if error.code == "no-store":  # what is not there is told as everywhere else
            return StoreMissingError(
                error.message, code=error.code, where=error.where, expected=error.expected,
                observed=error.observed, remedy=error.remedy,
            )  # fmt: skip
        return error
    return None


def _clock(at: float) -> str:
    from inspector import formats

    return formats.clock(at)


def _several(count: int) -> str:
    return f"{count} finding{'' if count == 1 else 's'}"


def preview_words(preview: Preview) -> str:
    """The size of a preview in a few words."""
    if preview.counts is None:
        return "preview: as many transactions as the input asks for"
    kinds, all_ = len(preview.counts), preview.transactions
    statements = "" if preview.statements is None else f", up to {preview.statements} statements"
    return f"preview: {kinds} operations{statements}, {all_} transactions"
