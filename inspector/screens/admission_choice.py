"""Choosing what an admission is asked about: profile, owner, operations. Nothing is chosen beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from inspector import safe
from inspector.admitting import MOST_PRINCIPALS, Choice, Principals, found_profiles, principals
from inspector.keys import bind
from inspector.loader import Loader
from inspector.messages import Loaded, LoadFailed
from inspector.screens.layer import Layer, keys_hint
from inspector.typeset.lines import Line, Run
from inspector.widgets.path_field import PathField

if TYPE_CHECKING:
    from persistence.profiles.catalogue import Entry
    from persistence.statedb import StateDB

__all__ = ["Chosen", "MarkList", "OperationsChooser", "OwnerChooser", "ProfileChooser", "pair"]


def pair(key: str, label: str, words: str, chosen: bool) -> Line:
    """What is chosen, with the key that chooses it."""
    return (Run(f"{key} ", "key"), Run(f"{label} ", "quiet"), Run(words, "strong" if chosen else "notice"))


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was chosen: a profile's name or path, an owner (None: none), operations (None: all)."""

    profile: str | None = None
    owner: str | None = None
    operations: tuple[str, ...] | None = None


class _Chooser(Layer[Chosen]):
    """A list to choose from, a field to type what is not in it, and a line for what went wrong."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("choice.next", "tab", "app.focus_next", "field", "To the field and back", show=False),
        bind("choice.down", "j", "move(1)", "down", "The next one", show=False),
        bind("choice.up", "k", "move(-1)", "up", "The one before", show=False),
    ]
    hint = keys_hint(("enter", "choose"), ("tab", "the field"), ("esc", "as it was"))
    FIELD = ""

    def field(self) -> Widget:
        """What takes a name that is not in the list."""
        return Input(placeholder=self.FIELD, id="choice-field")

    def __init__(self) -> None:
        super().__init__()
        self._loads = Loader(self)

    def compose_layer(self) -> ComposeResult:
        yield OptionList(id="choice-list")
        yield self.field()
        yield Static(Content(""), id="choice-said")

    @property
    def listed(self) -> OptionList:
        return self.query_one("#choice-list", OptionList)

    def say(self, words: Content) -> None:
        self.query_one("#choice-said", Static).update(words)

    def offer(self, options: Sequence[Option], none: str) -> None:
        self.listed.clear_options()
        self.listed.add_options(options)
        self.listed.display = bool(options)
        if options:
            self.listed.highlighted = 0
            self.listed.focus()
        else:
            self.query_one(Input).focus()
            self.say(Content.styled(none, ".quiet"))

    @on(LoadFailed)
    def _failed(self, message: LoadFailed) -> None:
        if self._loads.takes(message):
            self.offer((), "")
            self.say(Content.assemble(("✗ ", ".refuse"), safe.content(message.error.message, ".plain")))

    def action_move(self, step: int) -> None:
        if isinstance(self.focused, OptionList):
            (self.listed.action_cursor_down if step > 0 else self.listed.action_cursor_up)()


class ProfileChooser(_Chooser):
    """The user's profiles and the shipped ones; a path names any other."""

    heading = Content.styled("profile", ".heading")
    hint = keys_hint(("enter", "choose"), ("tab", "the field, and completes a path"), ("esc", "as it was"))
    FIELD = "a name, name@version, or the path of a document"

    def __init__(self, application: str | None) -> None:
        super().__init__()
        self._application = application
        self._entries: tuple[Entry, ...] = ()

    def field(self) -> Widget:
        return PathField(self.FIELD, id="choice-field")

    def on_mount(self) -> None:
        self._loads.start("profiles", found_profiles)

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if self._loads.takes(message):
            self._entries = message.value
            options = [
                Option(self._words(entry), id=str(number), disabled=entry.why is not None)
                for number, entry in enumerate(self._entries)
            ]
            self.offer(options, "there are no profiles; name one by its path")

    def _words(self, entry: Entry) -> Content:
        said = Content.assemble(
            (safe.text(entry.identity, limit=80), ".strong"), (f"  {entry.origin}", ".quiet")
        )
        if entry.why is not None:
            return Content.assemble(
                said, ("  cannot be used: ", ".refuse"), safe.content(entry.why, ".quiet")
            )
        fits = entry.lineage is not None and entry.lineage == self._application
        made = f"  made for {safe.text(entry.lineage, limit=60)}"
        return Content.assemble(said, (made, ".ok" if fits else ".quiet"))

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        # By its path: a name may mean two documents, and this one was pointed at.
        self.dismiss(Chosen(profile=str(self._entries[int(event.option.id or 0)].path)))

    @on(PathField.Chosen)
    def _typed(self, message: PathField.Chosen) -> None:
        self.dismiss(Chosen(profile=message.text))

    @on(PathField.Left)
    def _left(self) -> None:
        if self.listed.display:
            self.listed.focus()
        else:
            self.dismiss(None)


