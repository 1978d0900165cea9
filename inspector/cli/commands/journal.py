"""`store-inspector journal [WORDS]`: what was written into managed stores, and what was refused."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from inspector.cli.options import Listing, listing_options


@click.command("journal")
@click.argument("filter", nargs=-1, metavar="[FILTER]...")
@click.option("--entry", metavar="ID", help="All the journal has of one action, by the beginning of its id.")
@listing_options
def command(filter: tuple[str, ...], entry: str | None, **given: Any) -> int:
    """List the actions on managed stores and their refusals, the newest first.

    FILTER narrows as it does in the application: action:record outcome:refused owner:kim store:managed
    profile:acme lineage:acme-desk run:0f3c code:id-taken since:2d until:2026-03-04, and words to find.

    \b
    Examples:
      store-inspector journal
      store-inspector journal outcome:refused since:7d
      store-inspector journal --csv --limit 0 > actions.csv
      store-inspector journal --entry 4f1c --json
    """
    asked = Listing.take(given)
    if entry is not None:
        if asked.form not in ("text", "json"):
            raise click.UsageError("--entry answers as text or with --json.")
        return asyncio.run(_entry(entry, asked.form))
    return asyncio.run(_list(" ".join(filter), asked))


async def _list(line: str, asked: Listing) -> int:
    from inspector import safe
    from inspector.actions.journal import journal_files
    from inspector.actions.journal_query import parse
    from inspector.actions.journal_source import journal_source
    from inspector.cli.listing import list_rows, say

    query = parse(line)
    for problem in query.problems:
        say(f"▲ {safe.text(problem)}")
    source = await journal_source(query)
    files = journal_files()
    where = str(files[-1]) if files else "no journal yet"
    return await list_rows(None, source, asked, what="actions", where=where)


async def _entry(wanted: str, form: str) -> int:
    from inspector.cli.output import write
    from inspector.reports.journal import entry_document, entry_lines, found_entries

    entries = await found_entries(wanted)
    if form == "json":
        write(f"{entry_document(entries)}\n")
    else:
        write("".join(f"{line}\n" for line in entry_lines(entries)))
    return 0
