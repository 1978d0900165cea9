"""The browsing part of the facade: windowed sources and summaries, each loaded when first asked for.

Every function behind these methods takes the open store (`StoreReading`) first; the modules that hold
them are imported inside the methods, so that a command that lists definitions loads no row source.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING

from persistence.reading.store import ReadingSurface

if TYPE_CHECKING:
    from persistence.outside import OutsideFile
    from persistence.reading.artifact_rows import KeyShape
    from persistence.reading.checks import Checks
    from persistence.reading.overview import Activity, TableCount, TableSize
    from persistence.reading.progression_rows import ProgressionUser
    from persistence.reading.source import RowSource
    from persistence.reading.transcript import Transcript
    from persistence.reading.verification import Verification
    from persistence.records import Cell, Order, RunChoices, RunDetail, RunFilter

__all__ = ["BrowseSurface"]


class BrowseSurface(ReadingSurface):
    """What screens page through, over the store `StateDB` opened."""

    def runs(self, filter: RunFilter | None = None, order: Order | None = None) -> RowSource:
        """Sessions as a windowed source, newest first unless an order is asked for."""
        from persistence.reading import runs

        return runs.runs(self._reading, filter, order)

    async def run_choices(self) -> RunChoices:
        """The distinct statuses, projects, agents and models with their counts, for filters."""
        from persistence.reading import runs

        return await runs.run_choices(self._reading)

    async def run(self, session_id: str) -> RunDetail | None:
        """One session with its branches, invocation, counts and raw row; None when there is none."""
        from persistence.reading import run

        return await run.run(self._reading, session_id)

    async def find_run(self, text: str) -> str | None:
        """The session id `text` names: an id, a run id, or a beginning that only one has; None: no such run.

        StoreError `ambiguous-run` when several begin with it.
        """
        from persistence.reading import run

        return await run.find_run(self._reading, text)

    async def transcript(self, progression_id: str) -> Transcript:
        """A progression's positions as a windowed conversation."""
        from persistence.reading import transcript

        return await transcript.transcript(self._reading, progression_id)

    def rows(
        self, table: str, *, order: Order | None = None, where: Mapping[str, Cell] | None = None
    ) -> RowSource:
        """The rows of any table or view as a windowed source; `where` holds columns to values they equal."""
        from persistence.reading import rows

        return rows.rows(self._reading, table, order=order, where=where)

    def signals(self, session_id: str) -> RowSource:
        """A session's signals in their order, as a windowed source."""
        from persistence.reading import belongings

        return belongings.signals(self._reading, session_id)

    def transitions(self, entity_type: str, entity_id: str) -> RowSource:
        """An entity's status history, oldest first, as a windowed source."""
        from persistence.reading import belongings

        return belongings.transitions(self._reading, entity_type, entity_id)

    def controls(self, session_id: str) -> RowSource:
        """What was asked of a session while it ran, oldest first, as a windowed source."""
        from persistence.reading import belongings

        return belongings.controls(self._reading, session_id)

    def engine_runs_of(self, session_id: str) -> RowSource:
        """The engine runs of a session, oldest first, as a windowed source."""
        from persistence.reading import belongings

        return belongings.engine_runs(self._reading, session_id)

    def artifacts_of(self, session_id: str | None = None, invocation_id: str | None = None) -> RowSource:
        """The artifacts that name a session or an invocation, oldest first, as a windowed source."""
        from persistence.reading import belongings

        return belongings.artifacts_of(self._reading, session_id, invocation_id)

    def counts(self) -> AsyncIterator[TableCount]:
        """Rows per table, one table after another as each is counted."""
        from persistence.reading import overview

        return overview.counts(self._reading)

    def sizes(self) -> AsyncIterator[TableSize]:
        """Bytes per table, one after another; every page is read for it, so only when somebody asks."""
        from persistence.reading import overview

        return overview.sizes(self._reading)

    async def activity(self, *, days: int = 60, east: float = 0.0) -> Activity:
        """Runs begun a day, for a small chart; a day begins at midnight `east` seconds of UTC."""
        from persistence.reading import overview

        return await overview.activity(self._reading, days=days, east=east)

    async def statuses(self) -> tuple[tuple[str | None, int], ...]:
        """Sessions by status, the most frequent first; None stands for no status."""
        from persistence.reading import overview

        return await overview.statuses(self._reading)

    def checks(self, now: float | None = None) -> Checks:
        """The things worth a look, each leading to its rows; `now` stands for the clock."""
        from persistence.reading import checks

        return checks.checks(self._reading, now)

    def progressions(self) -> RowSource:
        """Every progression with its length, who uses it and what is wrong with it, newest first."""
        from persistence.reading import progression_rows

        return progression_rows.progressions(self._reading)

    async def progression_users(self, progression_id: str) -> tuple[ProgressionUser, ...]:
        """The sessions and branches that name a progression as theirs."""
        from persistence.reading import progression_rows

        return await progression_rows.users(self._reading, progression_id)

    async def raw_progression(self, progression_id: str, *, most: int = 64_000_000) -> Cell:
        """The list of a progression as it lies in the store; a Preview past `most` bytes; None: no such."""
        from persistence.reading import progression_rows

        return await progression_rows.raw_collection(self._reading, progression_id, most)

    def artifacts(self, shape: KeyShape | None = None) -> RowSource:
        """Artifacts by the shape of their key (None: all), with what is at their paths now."""
        from persistence.reading import artifact_rows

        return artifact_rows.artifacts(self._reading, shape)

    def contracts(self) -> RowSource:
        """The runs that were expected to leave files, as `runs` lists them."""
        from persistence.reading import artifact_rows

        return artifact_rows.contracts(self._reading)

    async def verification(self, session_id: str) -> Verification | None:
        """A session's contract, what was recorded of it, and what is seen of it now; None: no such session.

        What is seen is an observation of this moment, and nothing of it is recorded.
        """
        from persistence.reading import verification

        return await verification.verification(self._reading, session_id)

    async def file_at(self, path: object) -> OutsideFile:
        """What is now at a path that a row names, with its text if it is a regular file: an observation."""
        from persistence.reading import outside

        return await outside.file_at(self._reading, path)

    async def files_at(self, paths: Sequence[object]) -> tuple[OutsideFile, ...]:
        """What is now at each of some paths that rows name; none is opened: an observation."""
        from persistence.reading import outside

        return await outside.files_at(self._reading, paths)
