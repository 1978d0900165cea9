"""The desk's own command; everything it says is one JSON object on standard output.

It ends with 0; with 3 when `check` found something that does not hold, or `show` nothing to show; with 1
and `{"error": ...}` when it would not.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspector.demo.acme_desk import VERSION, VERSIONS, DeskError
from inspector.demo.acme_desk.invariants import clocks, problems, went_back
from inspector.demo.acme_desk.migrations import migrate
from inspector.demo.acme_desk.reading import detail, listing, readback, stream
from inspector.demo.acme_desk.store import initialize, opened
from inspector.demo.acme_desk.work import checkpoint_loop, write_loop

__all__ = ["main"]


def main(words: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(words)
    try:
        answer, code = _COMMANDS[asked.command](asked)
    except (DeskError, sqlite3.Error, OSError, ValueError) as error:
        answer, code = {"error": str(error)}, 1
    sys.stdout.write(json.dumps(answer, ensure_ascii=False, default=_bytes) + "\n")
    return code


def _bytes(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else repr(value)


Answer = tuple[dict[str, Any], int]


def _init(asked: argparse.Namespace) -> Answer:
    initialize(asked.store, asked.schema, sample=asked.sample)
    return {"store": str(asked.store), "schema": asked.schema}, 0


def _migrate(asked: argparse.Namespace) -> Answer:
    before, after = migrate(asked.store)
    return {"store": str(asked.store), "before": before, "schema": after}, 0


def _list(asked: argparse.Namespace) -> Answer:
    with opened(asked.store) as connection:
        return {"owner": asked.owner, "sessions": listing(connection, asked.owner)}, 0


def _show(asked: argparse.Namespace) -> Answer:
    with opened(asked.store) as connection:
        found = detail(connection, asked.session, asked.owner)
    return ({"found": True, **found}, 0) if found is not None else ({"found": False}, 3)


def _stream(asked: argparse.Namespace) -> Answer:
    with opened(asked.store) as connection:
        events = stream(connection, asked.session, asked.owner)
    return {"session": asked.session, "events": events}, 0 if events else 3


def _readback(asked: argparse.Namespace) -> Answer:
    with opened(asked.store) as connection:
        said = readback(connection, asked.session)
    return said, 0 if said["found"] and not said["problems"] else 3


def _check(asked: argparse.Namespace) -> Answer:
    with opened(asked.store) as connection:
        found, now = list(problems(connection)), clocks(connection)
    if asked.earlier is not None:
        found += went_back(json.loads(asked.earlier.read_text("utf-8"))["clocks"], now)
    return {"problems": found, "clocks": now}, 3 if found else 0


def _write(asked: argparse.Namespace) -> Answer:
    return write_loop(
        asked.store, asked.owner, rounds=asked.rounds, seconds=asked.seconds, pause=asked.pause
    ), 0  # fmt: skip


def _checkpoint(asked: argparse.Namespace) -> Answer:
    return checkpoint_loop(
        asked.store, rounds=asked.rounds, seconds=asked.seconds, mode=asked.mode, pause=asked.pause
    ), 0  # fmt: skip


_COMMANDS = {
    "init": _init, "migrate": _migrate, "list": _list, "show": _show, "stream": _stream, "check": _check,
    "readback": _readback, "write": _write, "checkpoint": _checkpoint,
}  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="acme-desk", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, says: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=says)
        made.add_argument("store", type=Path)
        return made

    init = command("init", "make a new store")
    init.add_argument("--schema", type=int, choices=VERSIONS, default=VERSION)
    init.add_argument("--sample", action="store_true", help="with a few rows of lee's and kim's")
    command("migrate", "bring an older store to today's schema")
    command("list", "the runs, newest first").add_argument("--owner")
    for name, says in (("show", "one run whole"), ("stream", "one run as it happened")):
        one = command(name, says)
        one.add_argument("session")
        one.add_argument("--owner")
    command("readback", "one run, by all three ways, and what does not hold").add_argument("session")
    check = command("check", "whether everything holds that must")
    check.add_argument("--earlier", type=Path, help="an earlier answer: clocks must not have gone back")
    for name, says in (
        ("write", "tickets and runs of its own"),
        ("checkpoint", "fold the log into the file"),
    ):
        loop = command(name, says)
        loop.add_argument("--rounds", type=int)
        loop.add_argument("--seconds", type=float)
        loop.add_argument("--pause", type=float, default=0.0 if name == "write" else 0.05)
        if name == "write":
            loop.add_argument("--owner", default="lee")
        else:
            loop.add_argument("--mode", choices=("PASSIVE", "FULL", "RESTART", "TRUNCATE"), default="PASSIVE")
    return parser


if __name__ == "__main__":
    sys.exit(main())
