"""What the Actions place asks: which action, from where, under what; and the gate, every step anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from inspector.admitting import Choice
from inspector.messages import ActionMoved, Loaded, LoadFailed
from inspector.passage import Asked, Brought, Passage
from inspector.screens.actions_choice import FileChooser, LeaveOutChooser, RunChooser, StoreChooser
from inspector.screens.admission_choice import Chosen, OwnerChooser, ProfileChooser
from inspector.screens.place import Place

if TYPE_CHECKING:
    from persistence.location import StoreLocation

__all__ = ["ActionsBase"]


class ActionsBase(Place):
    """Asking and choosing; a subclass shows it (`show`)."""

    NAME = "actions"

    def show(self, *, anew: bool = False) -> None:
        """Draws what is known now; `anew`: what is read begins at its top again."""
        raise NotImplementedError

    @property
    def passage(self) -> Passage | None:
        """The action at the gate of this store; it outlives the screen."""
        return self.inspector.session.passage

    @property
    def choice(self) -> Choice:
        """Profile and owner, as for Admission; kept as long as the store is open."""
        return self.inspector.session.choice

    # -- asking ------------------------------------------------------------------------------------------

    def load(self) -> None:
        """A gate that was asked is not asked again because the store moved: r does that."""
        passage = self.passage
        if passage is not None and passage.brought is None:
            self.ask()
        else:
            self.show()

    def action_refresh(self) -> None:
        if self.passage is None:
            super().action_refresh()
        else:
            self.ask()

    def ask(self, profile: str | None = None, choice: Choice | None = None, *, whole: bool = False) -> None:
        """Asks every step anew, and makes the preview where it can be made."""
        passage, config = self.passage, self.inspector.config
        if passage is None or passage.writing:
            return
        asked = choice or self.choice
        if asked.profile is None and profile is None and config.profile is not None:
            # Chosen as well: by the configuration, its variable or a flag.
            profile, asked = config.profile, asked.owned_by(asked.owner or config.owner)

        def moved() -> None:
            self.post_message(ActionMoved())

        async def work() -> tuple[Passage, Brought]:
            return passage, await passage.bring(profile, asked, whole=whole, moved=moved)

        self.loads.start("gate", work)
        self.show()

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self.loads.takes(message):
            return
        passage: Passage
        passage, brought = message.value
        if passage is not self.passage:
            return  # another action, or another store, was asked for meanwhile
        passage.take(brought)
        gate, session = brought.gate, self.inspector.session
        if gate.profile is not None:
            same = (
                session.choice.profile is not None
                and session.choice.profile.identity == gate.profile.identity
            )
            operations = session.choice.operations if same else None
            session.choice = Choice(gate.profile, gate.owner, operations)
        self.show(anew=True)

    @on(LoadFailed)
    def _not_asked(self, message: LoadFailed) -> None:
        self.call_after_refresh(self.show)

    # -- choosing ----------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        passage = self.passage
        writing = passage is not None and passage.writing
        if action == "stop":
            return writing
        if action == "lineage":
            return passage is not None and passage.passable
        if action == "choose" and parameters:
            needs = {"source": ("copy-run", "record"), "leave_out": ("copy-run",)}.get(str(parameters[0]))
            there = passage is not None and (needs is None or passage.asked.action in needs)
            return there and not writing
        return super().check_action(action, parameters)

    def action_choose(self, what: str) -> None:
        passage, choice = self.passage, self.choice
        if passage is None or passage.writing:
            self.notify("choose an action first", markup=False)
        elif what == "action":
            self.begin(None)
        elif what == "source":
            self.choose_source(passage.asked)
        elif what == "leave_out":
            self.app.push_screen(LeaveOutChooser(passage.asked.leave_out), self._left_out)
        elif what == "profile":
            self.app.push_screen(ProfileChooser(self._application), self._profile_chosen)
        elif choice.profile is None:
            self.notify("choose a profile first", markup=False)
        elif choice.profile.owner is None:
            self.notify("rows have no owner under this profile", markup=False)
        else:
            opened = self.inspector.opened
            self.app.push_screen(OwnerChooser(opened.db if opened else None, choice), self._owner_chosen)

    def _profile_chosen(self, chosen: Chosen | None) -> None:
        if chosen is not None and chosen.profile is not None:
            self.ask(chosen.profile)

    def _owner_chosen(self, chosen: Chosen | None) -> None:
        if chosen is not None:
            self.inspector.session.choice = self.choice.owned_by(chosen.owner)
            self.ask()

    def _left_out(self, words: tuple[str, ...] | None) -> None:
        passage = self.passage
        if words is not None and passage is not None and passage.leave_out(words):
            self.ask()

    def choose_source(self, asked: Asked) -> None:
        if asked.action == "record":
            self.app.push_screen(FileChooser(), self._file_chosen)
        else:
            chooser = StoreChooser("from which store is the run taken?", self.inspector.location)
            self.app.push_screen(chooser, self._source_chosen)

    def _file_chosen(self, file: str | None) -> None:
        if file is not None:
            self.begin(Asked("record", file=file))

    def _source_chosen(self, source: StoreLocation | None) -> None:
        if source is not None:
            self.app.push_screen(RunChooser(source), self._begin_copy)

    def _begin_copy(self, asked: Asked | None) -> None:
        if asked is not None:
            self.begin(asked)

    def begin(self, asked: Asked | None) -> None:
        """Another action, asked for from the beginning; None: none yet."""
        session = self.inspector.session
        self.loads.cancel("gate")
        if asked is None:
            session.drop_passage()
            self.show()
        elif session.location is None:
            self.notify("open a store first: o", markup=False)
        elif session.begin(asked) is not None:
            self.ask()

    @property
    def _application(self) -> str | None:
        opened = self.inspector.opened
        return opened.application if opened is not None else None
