"""The journal: every action on a managed store and every refusal, one JSON object a line, only ever appended.

`journal.jsonl` in the state directory, for this user alone. A line is one write to a file opened for
appending, under a lock that other processes of this program take too; it goes to the disk before it counts.
An action leaves two lines of one `id`: `begun` before its first write, and how it ended. A file that has
grown to its limit is kept under a name with its moment, and only the newest of those are kept.
No credential is ever written: stores are named by their masked display.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from inspector import places
from inspector.version import __version__
from persistence.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "EVENTS",
    "Entry",
    "Event",
    "Journal",
    "JournalError",
    "Phase",
    "Unread",
    "journal_files",
    "phases",
    "read_line",
]

FORMAT = 1
LARGEST = 4 * 1024 * 1024
"""Bytes at which a file is put aside."""
KEPT = 15
"""Files put aside that are kept; older ones are dropped."""
LONGEST_TEXT = 1_000
"""Characters of one text of a line; no line comes near what one write carries whole."""
MOST_PHASES = 400

Event = Literal["begun", "done", "refused", "interrupted", "failed", "tried"]
EVENTS: tuple[Event, ...] = ("begun", "done", "refused", "interrupted", "failed", "tried")
"""`tried` is a dry run that would have been let in; `begun` without an end: the program was killed."""

_CREDENTIALS = re.compile(r"(\w://[^/\s:@]*):[^/\s@]*@")
_SECRETS = re.compile(r"(?i)\b((?:ssl)?passw(?:or)?d|token|secret)=[^&\s\"']+")


class JournalError(StoreError):
    """The journal could not be written, so the action it would have told of was not begun."""

    default_code: ClassVar[str] = "journal-unwritable"


@dataclass(frozen=True, slots=True)
class Phase:
    """A transaction that was committed, by its operation's name, and how many of them in a row."""

    name: str
    count: int = 1

    def __str__(self) -> str:
        return self.name if self.count == 1 else f"{self.name} x{self.count}"


def phases(names: Iterable[str]) -> tuple[Phase, ...]:
    """Committed phases in their order, the same ones in a row counted."""
    return tuple(Phase(name, sum(1 for _ in run)) for name, run in groupby(names))


