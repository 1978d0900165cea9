"""A run against time: what happened when, and where nothing did.

From single messages, signals and status changes come lanes (how much of each in each slice of time) and
episodes (bursts of messages, single signals and changes, silences), both bounded whatever the run's size.
Times are seconds since 1970.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

__all__ = [
    "Burst",
    "Change",
    "Episode",
    "Scale",
    "Signal",
    "Silence",
    "Stamp",
    "Stretch",
    "Timeline",
    "build",
]

SHORTEST_SILENCE = 60.0
LATEST = 253_402_300_800.0


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

    @property
    def roles(self) -> list[str]:
        """The roles there are, in the order people think of them."""
        counted = Counter(stamp.role for stamp in self.stamps)
        known = [role for role in ("system", "user", "assistant", "action", "tool") if counted.get(role)]
        return known + sorted(role for role in counted if role not in known)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the axis: from a time to a time, over so many slices; a silence that is drawn shorter than it
    was says so."""

    start: float
    end: float
    first: int
    slices: int
    silent: bool = False


class Scale:
    """Time in `slices` equal pieces; where silences take most of it they are cut short, each to `gap` pieces,
    so that what happened can be told apart."""

    MOST_GAPS = 5

    def __init__(self, timeline: Timeline, slices: int, gap: int = 14) -> None:
        self.slices = slices
        self.stretches = _stretches(timeline, slices, gap)
        self._silences = [each for each in timeline.episodes if isinstance(each, Silence)]

    def at(self, time: float) -> int:
        """The slice a time falls into."""
        for stretch in self.stretches:
            if time <= stretch.end or stretch is self.stretches[-1]:
                span = stretch.end - stretch.start
                share = (time - stretch.start) / span if span > 0 else 0.0
                inside = max(0, min(stretch.slices - 1, int(share * stretch.slices)))
                return min(self.slices - 1, stretch.first + inside)
        return 0

    def counted(self, times: Iterable[float]) -> list[int]:
        """How many of these times fall into each slice."""
        out = [0] * self.slices
        for time in times:
            out[self.at(time)] += 1
        return out

    def silent(self) -> set[int]:
        """The slices in which nothing happened."""
        found: set[int] = set()
        for silence in self._silences:
            found.update(range(self.at(silence.start) + 1, self.at(silence.end)))
        return found

    def held(self, changes: Sequence[Change]) -> list[str | None]:
        """The status that held in each slice; None before the first change."""
        out: list[str | None] = [None] * self.slices
        for change in changes:
            at = self.at(change.at)
            out[at:] = [change.after] * (self.slices - at)
        return out


def _stretches(timeline: Timeline, slices: int, gap: int) -> list[Stretch]:
    silences = [each for each in timeline.episodes if isinstance(each, Silence)]
    cut = sorted(silences, key=lambda each: each.start - each.end)[: Scale.MOST_GAPS]
    lost = sum(each.end - each.start for each in cut)
    room = slices - gap * len(cut)
    if not cut or lost < timeline.span / 2 or room < 4 * (len(cut) + 1):
        return [Stretch(timeline.start, timeline.end, 0, slices)]
    cut.sort(key=lambda each: each.start)
    awake: list[tuple[float, float]] = []
    start = timeline.start
    for silence in cut:
        awake.append((start, silence.start))
        start = silence.end
    awake.append((start, timeline.end))
    total = sum(end - begin for begin, end in awake)
    # Every stretch gets a few slices however short it was, and the rest by its length.
    least = max(1, min(4, room // (2 * len(awake))))
    spare = room - least * len(awake)
    out: list[Stretch] = []
    first = 0
    for number, (begin, end) in enumerate(awake):
        last = number == len(awake) - 1
        size = least + (int(spare * (end - begin) / total) if total > 0 else spare // len(awake))
        if last:
            size = max(1, slices - first)
        out.append(Stretch(begin, end, first, size))
        first += size
        if not last:
            out.append(Stretch(cut[number].start, cut[number].end, first, gap, silent=True))
            first += gap
    return out


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
    stamps = [stamp if _placed(stamp.at) else replace(stamp, at=None) for stamp in stamps]
    signals = sorted((signal for signal in signals if _placed(signal.at)), key=lambda signal: signal.at)
    changes = sorted((change for change in changes if _placed(change.at)), key=lambda change: change.at)
    dated = sorted((stamp for stamp in stamps if stamp.at is not None), key=_time)
    times = [_time(stamp) for stamp in (dated[:1] + dated[-1:])]
    times += [signal.at for signal in (*signals[:1], *signals[-1:])]
    times += [change.at for change in (*changes[:1], *changes[-1:])]
    if not times:
        return None
    times += [time for time in (start, end) if time is not None and _placed(time)]
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


def _placed(at: float | None) -> bool:
    """Whether a time has a place on an axis: a number, from 1970 to the year 9999."""
    return at is None or 0 <= at < LATEST


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
