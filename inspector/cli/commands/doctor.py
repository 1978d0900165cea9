"""`store-inspector doctor STORE`: whose store it is, how it is read, what each open would do, and why."""

from __future__ import annotations

import click

from inspector.cli.options import json_option, store_argument


@click.command("doctor")
@store_argument(required=False)
@json_option
@click.option("--trace", is_flag=True, help="Also show every read that was made and every rule asked.")
def command(store: str | None, as_json: bool, trace: bool) -> int:
    """Say whose store it is, how it is read, and what each way of opening it would do.

    \b
    Examples:
      store-inspector doctor ~/.lionagi/state.db
      store-inspector doctor state.db --trace
      store-inspector doctor state.db --json | python3 -m json.tool

    \b
    Exit codes: 0 a native open would take it, 3 it would be refused, 4 no such store. Nothing is changed.
    """
    from inspector.cli.examined import Asked, tell

    return tell(Asked(store, as_json, trace))
