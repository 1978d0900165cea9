"""The timeline of a run: its messages, signals and status changes against time, and the silences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from inspector import formats, safe
from inspector.clipboard import Copy
from inspector.messages import Loaded, LoadFailed, LoadProgressed
from inspector.screens.run_conversation import Thread, threads
from inspector.screens.run_pane import RunPane
from inspector.timeline import Burst, Change, Signal, Stamp, Timeline, build
from inspector.typeset.lines import Line, line
from inspector.widgets.timeline import EpisodeList, TimeLanes
from persistence.errors import StoreError
from persistence.records import Mark, Preview, Progress

if TYPE_CHECKING:
    from inspector.loader import Report
    from persistence.reading.source import RowSource
    from persistence.records import RunDetail
    from persistence.statedb import StateDB

__all__ = ["TimelinePane"]

MOST = 5_000
"""Signals and status changes that are drawn; a note says when there are more."""


class TimelinePane(RunPane):
    VIEW = "timeline"

    def __init__(self) -> None:
        super().__init__()
        self._timeline: Timeline | None = None
        self._threads: dict[int, Thread] = {}

    def compose(self) -> ComposeResult:
        yield TimeLanes(id="lanes")
        yield Static(id="lanes-said")
        yield EpisodeList(id="episodes")

    @property
    def list(self) -> EpisodeList:
        return self.query_one("#episodes", EpisodeList)

    # -- loading -----------------------------------------------------------------------------------

    def show_run(self, detail: RunDetail, again: bool) -> None:
        if not again:
            self._say("reading the times …")
        db = self.db
        self.loads.start_reporting("timeline", lambda report: read_timeline(db, detail, report))

    @on(LoadProgressed)
    def _progressed(self, message: LoadProgressed) -> None:
        if self.loads.takes(message) and self._timeline is None:
            progress = message.progress
            done = formats.percent(progress.done, progress.total or 1)
            self._say(f"reading the times of {formats.several(progress.total or 0, 'message')}, {done}")

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self.loads.takes(message):
            return
        keep = self._timeline is not None
        self._timeline = timeline = message.value
        self.query_one("#lanes", TimeLanes).show(timeline)
        self.list.show(timeline, keep=keep)
        if timeline is None:
            self._say("Nothing of this run has a time.")
        else:
            self._say("  ".join(_notes(timeline)))
        self._point()

    @on(LoadFailed)
    def _failed(self, message: LoadFailed) -> None:
        if self.loads.takes(message):
            self.place.refused(message.error)

    def _say(self, words: str) -> None:
        said = self.query_one("#lanes-said", Static)
        said.display = bool(words)
        said.update(Content.styled(safe.text(words), ".quiet"))
        self.changed()

    # -- moving about --------------------------------------------------------------------------------

    @on(EpisodeList.Moved)
    def _point(self) -> None:
        self.query_one("#lanes", TimeLanes).point_at(self.list.time_of(self.list.cursor))
        self.changed()

    @on(EpisodeList.Opened)
    def _open(self, message: EpisodeList.Opened) -> None:
        """A burst leads to its first message, a signal and a change to their lists."""
        timeline = self._timeline
        if timeline is None:
            return
        match timeline.episodes[message.index]:
            case Burst(first=first):
                self.place.show_message(first)
            case Signal():
                self.place.action_view("signals")
            case Change():
                self.place.action_view("history")

    @property
    def words(self) -> Line:
        timeline = self._timeline
        if timeline is None:
            return line(("loading", "quiet")) if self.loads.running() else ()
        return line((f"{formats.duration(timeline.span)} from first to last", "quiet"))

    async def copied(self) -> Copy | None:
        runs = self.list.lines_of(self.list.cursor) if self.list.count else None
        if not runs:
            return None
        return Copy("the line", "".join(run.text for run in runs[0]).strip())


def _notes(timeline: Timeline) -> list[str]:
    said = list(timeline.notes)
    if timeline.undated:
        said.append(f"{formats.several(timeline.undated, 'message')} without a time")
    if timeline.backwards:
        said.append(f"▲ {formats.several(timeline.backwards, 'message')} older than the one before")
    return said


async def read_timeline(db: StateDB, detail: RunDetail, report: Report) -> Timeline | None:
    """Reads the times of the run's longest conversation, its signals and its status changes."""
    notes: list[str] = []
    stamps: list[Stamp] = []
    thread = max(threads(detail), key=_length, default=None)
    if thread is not None and "progressions" not in detail.missing_tables:
        transcript = await db.transcript(thread.progression)
        async for part in transcript.survey():
            stamps += [
                Stamp(part.first + at, time, role or "")
                for at, (time, role) in enumerate(zip(part.times, part.roles, strict=True))
                if part.first + at not in part.dangling
            ]
            report(Progress(part.progress.done, part.progress.total, "messages"))
        if len(detail.branches) > 1 and thread.branch is not None:
            notes.append(f"messages of branch {thread.name}")
    signals = [
        Signal(time, _word(row.get("kind")), _payload(row.get("payload")))
        for row in await _rows(detail, "signals", db.signals(detail.id), notes)
        if (time := formats.moment(row.get("ts"))) is not None
    ]
    changes = [
        Change(
            time,
            _word(row.get("previous_status")) or None,
            _word(row.get("status")),
            _word(row.get("reason_summary")) or _word(row.get("reason_code")),
        )
        for row in await _rows(detail, "transitions", db.transitions("session", detail.id), notes)
        if (time := formats.moment(row.get("created_at"))) is not None
    ]
    start, end = formats.moment(detail.row.get("started_at")), formats.moment(detail.row.get("ended_at"))
    return build(stamps, signals, changes, start=start, end=end, notes=tuple(notes))


def _length(thread: Thread) -> int:
    return thread.messages if isinstance(thread.messages, int) else 0


async def _rows(
    detail: RunDetail, name: str, source: RowSource, notes: list[str]
) -> Sequence[dict[str, Any]]:
    """The first rows of a list as mappings; none where the store has no such table, and a note then."""
    count = detail.counts.get(name)
    if isinstance(count, Mark):
        notes.append(f"{name}: {count.value}")
        return []
    try:
        window = await source.window(0, MOST)
    except StoreError as error:
        notes.append(f"{name} cannot be read: {error.message}")
        return []
    if isinstance(count, int) and count > len(window.rows):
        notes.append(f"the first {formats.count(len(window.rows))} of {formats.count(count)} {name}")
    names = [column.name for column in source.columns]
    return [dict(zip(names, row.cells, strict=False)) for row in window.rows]


def _word(cell: Any) -> str:
    if isinstance(cell, Preview):
        cell = cell.head
    return cell if isinstance(cell, str) else ""


def _payload(cell: Any) -> str:
    """What a signal says, in a few words: its text, or its payload as it is."""
    import json

    text = _word(cell)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text[:200]
    if isinstance(value, dict):
        for name in ("text", "message", "summary", "note"):
            if isinstance(value.get(name), str):
                return str(value[name])[:200]
    return text[:200] if value not in (None, {}, [], "") else ""
