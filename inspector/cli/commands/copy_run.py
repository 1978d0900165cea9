"""`store-inspector copy-run STORE RUN --into STORE2`: a run of any store as a fresh one in another."""

from __future__ import annotations

from typing import Any

import click

from inspector.cli.gated import Asked, gated_options, pass_gate, progress_line, refusals_told, run_gated
from inspector.cli.options import StoreName, store_argument


@click.command("copy-run")
@store_argument(required=True)
@click.argument("run", metavar="RUN")
@click.option("--into", required=True, type=StoreName(), metavar="STORE2", help="The managed store.")
@click.option(
    "--leave-out",
    multiple=True,
    type=click.Choice(["duplicates", "dangling", "unreadable", "order", "history"]),
    help="Go on without these (again for several): entries that stand twice, that name nothing, values that "
    "cannot be written, orders that contradict each other, a history the rules do not allow.",
)
@gated_options
def command(store: str, run: str, into: str, leave_out: tuple[str, ...], **given: Any) -> int:
    """Record a run of any readable store as a fresh run in a managed store.

    STORE is read and stays as it is. RUN is the run's id, its run id, or the beginning of one. The session,
    its branches, orders, messages, signals and status changes are copied. Ids are kept; where one is taken
    in the managed store the copy is refused. A copy that was stopped is never gone on with: the refusal says
    what was committed.

    \b
    Examples:
      store-inspector copy-run state.db 0f3c2a91 --into managed.db \\
          --profile acme-desk-fresh-run --owner kim
      store-inspector copy-run state.db 0f3c2a91 --into managed.db \\
          --profile acme-desk-fresh-run --owner kim --leave-out dangling \\
          --allow-writes --confirm acme-desk
    """
    asked = Asked.take(given)
    return run_gated(lambda: _copy(store, run, into, leave_out, asked))


async def _copy(store: str, run: str, into: str, leave_out: tuple[str, ...], asked: Asked) -> int:
    from inspector.actions.copying import CopyRun
    from persistence import StateDB, locate

    line = progress_line(asked.as_json)
    source = StateDB(locate(store))
    with refusals_told("copy-run", into, asked, f"{source.location.display} {run}"):
        await source.open()
    try:
        return await pass_gate(CopyRun(source, run, leave_out, line), into, asked)
    finally:
        line.close()
        await source.close()
