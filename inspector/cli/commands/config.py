"""`store-inspector config show`: the settings in force and where each comes from."""

from __future__ import annotations

import click

from inspector.cli.options import json_option


@click.group("config")
def command() -> None:
    """Show the settings in force and where each comes from."""


@command.command("show")
@json_option
def show(as_json: bool) -> None:
    """Print every setting, its value and its origin, and where this program's own files are.

    A setting comes from its default, the configuration file, the environment or the command line, the later
    of these winning.
    """
    from inspector import places, safe, settings
    from inspector.cli.listing import say, write
    from inspector.reports import shapes

    found = settings.load()
    where = {
        "config": str(found.file),
        "profiles": str(places.profiles_dir()),
        "state": str(places.state_dir()),
        "cache": str(places.cache_dir()),
    }
    if as_json:
        rows = [
            {
                "name": setting.name,
                "value": shapes.value(found.value(setting.name)),
                "origin": found.origins[setting.name],
                "variable": setting.variable,
                "says": setting.says,
            }
            for setting in settings.SETTINGS
        ]
        notices = list(found.notices)
        write(f"{shapes.document(rows=rows, next=None, complete=True, places=where, notices=notices)}\n")
        return
    for setting in settings.SETTINGS:
        value = shapes.dumps(found.value(setting.name))
        write(f"{setting.name:<8}  {value:<14}  {safe.text(found.origins[setting.name])}\n")
        write(f"{'':<8}  {setting.says}\n")
    write("\n")
    for name, path in where.items():
        write(f"{name:<8}  {safe.text(path)}\n")
    for notice in found.notices:
        say(f"▲ {safe.text(notice)}")
