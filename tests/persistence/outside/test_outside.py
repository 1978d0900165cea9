"""Files that rows name: looked at as what they are, read only when they are plain, never a store's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from persistence import StateDB, locate
from persistence.outside import LONGEST, look_outside, read_outside
from tests.persistence.stores import make_store, marks_of


def test_a_plain_file_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"caf\xe9\r\n")
    found = read_outside(str(path), None)
    assert (found.state, found.size) == ("file", 6) and found.text == "caf\udce9\r\n"
    assert look_outside(str(path), None).text is None


@pytest.mark.parametrize(
    ("path", "why"),
    [(None, "no path"), ("", "no path"), (7, "no path"), ("a.md", "relative"), ("~/a.md", "relative"),
     ("/a\0b", "NUL"), ("/\ud800", "not a name")],
)  # fmt: skip
def test_what_cannot_be_looked_at(path: object, why: str) -> None:
    found = read_outside(path, None)
    assert found.state == "cannot tell" and why in (found.why or "")


def test_what_is_no_plain_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "real").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    kinds = {"fifo": "a pipe", "link": "a link, which is not followed", ".": "a directory"}
    for name, why in kinds.items():
        found = read_outside(str(tmp_path / name), None)
        assert (found.state, found.why, found.text) == ("other", why, None)
    assert read_outside("/dev/zero", None).why == "a device"
    assert read_outside(str(tmp_path / "none"), None).state == "gone"
    assert read_outside(str(tmp_path / "real" / "below"), None).state == "gone"


def test_no_more_is_read_than_there_is_room_for(tmp_path: Path) -> None:
    path = tmp_path / "long"
    with path.open("wb") as file:
        file.truncate(LONGEST + 1)
    found = read_outside(str(path), None)
    assert (found.state, found.text, found.size) == ("cannot tell", None, LONGEST + 1)


async def test_a_file_of_an_open_store_is_never_opened(tmp_path: Path) -> None:
    one, other = make_store(tmp_path / "one.db", wal=True), make_store(tmp_path / "other.db")
    os.link(one, tmp_path / "same.md")
    before = marks_of(one), marks_of(other)
    async with StateDB(one) as db, StateDB(other) as second:
        await second.facts()
        for path in (one, tmp_path / "same.md", other):
            found = await db.file_at(str(path))
            assert (found.state, found.text) == ("cannot tell", None) and "open store" in (found.why or "")
        states = [each.state for each in await db.files_at([str(one), str(tmp_path / "x"), None])]
        assert states == ["cannot tell", "gone", "cannot tell"]
    assert (marks_of(one), marks_of(other)) == before
    assert read_outside(str(one), locate(one)).state == "cannot tell"
