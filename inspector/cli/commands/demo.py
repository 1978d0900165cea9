"""`store-inspector demo`: a gallery of stores to try the program on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from inspector.cli.options import json_option

if TYPE_CHECKING:
    from inspector.demo.session import Gallery


@click.command("demo")
@click.option("--dir", "folder", type=click.Path(file_okay=False), help="Build it there and leave it there.")
@click.option("--build-only", is_flag=True, help="Stop after building; print what is where.")
@click.option(
    "--allow-writes", is_flag=True, help="Begin at the gate of the managed store, which may then be written."
)
@json_option
def command(folder: str | None, build_only: bool, allow_writes: bool, as_json: bool) -> int:
    """Build a gallery of demo stores in a temporary directory and open it.

    One of them is being written while you look. The gallery is removed when you leave, unless --dir or
    --build-only was given.

    \b
    Examples:
      store-inspector demo
      store-inspector demo --dir ./gallery
      store-inspector demo --build-only --json
      store-inspector demo --allow-writes
    """
    from inspector.demo.session import build_gallery, gallery

    where = Path(folder).absolute() if folder else None
    if build_only:
        _print(build_gallery(where), as_json)
        return 0
    if as_json:
        raise click.UsageError("--json is for --build-only.")
    from inspector.cli.commands.open import need_terminal, start

    need_terminal()
    with gallery(where) as shown:
        if not allow_writes:
            return start(None, gallery=shown.folder)
        desk = next(card.store for card in shown.cards if card.name == "desk")
        return start(desk, at="actions", gallery=shown.folder, allow_writes=True)


def _print(built: Gallery, as_json: bool) -> None:
    from inspector.cli.listing import say, write
    from inspector.demo.gallery import shape
    from inspector.reports import shapes

    if as_json:
        rows = [shape(card) for card in built.cards]
        write(f"{shapes.document(folder=str(built.folder), rows=rows, next=None, complete=True)}\n")
        return
    for card in built.cards:
        write(f"{card.store}\n    {card.title}: {card.holds}\n")
    say(f"open one with: store-inspector {built.cards[0].store}")
