"""`store-inspector prove PROFILE --store STORE`: the whole of ADR-0128 D8, on private scratch copies."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from inspector.cli.gated import run_gated
from inspector.cli.options import StoreName
from inspector.cli.profiles import ProfileName

if TYPE_CHECKING:
    from persistence.proof.proving import ProofStep
    from persistence.proof.scorecard import Scorecard


def _print_limits(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from inspector.cli.output import write
    from inspector.reports.proof import limits_lines
    from persistence.proof.limits import DEFAULTS

    write("".join(f"{line}\n" for line in limits_lines(DEFAULTS)))
    ctx.exit()


@click.command("prove")
@click.argument("profile", type=ProfileName())
@click.option(
    "--store",
    "stores",
    type=StoreName(),
    multiple=True,
    required=True,
    metavar="STORE",
    help="A store the managing application made; again for a migrated one.",
)
@click.option("--owner", metavar="ID", help="The principal whose runs are recorded.")
@click.option("--owner2", metavar="ID", help="A second principal, whose rows the first may not touch.")
@click.option(
    "--readback",
    metavar="CMD",
    help="The managing application's own reading command: STORE and SESSION are added to it.",
)
@click.option("--limits", metavar="FILE", help="A TOML file with what concurrency is held to.")
@click.option(
    "--seconds",
    type=click.FloatRange(0.1, 3600),
    default=5.0,
    show_default=True,
    help="How long item 7 goes on.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--print-limits",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_limits,
    help="Print the default limits as a file, and stop.",
)
def command(
    profile: str,
    stores: tuple[str, ...],
    owner: str | None,
    owner2: str | None,
    readback: str | None,
    limits: str | None,
    seconds: float,
    as_json: bool,
) -> int:
    """Prove a compatibility profile, item by item of ADR-0128 D8, before anybody writes under it.

    Everything runs on private copies that are removed at the end; a store that somebody uses is only read.
    The readback command is run without a shell, and answers one JSON object: `status` and `messages` (ids in
    order, or their number) are needed; `owner`, `session`, `found` and `problems` are compared when told.

    \b
    Examples:
      store-inspector prove acme-desk-fresh-run --store managed.db --owner kim --owner2 lee
      store-inspector prove ./desk.toml --store fresh.db --store migrated.db --owner kim --owner2 lee \\
          --readback "python -m inspector.demo.acme_desk readback" --seconds 60
      store-inspector prove --print-limits > limits.toml

    \b
    Exit codes: 0 every item held, 3 one did not, 4 no such store.
    """
    from inspector.cli.output import write
    from inspector.reports import proof
    from persistence.location import locate
    from persistence.profiles import load_profile
    from persistence.proof.limits import DEFAULTS, load_limits
    from persistence.proof.proving import Asked

    loaded = load_profile(profile)
    if loaded.owner is None and (owner or owner2):
        raise click.UsageError(f"The profile {loaded.identity} has no owner rule; no owner is named for it.")
    if loaded.owner is not None and owner is None:
        raise click.UsageError(f"The profile {loaded.identity} has an owner rule: name one with --owner.")
    owners = tuple(one for one in (owner, owner2) if one is not None) or (None,)
    asked = Asked(
        loaded,
        tuple(locate(store) for store in stores),
        owners,
        readback,
        DEFAULTS if limits is None else load_limits(limits),
        seconds,
    )

    async def proved() -> int:
        card = await _prove(asked)
        if as_json:
            write(f"{proof.document(card)}\n")
        else:
            write("".join(f"{line}\n" for line in proof.scorecard_lines(card)))
        return 0 if card.held else 3

    return run_gated(proved)


async def _prove(asked: Any) -> Scorecard:
    from persistence.proof.proving import prove

    return await prove(asked, _tell if sys.stderr.isatty() else lambda _step: None)


def _tell(step: ProofStep) -> None:
    """Where the proof is, on one line of the terminal; an item that is done stays."""
    from inspector.cli.output import say

    if step.item is not None:
        say(f"\r\x1b[K{'✓' if step.item.held else '✗'} {step.number}  {step.item.name}")
        return
    sys.stderr.write(f"\r\x1b[K… {step.number or ''}  {step.doing}")
    sys.stderr.flush()
