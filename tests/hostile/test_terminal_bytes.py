"""Nothing in a store reaches the terminal as a control sequence: the real program, in a real terminal.

Models and tools write what they like into messages; a reader that passes it on lets it write the clipboard,
retitle the window or turn the mouse on (CASES M). Every byte the program sends is kept and looked through.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.terminal import Terminal

MARK = "EVIL"
PAYLOADS = [
    "\x1b]52;c;RVZJTA==\x07EVIL clipboard",
    "\x1b]52;c;RVZJTA==\x1b\\EVIL clipboard, other end",
    "\x1b]0;EVIL title\x07",
    "\x1bP+q544e\x1b\\EVIL device string",
    "\x1b[5mEVIL blink",
    "\x1b[?1003hEVIL mouse",
    "\x9b5mEVIL eight bit",
    "\x9d52;c;RVZJTA==\x9cEVIL eight bit clipboard",
    "EVIL\x00\x08\x7f\x0b\x0c\x0e\x1a end",
    "EVIL \u202egnp.exe\u202c \u2067isolated\u2069",
    "[@click=app.quit]EVIL[/] [link=file:///etc]EVIL[/link] [/red]",
    "EVIL שלום עולם مرحبا",
    "EVIL " + "z\u0301" * 3 + "\u0301" * 400,
    "EVIL 👩\u200d👩\u200d👧 漢字 \U000e0041\U000e0042",
    'EVIL {"a": "\x1b]52;c;RVZJTA==\x07"}',
    '{"EVIL\\u001b]52;c;RVZJTA==\\u0007": ["\\u001b[5mEVIL", "\\u009b5m", "\\u202e"]}',
]

CSI = re.compile(rb"\x1b\[([0-9;:<=>?]*)([ -/]*)([@-~])")
OSC = re.compile(rb"\x1b\]([^\x07\x1b]*)(?:\x07|\x1b\\)")
OTHER = re.compile(rb"\x1b[()][A-Z0-9]|\x1b[=>78cM]|\x1bP[^\x1b]*\x1b\\|\x1b_[^\x1b]*\x1b\\")


@pytest.fixture
def hostile_store(tmp_path: Path) -> Path:
    """Names of tables and columns, and every cell, are payloads; sessions look like lionagi's."""
    path = tmp_path / "EVIL \x1b[5m.db"

    def quoted(name: str) -> str:
        return '"' + name.replace('"', '""').replace("\x00", "") + '"'

    with sqlite3.connect(path) as connection:
        connection.execute(f"create table evil ({', '.join(f'c{at} text' for at in range(4))})")
        rows = [[PAYLOADS[(at + step) % len(PAYLOADS)] for step in range(4)] for at in range(len(PAYLOADS))]
        connection.executemany("insert into evil values (?, ?, ?, ?)", rows)
        connection.execute(
            "insert into evil values (cast(x'4556494cff9b356d' as text), x'1b5b356d', 1, null)"
        )
        for payload in PAYLOADS:
            connection.execute(f"create table {quoted(payload)} ({quoted(payload + ' column')} text)")
            connection.execute(f"insert into {quoted(payload)} values (?)", (payload,))
        connection.execute(
            "create table sessions (id text primary key, created_at real, name text, status text, "
            "progression_id text, agent_name text, started_at real)"
        )
        connection.executemany(
            "insert into sessions values (?, ?, ?, ?, null, ?, ?)",
            [(f"s{at} {text}", 1.0, text, text, text, 1.0) for at, text in enumerate(PAYLOADS)],
        )
    connection.close()
    return path


def rest(stream: bytes) -> bytes:
    """What is left of a stream without the sequences a program like this sends."""
    for pattern in (OSC, CSI, OTHER):
        stream = pattern.sub(b"", stream)
    return stream


def test_no_byte_of_data_acts_on_the_terminal(hostile_store: Path) -> None:
    command = [sys.executable, "-m", "inspector", str(hostile_store), "--at", "tables/evil"]
    with Terminal(command, size=(200, 50)) as terminal:
        terminal.wait_for("c3")
        for keys in (
            ["pagedown", "l", " ", "v", "escape"],  # over the rows; a value in two views
            ["v", "escape", "escape", "/", "E", "enter"],  # the structure, the list of tables narrowed
            ["?", "escape", "ctrl+p", "E", "escape"],  # help, the palette
            ["4", "j", "y", "enter", "escape"],  # runs, a copy, a run
        ):
            terminal.press(*keys)
        terminal.press("q")
        assert terminal.ended() == 0
        stream = terminal.raw
    text = stream.decode("utf-8", "replace")
    assert text.count(MARK) > 50
    assert not [found for found in OSC.findall(stream) if b"EVIL title" in found or b"RVZJTA==" in found]
    assert not [
        match for match in CSI.finditer(stream) if match.group(3) == b"m" and b"5" in match[1].split(b";")[:1]
    ]
    left = rest(stream)
    assert re.findall(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", left) == []
    assert re.findall("[\x80-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e0fff]", text) == []
