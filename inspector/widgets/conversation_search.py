"""Searching a conversation: the hits as they come, the one one is at, and the way to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from inspector import formats
from inspector.hits import Hits
from inspector.loader import Loader, Report
from inspector.messages import Loaded, LoadFailed, LoadProgressed
from inspector.widgets.conversation import Conversation
from inspector.widgets.search_line import SearchLine

if TYPE_CHECKING:
    from persistence.errors import StoreError

__all__ = ["ConversationSearch"]


class ConversationSearch(SearchLine):
    """Searches the transcript `conversation` shows, chunk by chunk, and moves its cursor."""

    def __init__(self, conversation: Conversation, *, id: str) -> None:
        super().__init__(id=id)
        self._list = conversation
        self._loads = Loader(self)
        self._hits: Hits | None = None
        self._jumped = False

    @property
    def searching(self) -> bool:
        return self._loads.running()

    @on(SearchLine.Asked)
    def _search(self, message: SearchLine.Asked) -> None:
        message.stop()
        transcript = self._list.transcript
        if transcript is None:
            return
        if self._hits is not None and self._hits.text == message.text and self._hits.complete:
            self.hit(1)
            return
        self._hits = hits = Hits(message.text)
        self._jumped = False
        self._list.mark_found(message.text)

        async def look(report: Report) -> Hits:
            found = transcript.search(hits.text)
            try:
                async for part in found:
                    hits.add(part.positions)
                    report(part.progress)
            finally:
                await found.aclose()  # type: ignore[attr-defined]
            hits.complete = True
            return hits

        self._loads.start_reporting("search", look)

    @on(LoadProgressed)
    def _searched_on(self, message: LoadProgressed) -> None:
        if self._loads.takes(message) and self._hits is not None:
            self._jump_once(self._hits)
            done = formats.percent(message.progress.done, message.progress.total or 1)
            self._say_hits(self._hits, f", {done} looked through, esc stops")

    @on(Loaded)
    def _searched(self, message: Loaded) -> None:
        if self._loads.takes(message):
            self._jump_once(message.value, last=True)
            self._say_hits(message.value)

    @on(LoadFailed)
    def _search_failed(self, message: LoadFailed) -> None:
        if self._loads.takes(message):
            error: StoreError = message.error
            self.say(f"✗ {error.message}", "refuse")

    def _jump_once(self, hits: Hits, *, last: bool = False) -> None:
        """To the first hit from where one is, as soon as it is known; to the first of all at the end."""
        if self._jumped:
            return
        at = hits.after(self._list.cursor - 1, wrap=last)
        if at is not None:
            self._jumped = True
            self._list.go_to(at)

    def _say_hits(self, hits: Hits, more: str = "") -> None:
        if not hits.positions:
            if more:
                self.say(f"nothing so far{more}")
            else:
                self.say("no message has these words", "notice")
            return
        number = hits.number(self._list.cursor)
        which = f"{formats.count(number)} of " if number is not None else ""
        found = formats.several(len(hits.positions), "message")
        self.say(f"{which}{found}{more or ', n the next, N the one before'}")

    @on(SearchLine.Left)
    def _left(self, message: SearchLine.Left) -> None:
        message.stop()
        if message.closed:
            self._loads.cancel("search")
            self._hits = None
            self._list.mark_found("")
        self._list.focus()

    def hit(self, step: int) -> None:
        """To the next hit, or the one before; asks for words when there are none."""
        hits = self._hits
        if hits is None or not hits.positions:
            self.enter()
            return
        at = hits.after(self._list.cursor) if step > 0 else hits.before(self._list.cursor)
        if at is not None:
            self._list.go_to(at)
            self._say_hits(hits)
