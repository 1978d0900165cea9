"""A run's timeline: lanes above (how much, when), the episodes below; silences are drawn, not left out."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from inspector import formats, safe
from inspector.roles import status_sign
from inspector.timeline import Burst, Change, Scale, Signal, Silence, Timeline
from inspector.typeset.lines import Line, Run, clipped
from inspector.widgets.role_style import role_style
from inspector.widgets.tall_list import TallList

__all__ = ["EpisodeList", "TimeLanes"]

LABEL = 10
BARS = " ▁▂▃▄▅▆▇█"
NAMES = {"action": "tools", "": "no role"}


class TimeLanes(Widget):
    """Lanes of one run; `point` marks a time on the axis."""

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
        segments = [Segment(run.text, base + role_style(self, run.role)) for run in lines[y]]
        return Strip(segments).crop_extend(0, width, base)

    def _lines(self, width: int) -> list[Line]:
        timeline = self._timeline
        slices = width - LABEL
        if timeline is None or slices < 4:
            return []
        scale = Scale(timeline, slices)
        lanes = {
            role: scale.counted(s.at for s in timeline.stamps if s.role == role and s.at is not None)
            for role in timeline.roles
        }
        most = max((max(lane) for lane in lanes.values()), default=1) or 1
        out = [_lane(role, lane, most) for role, lane in lanes.items()]
        if timeline.signals:
            marks = scale.counted(signal.at for signal in timeline.signals)
            out.append((_label("signals"), Run("".join("•" if mark else " " for mark in marks), "notice")))
        if timeline.changes:
            out.append((_label("status"), *_status_runs(timeline, scale)))
        out.append((_label(""), *_axis(scale, self._point)))
        out.append((_label(""), Run(_ticks(timeline, scale), "quiet")))
        return out


def _label(words: str) -> Run:
    return Run(safe.fit(words, LABEL - 1) + " ", "quiet")


def _lane(role: str, lane: Sequence[int], most: int) -> Line:
    name = NAMES.get(role, safe.text(role, limit=40))
    bars = [BARS[max(1, round(count / most * (len(BARS) - 1))) if count else 0] for count in lane]
    style = {"user": "accent", "assistant": "ok", "system": "quiet"}.get(role, "code")
    return (_label(name), Run("".join(bars), style))


def _status_runs(timeline: Timeline, scale: Scale) -> list[Run]:
    """A line for how long each status held, with its sign where it began."""
    starts = {scale.at(change.at): change.after for change in timeline.changes}
    out: list[Run] = []
    for at, status in enumerate(scale.held(timeline.changes)):
        if status is None:
            out.append(Run(" "))
            continue
        glyph, _, role = status_sign(status)
        out.append(Run(safe.clip(glyph, 1) if at in starts else "─", role))
    return out


def _axis(scale: Scale, point: float | None) -> list[Run]:
    """The line of time; a silence is dotted, and one that is cut short says how long it was."""
    axis = ["─"] * scale.slices
    for at in scale.silent():
        axis[at] = "┄"
    for stretch in scale.stretches:
        if stretch.silent:
            words = f" {formats.duration(stretch.end - stretch.start)} "
            words = words if len(words) <= stretch.slices else "┄"
            drawn = words.center(stretch.slices, "┄")
            axis[stretch.first : stretch.first + stretch.slices] = drawn
    if point is None:
        return [Run("".join(axis), "quiet")]
    at = scale.at(point)
    return [Run("".join(axis[:at]), "quiet"), Run("▲", "accent"), Run("".join(axis[at + 1 :]), "quiet")]


def _ticks(timeline: Timeline, scale: Scale) -> str:
    """Times under the axis: where each stretch begins, then in between, as many as have room."""
    several = formats.day(timeline.start) != formats.day(timeline.end)

    def words(time: float) -> str:
        if not several:
            return formats.clock(time)
        whole = formats.exact_time(time, zone=False)
        return whole[:16] if timeline.span < 30 * 86_400 or len(scale.stretches) > 1 else whole[:10]

    row = [" "] * scale.slices
    wanted: list[tuple[float, float]] = [
        (stretch.start, 0.0) for stretch in scale.stretches if not stretch.silent
    ]
    wanted.append((timeline.end, 1.0))
    for stretch in scale.stretches:
        if not stretch.silent:
            parts = stretch.slices // 24
            step = (stretch.end - stretch.start) / (parts or 1)
            wanted += [(stretch.start + step * part, 0.5) for part in range(1, parts)]
    for time, anchor in wanted:
        text = words(time)
        start = scale.at(time) - round((len(text) - 1) * anchor)
        start = max(0, min(scale.slices - len(text), start))
        around = row[max(0, start - 2) : start + len(text) + 2]
        if len(text) <= scale.slices and all(cell == " " for cell in around):
            row[start : start + len(text)] = text
    return "".join(row)


class EpisodeList(TallList):
    """What happened, in order; a burst of messages leads to its first one."""

    TYPICAL = 1

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
