"""A whole use of the program changes nothing: traced call by call, and the directory compared afterwards.

Commands and the application itself, in a terminal, on a store at rest and on one that another program
writes. Nothing we do is a successful write-class call on any path of the store's directory; where the kernel
holds the readers nothing there is even opened for writing. strace is needed for the trace (the test says so
and skips without it), not for the comparison.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import strace
from tests.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-m", "inspector"]

State = dict[str, tuple[str, int, int, int, int]]


def state(folder: Path) -> State:
    """Every file of a directory, and the directory: its bytes, size, times and mode."""
    found: State = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        about = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (
            content, about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_mode,
        )  # fmt: skip
    return found


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=120)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from inspector.demo.session import build_gallery

    return build_gallery(tmp_path_factory.mktemp("gallery")).folder


@pytest.fixture
def settled(made: Path, tmp_path: Path) -> Path:
    """A WAL store at rest, alone in its directory."""
    (tmp_path / "store").mkdir()
    return Path(shutil.copy(made / "harbour.db", tmp_path / "store" / "state.db"))


def started_writer(path: Path) -> subprocess.Popen[bytes]:
    """Another process that writes the store a few times a second until its input ends; it has begun."""
    command = [sys.executable, "-m", "inspector.demo.live", str(path), "0.15"]
    writer = subprocess.Popen(command, stdin=subprocess.PIPE, cwd=ROOT)
    for _ in range(400):
        if Path(f"{path}-wal").exists():
            return writer
        time.sleep(0.05)
    raise AssertionError("the writer did not begin")


@pytest.fixture
def live(made: Path, tmp_path: Path) -> Iterator[Path]:
    """A store that another process writes a few times a second, until the test is over."""
    (tmp_path / "live").mkdir()
    path = Path(shutil.copy(made / "night-watch.db", tmp_path / "live" / "state.db"))
    writer = started_writer(path)
    try:
        yield path
    finally:
        assert writer.stdin is not None
        writer.stdin.close()
        assert writer.wait(20) == 0


EVERY_COMMAND = """
import json, sys
from inspector.cli import run
store, run_id = sys.argv[1:]
for words in (
    ["doctor"], ["doctor", "--json"], ["runs", "status:completed", "--json", "--limit", "0"],
    ["runs", "--order", "messages"], ["run", run_id, "--json"], ["run", run_id, "--markdown"],
    ["tables", "--count"], ["tables", "messages", "--order", "role", "--csv", "--limit", "0"],
    ["tables", "sessions", "--shape"],
):
    status = run([words[0], store, *words[1:]])
    assert status == 0, words