@dataclass(frozen=True, slots=True)
class Entry:
    """One line. `operations` is what was meant to be done, `committed` what was; `run` the session's id.

    `refusal` has the fields of DESIGN 10. Times are seconds since 1970 (UTC).
    """

    action: str
    event: Event
    store: str
    lineage: str | None = None
    version: str | None = None
    profile: str | None = None
    owner: str | None = None
    source: str | None = None
    run: str | None = None
    operations: Mapping[str, int] = field(default_factory=dict)
    committed: tuple[Phase, ...] = ()
    refusal: Mapping[str, Any] | None = None
    note: str | None = None
    seconds: float | None = None
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    when: float = field(default_factory=time.time)
    pid: int = field(default_factory=os.getpid)
    tool: str = __version__

    def line(self) -> bytes:
        """The entry as its line: ASCII, no credentials, texts of a bounded length."""
        import json

        shape: dict[str, Any] = {"format": FORMAT, **_plain(asdict(self))}
        shape["committed"] = [[phase.name, phase.count] for phase in self.committed[:MOST_PHASES]]
        if len(self.committed) > MOST_PHASES:
            rest = sum(phase.count for phase in self.committed[MOST_PHASES:])
            shape["committed"].append(["more", rest])
        return json.dumps(shape, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


@dataclass(frozen=True, slots=True)
class Unread:
    """A line that is no entry: torn by a full disk or a kill, or changed by somebody."""

    why: str
    text: str


def _plain(value: Any) -> Any:
    match value:
        case str():
            shown = _SECRETS.sub(r"\1=***", _CREDENTIALS.sub(r"\1:***@", value))
            return shown if len(shown) <= LONGEST_TEXT else f"{shown[:LONGEST_TEXT]}…"
        case Mapping():
            return {_plain(str(name)): _plain(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value[:MOST_PHASES]]
        case None | bool() | int() | float():
            return value
        case _:
            return _plain(str(value))


def read_line(line: bytes) -> Entry | Unread:
    """A line as the entry it holds, or why it holds none. Never raises."""
    import json

    text = line.decode("utf-8", "backslashreplace").rstrip("\r\n")
    try:
        shape = json.loads(text)
    except (ValueError, RecursionError):
        return Unread("not a whole line of the journal", text)
    if not isinstance(shape, dict) or shape.get("event") not in EVENTS:
        return Unread("not an entry of the journal", text)
    known = {each.name for each in fields(Entry)}
    try:
        given = {name: value for name, value in shape.items() if name in known}
        given["committed"] = tuple(Phase(str(name), int(count)) for name, count in given.get("committed", ()))
        given["operations"] = {str(name): int(n) for name, n in dict(given.get("operations") or {}).items()}
        given["when"] = float(given["when"])
        _check_kinds(given)
        return Entry(**given)
    except (TypeError, ValueError, KeyError, OverflowError):
        return Unread("an entry with a field that cannot be read", text)


def _check_kinds(given: Mapping[str, Any]) -> None:
    texts = (
        "action",
        "store",
        "lineage",
        "version",
        "profile",
        "owner",
        "source",
        "run",
        "note",
        "id",
        "tool",
    )
    if not all(isinstance(given.get(name), str | None) for name in texts):
        raise ValueError("a text is none")
    if any(not given.get(name) for name in ("action", "id")) or given.get("store") is None:
        raise ValueError("a field is missing")
    if not isinstance(given.get("refusal"), dict | None) or not isinstance(given.get("pid"), int | None):
        raise ValueError("a field is of another kind")
    if not isinstance(given.get("seconds"), int | float | None):
        raise ValueError("a duration is no number")


def journal_files(folder: Path | None = None) -> tuple[Path, ...]:
    """The journal's files that are there, oldest first; the last one is written to."""
    folder = folder or places.state_dir()
    try:
        aside = sorted(path for path in folder.iterdir() if _ASIDE.fullmatch(path.name))
    except OSError:
        return ()
    current = folder / "journal.jsonl"
    return (*aside, *((current,) if current.is_file() else ()))


_ASIDE = re.compile(r"journal-\d{17}-\d{3}\.jsonl")


class Journal:
    """Where entries are appended to. Nothing is created until the first one is."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or places.state_dir()

    @property
    def path(self) -> Path:
        return self.folder / "journal.jsonl"

    def append(self, entry: Entry) -> Entry:
        """Appends one line and brings it to the disk. Raises JournalError, and then nothing was begun."""
        line = entry.line()
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._locked() as descriptor:
                end = os.fstat(descriptor).st_size
                # Whatever a kill or a full disk left of a line stays a line of its own.
                torn = end > 0 and os.pread(descriptor, 1, end - 1) != b"\n"
                data = b"\n" + line if torn else line
                if os.write(descriptor, data) != len(data):
                    raise OSError(28, os.strerror(28))
                os.fsync(descriptor)
                if end + len(data) >= LARGEST:
                    self._put_aside()
        except OSError as error:
            raise JournalError(
                f"The journal of actions cannot be written: {error.strerror or error}.",
                where=str(self.path),
                expected="a file this user can append to",
                observed=error.strerror or str(error),
                remedy="Make room, or see to the permissions; STORE_INSPECTOR_STATE_DIR names another "
                "directory. Without a journal nothing is written to a managed store.",
            ) from None
        return entry

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The file, open for appending and this process's alone; never one that was put aside meanwhile."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        while True:
            descriptor = os.open(self.path, flags, 0o600)
            try:
                _lock(descriptor)
                if self._is_current(descriptor):
                    yield descriptor
                    return
            finally:
                os.close(descriptor)

    def _is_current(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False

    def _put_aside(self) -> None:
        """Gives the file a name of its own and drops the oldest of those. The lock is held."""
        now = time.time()
        stamp = time.strftime("%Y%m%d%H%M%S", time.gmtime(now)) + f"{int(now * 1000) % 1000:03d}"
        number = 0
        while (aside := self.folder / f"journal-{stamp}-{number:03d}.jsonl").exists():
            number += 1
        self.path.rename(aside)
        others: Sequence[Path] = [path for path in journal_files(self.folder) if path != self.path]
        for path in others[:-KEPT]:
            with suppress(OSError):
                path.unlink()


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: one write to the end of the file is all there is
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)
