"""`store-inspector admit STORE --profile P`: whether a managed store is admitted, every finding, and why."""

from __future__ import annotations

import click

from inspector.cli.options import store_argument
from inspector.cli.profiles import OperationName, choose, profile_options


@click.command("admit")
@store_argument(required=True)
@profile_options
@click.option(
    "--operation",
    "operations",
    type=OperationName(),
    multiple=True,
    metavar="OP",
    help="An operation that is meant to be used; again for another. Without: all the profile names.",
)
@click.option("--trace", is_flag=True, help="Also show every read that was made and every rule asked.")
@click.option("--json", "form", flag_value="json", help="Print one JSON object.")
@click.option("--markdown", "form", flag_value="markdown", help="Print the report for a ticket.")
def command(
    store: str,
    profile: str | None,
    owner: str | None,
    operations: tuple[str, ...],
    trace: bool,
    form: str | None,
) -> int:
    """Say whether a store another application manages is admitted under a profile, and why not.

    Everything that speaks against it is told at once: what was expected, what was found, why it matters and
    who has to do what. The profile and the owner are those of the flags or of the configuration file; none
    is ever picked. Nothing of the store is changed, whatever the answer.

    \b
    Examples:
      store-inspector admit managed.db --profile acme-desk-fresh-run --owner kim
      store-inspector admit managed.db --profile ./desk.toml --operation create_session --trace
      store-inspector admit managed.db --profile acme-desk-fresh-run@1 --owner kim --markdown > ticket.md

    \b
    Exit codes: 0 admitted, 3 not admitted, 4 no such store or busy.
    """
    from inspector.cli.output import write
    from inspector.reports import admission
    from persistence.location import locate
    from persistence.profiles.admission import admit

    chosen = choose(profile, owner)
    report = admit(locate(store), chosen.profile, owner=chosen.owner, operations=operations)
    if form == "json":
        write(f"{admission.document(report)}\n")
    elif form == "markdown":
        write(admission.markdown(report))
    else:
        write("".join(f"{line}\n" for line in admission.admission_lines(report, trace=trace)))
    return admission.exit_status(report)
