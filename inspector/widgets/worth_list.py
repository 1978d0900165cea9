"""Things worth a look: what each check found, how far it is, or that it waits to be asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inspector import formats, safe
from inspector.typeset.lines import Line, Run, prefixed, wrap
from inspector.widgets.tall_list import TallList

if TYPE_CHECKING:
    from persistence.reading.checks import CheckResult

__all__ = ["NAMES", "WorthList"]

NAMES = {
    "running-silent": "runs that say they run, and are silent",
    "dangling-messages": "progressions that name messages which are not there",
    "artifact-files": "artifacts whose file is gone",
    "broken-json": "rows with broken JSON",
}
SIGNS = {"ok": ("✓", "ok"), "notice": ("▲", "notice"), "bad": ("✗", "refuse"), "unknown": ("?", "notice")}


class WorthList(TallList):
    """One entry a check. `results` are what is known; `waiting`: why nothing is checked by itself."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.codes: tuple[str, ...] = ()
        self.results: dict[str, CheckResult] = {}
        self.waiting = ""
        self.failed: dict[str, str] = {}

    def show(
        self, codes: Sequence[str], results: dict[str, CheckResult], failed: dict[str, str], waiting: str = ""
    ) -> None:
        self.codes, self.results, self.failed, self.waiting = tuple(codes), results, failed, waiting
        self.set_count(len(self.codes))

    @property
    def current(self) -> str | None:
        return self.codes[self.cursor] if self.codes else None

    def lines_of(self, index: int) -> Sequence[Line] | None:
        code = self.codes[index]
        sign, role, words, more = self._told(code)
        lines = wrap([Run(words, "plain" if role != "quiet" else "quiet"), Run(more, "quiet")], self.room - 2)
        return prefixed(Run("  "), lines, first=Run(f"{sign} ", role))

    def _told(self, code: str) -> tuple[str, str, str, str]:
        """(sign, role, words, what is added quietly)."""
        if code in self.failed:
            return "✗", "refuse", f"{NAMES.get(code, code)}: {safe.text(self.failed[code])}", ""
        result = self.results.get(code)
        if result is None:
            if self.waiting:
                return "·", "quiet", NAMES.get(code, code), f"  not checked yet {self.waiting}"
            return "·", "quiet", NAMES.get(code, code), "  waits its turn"
        sign, role = SIGNS[result.severity]
        more = ""
        if not result.complete:
            progress = result.progress
            done = formats.percent(progress.done, progress.total) if progress and progress.total else ""
            more = f"  so far, {done}" if done else "  so far"
            if not result.count:
                return "…", "quiet", NAMES.get(code, code), more
        elif result.snapshots > 1:
            more = f"  across {result.snapshots} snapshots"
        if result.unknown:
            if result.severity != "unknown":
                more += f"  {formats.count(result.unknown)} could not be told:"
            more += f"  {safe.text(result.why or 'why is not known')}"
        return sign, role, safe.text(result.sentence), more
