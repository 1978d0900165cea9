"""The first lines of a run: what it is, how it went, and which of its views is open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical

from inspector import formats, safe
from inspector.roles import status_sign
from inspector.typeset.lines import Run, line
from inspector.widgets.pieces import Piece, PieceLine
from persistence.records import Mark, Unreadable

if TYPE_CHECKING:
    from persistence.records import Cell, RunDetail

__all__ = ["RunHead", "ViewTabs"]


class RunHead(Vertical):
    """Two lines of facts; what the store does not record is left out, what it lacks is said in `raw`."""

    def compose(self) -> ComposeResult:
        yield PieceLine(id="run-first")
        yield PieceLine(id="run-second")

    def show(self, detail: RunDetail) -> None:
        self.query_one("#run-first", PieceLine).show(_first(detail))
        self.query_one("#run-second", PieceLine).show(_second(detail))


def _first(detail: RunDetail) -> Iterable[Piece]:
    status = detail.status if isinstance(detail.status, str) else None
    glyph, word, role = status_sign(status)
    yield Piece(line((f"{glyph} {safe.clip(safe.text(word), 24)}", role)), weight=0)
    name = text_of(detail.name)
    label = text_of(detail.row.get("user_label"))
    shown = safe.text(name) if name else "unnamed"
    words = [Run(safe.clip(shown, 60), "strong" if name else "quiet")]
    if label:
        words.append(Run(f"  {safe.clip(safe.text(label), 30)}", "accent"))
    yield Piece(
        tuple(words),
        tip=shown,
        weight=0,
        gap=3,
        short=line((safe.clip(shown, 28), "strong" if name else "quiet")),
    )
    for column, before in (("agent_name", "agent "), ("model", "")):
        value = text_of(detail.row.get(column))
        if value:
            yield Piece(line((before, "quiet"), (safe.clip(safe.text(value), 28), "plain")), weight=4, gap=3)
    took = detail.length
    if took is not None:
        yield Piece(line((formats.duration(took), "plain")), tip="from its start to its end", weight=6, gap=3)
    if isinstance(detail.messages, int) or detail.branches:
        yield Piece(line((_messages(detail), "plain")), weight=5, gap=3)


def _messages(detail: RunDetail) -> str:
    counts = [branch.messages for branch in detail.branches if isinstance(branch.messages, int)]
    counts += [detail.messages] if isinstance(detail.messages, int) else []
    most = max(counts, default=0)
    branches = (
        f" · {formats.several(len(detail.branches), 'branch', 'branches')}"
        if len(detail.branches) > 1
        else ""
    )
    return formats.several(most, "message") + branches


def _second(detail: RunDetail) -> Iterable[Piece]:
    row = detail.row
    started, ended = row.get("started_at"), row.get("ended_at")
    if isinstance(started, int | float):
        yield Piece(
            line((f"started {formats.relative_time(started)}", "quiet")),
            tip=formats.exact_time(started),
            weight=6,
        )
    if isinstance(ended, int | float) and not isinstance(started, int | float):
        yield Piece(
            line((f"ended {formats.relative_time(ended)}", "quiet")), tip=formats.exact_time(ended), weight=5
        )
    project = text_of(row.get("project"))
    if project:
        yield Piece(
            line(("project ", "quiet"), (safe.clip(safe.text(project), 24), "plain")), weight=5, gap=3
        )
    kind = text_of(row.get("playbook_name")) or text_of(row.get("invocation_kind"))
    if kind:
        yield Piece(
            line((safe.clip(safe.text(kind), 24), "quiet")), tip="how it was started", weight=2, gap=3
        )
    tokens = [row.get(name) for name in ("input_tokens", "output_tokens")]
    if all(isinstance(number, int) for number in tokens) and any(tokens):
        words = f"{formats.count(_number(tokens[0]))} in, {formats.count(_number(tokens[1]))} out"
        yield Piece(line((words, "quiet")), tip="tokens", weight=1, gap=3)
    cost = row.get("total_cost_usd")
    if isinstance(cost, int | float) and cost:
        yield Piece(line((formats.money(cost), "quiet")), tip="what it cost", weight=3, gap=3)
    reason = text_of(row.get("status_reason_summary")) or text_of(row.get("status_reason_code"))
    if reason:
        code = text_of(row.get("status_reason_code")) or reason
        words = safe.clip(safe.text(reason), 64)
        yield Piece(
            line((words, "quiet")), tip=code, weight=4, gap=3, short=line((safe.clip(words, 30), "quiet"))
        )


def text_of(cell: Cell | None) -> str | None:
    """The text a cell holds; None where there is none to show."""
    return cell if isinstance(cell, str) and cell.strip() else None


def _number(cell: object) -> int:
    return cell if isinstance(cell, int) else 0


class ViewTabs(PieceLine):
    """The views of a run; a view the store has nothing for is dimmed and says why."""

    def show_views(self, views: Sequence[tuple[str, str, object]], current: str) -> None:
        """(name, title, how many): a number, a Mark when the store has no such table, None: not counted."""
        self.show(_tab(name, title, count, name == current) for name, title, count in views)


def _tab(name: str, title: str, count: object, here: bool) -> Piece:
    if isinstance(count, Mark):
        return Piece(line((f" {title} ", "dimmed")), None, f"{title}: {count.value}", weight=1, gap=0)
    number = "" if count is None or isinstance(count, Unreadable) else f" {formats.count(_number(count))}"
    if here:
        text = line((f" {title}{number} ", "here"))
    else:
        text = line((f" {title}", "plain" if count is None or count else "quiet"), (f"{number} ", "quiet"))
    short = None if here else line((f" {title} ", "plain" if count is None or count else "quiet"))
    return Piece(text, f"screen.view({name!r})", weight=0 if here else 3, gap=0, short=short)
