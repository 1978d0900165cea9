"""A run's timeline: lanes above (how much, when), the episodes below; silences are drawn, not left out."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from inspector import formats, safe
from inspector.roles import ROLES, status_sign
from inspector.timeline import Burst, Change, Signal, Silence, Timeline
from inspector.typeset.lines import Line, Run, clipped
from inspector.widgets.tall_list import TallList

__all__ = ["EpisodeList", "TimeLanes"]

LABEL = 10
BARS = " ▁▂▃▄▅▆▇█"
NAMES = {"action": "tools", "": "no role"}


class TimeLanes(Widget):
    """Lanes of one run; `point` marks a time on the axis."""

    COMPONENT_CLASSES = {*ROLES}  # noqa: RUF012
    DEFAULT_CSS = "TimeLanes { height: auto; width: 1fr; padding: 0 1; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._timeline: Timeline | None = None
        self._point: float | None = None

    def show(self, timeline: Timeline | None) -> None:
        self._timeline, self._point = timeline, None
        self.refresh(layout=True)

    def point_at(self, at: float | None) -> None:
        if at != self._point:
            self._point = at
            self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        timeline = self._timeline
        if timeline is None:
            return 0
        return len(timeline.roles) + bool(timeline.signals) + bool(timeline.changes) + 2

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        lines = self._lines(width)
        if y >= len(lines) or width <= 0:
            return Strip.blank(width, base)
        segments = [Segment(run.text, base + self._role(run.role)) for run in lines[y]]
        return Strip(segments).crop_extend(0, width, base)

    def _role(self, role: str) -> Style:
        return self.get_component_rich_style(role, partial=True) if role else Style.null()

    def _lines(self, width: int) -> list[Line]:
        timeline = self._timeline
        slices = width - LABEL
        if timeline is None or slices < 4:
            return []
        lanes = {role: timeline.lane(role, slices) for role in timeline.roles}
        most = max((max(lane) for lane in lanes.values()), default=1) or 1
        silent = self._silent(timeline, slices)
        out = [_lane(role, lane, most, silent) for role, lane in lanes.items()]
        if timeline.signals:
            marks = timeline.signal_lane(slices)
            out.append((_label("signals"), Run("".join("•" if mark else " " for mark in marks), "notice")))
        if timeline.changes:
            out.append((_label("status"), *_status_runs(timeline, slices)))
        out.append((_label(""), *self._axis(timeline, slices)))
        out.append((_label(""), *_ticks(timeline, slices)))
        return out

    @staticmethod
    def _silent(timeline: Timeline, slices: int) -> set[int]:
        found: set[int] = set()
        for episode in timeline.episodes:
            if isinstance(episode, Silence):
                first = timeline.slice_of(episode.start, slices) + 1
                found.update(range(first, timeline.slice_of(episode.end, slices)))
        return found

    def _axis(self, timeline: Timeline, slices: int) -> list[Run]:
        axis = ["─"] * slices
        for at in self._silent(timeline, slices):
            axis[at] = "┄"
        if self._point is None:
            return [Run("".join(axis), "line")]
        at = timeline.slice_of(self._point, slices)
        return [Run("".join(axis[:at]), "line"), Run("▲", "accent"), Run("".join(axis[at + 1 :]), "line")]


def _label(words: str) -> Run:
    return Run(safe.fit(words, LABEL - 1) + " ", "quiet")


def _lane(role: str, lane: Sequence[int], most: int, silent: set[int]) -> Line:
    name = NAMES.get(role, safe.text(role, limit=40))
    bars = []
    for at, count in enumerate(lane):
        level = 0 if not count else max(1, round(count / most * (len(BARS) - 1)))
        bars.append(BARS[level] if count or at not in silent else " ")
    style = {"user": "accent", "assistant": "ok", "system": "quiet"}.get(role, "code")
    return (_label(name), Run("".join(bars), style))


def _status_runs(timeline: Timeline, slices: int) -> list[Run]:
    """A line for how long each status held, with its sign where it began."""
    held = timeline.status_lane(slices)
    starts = {timeline.slice_of(change.at, slices): change.after for change in timeline.changes}
    out: list[Run] = []
    for at, status in enumerate(held):
        if status is None:
            out.append(Run(" "))
            continue
        glyph, _, role = status_sign(status)
        out.append(Run(safe.clip(glyph, 1) if at in starts else "─", role))
    return out


def _ticks(timeline: Timeline, slices: int) -> list[Run]:
    """Times under the axis: as many as have room."""
    long = timeline.span > 2 * 86_400
    write = formats.day if long else formats.clock
    size = 10 if long else 8
    number = max(2, min(6, slices // (size + 6)))
    line_: list[str] = [" "] * slices
    for tick in range(number):
        at = timeline.start + timeline.span * tick / (number - 1)
        words = write(at)
        start = round((slices - 1) * tick / (number - 1)) - (
            0 if tick == 0 else len(words) - 1 if tick == number - 1 else len(words) // 2
        )
        start = max(0, min(slices - len(words), start))
        line_[start : start + len(words)] = words
    return [Run("".join(line_)[:slices], "quiet")]


class EpisodeList(TallList):
    """What happened, in order; a burst of messages leads to its first one."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.timeline: Timeline | None = None

    def show(self, timeline: Timeline | None, *, keep: bool = True) -> None:
        self.timeline = timeline
        self.set_count(len(timeline.episodes) if timeline is not None else 0, keep=keep)

    def time_of(self, index: int) -> float | None:
        if self.timeline is None or not 0 <= index < len(self.timeline.episodes):
            return None
        episode = self.timeline.episodes[index]
        return episode.start if isinstance(episode, Burst | Silence) else episode.at

    def lines_of(self, index: int) -> Sequence[Line] | None:
        timeline = self.timeline
        if timeline is None:
            return None
        long = timeline.span > 86_400
        episode = timeline.episodes[index]
        time = self.time_of(index)
        write = formats.exact_time(time, zone=False)[:19] if long else formats.clock(time)
        stamp = Run(f"{safe.fit(write, 19 if long else 8)}  ", "quiet")
        match episode:
            case Silence():
                length = f"┄ {formats.duration(episode.end - episode.start)} of silence"
                return [(Run(" " * safe.width(stamp.text)), Run(length, "quiet"))]
            case Signal():
                words = [Run("• ", "notice"), Run(safe.clip(safe.text(episode.kind), 32), "plain")]
                if episode.words:
                    words.append(Run(f"  {safe.text(episode.words)}", "quiet"))
                return [clipped((stamp, *words), self.room)]
            case Change():
                return [clipped((stamp, *_change(episode)), self.room)]
            case Burst():
                return [clipped((stamp, *_burst(episode)), self.room)]


def _change(change: Change) -> list[Run]:
    glyph, word, role = status_sign(change.after)
    out = [Run(f"{glyph} {safe.clip(safe.text(word), 24)}", role)]
    if change.before:
        out.append(Run(f"  after {safe.clip(safe.text(status_sign(change.before)[1]), 24)}", "quiet"))
    if change.reason:
        out.append(Run(f"  {safe.text(change.reason)}", "quiet"))
    return out


def _burst(burst: Burst) -> list[Run]:
    span = burst.end - burst.start
    took = f" in {formats.duration(span)}" if span >= 1 else ""
    counted = ", ".join(
        f"{NAMES.get(role, safe.text(role, limit=24))} {formats.count(count)}" for role, count in burst.roles
    )
    return [
        Run("▪ ", "accent"),
        Run(f"{formats.several(burst.count, 'message')}{took}", "plain"),
        Run(f"  {counted}", "quiet"),
        Run(f"  from {burst.first + 1}", "quiet"),
    ]
