"""The conversation of a run: whose progression is read, the messages, a search, one message whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding

from inspector import formats, safe
from inspector.clipboard import Copy
from inspector.conversation_text import pieces
from inspector.exporting import Exportable
from inspector.keys import bind
from inspector.messages import Loaded, LoadFailed
from inspector.screens.run_head import text_of
from inspector.screens.run_pane import RunPane
from inspector.typeset.lines import Line, Run, line
from inspector.widgets.conversation import Conversation
from inspector.widgets.conversation_entry import Manner
from inspector.widgets.conversation_search import ConversationSearch
from inspector.widgets.grid_jump import JumpCard
from inspector.widgets.pieces import Piece, PieceLine
from persistence.records import Preview, Unreadable

if TYPE_CHECKING:
    from persistence.records import Cell, RunDetail, TranscriptEntry

__all__ = ["ConversationPane", "Thread", "threads"]


@dataclass(frozen=True, slots=True)
class Thread:
    """A progression that can be read: a branch's, or the run's own (`branch` None)."""

    branch: str | None
    name: str
    progression: str
    messages: int | Unreadable | None


def threads(detail: RunDetail) -> list[Thread]:
    """The branches in their order, then the run's own progression."""
    out = [
        Thread(
            branch.id,
            text_of(branch.name) or formats.short_id(branch.id),
            branch.progression_id,
            branch.messages,
        )
        for branch in detail.branches
        if branch.progression_id is not None
    ]
    if detail.progression_id is not None:
        out.append(Thread(None, "the run's own", detail.progression_id, detail.messages))
    return out


