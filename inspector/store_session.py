"""The store an application has open: opening another one, its facts, reading again, and letting go of it."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from inspector.admitting import Choice
from inspector.examined import examined
from inspector.follow import Follower
from inspector.loader import Loader
from inspector.messages import ActionMoved, Loaded, LoadFailed, StoreOpened, StoreRefused
from inspector.opened import OpenedStore, open_store
from persistence.errors import LocationError, StoreError
from persistence.location import StoreLocation, locate
from persistence.records import Notice, Route

if TYPE_CHECKING:
    from inspector.actions.policy import WritePolicy
    from inspector.app import InspectorApp
    from inspector.passage import Asked, Passage
    from persistence.lineage import LineageReport

__all__ = ["StoreSession"]


class StoreSession:
    """`state_words` stand in the shell while there is no reading to tell of: `opening …`, `not open`."""

    def __init__(self, app: InspectorApp) -> None:
        self._app = app
        self.location: StoreLocation | None = None
        self.opened: OpenedStore | None = None
        self.tables: frozenset[str] | None = None  # names of its tables, once they are known
        self.refusal: StoreError | None = None
        self.state_words = ""
        self.choice = Choice()  # what an admission of this store is asked about
        self.passage: Passage | None = None  # the action that is at its gate
        self.follower = Follower(app, on=app.config.follow)
        self.loads = Loader(app)

    # -- opening and leaving --------------------------------------------------------------------------

    def open(self, store: StoreLocation | str) -> None:
        """Opens another store, in place of the one that is open. Answers with StoreOpened or StoreRefused."""
        try:
            location = store if isinstance(store, StoreLocation) else locate(store)
        except LocationError as error:
            self._app.post_message(StoreRefused(error))
            return
        self._leave()
        self.location = location
        self.state_words = "opening …"
        self.refusal = None
        self.loads.start("store", lambda: open_store(location))

    def _leave(self) -> None:
        self.follower.stop()
        self.loads.cancel_all()
        opened, self.opened = self.opened, None
        self.tables = None
        self.choice = Choice()
        self.drop_passage()
        if opened is not None:
            self._app.run_worker(opened.db.close(), name="close", exit_on_error=False)

    async def close(self) -> None:
        """Lets go of the store; waits no longer than a person would, but for an action to stop in order."""
        self.follower.stop()
        if self.passage is not None:
            await self.passage.close()
        if self.opened is not None:
            with suppress(TimeoutError, StoreError, OSError):
                await asyncio.wait_for(self.opened.db.close(), 2)

    def opened_now(self, opened: OpenedStore) -> None:
        self.opened = opened
        self.state_words = ""
        self.follower.start(opened.db)
        self.load_facts()

    def refused_now(self, error: StoreError) -> None:
        self.refusal = error
        self.state_words = "not open"
        self._remember(error.code)

    # -- writing into it -------------------------------------------------------------------------------

    @property
    def writes_word(self) -> str:
        """The mode word when this program may write; empty: it only reads."""
        if not self._app.writes_armed:
            return ""
        return "WRITING" if self.writing else "WRITES"

    @property
    def writing(self) -> bool:
        return self.passage is not None and self.passage.writing

    @property
    def policy(self) -> WritePolicy:
        from inspector.actions.policy import WritePolicy

        return WritePolicy.of(self._app.config)

    def begin(self, asked: Asked) -> Passage | None:
        """Brings another action to the gate, in place of the one before. None while one writes."""
        from inspector.passage import Passage

        if self.location is None or self.writing:
            return None
        self.drop_passage()
        allowed = self._app.writes_armed
        self.passage = Passage(self.location, asked, allowed=allowed, policy=self.policy)
        return self.passage

    def action_moved(self) -> None:
        """An action is further, or over; who looks at something else meanwhile is told when it is over."""
        place = self._app.place
        if place is None:
            return
        place.post_message(ActionMoved())
        if not self.writing:
            place.refresh_shell()
            if place.NAME != "actions":
                self._app.notify("the action has ended; 0 says how", markup=False)

    def may_open(self) -> bool:
        """Whether another store may be opened now: not while an action writes, and that is said."""
        if self.writing:
            said = "an action is writing; 0 shows it, x stops it there"
            self._app.notify(said, severity="warning", markup=False)
        return not self.writing

    def may_leave(self) -> bool:
        """Whether to leave now: while an action writes only when that is said twice; it is stopped first."""
        passage = self.passage
        if passage is None or not passage.writing or passage.leaving:
            return True
        passage.leaving = True
        said = "an action is writing; q again stops it, which ends its run as cancelled, and leaves"
        self._app.notify(said, severity="warning", markup=False)
        return False

    def drop_passage(self) -> None:
        """No action is at the gate any more."""
        passage, self.passage = self.passage, None
        if passage is not None:
            self._app.run_worker(passage.close(), name="close", exit_on_error=False)

    # -- what is known of it -----------------------------------------------------------------------------

    def load_facts(self) -> None:
        opened = self.opened
        if opened is None:
            return

        async def read() -> Any:
            facts = await opened.db.facts()
            shapes = await opened.db.catalogue()
            return facts, frozenset(shape.name for shape in shapes)

        self.loads.start("facts", read)

    def loaded(self, message: Loaded) -> bool:
        """Takes what a load of this session brought; True when the facts are new."""
        if not self.loads.takes(message):
            return False
        if message.what == "store":
            self._app.post_message(StoreOpened(message.value))
        elif message.what == "lineage":
            self.examined_now(message.value)
            return self.opened is not None
        elif self.opened is not None:
            self.opened.facts, self.tables = message.value
            self._remember(self._verdict)
            self._ask_whose()
            return True
        return False

    def _ask_whose(self) -> None:
        """Once for a store; never where the answer would take another copy of it (2 Lineage asks then)."""
        opened, location = self.opened, self.location
        read = opened.read if opened is not None else None
        if opened is None or location is None or opened.report is not None:
            return
        if read is not None and read.route is not Route.COPY:
            self.loads.start("lineage", lambda: examined(location))

    def examined_now(self, report: LineageReport) -> None:
        """It is known whose the store is, and what each open would do with it."""
        if self.opened is not None and report.location == self.location:
            self.opened.report = report
            self._remember(self._verdict)

    @property
    def _verdict(self) -> str:
        """`opens`, or `reads` and the code by which a native open would be refused."""
        report = self.opened.report if self.opened is not None else None
        refusal = report.native.refusal if report is not None else None
        return "opens" if refusal is None else f"reads {refusal.code}"

    def failed(self, message: LoadFailed) -> StoreError | None:
        """Takes a failed load; what a person is to be told of it, when it is not the opening itself."""
        if not self.loads.takes(message):
            return None
        if message.what == "store":
            self._app.post_message(StoreRefused(message.error))
            return None
        return message.error

    def _remember(self, verdict: str) -> None:
        if self.location is None or not self._app.config.history or self._is_shown(self.location):
            return
        from inspector import recents

        opened = self.opened
        facts = opened.facts if opened is not None else None
        recents.remember(
            self.location,
            kind=(opened.lineage if opened is not None else None) or "",
            size=facts.size if facts is not None else None,
            verdict=verdict,
            limit=self._app.config.recents,
        )

    def _is_shown(self, location: StoreLocation) -> bool:
        """Whether a store is one of the demo's, which goes when the demo does."""
        gallery = self._app.gallery
        return gallery is not None and (location.path or b"").startswith(os.fsencode(gallery) + b"/")

    @property
    def follows(self) -> bool:
        """Whether a move of the store is read at once: never when each reading would take a copy."""
        read = self.opened.read if self.opened is not None else None
        return self.follower.on and read is not None and read.route is not Route.COPY

    @property
    def notices(self) -> list[Notice]:
        """What must be told for as long as it holds (DESIGN 9)."""
        found: list[Notice] = []
        if self.location is not None:
            found += [Notice("location", text) for text in self.location.notices]
        read = self.opened.read if self.opened is not None else None
        if read is not None:
            found += read.notices
        return found
