"""Reading a run back by the managing application's own command (ADR-0128 D8, item 2).

The command gets the scratch store's path and a session's id as its last arguments, and answers one JSON
object on standard output:

- `status`: the session's status; `messages`: its message ids in order, or their number. Both are needed.
- `session`: its id; `owner`: whose it is; `found`: false when it is not shown; `problems`: a list, empty
  when the application finds everything in order. It ends with 0 then.
- whatever else it says is not compared.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persistence.errors import StoreError

__all__ = ["Readback", "ReadbackError", "Recorded"]

_SECONDS = 60.0
_MOST = 64 * 1024 * 1024


class ReadbackError(StoreError):
    """The readback command could not be run at all."""

    default_code = "readback-failed"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run as it was recorded: what every reading path has to show."""

    session: str
    status: str
    messages: tuple[str, ...]
    owner: str | None
    signals: int = 0


class Readback:
    """The managing application's command. `words` is how a person wrote it; no shell takes part."""

    def __init__(self, words: str) -> None:
        try:
            self.words: Sequence[str] = tuple(shlex.split(words))
        except ValueError as error:
            raise ReadbackError(f"The readback command cannot be read: {error}.", where=words) from error
        if not self.words:
            raise ReadbackError("The readback command is empty.", where=words)
        self.shown = words

    def failures(self, path: Path, run: Recorded) -> list[str]:
        """What is shown otherwise than it was recorded. Blocking; ReadbackError when it cannot be run."""
        code, answer, said = self._ask(path, run.session)
        if answer is None:
            return [f"run {run.session}: the readback command answered no JSON object ({said})"]
        wrong = [f"run {run.session}: {text}" for text in _differences(answer, run)]
        if code and not wrong:
            wrong.append(f"run {run.session}: the readback command ended with {code}")
        return wrong

    def _ask(self, path: Path, session: str) -> tuple[int, Mapping[str, Any] | None, str]:
        try:
            done = subprocess.run(
                [*self.words, os.fspath(path), session],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ReadbackError(
                f"The readback command did not answer within {_SECONDS:.0f} s.", where=self.shown
            ) from error
        except OSError as error:
            raise ReadbackError(
                f"The readback command cannot be run: {error.strerror}.",
                where=self.shown,
                remedy="Give a command that reads the store and answers one JSON object.",
            ) from error
        if len(done.stdout) > _MOST:
            return done.returncode, None, f"{len(done.stdout):,} bytes"
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            last = done.stderr.decode("utf-8", "backslashreplace").strip().rpartition("\n")[2]
            return done.returncode, None, f"exit {done.returncode}: {last[:200]}"
        return done.returncode, answer if isinstance(answer, dict) else None, f"exit {done.returncode}"


def _differences(answer: Mapping[str, Any], run: Recorded) -> list[str]:
    if answer.get("found") is False:
        return ["it is not shown"]
    wrong = [f"the answer says nothing of {key}" for key in ("status", "messages") if key not in answer]
    if wrong:
        return wrong
    for key, recorded in (("session", run.session), ("status", run.status), ("owner", run.owner)):
        shown = answer.get(key, recorded)
        if shown != recorded and not (key == "session" and isinstance(shown, dict)):
            wrong.append(f"{key} is shown as {shown!r:.80}, and was recorded as {recorded!r}")
    shown = answer["messages"]
    if isinstance(shown, list):
        if tuple(shown) != run.messages:
            wrong.append(
                f"{len(shown)} messages are shown, {len(run.messages)} recorded, or in another order"
            )
    elif shown != len(run.messages):
        wrong.append(f"{shown!r:.40} messages are shown, and {len(run.messages)} were recorded")
    problems = answer.get("problems")
    if problems:
        wrong.append(f"the application finds: {problems!r:.300}")
    return wrong
