"""`store-inspector [STORE]`: the application, on a store or at the place to choose one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from inspector.cli.options import store_argument


@click.command("open")
@store_argument(required=False)
@click.option("--at", metavar="PLACE", help="Where to begin: runs, run/ID, tables/NAME, ...")
@click.option("--theme", help="Use this theme, this time.")
@click.option("--no-history", is_flag=True, help="Do not remember that this store was opened.")
@click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal.")
@click.option("--no-follow", is_flag=True, help="Do not follow a store as it grows.")
@click.option(
    "--allow-writes", is_flag=True, help="Let 0 Actions write into a managed store, through its gate."
)
def command(
    store: str | None,
    at: str | None,
    theme: str | None,
    no_history: bool,
    no_mouse: bool,
    no_follow: bool,
    allow_writes: bool,
) -> int:
    """Open a store in the terminal, read-only. Without STORE: the default one, or the place to choose one.

    With --allow-writes one place, 0 Actions, can write: under a profile, as an owner, after its preview, and
    when the name of the store's lineage was typed. Everything else reads as it does without it.

    \b
    Examples:
      store-inspector state.db
      store-inspector state.db --at tables/messages
      store-inspector --no-history postgresql://kim@host/state
      store-inspector --allow-writes managed.db --at actions
    """
    flags = {
        "theme": theme,
        "history": False if no_history else None,
        "mouse": False if no_mouse else None,
        "follow": False if no_follow else None,
    }
    if at is not None:
        _check_place(at)
    return start(store, at=at, flags=flags, allow_writes=allow_writes)


def _check_place(at: str) -> None:
    """An address that names no place is told here; the application would have to begin somewhere else."""
    from inspector.navigation import Address
    from inspector.screens import PLACES, place_info

    try:
        info = place_info(Address.parse(at).place)
    except ValueError:
        info = None
    if info is None:
        known = ", ".join(place.name for place in PLACES if place.key)
        raise click.BadParameter(f"{at!r} names no place; {known} and run/ID are", param_hint="--at")


def start(
    store: str | None,
    *,
    at: str | None = None,
    flags: Mapping[str, object] | None = None,
    gallery: Path | None = None,
    allow_writes: bool = False,
) -> int:
    """Runs the application; its exit code. A store that is not there is refused here, in the shell."""
    import os

    from inspector import settings
    from persistence import StoreMissingError, locate

    location = None
    if store is not None:
        location = locate(store)
        if location.path is not None and not os.path.lexists(location.path):
            raise StoreMissingError(
                "There is no such store, and nothing was created.",
                where=location.display,
                remedy=_meant(store) or "Look at the name; store-inspector alone shows where stores are.",
            )
    elif gallery is None:
        default = locate(None)
        if default.origin != "default" or (default.path is not None and os.path.lexists(default.path)):
            location = default
    need_terminal()
    config = settings.load(flags)
    from inspector.app import run

    return run(location, start_place=at, config=config, gallery=gallery, allow_writes=allow_writes)


def need_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError(
            "The application needs a terminal. In a pipe use: doctor, runs, run, tables (see --help)."
        )


def _meant(store: str) -> str | None:
    """A word that is nearly a command was probably meant as one."""
    import difflib

    from inspector.cli.program import COMMANDS

    close = difflib.get_close_matches(store, COMMANDS, n=1)
    return f"The command {close[0]}? See store-inspector --help." if close else None