"""


def every_command(made: Path, store: Path) -> list[str]:
    """A command line that runs every command there is on one store, one after another."""
    original = made / {"store": "harbour.db", "live": "night-watch.db"}[store.parent.name]
    connection = sqlite3.connect(f"{original.as_uri()}?immutable=1", uri=True)
    run_id = connection.execute("SELECT id FROM sessions ORDER BY id").fetchone()[0]
    connection.close()
    return [sys.executable, "-c", EVERY_COMMAND, str(store), run_id]


@pytest.fixture(scope="module")
def kernel_held(made: Path, tmp_path_factory: pytest.TempPathFactory) -> bool:
    """Whether the kernel holds readers here, and so none opens a store for writing."""
    store = shutil.copy(made / "harbour.db", tmp_path_factory.mktemp("held"))
    done = run([*PROGRAM, "doctor", store, "--json"])
    return bool(json.loads(done.stdout)["store"]["kernel_held"])


def walk(terminal: Terminal, exported: Path) -> None:
    """What a person does: look around everywhere, search, open, export, leave."""
    terminal.wait_for("completed")
    terminal.press("j", "G", "g", "/")
    terminal.wait_for("to the list")  # the keys of the filter line: it has the cursor
    terminal.press("status:completed\r")
    terminal.wait_for("that fit")
    terminal.press("enter")
    terminal.wait_for("conversation")
    terminal.press("tab", "tab", "tab", "tab", "tab", "tab", "1")
    terminal.settle()
    for key in ("8", "enter", "pagedown", "enter", "escape", "r"):
        terminal.press(key)
        terminal.settle(0.6, 2)  # traced it is slow, and a layer takes no key before it is there
    terminal.press("?")
    terminal.wait_for("keys here")  # in the help
    terminal.settle(0.6, 2)
    terminal.press("escape")
    terminal.settle(0.6, 2)
    terminal.press("4")
    terminal.settle(0.6, 2)
    terminal.press("e")
    terminal.wait_for("write to a file")
    terminal.press("tab", "\x15", f"{exported}\r")
    for _ in range(300):
        if exported.exists():
            break
        terminal.read(0.1)
    terminal.settle(1.0, 2)  # the dialog closes, and what was written is told
    terminal.press("q")


@pytest.mark.parametrize("which", ["settled", "live"])
@pytest.mark.strace
def test_commands_write_nothing(
    which: str, made: Path, kernel_held: bool, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if (why := strace.why_not()) is not None:
        pytest.skip(why)
    store: Path = request.getfixturevalue(which)
    before, log = state(store.parent), tmp_path / "trace"
    done = run(strace.traced(log, every_command(made, store)))
    assert done.returncode == 0, done.stderr
    assert len(list(strace.calls(log))) > 1000  # it was really watched
    assert strace.changes(log, store.parent, opened=kernel_held) == []
    if which == "settled":
        assert state(store.parent) == before


@pytest.mark.parametrize("which", ["settled", "live"])
@pytest.mark.strace
def test_the_application_writes_nothing(
    which: str, kernel_held: bool, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if (why := strace.why_not()) is not None:
        pytest.skip(why)
    store: Path = request.getfixturevalue(which)
    before, log, exported = state(store.parent), tmp_path / "trace", tmp_path / "r.csv"
    with Terminal(strace.traced(log, [*PROGRAM, str(store), "--at", "runs"]), size=(120, 40)) as terminal:
        walk(terminal, exported)
        assert terminal.ended() == 0, terminal.text[-2000:]
    assert exported.read_text().count("\n") > 2  # it did all that, to the end
    assert strace.changes(log, store.parent, opened=kernel_held) == []
    if which == "settled":
        assert state(store.parent) == before


@pytest.mark.parametrize("mode", [0o755, 0o555], ids=["", "directory-not-writable"])
def test_a_store_at_rest_is_as_it_was(made: Path, settled: Path, mode: int) -> None:
    """Without any trace, by comparison alone; also where an ordinary user may not write the directory."""
    settled.parent.chmod(mode)
    before = state(settled.parent)
    done = run(every_command(made, settled))
    assert done.returncode == 0, done.stderr
    assert state(settled.parent) == before
    settled.parent.chmod(0o755)


def test_after_the_writer_beside_us_has_left_nothing_remains(made: Path, tmp_path: Path) -> None:
    """The writer quits first, while we read nothing: its log and index go with it, as without us."""
    folder = tmp_path / "store"
    folder.mkdir()
    path = Path(shutil.copy(made / "night-watch.db", folder / "state.db"))
    writer = started_writer(path)
    with Terminal([*PROGRAM, str(path), "--no-follow"], size=(100, 30)) as terminal:
        terminal.wait_for("completed")
        terminal.settle(1.0)
        assert writer.stdin is not None
        writer.stdin.close()
        assert writer.wait(20) == 0
        assert [path.name for path in folder.iterdir()] == ["state.db"]
        before = state(folder)
        terminal.press("r")
        terminal.settle(1.0)
        terminal.press("q")
        assert terminal.ended() == 0
    assert state(folder) == before
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


REFUSED = """
import sys
from inspector.cli import run
for name in ("notes.db", "empty.db", "none.db", "none/none.db"):
    for word in ("doctor", "runs", "tables"):
        status = run([word, f"{sys.argv[1]}/{name}"])
        assert status in (0, 3, 4), (word, name, status)
"""


def test_a_refusal_changes_nothing_either(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "notes.db").write_text("no database at all\n" * 50)
    (folder / "empty.db").touch()
    before = state(folder)
    done = run([sys.executable, "-c", REFUSED, str(folder)])
    assert done.returncode == 0, done.stderr
    assert state(folder) == before