class OwnerChooser(_Chooser):
    """The principals of the store, by the profile's owner rule."""

    heading = Content.styled("owner of the rows", ".heading")
    FIELD = "or the owner's name, exactly"

    def __init__(self, db: StateDB | None, choice: Choice) -> None:
        super().__init__()
        self._db = db
        self._choice = choice
        self._names: list[str | None] = []

    def on_mount(self) -> None:
        db, profile = self._db, self._choice.profile
        if db is None or profile is None:
            self.offer((), "the store is not open: type the owner's name")
        else:
            self._loads.start("principals", lambda: principals(db, profile))

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self._loads.takes(message):
            return
        found: Principals = message.value
        self._names = [None]
        options = [Option(Content.styled("nobody yet", ".quiet"), id="0")]
        for row in found.rows:
            if row.name is None:
                continue
            about = "  ".join(safe.cell(cell) for _, cell in row.about)
            words = Content.assemble(
                (safe.text(row.name, limit=80), ".strong"), (f"  {safe.clip(about, 50)}", ".quiet")
            )
            options.append(Option(words, id=str(len(self._names))))
            self._names.append(row.name)
        self.offer(options, "")
        if self._choice.owner in self._names:
            self.listed.highlighted = self._names.index(self._choice.owner)
        if not found.complete:
            self.say(Content.styled(f"the first {MOST_PRINCIPALS}; the field takes any other", ".notice"))

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(Chosen(owner=self._names[int(event.option.id or 0)]))

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        # As it was typed: a principal's name may begin or end with a blank.
        if event.value:
            self.dismiss(Chosen(owner=event.value))


class MarkList(OptionList, inherit_bindings=False):
    """Options that are marked, several at once; its layer keeps them (`keep`, `mark_all`)."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("operations.keep", "enter", "screen.keep", "keep", "Go on with the marked ones"),
        bind("operations.mark", "space,x", "select", "mark", "Mark it, or take the mark away"),
        bind("operations.all", "a", "screen.mark_all", "all", "All, or none"),
        bind("operations.up", "up,k", "cursor_up", "up", "The one above", show=False),
        bind("operations.down", "down,j", "cursor_down", "down", "The next one", show=False),
        bind("operations.first", "g,home", "first", "first", "The first one", show=False),
        bind("operations.last", "G,end", "last", "last", "The last one", show=False),
    ]


class OperationsChooser(Layer[Chosen]):
    """The operations the profile names, and those it does not: asking for one shows what is missing."""

    heading = Content.styled("operations to be allowed", ".heading")
    hint = keys_hint(
        ("space", "mark"), ("a", "all or none"), ("enter", "ask for the marked"), ("esc", "as it was")
    )

    def __init__(self, choice: Choice) -> None:
        from persistence.profiles.needs import NEEDS

        super().__init__()
        self._named = choice.profile.operations if choice.profile is not None else ()
        self._names = tuple(dict.fromkeys((*self._named, *NEEDS, *choice.asked)))
        self._marked = set(choice.asked)

    def compose_layer(self) -> ComposeResult:
        yield MarkList(*(Option(self._words(name)) for name in self._names), id="operations")

    def on_mount(self) -> None:
        listed = self.query_one("#operations", MarkList)
        listed.highlighted = 0
        listed.focus()

    def _words(self, name: str) -> Content:
        sign = ("✓ ", ".ok") if name in self._marked else ("· ", ".quiet")
        other = "" if name in self._named else "  not in this profile"
        return Content.assemble(sign, safe.content(name, ".plain"), (other, ".quiet"))

    def _draw(self) -> None:
        listed = self.query_one("#operations", MarkList)
        for number, name in enumerate(self._names):
            listed.replace_option_prompt_at_index(number, self._words(name))

    @on(OptionList.OptionSelected)
    def _mark(self, event: OptionList.OptionSelected) -> None:
        self._marked ^= {self._names[event.option_index]}
        self._draw()

    def action_mark_all(self) -> None:
        """Marks all of the profile's; when they are marked, takes every mark away."""
        self._marked = set() if self._marked == set(self._named) else set(self._named)
        self._draw()

    def action_keep(self) -> None:
        if not self._marked:
            self.app.notify("mark at least one: asking for nothing would be asking for all", markup=False)
            return
        every = self._marked == set(self._named)
        asked = tuple(name for name in self._names if name in self._marked)
        self.dismiss(Chosen(operations=None if every else asked))
