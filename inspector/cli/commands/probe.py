"""`store-inspector probe STORE`: whether a managed store takes a profile today, by the smallest fresh run."""

from __future__ import annotations

from typing import Any

import click

from inspector.cli.gated import Asked, gated_options, pass_gate, run_gated
from inspector.cli.options import store_argument


@click.command("probe")
@store_argument(required=True)
@click.option("--dry-run", is_flag=True, help="Everything up to opening the writer, which is not opened.")
@gated_options
def command(store: str, dry_run: bool, **given: Any) -> int:
    """Prove that a managed store accepts a profile today: write the smallest complete fresh run into it.

    The run is marked as a probe by its name and its metadata, and stays in the store. With --dry-run nothing
    is written, and neither --allow-writes nor --confirm is needed.

    \b
    Examples:
      store-inspector probe managed.db --profile acme-desk-fresh-run --owner kim --dry-run
      store-inspector probe managed.db --profile acme-desk-fresh-run --owner kim
      store-inspector probe managed.db --profile acme-desk-fresh-run --owner kim \\
          --allow-writes --confirm acme-desk
    """
    from inspector.actions.probe import Probe

    asked = Asked.take(given)

    return run_gated(lambda: pass_gate(Probe(), store, asked, dry_run=dry_run))
