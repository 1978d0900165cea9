"""`copy-run`: a run of any readable store, recorded as a fresh run in the managed one.

The messages come first, then whole orders, then the session and what hangs on it: until the session is there
no reader sees anything of the run, and no order is written anew for each of its messages. Ids stay as they
are; what has a number of its own in each store (signals, transitions, message classes) gets new ones.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inspector.actions.fitness import unfit
from inspector.actions.plan import END_REASONS, NAMED, Call, Obstacle, Plan, Told, ended_as
from inspector.actions.source_run import LEAVE_OUT, Progress, SourceRun, read_source
from inspector.actions.taken import taken
from persistence.profiles.records import folded
from persistence.schema.known import REASON_CODES, STATUS_SOURCES, STATUSES, TERMINAL

if TYPE_CHECKING:
    from persistence.profiles.records import Profile
    from persistence.statedb import StateDB

__all__ = ["CopyPlan", "CopyRun"]

# What of a session is set by an operation of its own, or is the history's to say.
_LATER = ("status", "status_reason_code", "status_reason_summary", "status_evidence_refs", "ended_at")
_USAGE = ("input_tokens", "output_tokens", "total_cost_usd", "num_turns")
_NOT_TAKEN = ("invocation_id",)
_MESSAGE = (
    "id",
    "created_at",
    "node_metadata",
    "content",
    "embedding",
    "sender",
    "recipient",
    "channel",
    "role",
)


class CopyPlan:
    """The copy of one run, from a source that stays open until it is done."""

    def __init__(
        self, source: SourceRun, profile: Profile, in_the_way: Sequence[Obstacle], history: _History
    ) -> None:
        self._source, self._history = source, history
        self._columns = _insertable(profile, "sessions"), _insertable(profile, "branches")
        self._labels = "set_session_user_label" in profile.operations
        self._usage = "update_session" in profile.operations
        self._signals = "insert_session_signal" in profile.operations
        self.obstacles = (*source.obstacles, *history.obstacles, *in_the_way)
        self.run: str | None = source.id
        self.notes = tuple(self._told())
        self.counts: Mapping[str, int] | None = self._counted()

    async def calls(self, most: int | None = None) -> AsyncIterator[Call]:
        """Every call in its order; the messages are read from the source as they are asked for."""
        run = self._source
        total = len(run.messages)
        at = 0
        async for row in run.rows(run.messages[:most]):
            at += 1
            yield Call("insert_message", (_message(row),), about=f"message {at} of {total}")
        for name, order in run.orders.items():
            about = f"an order of {len(order)} messages"
            yield Call("create_progression", (name, order), about=about)
        await run.check_unchanged()
        yield Call("create_session", (self._session(),), about="the run")
        for branch in run.branches:
            yield Call("create_branch", (self._branch(branch),), about="a branch")
        if self._signals:
            async for row in _first(run.signal_rows(), most):
                yield Call("insert_session_signal", (), _signal(run.id, row), "a signal")
        for call in self._finish():
            yield call

    def ending(self, status: str, why: str) -> Sequence[Call]:
        reason = "run.cancelled.sigint" if status == "cancelled" else None
        branches = tuple(str(each["id"]) for each in self._source.branches)
        return ended_as(self._source.id, branches, status, why, reason)

    def _finish(self) -> list[Call]:
        """What is known only when a run is over: usage, a label, the ends, the rest of the history."""
        run, row = self._source, self._source.session
        out: list[Call] = []
        usage = {name: row[name] for name in _USAGE if row.get(name) is not None}
        if usage and self._usage:
            out.append(Call("update_session", (run.id,), usage, "usage"))
        if row.get("user_label") is not None and self._labels:
            out.append(Call("set_session_user_label", (run.id, row["user_label"]), about="a person's label"))
        for branch in run.branches:
            if branch.get("status") in END_REASONS:
                at = {} if branch.get("ended_at") is None else {"ended_at": branch["ended_at"]}
                named = {"status": branch["status"], **at}
                out.append(Call("finalize_branch", (branch["id"],), named, "a branch ends"))
        later = self._history.later
        out += [Call("update_status", ("session", run.id), self._change(each), "a status") for each in later]
        return out

    def _session(self) -> dict[str, Any]:
        row = {
            name: value
            for name, value in self._source.session.items()
            if name in self._columns[0] and value is not None and name not in (*_LATER, *_NOT_TAKEN)
        }
        row["status"] = self._history.first
        if self._history.first is not None and self._history.reason is not None:
            row["status_reason_code"] = self._history.reason
        if not self._history.later and self._source.session.get("ended_at") is not None:
            row["ended_at"] = self._source.session["ended_at"]
        return row

    def _branch(self, branch: Mapping[str, Any]) -> dict[str, Any]:
        return {name: branch[name] for name in self._columns[1] if branch.get(name) is not None}

    def _change(self, transition: Mapping[str, Any]) -> dict[str, Any]:
        """A later transition of the source, which keeps in its metadata when it was first recorded."""
        metadata = transition.get("metadata")
        named: dict[str, Any] = {
            "new_status": transition["status"],
            "reason_code": transition["reason_code"],
            "reason_summary": transition.get("reason_summary") or "",
            "evidence_refs": transition.get("evidence_refs"),
            "source": transition.get("source"),
            "actor": transition.get("actor"),
            "metadata": {
                **(metadata if isinstance(metadata, dict) else {}),
                "copied": True,
                "recorded_at": transition.get("created_at"),
            },
        }
        if transition is self._history.later[-1] and self._source.session.get("ended_at") is not None:
            named["extra_fields"] = {"ended_at": self._source.session["ended_at"]}
        return {name: value for name, value in named.items() if value is not None}

    def _counted(self) -> dict[str, int]:
        run = self._source
        counts = {
            "insert_message": len(run.messages),
            "create_progression": len(run.orders),
            "create_session": 1,
            "create_branch": len(run.branches),
            "insert_session_signal": run.signals if self._signals else 0,
        }
        for call in self._finish():
            counts[call.operation] = counts.get(call.operation, 0) + 1
        return {name: count for name, count in counts.items() if count}

    def _told(self) -> list[str]:
        run, row = self._source, self._source.session
        told = []
        if run.transitions or run.signals:
            told.append(
                "Signals and status changes get numbers and moments of this store; a status change keeps in "
                "its metadata when it was first recorded."
            )
        if row.get("invocation_id") is not None:
            told.append("The invocation the run names is not copied, and the copy names none.")
        lost = [
            name
            for name, value in row.items()
            if value is not None
            and name not in self._columns[0]
            and name not in _LATER
            and not (name in _USAGE and self._usage)
            and not (name == "user_label" and self._labels)
        ]
        if lost:
            told.append(f"Not copied, since the profile does not write them: {', '.join(sorted(lost))}.")
        if run.signals and not self._signals:
            told.append("Signals are not copied: the profile does not name insert_session_signal.")
        open_ = [each for each in run.branches if each.get("status") not in (None, *END_REASONS)]
        if open_ or any(each.get("started_at") is not None for each in run.branches):
            told.append("When branches began, and the status of one that has not ended, are not copied.")
        told += [f"Left out: {each.says} ({each.count})" for each in self.obstacles if each.left_out]
        return told


async def _first(rows: AsyncIterator[dict[str, Any]], most: int | None) -> AsyncIterator[dict[str, Any]]:
    count = 0
    async for row in rows:
        if most is not None and count >= most:
            return
        count += 1
        yield row


def _insertable(profile: Profile, table: str) -> frozenset[str]:
    rule = next((rule for name, rule in profile.writes.items() if folded(name) == table), None)
    owner = None if profile.owner is None else folded(profile.owner.column)
    return frozenset(name for name in (rule.insert if rule else ()) if folded(name) != owner)


def _message(row: Mapping[str, Any]) -> dict[str, Any]:
    message = {name: row[name] for name in _MESSAGE if row.get(name) is not None}
    if isinstance(row.get("lion_class_str"), str):
        message["lion_class_str"] = row["lion_class_str"]
    return message


def _signal(session: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "session_id": session,
        "kind": row["kind"],
        "op_id": row.get("op_id") or "",
        "ts": row["ts"],
        "payload": row.get("payload") or {},
    }


# -- the history -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _History:
    """The status a run begins with in the copy, the reason for it, and the transitions that follow."""

    first: str | None
    reason: str | None
    later: tuple[Mapping[str, Any], ...] = ()
    obstacles: tuple[Obstacle, ...] = ()


def _history(run: SourceRun) -> _History:
    status = run.session.get("status")
    if status is not None and status not in STATUSES["session"]:
        return _History(None, None, obstacles=(_unknown_status(status),))
    if status == "running":
        return _History("running", None, obstacles=(_RUNNING,))
    faults = list(_history_faults(run.transitions, status))
    code = run.session.get("status_reason_code")
    known = code if code in REASON_CODES else None
    if faults:
        stands = Obstacle(
            code="source-history",
            says="The status history of the run is not one the rules allow.",
            count=len(faults),
            named=tuple(faults[:NAMED]),
            leave_out="history",
            left_out="history" in run.left,
        )
        return _History(status, known, obstacles=(stands,))
    if not run.transitions:
        return _History(status, known)
    begin, *later = run.transitions
    if begin.get("previous_status") is not None:
        return _History(begin["previous_status"], None, run.transitions)
    return _History(begin["status"], begin.get("reason_code"), tuple(later))


_RUNNING = Obstacle(
    code="source-running",
    says="The run has not ended, so there is no whole run to copy yet.",
    named=("running",),
    expected="a run that has ended",
)


def _unknown_status(status: object) -> Obstacle:
    return Obstacle(
        code="source-status",
        says="The run has a status that a run cannot have.",
        named=(f"{status!r:.40}",),
        expected=", ".join(STATUSES["session"]),
    )


def _history_faults(transitions: Sequence[Mapping[str, Any]], status: str | None) -> list[str]:
    """Why the transitions cannot be made one after another; empty when they can."""
    out: list[str] = []
    now: object = None
    for number, each in enumerate(transitions, 1):
        previous, new = each.get("previous_status"), each.get("status")
        if number > 1 and previous != now:
            out.append(f"#{number} begins at {previous}, and #{number - 1} ended at {now}")
        if new not in STATUSES["session"] or previous not in (None, *STATUSES["session"]):
            out.append(f"#{number} has a status a run cannot have")
        elif previous in TERMINAL["session"] and previous != new:
            out.append(f"#{number} leaves {previous}, which takes an override")
        if each.get("reason_code") not in REASON_CODES:
            out.append(f"#{number} has a reason nobody knows")
        if each.get("source") not in (None, *STATUS_SOURCES):
            out.append(f"#{number} comes from a source nobody knows")
        parts = (
            each.get("reason_summary"),
            each.get("evidence_refs"),
            each.get("actor"),
            each.get("metadata"),
        )
        if any(unfit(part) is not None for part in parts):
            out.append(f"#{number} holds what cannot be written as it is")
        now = new
    if transitions and now != status:
        out.append(f"it ends at {now}, and the run is {status}")
    return out


async def _taken(target: StateDB, run: SourceRun) -> list[Obstacle]:
    """The ids of the run that the managed store has already."""
    ids = {
        "session": [run.id],
        "branch": [str(each["id"]) for each in run.branches],
        "progression": list(run.orders),
        "message": run.messages,
    }
    return await taken(
        target, ids, "Ids of the run are taken in the managed store, and a copy keeps its ids."
    )


@dataclass(frozen=True)
class CopyRun:
    """The action: one run of `db`, a store open read-only, as `find_run` takes its name."""

    db: StateDB
    text: str
    leave_out: Collection[str] = ()
    progress: Progress | None = None
    name: str = "copy-run"
    operations: tuple[str, ...] = (
        "insert_message",
        "create_progression",
        "create_session",
        "create_branch",
        "finalize_branch",
        "update_status",
    )

    def __post_init__(self) -> None:
        unknown = sorted(set(self.leave_out) - set(LEAVE_OUT))
        if unknown:
            raise ValueError(f"nothing to leave out is called {unknown[0]!r}; {', '.join(LEAVE_OUT)} are")

    @property
    def source(self) -> str | None:
        return f"{self.db.location.display} {self.text}"

    async def plan(self, target: StateDB, profile: Profile) -> Plan:
        run = await read_source(self.db, self.text, self.leave_out, self.progress)
        if self.progress is not None:
            self.progress(Told(0, len(run.messages), "ids looked up in the managed store"))
        return CopyPlan(run, profile, await _taken(target, run), _history(run))
