"""A process that records until it is killed: every message it says is kept was committed (D8, item 9).

`python -m persistence.proof.recorder STORE PROFILE [OWNER]` prints the session's id, then each message's id
after its transaction was committed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence

from persistence.proof.lifecycle import message
from persistence.runs import RunRecorder
from persistence.statedb import StateDB

__all__ = ["main"]


def main(arguments: Sequence[str]) -> int:
    store, profile, *owner = arguments
    asyncio.run(_record(store, profile, owner[0] if owner else None))
    return 0


async def _record(store: str, profile: str, owner: str | None) -> None:
    async with StateDB(store, profile=profile, owner=owner) as db:
        recorder = RunRecorder(db)
        await recorder.begin(name="proof: recovery")
        _say(recorder.session_id)
        number = 0
        while True:
            said = message(number, recorder.session_id)
            await recorder.message(said)
            _say(said["id"])
            number += 1


def _say(word: str) -> None:
    os.write(1, word.encode() + b"\n")  # nothing buffered: what was said is what was committed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
