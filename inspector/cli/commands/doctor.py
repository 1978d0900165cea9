"""`store-inspector doctor STORE`: whose store it is, how it is read, what each open would do, and why."""

from __future__ import annotations

import click

from inspector.cli.options import json_option, store_argument
from inspector.cli.profiles import choose, profile_options


@click.command("doctor")
@store_argument(required=False)
@json_option
@click.option("--trace", is_flag=True, help="Also show every read that was made and every rule asked.")
@profile_options
def command(store: str | None, as_json: bool, trace: bool, profile: str | None, owner: str | None) -> int:
    """Say whose store it is, how it is read, and what each way of opening it would do.

    With --profile also whether it is admitted under that profile, as `admit` says it.

    \b
    Examples:
      store-inspector doctor ~/.lionagi/state.db
      store-inspector doctor state.db --trace
      store-inspector doctor state.db --json | python3 -m json.tool
      store-inspector doctor managed.db --profile acme-desk-fresh-run --owner kim

    \b
    Exit codes: 0 a native open would take it (with --profile: it is admitted), 3 it would be refused,
    4 no such store. Nothing is changed.
    """
    from inspector.cli.examined import Asked, tell

    if profile is None and owner is not None:
        raise click.UsageError("--owner is for --profile.")
    chosen = None if profile is None else choose(profile, owner)
    if chosen is None:
        return tell(Asked(store, as_json, trace))
    return tell(Asked(store, as_json, trace, chosen.profile, chosen.owner))
