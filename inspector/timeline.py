"""A run against time: what happened when, and where nothing did.

From single messages, signals and status changes come lanes (how much of each in each slice of time) and
episodes (bursts of messages, single signals and changes, silences), both bounded whatever the run's size.
Times are seconds since 1970.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

__all__ = ["Burst", "Change", "Episode", "Signal", "Silence", "Stamp", "Timeline", "build"]

SHORTEST_SILENCE = 60.0


@dataclass(frozen=True, slots=True)
class Stamp:
    """One message: where it stands in its conversation, when it was sent, and by what role."""

    position: int
    at: float | None
    role: str


@dataclass(frozen=True, slots=True)
class Signal:
    at: float
    kind: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of status."""

    at: float
    before: str | None
    after: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Burst:
    """Messages without a silence, a signal or a change between them."""

    start: float
    end: float
    roles: tuple[tuple[str, int], ...]
    first: int  # position of the first one

    @property
    def count(self) -> int:
        return sum(number for _, number in self.roles)


@dataclass(frozen=True, slots=True)
class Silence:
    start: float
    end: float


Episode: TypeAlias = Burst | Signal | Change | Silence


@dataclass(frozen=True, slots=True)
class Timeline:
    """`undated` messages have no time; `backwards` of them are older than the one before."""

    start: float
    end: float
    stamps: Sequence[Stamp]
    signals: Sequence[Signal]
    changes: Sequence[Change]
    episodes: Sequence[Episode]
    undated: int = 0
    backwards: int = 0
    notes: tuple[str, ...] = field(default=())

    @property
    def span(self) -> float:
        return max(0.0, self.end - self.start)

    def slice_of(self, at: float, slices: int) -> int:
        """Which of `slices` equal slices of the span a time falls into."""
        if self.span <= 0:
            return 0
        return max(0, min(slices - 1, int((at - self.start) / self.span * slices)))

    def lane(self, role: str | None, slices: int) -> list[int]:
        """Messages of a role (None: all) in each slice."""
        out = [0] * slices
        for stamp in self.stamps:
            if stamp.at is not None and (role is None or stamp.role == role):
                out[self.slice_of(stamp.at, slices)] += 1
        return out

    def signal_lane(self, slices: int) -> list[int]:
        out = [0] * slices
        for signal in self.signals:
            out[self.slice_of(signal.at, slices)] += 1
        return out

    def status_lane(self, slices: int) -> list[str | None]:
        """The status that held in each slice; None before the first change."""
        out: list[str | None] = [None] * slices
        for change in self.changes:
            for at in range(self.slice_of(change.at, slices), slices):
                out[at] = change.after
        return out

    @property
    def roles(self) -> list[str]:
        """The roles there are, in the order people think of them."""
        counted = Counter(stamp.role for stamp in self.stamps)
        known = [role for role in ("system", "user", "assistant", "action", "tool") if counted.get(role)]
        return known + sorted(role for role in counted if role not in known)


def build(
    stamps: Sequence[Stamp],
    signals: Iterable[Signal],
    changes: Iterable[Change],
    *,
    start: float | None = None,
    end: float | None = None,
    notes: tuple[str, ...] = (),
) -> Timeline | None:
    """The timeline of what has a time; None when nothing has. `start` and `end` are what the run says of
    itself, and only ever widen it."""
    signals = sorted(signals, key=lambda signal: signal.at)
    changes = sorted(changes, key=lambda change: change.at)
    dated = sorted((stamp for stamp in stamps if stamp.at is not None), key=_time)
    times = [_time(stamp) for stamp in (dated[:1] + dated[-1:])]
    times += [signal.at for signal in (*signals[:1], *signals[-1:])]
    times += [change.at for change in (*changes[:1], *changes[-1:])]
    if not times:
        return None
    times += [time for time in (start, end) if time is not None]
    first, last = min(times), max(times)
    backwards = 0
    newest: float | None = None
    for stamp in stamps:
        if stamp.at is not None:
            backwards += newest is not None and stamp.at < newest
            newest = stamp.at if newest is None else max(newest, stamp.at)
    return Timeline(
        start=first,
        end=last,
        stamps=stamps,
        signals=signals,
        changes=changes,
        episodes=_episodes(dated, signals, changes, max(SHORTEST_SILENCE, (last - first) / 40)),
        undated=len(stamps) - len(dated),
        backwards=backwards,
        notes=notes,
    )


def _time(stamp: Stamp) -> float:
    return stamp.at if stamp.at is not None else 0.0


def _episodes(
    dated: Sequence[Stamp], signals: Sequence[Signal], changes: Sequence[Change], silence: float
) -> list[Episode]:
    order: dict[str, int] = {"change": 0, "signal": 1, "message": 2}
    events: list[tuple[float, int, Literal["change", "signal", "message"], object]] = [
        *((change.at, order["change"], "change", change) for change in changes),
        *((signal.at, order["signal"], "signal", signal) for signal in signals),
        *((_time(stamp), order["message"], "message", stamp) for stamp in dated),
    ]
    events.sort(key=lambda event: event[:2])
    out: list[Episode] = []
    open_burst: list[Stamp] = []
    last: float | None = None

    def close() -> None:
        if open_burst:
            roles = Counter(stamp.role for stamp in open_burst)
            first = min(stamp.position for stamp in open_burst)
            out.append(Burst(_time(open_burst[0]), _time(open_burst[-1]), tuple(roles.most_common()), first))
            open_burst.clear()

    for at, _, _, event in events:
        if last is not None and at - last >= silence:
            close()
            out.append(Silence(last, at))
        last = at
        if isinstance(event, Stamp):
            open_burst.append(event)
        elif isinstance(event, Signal | Change):
            close()
            out.append(event)
    close()
    return out
