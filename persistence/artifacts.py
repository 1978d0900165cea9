"""The expected-file contract and its verification (ADR-0055 D5, DECISIONS 4).

Verification observes: it looks whether declared files are there, and how large they are, at one moment. It
opens none of them, keeps nothing of them, computes no digest and asks for no kind of content. Its answer is
what a session's `artifact_verification_json` holds; nothing is written to the artifacts table.
"""

from __future__ import annotations

import logging
import re
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypedDict

from persistence.beneath import Root, Seen
from persistence.errors import ArtifactPathError

__all__ = [
    "ENTRY_KEYS",
    "ArtifactContract",
    "ArtifactContractWarning",
    "ArtifactPathError",
    "ContractObservation",
    "EntryObservation",
    "ExpectedArtifact",
    "ProducedArtifact",
    "VerificationResult",
    "observe_artifact_contract",
    "read_artifact_contract",
    "resolve_artifact_contract",
    "verify_artifact_contract",
]

ENTRY_KEYS: Final = ("id", "path", "required", "description", "source")
"""The keys of a contract entry in version 1; any other is warned about and ignored."""

_ID = re.compile(r"[A-Za-z0-9_-]+")
_GLOB = re.compile(r"[*?\[\]{}]")
_log = logging.getLogger(__name__)


class ExpectedArtifact(TypedDict, total=False):
    """An expected file: `path` is relative to the artifacts root; `source` says who asked for it."""

    id: str
    path: str
    required: bool
    description: str
    source: str


class ProducedArtifact(TypedDict):
    """A file that was there: `path` relative to the root with links resolved, `size` in bytes."""

    id: str
    path: str
    size: int
    present: bool


class VerificationResult(TypedDict):
    """An observation. This verifier never answers `skipped`; a stored `skipped` is shown as it is."""

    status: Literal["passed", "failed", "warning", "skipped"]
    checked_at: float
    missing_required: list[ExpectedArtifact]
    missing_optional: list[ExpectedArtifact]
    produced: list[ProducedArtifact]


class ArtifactContract(TypedDict):
    """What a session is expected to leave: each entry with all defaults filled in."""

    expected: list[ExpectedArtifact]


class ArtifactContractWarning(UserWarning):
    """A contract entry has a key this version knows nothing of; it is ignored."""


@dataclass(frozen=True, slots=True)
class EntryObservation:
    """One entry and what was seen at its path; `seen.why` says why a file does not count."""

    entry: ExpectedArtifact
    seen: Seen

    @property
    def present(self) -> bool:
        return self.seen.state == "file"


@dataclass(frozen=True, slots=True)
class ContractObservation:
    """A verification with its reasons: `unusable_root` says why nothing could be looked at, if so."""

    checked_at: float
    entries: tuple[EntryObservation, ...]
    unusable_root: str | None = None

    @property
    def result(self) -> VerificationResult:
        """The same as plain data, the form a session keeps."""
        required = [one.entry for one in self.entries if not one.present and one.entry["required"]]
        optional = [one.entry for one in self.entries if not one.present and not one.entry["required"]]
        return VerificationResult(
            status="failed" if required else "warning" if optional else "passed",
            checked_at=self.checked_at,
            missing_required=required,
            missing_optional=optional,
            produced=[
                ProducedArtifact(
                    id=one.entry["id"], path=one.seen.path or "", size=one.seen.size or 0, present=True
                )
                for one in self.entries
                if one.present
            ],
        )


def verify_artifact_contract(
    contract: dict[str, Any] | None, *, artifacts_root: str | None
) -> VerificationResult | None:
    """Whether the files a contract declares are there now; None, and no file looked at, without one.

    Raises ArtifactPathError, before any file is looked at, for a contract that is no contract.
    """
    if contract is None:
        return None
    return observe_artifact_contract(contract, artifacts_root=artifacts_root).result


def observe_artifact_contract(
    contract: Mapping[str, Any], *, artifacts_root: str | None
) -> ContractObservation:
    """`verify_artifact_contract` with the reason beside each entry, for those who show it."""
    expected = read_artifact_contract(contract)
    checked_at = time.time()
    with Root(artifacts_root) as root:
        entries = tuple(EntryObservation(entry, root.look(entry["path"])) for entry in expected)
        return ContractObservation(checked_at, entries, root.why)


