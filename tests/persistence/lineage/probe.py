"""Examining stores in another process: with rights that count, whoever runs the tests.

`python -m tests.persistence.lineage.probe` reads a JSON list of stores from stdin (how each is spelled, and
the directory to stand in) and prints what became of each.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
_PR_CAPBSET_DROP = 24
_DAC = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH: what lets root read anything


def answer(spelled: str) -> dict[str, Any]:
    """The verdicts on a store, as plain data."""
    from persistence.errors import StoreError
    from persistence.lineage import examine
    from persistence.location import locate

    try:
        report = examine(locate(spelled))
    except StoreError as error:
        return {"raised": type(error).__name__, "native": type(error).__name__}
    refusal = report.native.refusal
    return {
        "native": "opened" if report.native.opens else type(refusal).__name__,
        "code": refusal.code if refusal is not None else None,
        "by": report.native.by,
        "read_only": report.read_only.opens,
        "route": report.read_only.route,
        "kernel_held": report.kernel_held,
        "rows": None if report.seen is None else list(map(repr, report.seen.lineage)),
    }


def _as_others() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in _DAC:
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def examine_elsewhere(
    stores: Sequence[tuple[Path, str]], *, as_user: bool = False, prefix: Sequence[str] = (), **environ: str
) -> list[dict[str, Any]]:
    """What another process says of stores (the directory it stands in, the spelling), one after another."""
    done = subprocess.run(
        [*prefix, sys.executable, "-m", "tests.persistence.lineage.probe"],
        input=json.dumps([(str(folder), spelled) for folder, spelled in stores]),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        timeout=120,
        env={**os.environ, **environ},
        preexec_fn=_as_others if as_user else None,
    )
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def main() -> None:
    answers = []
    for folder, spelled in json.load(sys.stdin):
        os.chdir(folder)
        answers.append(answer(spelled))
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
