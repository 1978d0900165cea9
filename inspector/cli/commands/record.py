"""`store-inspector record [FILE] --into STORE`: a run told in JSON Lines, recorded in a managed store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from inspector.cli.gated import Asked, gated_options, pass_gate, refusals_told, run_gated
from inspector.cli.options import StoreName

if TYPE_CHECKING:
    from inspector.actions.record import Record


class _Shapes(click.Command):
    """Its help ends with the shapes of the lines, made from what they are checked with."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from inspector.actions.record_fields import shape_lines

        with formatter.section("Lines"):
            for line in shape_lines():
                formatter.write(f"  {line}\n")


@click.command("record", cls=_Shapes)
@click.argument("file", required=False, default="-", metavar="[FILE]", type=click.Path(allow_dash=True))
@click.option("--into", required=True, type=StoreName(), metavar="STORE", help="The managed store.")
@gated_options
def command(file: str, into: str, **given: Any) -> int:
    """Record a run from JSON Lines on standard input (or in FILE) into a managed store.

    One object a line with its kind: session first, then branches, messages, signals and status changes,
    then end. Every line is checked, and a line that cannot be recorded is refused with its number. A FILE is
    checked whole before anything is written; standard input is recorded as it comes. Input that stops
    without end records the run as aborted, with that as the reason.

    \b
    Examples:
      store-inspector record run.jsonl --into managed.db --profile acme-desk-fresh-run --owner kim
      my-agent | store-inspector record --into managed.db \\
          --profile acme-desk-fresh-run --owner kim --allow-writes --confirm acme-desk
    """
    asked = Asked.take(given)
    return run_gated(lambda: _record(file, into, asked))


async def _record(file: str, into: str, asked: Asked) -> int:
    from inspector.cli.input_lines import input_of

    live = asked.confirm is not None and asked.allowed
    with refusals_told("record", into, asked, "standard input" if file == "-" else file):
        action: Record = await input_of(file, into, live=live)
    return await pass_gate(action, into, asked)
