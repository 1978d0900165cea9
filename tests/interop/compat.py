"""Records a run into a managed store with the compatibility mode of the lionagi this script's Python has.

`compat.py STORE JOB ANSWERS`: JOB is a JSON object with `writes`, `operations`, `tables`, `owner` (what the
profile says) and `calls`, a list of [method, positional, named], or `messages`, a number of live messages to
be timed after them. ANSWERS gets `returns`, one for each call, and `seconds`.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import time
import warnings
from pathlib import Path

warnings.simplefilter("ignore")

from lionagi.state import CompatibilityProfile, StateDB  # noqa: E402
from lionagi.state.compat import OwnerRule, TableWrites, read_closure  # noqa: E402

PRIVATE = {"persist_live_message": "_persist_live_message"}


async def main(store: str, job: Path, answers: Path) -> None:
    asked = json.loads(job.read_text("utf-8"))
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    closure = read_closure(connection, asked["tables"])
    connection.close()
    writes = {
        table: TableWrites(frozenset(rule["insert"]), frozenset(rule["update"]), rule["unwritten"])
        for table, rule in asked["writes"].items()
    }
    profile = CompatibilityProfile(
        name="acme-desk",
        version=1,
        closure=closure,
        writes=writes,
        operations=frozenset(asked["operations"]),
        owner=OwnerRule("owner_id", "principals", "id"),
    )
    db = StateDB(path=store, compatibility=profile, owner=asked["owner"])
    await db.open()
    told = []
    for method, positional, named in asked["calls"]:
        told.append(await getattr(db, PRIVATE.get(method, method))(*positional, **named))
    seconds = None
    if asked.get("messages"):
        live = PRIVATE["persist_live_message"]
        began = time.perf_counter()
        for number in range(asked["messages"]):
            message = {**asked["message"], "id": f"live-{number}"}
            await getattr(db, live)(message, **asked["named"])
        seconds = time.perf_counter() - began
    await db.close()
    answers.write_text(json.dumps({"returns": told, "seconds": seconds}, default=repr), "utf-8")


asyncio.run(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
