"""`store-inspector profile derive|lint|show|list|diff`: compatibility profiles made, checked and compared."""

from __future__ import annotations

import click

from inspector.cli.options import json_option, store_argument
from inspector.cli.profiles import OperationName, ProfileName


@click.group("profile")
def command() -> None:
    """Make, check, show, list and compare compatibility profiles.

    A profile says which part of another application's store was checked, and what may be written into it.
    It is a TOML document, found by name in the user's directory (`config show` says where) and among the
    shipped ones, or named by its path. From a store to a profile: derive it, write every reason that says
    TO FILL IN, and lint it until nothing is left.

    \b
    Examples:
      store-inspector profile derive managed.db --name desk > desk.toml
      store-inspector profile lint desk.toml
      store-inspector admit managed.db --profile ./desk.toml --owner kim
    """


@command.command("derive", short_help="Write a starting document from a live store.")
@store_argument(required=True)
@click.option(
    "--operations",
    "listed",
    metavar="OP,OP",
    help="The operations it is for, with commas. Without: all of a run's that the store can take.",
)
@click.option("--operation", "single", type=OperationName(), multiple=True, metavar="OP", help="One more.")
@click.option("--name", metavar="NAME", help="The profile's name: lower-case words with hyphens.")
@click.option("--version", type=click.IntRange(min=1), default=1, show_default=True, help="Its version.")
@json_option
def derive(
    store: str, listed: str | None, single: tuple[str, ...], name: str | None, version: int, as_json: bool
) -> None:
    """Write a starting document from a live store: what is there, and a mark for every reason to fill in.

    It goes to standard output. Nothing is invented: what the columns mean is for its author to find out, and
    `profile lint` refuses the document until every mark is gone.

    \b
    Examples:
      store-inspector profile derive managed.db > desk.toml
      store-inspector profile derive managed.db --operations create_progression,insert_message --name notes
    """
    from inspector.cli.output import say, write
    from inspector.reports import shapes
    from persistence.location import locate
    from persistence.profiles import derive as deriving
    from persistence.profiles.lint import lint_text

    words = [word.strip() for word in (listed or "").split(",") if word.strip()]
    text = deriving.derive(
        locate(store), tuple(dict.fromkeys((*words, *single))) or None, name=name, version=version
    )
    found = lint_text(text, "the document")
    marks = sum(remark.kind == "fill" for remark in found.remarks)
    if as_json:
        write(f"{shapes.document(document=text, to_fill=marks)}\n")
        return
    write(text)
    if marks:
        say(f"▲ {marks} reasons are to be written (TO FILL IN); then: store-inspector profile lint FILE")


@command.command("lint", short_help="Check a document: every fault, line and key.")
@click.argument("profile", type=ProfileName(), metavar="PROFILE")
@json_option
def lint(profile: str, as_json: bool) -> int:
    """Check a profile's document: every fault with its line and key, and what is worth a look.

    \b
    Examples:
      store-inspector profile lint desk.toml
      store-inspector profile lint acme-desk-fresh-run --json

    \b
    Exit codes: 0 the profile can be used, 3 it cannot.
    """
    from inspector.cli.output import write
    from inspector.reports import profiles, shapes
    from persistence.profiles.lint import lint

    found = lint(profile)
    if as_json:
        write(f"{shapes.document(**profiles.linted_shape(found))}\n")
    else:
        write("".join(f"{line}\n" for line in profiles.linted_lines(found)))
    return 0 if found.clean else 3


@command.command("show", short_help="Show what a profile says.")
@click.argument("profile", type=ProfileName(), metavar="PROFILE")
@click.option("--manifest", is_flag=True, help="Also every operation: its statements, rows and guarantees.")
@click.option("--json", "form", flag_value="json", help="Print one JSON object.")
@click.option("--markdown", "form", flag_value="markdown", help="Print a page of documentation.")
@click.option("--toml", "form", flag_value="toml", help="Print the document itself, in its plain form.")
def show(profile: str, manifest: bool, form: str | None) -> None:
    """Show what a profile says: the store it is for, what may be written, and what is left out and why.

    \b
    Examples:
      store-inspector profile show acme-desk-fresh-run
      store-inspector profile show ./desk.toml --manifest --markdown > desk.md
      store-inspector profile show acme-desk-fresh-run --toml > mine.toml
    """
    from inspector.cli.output import write
    from inspector.reports import profiles, shapes
    from persistence.profiles.catalogue import load_profile
    from persistence.profiles.dump import dump

    if form == "toml" and manifest:
        raise click.UsageError("--toml is the document alone.")
    found = load_profile(profile)
    reference = None
    if manifest:
        from persistence.writing.compatibility.manifest import reference as reference_of

        reference = reference_of(found)
    if form == "toml":
        write(dump(found))
    elif form == "markdown":
        write(profiles.profile_markdown(found, reference))
    elif form == "json":
        write(f"{shapes.document(**profiles.profile_shape(found, reference))}\n")
    else:
        write("".join(f"{line}\n" for line in profiles.profile_lines(found, reference)))


@command.command("list", short_help="List the profiles found by name.")
@json_option
def list_(as_json: bool) -> None:
    """List the profiles that are found by name: the user's own and the shipped ones."""
    from inspector.cli.output import write
    from inspector.reports import profiles, shapes
    from persistence.profiles.catalogue import entries

    found = entries()
    if as_json:
        rows = [profiles.entry_shape(one) for one in found]
        write(f"{shapes.document(rows=rows, next=None, complete=True)}\n")
    else:
        write("".join(f"{line}\n" for line in profiles.entry_lines(found)))


@command.command("diff", short_help="Show what differs between two, or from a store.")
@click.argument("a", type=ProfileName(), metavar="A")
@click.argument("b", type=ProfileName(), metavar="B")
@json_option
def diff(a: str, b: str, as_json: bool) -> None:
    """Show what differs between two profiles, or between profile A and a store B.

    B is a profile when it ends in .toml or is a profile's name, else a store. Structure is compared by
    meaning, as admission compares it: what makes no difference there makes none here.

    \b
    Examples:
      store-inspector profile diff acme-desk-fresh-run ./mine.toml
      store-inspector profile diff acme-desk-fresh-run managed.db --json
    """
    from inspector.cli.output import write
    from inspector.reports import profiles, shapes
    from persistence.profiles import diff as comparing
    from persistence.profiles.catalogue import load_profile, names_a_profile

    first = load_profile(a)
    read = None
    if names_a_profile(b):
        second = load_profile(b)
        title, found = second.identity, comparing.diff(first, second)
    else:
        from persistence.location import locate

        location = locate(b)
        found, read = comparing.diff_store(first, location)
        title = location.display
    if as_json:
        write(f"{shapes.document(**profiles.diff_shape(first.identity, title, found, read))}\n")
    else:
        write("".join(f"{line}\n" for line in profiles.diff_lines(first.identity, title, found)))
