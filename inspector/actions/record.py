"""`record`: a run as lines of JSON, from any program, made into calls of the manifest's operations."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

from inspector.actions.plan import END_REASONS, Call, Obstacle, Plan, ended_as
from inspector.actions.record_lines import Line, LineSplitter, RecordInputError, read_line
from inspector.actions.taken import KINDS_OF_ROW, taken
from persistence.errors import ArtifactPathError

if TYPE_CHECKING:
    from persistence.profiles.records import Profile
    from persistence.statedb import StateDB

__all__ = ["Record", "RecordPlan", "Recording", "plan_of_lines"]

Lines = Callable[[], AsyncIterator[bytes]]
"""The input, in pieces of any size, from its beginning."""

_SESSION = {"artifact_contract": "artifact_contract_json"}
_USAGE = ("input_tokens", "output_tokens", "num_turns", "total_cost_usd", "node_metadata")


def _new() -> str:
    return str(uuid.uuid4())


@dataclass
class Recording:
    """What was said of a run so far, and what each further line asks for. One object records one run.

    `name` is what the input is called in errors.
    """

    name: str
    session: str | None = None
    ended: int | None = None  # the line that said so
    finished: bool = False  # and its calls were made
    line: int = 0
    branches: dict[str, str] = field(default_factory=dict)  # and the order of each one's messages
    # The ids that were said, by kind of row; those that are made here are free in every store.
    said: dict[str, dict[str, int]] = field(default_factory=lambda: {kind: {} for kind in KINDS_OF_ROW})
    _order: str = ""
    _names: dict[str, list[str]] = field(default_factory=dict)
    _contract: Mapping[str, Any] | None = None
    _root: str | None = None

    def calls(self, line: Line) -> tuple[Call, ...]:
        """The calls one line asks for. Raises RecordInputError where it does not fit what came before."""
        self.line = line.number
        if self.ended is not None:
            self._fault("A line follows the end of the run.", "nothing after `end`", f"a {line.kind}")
        if self.session is None and line.kind != "session":
            self._fault("A run begins with its session.", "session", line.kind)
        made = {
            "session": self._session, "branch": self._branch, "message": self._message,
            "signal": self._signal, "status": self._status, "end": self._end,
        }[line.kind](dict(line.fields))  # fmt: skip
        return tuple(replace(call, about=f"{call.about}, line {line.number}") for call in made)

    def stopped(self) -> str:
        """Why a run is aborted whose input ended without `end`."""
        return f"the input ended after line {self.line} without an end"

    def ending(self, status: str, why: str) -> tuple[Call, ...]:
        """The calls that end the run as it is; none before it began or after it ended."""
        if self.session is None or self.finished:
            return ()
        reason = "run.cancelled.sigint" if status == "cancelled" else None
        return ended_as(self.session, tuple(self.branches), status, why, reason)

    def _session(self, given: dict[str, Any]) -> Iterator[Call]:
        if self.session is not None:
            self._fault("An input is one run.", "one session", "a second one")
        identity = self._id("session", given.pop("id", None))
        order = self._id("progression", given.pop("progression_id", None))
        self._contract, self._root = given.get("artifact_contract"), given.get("artifacts_path")
        if self._contract is not None:
            self._check_contract(self._contract)
        row = {_SESSION.get(name, name): value for name, value in given.items()}
        yield Call("create_progression", (order,), about="the order of the run's messages")
        row.setdefault("started_at", time.time())
        row = {"status": "running", **row, "id": identity, "progression_id": order}
        yield Call("create_session", (row,), about="the run")
        self.session, self._order = identity, order

    def _branch(self, given: dict[str, Any]) -> Iterator[Call]:
        identity = self._id("branch", given.pop("id", None))
        order = self._id("progression", given.pop("progression_id", None))
        system = given.pop("system", None)
        yield Call("create_progression", (order,), about="the order of a branch's messages")
        row = {**given, "id": identity, "session_id": self.session, "progression_id": order}
        yield Call("create_branch", (row,), about="a branch")
        self.branches[identity] = order
        if system is not None:
            yield self._live(dict(system), identity, system_branch_id=identity)
        self._names.setdefault(identity, []).append(identity)
        if given.get("name") is not None:
            self._names.setdefault(given["name"], []).append(identity)

    def _message(self, given: dict[str, Any]) -> Iterator[Call]:
        named = given.pop("branch", None)
        if not self.branches:
            self._fault("A message belongs to a branch, and there is none yet.", "a branch before it", "none")
        found = [next(reversed(self.branches))] if named is None else self._names.get(named, [])
        if len(found := list(dict.fromkeys(found))) != 1:
            what = "There is no such branch." if not found else "Several branches have this name."
            self._fault(what, "a branch of this run, by its id or its name", str(named)[:60])
        yield self._live(given, found[0])

    def _live(self, given: dict[str, Any], branch: str, **more: str) -> Call:
        named = {
            "session_id": self.session,
            "branch_progression_id": self.branches[branch],
            "session_progression_id": self._order,
            **more,
        }
        about = "a system message" if more else "a message"
        row = {**given, "id": self._id("message", given.get("id"))}
        if "class" in row:
            row["lion_class_str"] = row.pop("class")
        return Call("persist_live_message", (row,), named, about)

    def _id(self, kind: str, said: str | None) -> str:
        """The id a line says, which no line said before it, or a new one."""
        if said is None:
            return _new()
        before = self.said[kind].setdefault(said, self.line)
        if before != self.line:
            observed = f"{said[:60]}, told in line {before}"
            self._fault(f"A {kind} of this id was told already.", "each id once", observed)
        return said

    def _signal(self, given: dict[str, Any]) -> Iterator[Call]:
        named = {
            "session_id": self.session,
            "kind": given["signal"],
            "op_id": given.get("op_id", ""),
            "ts": given["ts"] if "ts" in given else time.time(),
            "payload": given.get("payload", {}),
        }
        yield Call("insert_session_signal", (), named, "a signal")

    def _status(self, given: dict[str, Any]) -> Iterator[Call]:
        named = {"new_status": given.pop("status"), **given}
        yield Call("update_status", ("session", self.session), named, "a change within the run")

    def _end(self, given: dict[str, Any]) -> Iterator[Call]:
        assert self.session is not None
        status = given["status"]
        if self._contract is not None:
            seen = _observed(self._contract, self._root)
            if seen is not None:
                yield Call("update_artifact_verification", (self.session, seen), about="the expected files")
        usage = {name: given[name] for name in _USAGE if name in given}
        if usage:
            yield Call("update_session", (self.session,), usage, "usage")
        at = {"ended_at": given["ended_at"]} if "ended_at" in given else {}
        for branch in self.branches:
            yield Call("finalize_branch", (branch,), {"status": status, **at}, "a branch ends")
        named: dict[str, Any] = {"new_status": status}
        named["reason_code"] = given.get("reason_code") or END_REASONS[status]
        for name in ("reason_summary", "evidence_refs", "source", "actor"):
            if name in given:
                named[name] = given[name]
        if at:
            named["extra_fields"] = at
        yield Call("update_status", ("session", self.session), named, f"the run ends as {status}")
        self.ended = self.line

    def _check_contract(self, contract: Mapping[str, Any]) -> None:
        from persistence.artifacts import read_artifact_contract

        try:
            read_artifact_contract(contract)
        except ArtifactPathError as error:
            said = f"The contract has a fault: {error.message}"
            self._fault(said, error.expected or "a sound entry", error.observed or "something else")

    def _fault(self, message: str, expected: str, observed: str) -> NoReturn:
        raise RecordInputError(
            message,
            where=f"{self.name}, line {self.line}",
            expected=expected,
            observed=observed,
            remedy="See `store-inspector record --help` for what an input is.",
        )


def _observed(contract: Mapping[str, Any], root: str | None) -> Mapping[str, Any] | None:
    from persistence.artifacts import verify_artifact_contract

    return verify_artifact_contract(dict(contract), artifacts_root=root)


class RecordPlan:
    """The plan of an input: its calls line by line, and at its end, when it did not say `end`, an abort.

    `counts` is None for an input that is still being written.
    """

    def __init__(
        self,
        name: str,
        pieces: Lines,
        counts: Mapping[str, int] | None,
        notes: Sequence[str],
        obstacles: Sequence[Obstacle] = (),
    ) -> None:
        self.notes = tuple(notes)
        self.obstacles = tuple(obstacles)
        self.counts = counts
        self._name, self._pieces = name, pieces
        self._recording = Recording(name)

    @property
    def run(self) -> str | None:
        return self._recording.session

    async def calls(self, most: int | None = None) -> AsyncIterator[Call]:
        recording = self._recording = Recording(self._name)
        seen: Counter[str] = Counter()
        async for line in _lines(self._name, self._pieces()):
            for call in recording.calls(line):
                seen[call.operation] += 1
                if most is None or seen[call.operation] <= most:
                    yield call
            recording.finished = recording.ended is not None
        if recording.session is None:
            raise _empty(self._name)
        if recording.ended is None:
            for call in recording.ending("aborted", recording.stopped()):
                yield call
            recording.ended, recording.finished = recording.line + 1, True

    @property
    def said(self) -> Mapping[str, Mapping[str, int]]:
        """The ids the input said so far, by kind of row, each with its line."""
        return self._recording.said

    @property
    def stopped(self) -> str | None:
        """Why the run was aborted, when its input ended without saying how."""
        recording = self._recording
        return recording.stopped() if recording.ended == recording.line + 1 else None

    def ending(self, status: str, why: str) -> Sequence[Call]:
        return self._recording.ending(status, why)


def _empty(name: str) -> RecordInputError:
    return RecordInputError(
        "The input holds no run.",
        where=name,
        expected="a session line, and what follows it",
        observed="no line",
        remedy="See `store-inspector record --help` for what an input is.",
    )


async def _lines(name: str, pieces: AsyncIterator[bytes]) -> AsyncIterator[Line]:
    splitter = LineSplitter(name)
    async for piece in pieces:
        for number, data in splitter.feed(piece):
            yield read_line(data, number, name)
    for number, data in splitter.close():
        yield read_line(data, number, name)


async def plan_of_lines(
    name: str, pieces: Lines, *, again: bool, target: StateDB | None = None
) -> RecordPlan:
    """The plan. `again`: the input can be read twice, so it is checked whole before anything is written, and
    the ids it says are looked up in `target`."""
    if not again:
        note = "The input is read as it comes: a line that cannot be recorded ends the run as aborted."
        return RecordPlan(name, pieces, None, (note,))
    trial = RecordPlan(name, pieces, None, ())
    counts: Counter[str] = Counter()
    async for call in trial.calls():
        counts[call.operation] += 1
    notes = []
    if trial.stopped is not None:
        notes.append(f"The run is recorded as aborted: {trial.stopped}.")
    says = "Ids that the input says are taken in the managed store, and a fresh run has its own."
    ids = {kind: list(said) for kind, said in trial.said.items()}
    obstacles = [] if target is None else await taken(target, ids, says)
    return RecordPlan(name, pieces, dict(counts), notes, obstacles)


@dataclass(frozen=True)
class Record:
    """The action. `again`: whether `pieces` can be called more than once (a file, or a kept input)."""

    source: str
    pieces: Lines
    again: bool
    name: str = "record"
    operations: tuple[str, ...] = (
        "create_progression",
        "create_session",
        "create_branch",
        "persist_live_message",
        "finalize_branch",
        "update_status",
    )

    async def plan(self, target: StateDB, profile: Profile) -> Plan:
        return await plan_of_lines(self.source, self.pieces, again=self.again, target=target)
