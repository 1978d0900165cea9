"""What lineage says of a compatibility open; a profile's admission decides the rest (ADR-0128 D2, D7)."""

from __future__ import annotations

from persistence.errors import StateCompatibilityRefused, StoreError
from persistence.lineage.remedies import remedy
from persistence.lineage.rules import PARTS, READ, Answer, Asked, Case, Rule, shown
from persistence.schema.known import LINEAGE

__all__ = ["COMPATIBILITY", "names_an_application", "refusal_of"]


def _refused(case: Case, code: str, message: str, observed: str) -> StateCompatibilityRefused:
    return StateCompatibilityRefused(
        message,
        code=code,
        operation="open",
        where=case.where,
        rule="names-an-application",
        lineage=case.lineage[0] if len(case.lineage) == 1 else (case.lineage or None),
        version=case.version.shown,
        expected="one lineage row that names an application other than lionagi",
        observed=observed,
        remedy=remedy(code),
    )


def names_an_application(case: Case) -> Answer:
    """Compatibility mode admits only a store whose lineage row names an application other than lionagi."""
    rows = case.lineage
    if not rows:
        refusal = _refused(
            case,
            "compatibility-no-lineage",
            "The store has no lineage row, so no application has said that it manages it.",
            "no lineage row",
        )
        return Answer("there is no lineage row", refusal)
    if rows == (LINEAGE,):
        refusal = _refused(
            case,
            "compatibility-own",
            "The store is lionagi's own: compatibility mode is for others.",
            shown(rows),
        )
        return Answer(f"this lineage: {LINEAGE!r}", refusal)
    name = rows[0]
    if len(rows) > 1 or not isinstance(name, str) or not name.strip():
        refusal = _refused(
            case,
            "compatibility-names-nobody",
            "The store's lineage names no application that a profile could be bound to.",
            shown(rows),
        )
        return Answer(f"nobody: {shown(rows)}", refusal)
    return Answer(f"another application: {name!r}; a profile made for it may admit the store")


COMPATIBILITY: tuple[Rule, ...] = (
    PARTS,
    READ,
    Rule(
        "names-an-application",
        "Does one lineage row name an application other than lionagi?",
        "ADR-0128 D7",
        names_an_application,
    ),
)
"""What is asked before any profile; the profile's admission follows."""


def refusal_of(asked: tuple[Asked, ...]) -> StoreError | None:
    """The refusal the last rule asked made, if it did."""
    return asked[-1].answer.refusal if asked else None
