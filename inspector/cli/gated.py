"""What the commands of the gated actions share: their options, the gate passed, and what of it is printed.

Without --confirm the preview is printed and nothing is written: that ends with 3, as every refusal does.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from inspector.cli.output import say, write
from inspector.cli.profiles import ProfileName

if TYPE_CHECKING:
    from inspector.actions.carrying import Outcome
    from inspector.actions.gate import Gate
    from inspector.actions.plan import Action, Told

__all__ = ["Asked", "gated_options", "pass_gate", "progress_line", "refusals_told", "run_gated"]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Asked:
    """How a gated action is asked for."""

    profile: str | None
    owner: str | None
    confirm: str | None
    allowed: bool
    as_json: bool
    whole: bool

    @classmethod
    def take(cls, given: dict[str, Any]) -> Asked:
        """Takes its options out of a command's parameters."""
        return cls(
            given.pop("profile"),
            given.pop("owner"),
            given.pop("confirm"),
            given.pop("allow_writes"),
            given.pop("as_json"),
            given.pop("whole"),
        )


def gated_options(function: F) -> F:
    """--profile, --owner, --allow-writes, --confirm, --whole and --json."""
    options = (
        click.option(
            "--profile",
            type=ProfileName(),
            metavar="NAME",
            help="The profile to write under (else the configured one).",
        ),
        click.option("--owner", metavar="ID", help="The principal every row is written as."),
        click.option("--allow-writes", is_flag=True, help="Let this command write; without it nothing is."),
        click.option(
            "--confirm",
            metavar="LINEAGE",
            help="The name of the store's lineage: go through. Without it the preview is printed.",
        ),
        click.option("--whole", is_flag=True, help="Tell every call in the preview, and every value whole."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    )
    for option in reversed(options):
        function = option(function)
    return function


@contextmanager
def refusals_told(action: str, into: str, asked: Asked, source: str) -> Iterator[None]:
    """What refuses an action before it comes to the gate is in the journal as well."""
    from persistence.errors import StoreError

    try:
        yield
    except StoreError as error:
        from inspector.actions.gate import tell_refused
        from persistence import locate

        tell_refused(action, locate(into), error, profile=asked.profile, owner=asked.owner, source=source)
        raise


async def pass_gate(action: Action, into: str, asked: Asked, *, dry_run: bool = False) -> int:
    """Brings an action to the gate of the store `into`, and through it when every step holds."""
    from inspector import settings
    from inspector.actions.gate import Gate
    from inspector.actions.policy import WritePolicy
    from persistence import locate

    configured = settings.load()
    policy = WritePolicy.of(configured)
    gate = Gate(action, locate(into), allowed=asked.allowed, policy=policy)
    await gate.choose_profile(configured.profile if asked.profile is None else asked.profile)
    owned = gate.profile is not None and gate.profile.owner is not None
    gate.choose_owner(configured.owner if asked.owner is None and owned else asked.owner)
    await gate.admit()
    await gate.prepare(detailed=None if asked.whole else _detailed())
    gate.shown()
    if dry_run:
        return _dry(gate, asked)
    if asked.confirm is not None:
        gate.type_lineage(asked.confirm)
    if gate.is_open:
        return await _through(gate, asked)
    # Everything that is known is told before the refusal: the steps, and the preview where there is one.
    told = _told(gate)
    error = gate.refusal()
    assert error is not None
    outcome = gate.refused(error)
    return _end(told, outcome, asked, preview=True)


def _detailed() -> int:
    from inspector.actions.preview import DETAILED

    return DETAILED


def _dry(gate: Gate, asked: Asked) -> int:
    told = _told(gate)
    return _end(told, gate.tried(), asked, preview=True)


async def _through(gate: Gate, asked: Asked) -> int:
    told = _told(gate)
    line = progress_line(asked.as_json)
    try:
        outcome = await gate.run(line)
    except asyncio.CancelledError as error:
        if error.args and hasattr(error.args[0], "committed"):
            line.close()
            _end(told, error.args[0], asked, preview=False)
        raise
    line.close()
    return _end(told, outcome, asked, preview=False)


# -- what is told ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Told:
    """The gate as it was before it was shut."""

    store: dict[str, Any]
    steps: tuple[Any, ...]
    preview: Any


def _told(gate: Gate) -> _Told:
    from inspector.reports.actions import store_of

    return _Told(store_of(gate), gate.steps, gate.preview)


def _end(told: _Told, outcome: Outcome, asked: Asked, *, preview: bool) -> int:
    """Prints the answer and returns the exit code."""
    from inspector.cli.answered import Answered, HalfWay
    from inspector.reports import actions

    if asked.as_json:
        write(f"{actions.document_of(told.store, told.steps, told.preview, outcome)}\n")
    else:
        lines = list(actions.step_lines(told.steps))
        if preview and told.preview is not None:
            lines += actions.preview_lines(told.preview, whole=asked.whole)
        write("".join(f"{line}\n" for line in lines))
        for line in actions.outcome_lines(outcome):
            say(line)
    if isinstance(outcome.error, Exception):
        error = outcome.error
        if outcome.committed and outcome.event == "failed":
            error = HalfWay(error)
        if asked.as_json:
            error = Answered(error)
        raise error
    return 0


class progress_line:  # noqa: N801 (used as a function)
    """How far an action is, on one line of a terminal; in a pipe nothing is said until it is over."""

    def __init__(self, quiet: bool = False) -> None:
        self._shown = False
        with suppress(ValueError):
            quiet = quiet or not sys.stderr.isatty()
        self._quiet = quiet

    def __call__(self, told: Told) -> None:
        if self._quiet:
            return
        from inspector import safe

        total = "" if told.total is None else f" of {told.total:,}"
        sys.stderr.write(f"\r\x1b[K{told.done:,}{total}  {safe.text(told.what, limit=60)}")
        sys.stderr.flush()
        self._shown = True

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def run_gated(work: Callable[[], Awaitable[int]]) -> int:
    """Runs a command's asynchronous part. SIGTERM ends it as ctrl-c does: what was sent is waited for, a run
    is ended, copies are removed, and both raise KeyboardInterrupt."""

    async def go() -> int:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        # No such signals here, or not the main thread: ctrl-c is then all there is.
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal.SIGTERM, task.cancel)
        return await work()

    try:
        return asyncio.run(go())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
