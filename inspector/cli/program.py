"""The program's commands by name; a command's module is imported when it is used, not to list it."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

import click
from click.shell_completion import CompletionItem

__all__ = ["COMMANDS", "COMPLETE_VARIABLE", "program"]

COMPLETE_VARIABLE = "_STORE_INSPECTOR_COMPLETE"

COMMANDS: dict[str, str] = {
    "open": "Open a store (or the place to choose one) in the terminal.",
    "demo": "Build a gallery of demo stores and open it.",
    "doctor": "Say whose store it is, what each open would do, and why.",
    "explain": "Explain a refusal: what it means, and what to do.",
    "runs": "List the runs of a store.",
    "run": "Show one run and its conversation.",
    "progression": "List the orders of messages, or one's positions and marks.",
    "artifacts": "List recorded outcomes, or the files expected of a run.",
    "definitions": "List authored texts and versions, and what changed.",
    "tables": "List a store's tables, or the rows of one.",
    "admit": "Say whether a managed store is admitted under a profile, and why.",
    "profile": "Derive, check, show, list and compare compatibility profiles.",
    "prove": "Prove a profile by every item of ADR-0128 D8, on scratch copies.",
    "copy-run": "Copy a run of any store into a managed one, through the gate.",
    "record": "Record a run from JSON Lines in a managed store.",
    "probe": "Write the smallest fresh run, to see that a store takes one.",
    "journal": "List what was written into managed stores, and refused.",
    "config": "Show the settings in force and where each comes from.",
    "completion": "Print the completion script for a shell.",
}
"""Each lives in `inspector.cli.commands.NAME` (`-` is `_` there) as `command`; the sentence is shown without
importing it."""


class Program(click.Group):
    """`store-inspector [STORE]` and `store-inspector COMMAND ...` in one."""

    special: ClassVar[frozenset[str]] = frozenset({"--help", "-h", "--version", "-V"})

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"inspector.cli.commands.{cmd_name.replace('-', '_')}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # What is not a command is a store: `store-inspector state.db`, `store-inspector --theme mono x.db`.
        # (A shell that completes the first word is still to be told the commands.)
        if ctx.resilient_parsing and not args:
            return super().parse_args(ctx, args)
        if not args or (args[0] not in COMMANDS and args[0] not in self.special):
            args = ["open", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        return [*super().shell_complete(ctx, incomplete), CompletionItem(incomplete, type="file")]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from inspector.version import __version__

    click.echo(f"store-inspector {__version__}")
    ctx.exit()


EXAMPLES = """\b
Examples:
  store-inspector                              the default store, or the place to choose one
  store-inspector ~/.lionagi/state.db          look into a store
  store-inspector postgresql://kim@host/state  a store on a server (password: PGPASSWORD, ~/.pgpass)
  store-inspector demo                         a gallery to try it on
  store-inspector doctor state.db              what is this, and how is it read?
  store-inspector runs state.db --status failed --since 2d --json
  store-inspector admit managed.db --profile acme-desk-fresh-run --owner kim

A store is a SQLite file, a file: URI, or a sqlite: or postgresql: URL. Without one:
$LIONAGI_STATE_DB_URL, else $LIONAGI_HOME/state.db, else ~/.lionagi/state.db. Nothing of a store is
changed. A store named like a command is written ./NAME.

Exit codes: 0 done, 1 our fault, 2 usage, 3 refused, 4 no such store, no connection or busy,
130 interrupted."""

program: Any = Program(
    name="store-inspector",
    help=f"Look into the state store of an agent orchestrator, read-only.\n\n{EXAMPLES}",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=[
        click.Option(
            ["-V", "--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Show the version and exit.",
        )
    ],
    subcommand_metavar="[STORE] | COMMAND [ARGS]...",
    options_metavar="",
)
