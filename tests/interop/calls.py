"""Opens a store natively with the lionagi this script's Python has, makes calls, and tells what came back.

`calls.py STORE CALLS ANSWERS`: STORE is a path or a database URL; CALLS a JSON list of [method, positional,
named]; ANSWERS gets a JSON list of {"returns": value} or {"raises": type, "says": text}.
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")

from lionagi.state import StateDB  # noqa: E402


async def main(store: str, calls: Path, answers: Path) -> None:
    db = StateDB(url=store) if "://" in store else StateDB(path=store)
    await db.open()
    told = []
    try:
        for method, positional, named in json.loads(calls.read_text("utf-8")):
            for name in ("expected_statuses",):
                if isinstance(named.get(name), list):
                    named[name] = set(named[name])
            try:
                told.append({"returns": await getattr(db, method)(*positional, **named)})
            except Exception as error:
                told.append({"raises": type(error).__name__, "says": str(error)[:300]})
    finally:
        await db.close()
    answers.write_text(json.dumps(told, default=repr), "utf-8")


asyncio.run(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
