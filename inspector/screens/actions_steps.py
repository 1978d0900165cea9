"""The six steps of the gate, and the field of the last one, into which a person types the lineage."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Horizontal
from textual.message import Message
from textual.widgets import Input

from inspector import safe
from inspector.keys import bind
from inspector.typeset.lines import Line, line
from inspector.widgets.pieces import Piece, PieceLine

if TYPE_CHECKING:
    from inspector.actions.gate_steps import Step
    from persistence.errors import StoreError

__all__ = ["GateSteps"]

TO_DO = frozenset({"no-profile", "owner-missing", "lineage-not-typed"})
"""Why a step does not hold that only waits for a person."""
WAYS = {
    "profile": ("screen.choose('profile')", "p chooses it"),
    "owner": ("screen.choose('owner')", "w chooses it"),
    "admitted": ("screen.refresh", "r asks anew"),
}


_SIZE = re.compile(r", up to [\d,]+ statements")
"""What is left out first where there is little room."""


class GateSteps(Container):
    """Three beside three where there is room. `Typed` says what stands in the field, `Entered` that it is
    meant, `Left` that the person goes back to reading."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("lineage.leave", "escape,tab,shift+tab,down", "leave", "to the preview", "Back to the preview"),
    ]

    class Typed(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Entered(Typed):
        """Enter: the person wants to go through."""

    class Left(Message):
        """Back to the preview."""

    def compose(self) -> ComposeResult:
        with Container(classes="steps"):
            for number in (1, 2, 3):
                yield PieceLine(id=f"step-{number}")
        with Container(classes="steps last"):
            for number in (4, 5):
                yield PieceLine(id=f"step-{number}")
            with Horizontal(id="step-lineage"):
                yield PieceLine(id="step-6")
                yield Input(id="gate-field", select_on_focus=False)

    @property
    def field(self) -> Input:
        return self.query_one("#gate-field", Input)

    def show(self, steps: Sequence[Step], lineage: str | None, refusal: StoreError | None = None) -> None:
        """`lineage`: the name to type, when all but that holds; None: the field is not there. `refusal`: what
        the gate was shut for."""
        waiting = next((step for step in steps[1:] if not step.held), None)
        for step in steps:
            way, tip = WAYS.get(step.name, (None, None))
            says = _step(step, step is waiting, refusal)
            if step.name == "lineage" and lineage is not None:
                says = _typing(step, lineage)
            short = _step(replace(step, says=_SIZE.sub("", step.says)), step is waiting, refusal)
            piece = Piece(says, way, tip, weight=0, short=short if step.name == "preview" else None)
            self.query_one(f"#step-{step.number}", PieceLine).show([piece])
        label, field = self.query_one("#step-6", PieceLine), self.field
        label.styles.width = "1fr" if lineage is None else label.pieces[0].width + 2
        if lineage is None and field.display:
            field.value = ""
        field.display = lineage is not None

    def enter(self) -> bool:
        """Puts the cursor into the field; whether there is one."""
        if self.field.display:
            self.field.focus()
        return bool(self.field.display)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Typed(event.value))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value:
            self.post_message(self.Entered(event.value))

    def action_leave(self) -> None:
        self.post_message(self.Left())


def _step(step: Step, waiting: bool, refusal: StoreError | None) -> Line:
    code = step.refusal.code if step.refusal is not None else None
    refused = code is not None and (code not in TO_DO or (refusal is not None and refusal.code == code))
    if step.held:
        sign, role, words = "✓", "ok", "plain"
    elif refused:
        sign, role, words = "✗", "refuse", "plain"
    elif waiting:
        sign, role, words = "▸", "notice", "plain"
    else:
        sign, role, words = "·", "quiet", "quiet"
    return line((f"{step.number} ", "quiet"), (f"{sign} ", role), (safe.text(step.says, limit=200), words))


def _typing(step: Step, lineage: str) -> Line:
    name = safe.clip(safe.text(lineage, limit=80), 30)
    number = (f"{step.number} ", "quiet")
    if step.held:
        return line(number, ("✓ ", "ok"), ("enter writes into ", "writes"), (name, "strong"))
    return line(number, ("▸ ", "notice"), ("type ", "plain"), (name, "strong"), (" to go on", "plain"))