def resolve_artifact_contract(
    *, playbook_artifacts: dict[str, Any] | None, agent_defaults: dict[str, Any] | None
) -> ArtifactContract | None:
    """The contract of a run: the agent's entries first, each replaced whole by a playbook's of the same id.

    None when neither names one. Raises ArtifactPathError as `read_artifact_contract` does.
    """
    if playbook_artifacts is None and agent_defaults is None:
        return None
    merged: dict[str, ExpectedArtifact] = {}
    for contract, source in ((agent_defaults, "agent_profile"), (playbook_artifacts, "playbook")):
        for entry in read_artifact_contract(contract) if contract is not None else ():
            merged[entry["id"]] = {"source": source, **entry}
    return ArtifactContract(expected=list(merged.values()))


def read_artifact_contract(contract: Mapping[str, Any]) -> list[ExpectedArtifact]:
    """The entries of a contract, checked, with `required` and `description` filled in.

    Raises ArtifactPathError naming the first entry with a fault: an id that is missing, repeated or not of
    letters, digits, `_` and `-`; a path that is missing, absolute, of glob characters, with a NUL or a `..`
    part, or that names the root itself. Unknown keys are warned about and ignored.
    """
    expected = contract.get("expected") if isinstance(contract, Mapping) else None
    if not isinstance(expected, list):
        raise ArtifactPathError(
            "The contract is not a mapping with a list of expected files.",
            expected="a mapping whose `expected` is a list",
            observed=type(contract).__name__ if expected is None else f"expected: {type(expected).__name__}",
        )
    taken: dict[str, int] = {}
    out = []
    for position, entry in enumerate(expected):
        read = _entry(entry, position)
        if read["id"] in taken:
            raise _fault(
                read["id"],
                position,
                f"takes the id of entry {taken[read['id']]}",
                expected="an id no other entry has",
                observed=read["id"],
            )
        taken[read["id"]] = position
        out.append(read)
    return out


def _entry(entry: Any, position: int) -> ExpectedArtifact:
    if not isinstance(entry, Mapping):
        raise _fault(None, position, "is not a mapping", expected="a mapping", observed=type(entry).__name__)
    name = entry.get("id")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise _fault(
            None,
            position,
            "has no usable id",
            expected="letters, digits, _ and -",
            observed=_shown(entry, "id"),
        )
    read = ExpectedArtifact(
        id=name,
        path=_path(name, position, entry),
        required=_given(name, position, entry, "required", bool, True),
        description=_given(name, position, entry, "description", str, ""),
    )
    if entry.get("source") is not None:
        read["source"] = _given(name, position, entry, "source", str, "")
    for key in entry:
        if key not in ENTRY_KEYS:
            text = f"artifact contract entry {name!r}: the unknown key {key!r} is ignored"
            warnings.warn(text, ArtifactContractWarning, stacklevel=4)
            _log.warning(text)
    return read


def _given(name: str, position: int, entry: Mapping[str, Any], key: str, kind: type, default: Any) -> Any:
    value = entry.get(key)
    if value is None:
        return default
    if not isinstance(value, kind):
        raise _fault(
            name, position, f"has an unusable {key}", expected=kind.__name__, observed=_shown(entry, key)
        )
    return value


def _path(name: str, position: int, entry: Mapping[str, Any]) -> str:
    path = entry.get("path")
    if not isinstance(path, str) or not path:
        fault = "has no path"
    elif "\0" in path:
        fault = "has a path with a NUL"
    elif path.startswith("/"):
        fault = "has an absolute path"
    elif path.startswith("~"):
        fault = "has a path in somebody's home directory"
    elif _GLOB.search(path):
        fault = "has a path with glob characters"
    elif ".." in re.split(r"[/\\]", path):
        fault = "has a path with a .. part"
    elif not all(_encodable(part) for part in path):
        fault = "has a path that is not text"
    else:
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if parts:
            return "/".join(parts)
        fault = "has a path that names the root itself"
    raise _fault(
        name, position, fault, expected="a relative path beneath the root", observed=_shown(entry, "path")
    )


def _encodable(character: str) -> bool:
    # A byte that is not UTF-8 is kept as one of these; every other surrogate names no file.
    return not "\ud800" <= character <= "\udfff" or "\udc80" <= character <= "\udcff"


def _shown(entry: Mapping[str, Any], key: str) -> str:
    return f"{entry[key]!r:.200}" if key in entry else f"no {key}"


def _fault(name: str | None, position: int, what: str, *, expected: str, observed: str) -> ArtifactPathError:
    where = f"entry {position}" if name is None else f"entry {position} ({name})"
    return ArtifactPathError(
        f"The contract's {where} {what}.",
        where=where,
        expected=expected,
        observed=observed,
        remedy="Mend the contract where it is written, then verify again.",
    )
