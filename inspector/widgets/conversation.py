"""A conversation: the entries of a progression in their order, any number of them, read by windows.

    conversation = Conversation(id="conversation")
    conversation.show(await db.transcript(progression_id))

Loads what is in sight, keeps its place when the transcript grows, folds, searches, and posts `Opened` and
`Moved` (from `TallList`) and `Problem`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.message import Message

from inspector import formats
from inspector.keys import bind
from inspector.loader import Loader
from inspector.messages import Loaded, LoadFailed
from inspector.typeset.lines import Line, Run, highlighted, wrap
from inspector.widgets.conversation_entry import Fold, Laid, Manner, Setting, entry_lines
from inspector.widgets.conversation_windows import CHUNK, Windows
from inspector.widgets.tall_list import TallList

if TYPE_CHECKING:
    from persistence.errors import StoreError
    from persistence.reading.transcript import Transcript
    from persistence.records import TranscriptEntry

__all__ = ["Conversation"]

_WHY = {
    "empty": "The progression is empty: no message was ever put into it.",
    "missing": "This names a progression, but there is no such progression in this store.",
    "not JSON": "The progression is not JSON: what order it had cannot be told. Tables has it as it is.",
    "not a list": "The progression is JSON, but not a list. Tables has it as it is.",
    "too long": "The progression is longer than is read here (64 MB).",
}
HEAD = 2_000
"""Characters of a message that are read for the list; `enter` reads it whole."""
LAID_OUT = 600
"""Entries whose lines are kept."""


class Conversation(TallList):
    TYPICAL = 4
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("conversation.fold", "z", "fold", "fold", "Shut this message, or show all of it that is loaded",
             show=False),
        bind("conversation.fold_all", "Z", "fold_all", "outline", "One line a message, or back to reading"),
        bind("conversation.manner", "v", "manner", "set", "Content as Markdown, text, JSON"),
        bind("conversation.times", "T", "times", "times", "Times of day, or with their dates", show=False),
        bind("conversation.mark", "m", "mark(1)", "next mark", "The next one that is missing, double or late",
             show=False),
        bind("conversation.mark_back", "M", "mark(-1)", "mark before", "The marked one before", show=False),
    ]  # fmt: skip

    class Problem(Message):
        """Something could not be read; the rest is shown."""

        def __init__(self, conversation: Conversation, error: StoreError) -> None:
            super().__init__()
            self.conversation = conversation
            self.error = error

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.transcript: Transcript | None = None
        self.manner = Manner.MARKDOWN
        self.fold_all = False
        self.exact = False
        self.arrived = 0
        self._folds: dict[int, Fold] = {}
        self._windows = Windows()
        self._lines: dict[int, Laid] = {}
        self._loads = Loader(self)
        self._found = ""
        self._why = ""

    # -- what a place uses ---------------------------------------------------------------------------

    def show(self, transcript: Transcript, *, keep: bool = True) -> None:
        """Shows a transcript; with `keep` the place stays (it is the same one, read again)."""
        grown = transcript.length - self.count if keep and self.transcript is not None else 0
        self.transcript = transcript
        self._loads.cancel_all()
        self._why = _WHY.get(transcript.state, "") if not transcript.length else ""
        if not keep:
            self._folds.clear()
            self.arrived = 0
        stays = self._at_end
        self._windows.clear()
        self._lines.clear()
        self.set_count(transcript.length, keep=keep)
        if grown > 0 and not stays:
            self.arrived += grown

    def nothing(self, why: str) -> None:
        """There is no conversation, for this reason."""
        self.transcript = None
        self._loads.cancel_all()
        self._why = why
        self.set_count(0, keep=False)

    def mark_found(self, text: str) -> None:
        """Marks these words wherever they stand."""
        self._found = text
        self._lay_out_again()

    def entry(self, position: int) -> TranscriptEntry | None:
        """An entry that is held."""
        return self._windows.get(position)

    @property
    def current(self) -> TranscriptEntry | None:
        """The entry under the cursor, when it is held."""
        return self._windows.get(self.cursor) if self.count else None

    @property
    def words(self) -> Line:
        """Where the cursor is, for a status line."""
        if self.transcript is None:
            return (Run("loading", "quiet"),)
        if not self.count:
            return (Run("no messages", "quiet"),)
        parts = [Run(f"{formats.count(self.cursor + 1)} of {formats.count(self.count)}", "quiet")]
        if self.manner is not Manner.MARKDOWN:
            parts.append(Run(f" · {self.manner}", "quiet"))
        if self.arrived:
            parts.append(Run(f" · {formats.count(self.arrived)} new ↓", "live"))
        return tuple(parts)

    # -- lines -----------------------------------------------------------------------------------------

    def lines_of(self, index: int) -> Sequence[Line] | None:
        laid = self._laid(index)
        return laid.lines if laid is not None else None

    def lead_of(self, index: int) -> int:
        laid = self._laid(index)
        return laid.lead if laid is not None else 1

    def _laid(self, index: int) -> Laid | None:
        laid = self._lines.get(index)
        if laid is not None:
            return laid
        entry = self._windows.get(index)
        if entry is None:
            return None
        before = self._windows.get(index - 1) if index else None
        laid = entry_lines(entry, before, self._setting(index), self._time_before(index))
        if self._found:
            laid = Laid(laid.lead, [highlighted(each, self._found) for each in laid.lines])
        if len(self._lines) >= LAID_OUT:
            for old in list(self._lines)[: LAID_OUT // 4]:
                del self._lines[old]
        self._lines[index] = laid
        return laid

    def _time_before(self, index: int) -> float | None:
        """When the last message before this one was sent that has a time; a few are looked at."""
        for position in range(index - 1, max(-1, index - 9), -1):
            entry = self._windows.get(position)
            if entry is None:
                return None
            if entry.created_at is not None:
                return entry.created_at
        return None

    def nothing_lines(self) -> Sequence[Line]:
        return wrap([Run(self._why, "quiet")], self.room) if self._why else ()

    def _setting(self, index: int) -> Setting:
        default = Fold.SHUT if self.fold_all else Fold.CLIPPED
        return Setting(
            width=self.room,
            numbers=max(3, len(formats.count(self.count))),
            manner=self.manner,
            fold=self._folds.get(index, default),
            exact=self.exact,
        )

    def unseen_line(self, index: int, line: int) -> Line:
        setting = self._setting(index)
        if line == 1:
            if self._windows.failed(index):
                return (Run(" " * setting.indent), Run("✗ not readable now; r tries again", "refuse"))
            return (Run(f"{index + 1:>{setting.numbers}}", "quiet"), Run("  "), Run("┄┄┄┄┄┄┄┄", "line"))
        return ()

    def restyle(self) -> None:
        self._lines.clear()

    def _lay_out_again(self) -> None:
        self._lines.clear()
        self.settle()
        self.post_message(self.Moved(self))

    # -- loading ---------------------------------------------------------------------------------------

    def settled(self, first: int, last: int) -> None:
        if self._at_end:
            self.arrived = 0
        if self.transcript is None or self._loads.running("window"):
            return
        number = self._windows.lacking(first, last, self.count)
        if number is None:  # the neighbours, so that a page further is there when it is wanted
            ahead = last + CHUNK // 2 if self.top.entry or not self._at_end else last
            number = self._windows.lacking(max(0, first - CHUNK // 2), min(ahead, self.count - 1), self.count)
        if number is not None:
            transcript = self.transcript
            self._loads.start("window", lambda: self._read(transcript, number))

    @staticmethod
    async def _read(transcript: Transcript, number: int) -> tuple[Transcript, int, object]:
        from persistence.errors import StoreError

        try:
            return transcript, number, await transcript.window(number * CHUNK, CHUNK, HEAD)
        except StoreError as error:
            return transcript, number, error

    @on(Loaded)
    def _window_read(self, message: Loaded) -> None:
        if not self._loads.takes(message):
            return
        transcript, number, found = message.value
        if transcript is not self.transcript:
            return
        from persistence.errors import StoreError

        if isinstance(found, StoreError):
            self._windows.fail(number)
            self.post_message(self.Problem(self, found))
        else:
            self._windows.put(number, found)
            for position in range(number * CHUNK, (number + 1) * CHUNK + 1):
                self._lines.pop(position, None)
        self.settle()
        self.post_message(self.Moved(self))

    @on(LoadFailed)
    def _window_failed(self, message: LoadFailed) -> None:
        if self._loads.takes(message):
            self.post_message(self.Problem(self, message.error))

    # -- the keys ----------------------------------------------------------------------------------------

    def action_fold(self) -> None:
        if not self.count:
            return
        now = self._setting(self.cursor).fold
        lines = self.lines_of(self.cursor) or ()
        if now is Fold.SHUT:
            now = Fold.CLIPPED
        elif now is Fold.CLIPPED and len(lines) >= 15:
            now = Fold.OPEN
        else:
            now = Fold.SHUT
        self._folds[self.cursor] = now
        self._lines.pop(self.cursor, None)
        self.go_to(self.cursor)

    def action_fold_all(self) -> None:
        self.fold_all = not self.fold_all
        self._folds.clear()
        self._lines.clear()
        self.go_to(self.cursor, top=not self.fold_all)

    def action_manner(self) -> None:
        manners = list(Manner)
        self.manner = manners[(manners.index(self.manner) + 1) % len(manners)]
        self._lay_out_again()

    def action_times(self) -> None:
        self.exact = not self.exact
        self._lay_out_again()

    def action_mark(self, step: int) -> None:
        """To the next marked entry among those held and what the transcript knows of the rest."""
        transcript = self.transcript
        if transcript is None:
            return
        marked = sorted(transcript.marked)
        ahead = [at for at in marked if (at > self.cursor if step > 0 else at < self.cursor)]
        if ahead:
            self.go_to(ahead[0] if step > 0 else ahead[-1], top=False)
        else:
            self.app.notify("no marked message that way", markup=False)