class ConversationPane(RunPane):
    VIEW = "conversation"
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("conversation.branch", "b", "branch(1)", "branch", "The next branch of this run"),
        bind("conversation.branch_back", "B", "branch(-1)", "branch before", "The branch before", show=False),
        bind("conversation.jump", "ctrl+g,number_sign", "jump", "jump", "To a message by number", show=False),
        bind(
            "conversation.next_hit", "n", "hit(1)", "next hit", "The next message with the words", show=False
        ),
        bind("conversation.hit_before", "N", "hit(-1)", "hit before", "The one before with them", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.thread: Thread | None = None
        self._keep = False

    def compose(self) -> ComposeResult:
        yield PieceLine(id="threads")
        conversation = Conversation(id="conversation")
        yield conversation
        yield ConversationSearch(conversation, id="search")

    @property
    def list(self) -> Conversation:
        return self.query_one("#conversation", Conversation)

    # -- loading -----------------------------------------------------------------------------------

    def look(self, detail: RunDetail) -> None:
        wanted = self.place.branch
        thread = self.thread
        if detail is self.detail and wanted is not None and thread is not None and thread.branch != wanted:
            self.detail = None  # the same run, another branch of it
        super().look(detail)
        if not self.loads.running("transcript"):
            self._go_to_wanted()

    def show_run(self, detail: RunDetail, again: bool) -> None:
        found = threads(detail)
        thread = self._wanted(found)
        same = (
            self.thread is not None and thread is not None and thread.progression == self.thread.progression
        )
        self.thread = thread
        self._show_threads(found)
        if thread is None:
            self._say_nothing()
            return
        progression = thread.progression
        self._keep = same
        self.loads.start("transcript", lambda: self.db.transcript(progression))

    def _wanted(self, found: Sequence[Thread]) -> Thread | None:
        """The branch asked for, the one that was shown, or the one that says most."""
        wanted, self.place.branch = self.place.branch, None
        for branch in (wanted, self.thread.branch if self.thread is not None else None):
            for thread in found:
                if branch is not None and thread.branch == branch:
                    return thread
        if self.thread is not None and self.thread.branch is None:
            own = next((thread for thread in found if thread.branch is None), None)
            if own is not None:
                return own
        counted = [(thread.messages if isinstance(thread.messages, int) else 0, thread) for thread in found]
        branches = [pair for pair in counted if pair[1].branch is not None and pair[0]]
        best = max(branches or counted, key=lambda pair: pair[0], default=None)
        return best[1] if best is not None else None

    def _say_nothing(self) -> None:
        self.list.nothing("This run names no progression, so it has no conversation.")
        self.changed()

    def _show_threads(self, found: Sequence[Thread]) -> None:
        bar = self.query_one("#threads", PieceLine)
        bar.display = len(found) > 1
        pieces = [Piece(line(("branch", "quiet")), weight=0)]
        for number, thread in enumerate(found):
            here = thread is self.thread
            name = safe.clip(safe.text(thread.name), 24)
            count = f" {formats.count(thread.messages)}" if isinstance(thread.messages, int) else " ?"
            text = line((f" {name}", "accent bold" if here else "plain"), (f"{count} ", "quiet"))
            pieces.append(Piece(text, f"thread({number})", weight=0 if here else 2, gap=0, namespace=self))
        bar.show(pieces)

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self.loads.takes(message):
            return
        if message.what == "transcript":
            self.list.show(message.value, keep=self._keep)
            self._go_to_wanted()
            self.changed()

    def _go_to_wanted(self) -> None:
        """To the message another view pointed at."""
        position, self.place.position = self.place.position, None
        if position is not None and self.list.count:
            self.list.go_to(position, top=True)

    @on(LoadFailed)
    def _failed(self, message: LoadFailed) -> None:
        if self.loads.takes(message):
            self.place.refused(message.error)

    @on(Conversation.Problem)
    def _problem(self, message: Conversation.Problem) -> None:
        self.place.refused(message.error)

    @on(Conversation.Moved)
    def _moved(self) -> None:
        self.changed()

    # -- moving about --------------------------------------------------------------------------------

    def action_thread(self, number: int) -> None:
        detail = self.detail
        if detail is None:
            return
        found = threads(detail)
        if 0 <= number < len(found):
            self.thread = found[number]
            self._show_threads(found)
            self._keep = False
            progression = found[number].progression
            self.loads.start("transcript", lambda: self.db.transcript(progression))
            self.changed()

    def action_branch(self, step: int) -> None:
        found = threads(self.detail) if self.detail is not None else []
        names = [thread.progression for thread in found]
        if len(found) < 2 or self.thread is None:
            self.app.notify("there is only one conversation", markup=False)
            return
        at = names.index(self.thread.progression) if self.thread.progression in names else 0
        self.action_thread((at + step) % len(found))

    def action_jump(self) -> None:
        conversation = self.list

        def go(position: int | None) -> None:
            if position is not None:
                conversation.go_to(position, top=True)

        if conversation.count:
            self.app.push_screen(JumpCard(conversation.cursor, conversation.count, True), go)

    @on(Conversation.Opened)
    def _open(self, message: Conversation.Opened) -> None:
        """The whole message: its text where it is one, otherwise its content as it is stored."""
        from inspector.screens.cell import CellScreen

        transcript, entry = self.list.transcript, self.list.current
        if transcript is None or entry is None or not entry.exists:
            return
        role = safe.clip(safe.text(entry.role or "no role"), 24)
        label = f"message {formats.count(entry.position + 1)}, {role}"
        texts = _texts(entry)
        if texts is None or self.list.manner is Manner.JSON:
            held = Preview("", entry.size)
            self.app.push_screen(CellScreen(label, held, kind="json", whole=partial(self._stored, entry)))
            return

        async def whole() -> Cell:
            found = await transcript.whole(entry.position)
            return (_texts(found) if found is not None else None) or ""

        held_text: Cell = Preview(texts, entry.size) if entry.truncated else texts
        self.app.push_screen(CellScreen(label, held_text, kind="text", whole=whole))

    async def _stored(self, entry: TranscriptEntry) -> Cell:
        """The content cell of a message, as it is stored. Raises StoreError."""
        transcript = self.list.transcript
        if transcript is None:
            return None
        rows = await transcript.stored(entry.position, 1)
        found: Cell = rows[0].get("content") if rows and rows[0] is not None else None
        return found

    # -- searching -----------------------------------------------------------------------------------

    @property
    def searcher(self) -> ConversationSearch:
        return self.query_one("#search", ConversationSearch)

    def search(self) -> bool:
        self.searcher.enter()
        return True

    def action_hit(self, step: int) -> None:
        self.searcher.hit(step)

    def close_layer(self) -> bool:
        return self.searcher.close()

    # -- what the shell asks ---------------------------------------------------------------------------

    @property
    def words(self) -> Line:
        if not self.is_mounted or not self.query("#conversation"):
            return ()
        marks = self._marks()
        return (*self.list.words, *((Run(" · ", "quiet"), Run(marks, "notice")) if marks else ()))

    def _marks(self) -> str:
        """What is wrong with the progression, as far as it is known."""
        transcript = self.list.transcript
        if transcript is None:
            return ""
        said = []
        if transcript.dangling:
            said.append(f"{formats.count(transcript.dangling)} not there")
        if transcript.duplicates:
            said.append(f"{formats.count(transcript.duplicates)} twice")
        if transcript.out_of_order:
            said.append(f"{formats.count(transcript.out_of_order)} out of order")
        return "▲ " + ", ".join(said) if said else ""

    def crumb(self) -> str | None:
        return self.thread.name if self.thread is not None and self.thread.branch is not None else None

    async def copied(self) -> Copy | None:
        """The message under the cursor: its text, exactly; where it is no text, its content as stored."""
        transcript, entry = self.list.transcript, self.list.current
        if transcript is None or entry is None or not entry.exists:
            return None
        whole = await transcript.whole(entry.position)
        texts = _texts(whole) if whole is not None else None
        if texts is None:
            return await self.copied_row()
        return Copy(f"message {formats.count(entry.position + 1)}", texts)

    async def copied_row(self) -> Copy | None:
        entry = self.list.current
        value = await self._stored(entry) if entry is not None else None
        if entry is None or value is None:
            return None
        return Copy(f"message {formats.count(entry.position + 1)} as stored", safe.exact(value), ".json")

    def exported(self) -> Exportable | None:
        transcript, detail = self.list.transcript, self.detail
        if transcript is None or detail is None:
            return None
        name = text_of(detail.name) or detail.id
        return Exportable(
            f"the conversation, {formats.several(transcript.length, 'message')}",
            f"run-{name}",
            texts={form: partial(pieces, detail, transcript, form) for form in ("markdown", "json")},
        )


def _texts(entry: TranscriptEntry) -> str | None:
    """What a message says in words; None when it says nothing in words."""
    found = [part.text for part in entry.parts if part.kind == "text"]
    return "\n\n".join(found) if found else None
