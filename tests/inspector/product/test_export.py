"""Exports: whole or not at all, counted, exact, and never over a store."""

from __future__ import annotations

import asyncio
import csv
import json
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from inspector.reports import export, shapes
from inspector.reports.export import ExportError, export_rows, export_text, suggested_target
from inspector.reports.lists import ListSource
from inspector.reports.writers import FORMATS, encode, form_of, writer
from persistence.errors import StoreDamagedError
from persistence.location import locate
from persistence.records import ABSENT, Column, Preview, ReadInfo, Route, Row, Unreadable

READ = ReadInfo(Route.SETTLED, 1_795_953_600.0)


def source(rows: Sequence[Sequence[Any]], *names: str) -> ListSource:
    return ListSource("rows", [Column(name, name) for name in names or ("id", "v")], rows, READ)


ROWS = [
    [1, "plain"], [2, 'quo"te, comma\nline'], [3, None], [4, ""], [5, b"\x00\xff"], [6, "caf\udce9"],
    [7, Unreadable("not JSON", "{")], [8, ABSENT], [9, Preview("head", 90_000_000)], [10, float("nan")],
    [11, 2**70], [12, "\x1b[31m| `x` <b>"], [13, "=HYPERLINK(1)"],
]  # fmt: skip


async def test_csv(tmp_path: Path) -> None:
    done = await export_rows(source(ROWS), tmp_path / "a.csv", "csv")
    raw = (tmp_path / "a.csv").read_bytes()
    assert (done.rows, done.size, done.complete) == (13, len(raw), True)
    lines = raw.split(b"\n")
    assert lines[0] == b"id,v" and b"3," in lines and b'4,""' in lines and b"6,caf\xe9" in lines
    assert b"5,base64:AP8=" in lines and b"7,(not readable: not JSON)" in lines
    assert b"8,(not in this store)" in lines and b"9,(too long: 90000000 bytes)" in lines
    assert b"10,NaN" in lines and b"11,1180591620717411303424" in lines and b"13,=HYPERLINK(1)" in lines
    read = list(csv.reader((tmp_path / "a.csv").open(newline="", errors="surrogateescape")))
    assert read[2][1] == 'quo"te, comma\nline'


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1"])
async def test_formula_cells_are_neutralised_on_request(text: str, tmp_path: Path) -> None:
    await export_rows(source([[1, text], [2, -1], [3, "a=1"]]), tmp_path / "a.csv", "csv", neutralise=True)
    read = list(csv.reader((tmp_path / "a.csv").open(newline="")))
    assert [row[1] for row in read[1:]] == [f"'{text}", "-1", "a=1"]


async def test_json_is_the_commands_object(tmp_path: Path) -> None:
    store = {"display": "x.db", "route": "settled"}
    await export_rows(source(ROWS), tmp_path / "a.json", "json", store=store)
    body = json.loads((tmp_path / "a.json").read_bytes())
    assert body["format"] == 1 and body["store"] == store and body["columns"] == ["id", "v"]
    assert body["complete"] is True and body["count"] == 13
    values = {row["id"]: row["v"] for row in body["rows"]}
    assert values[5] == {"base64": "AP8="} and values[6] == "caf\udce9" and values[3] is None
    assert values[7] == {"unreadable": "not JSON", "raw": "{"} and values[8] == {
        "absent": "not in this store"
    }
    assert values[9] == {"preview": "head", "size": 90_000_000} and values[10] == {"number": "NaN"}
    assert values[11] == 2**70


async def test_json_lines(tmp_path: Path) -> None:
    await export_rows(source(ROWS), tmp_path / "a.jsonl", "jsonl")
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == list(range(1, 14))


async def test_markdown_cannot_be_broken_out_of(tmp_path: Path) -> None:
    await export_rows(source(ROWS), tmp_path / "a.md", "markdown")
    lines = (tmp_path / "a.md").read_text().splitlines()
    assert len(lines) == 15 and all(line.startswith("| ") and line.endswith(" |") for line in lines)
    assert "| 12 | ␛\\[31m\\| \\`x\\` \\<b\\> |" in lines and '| 2 | quo"te, comma<br>line |' in lines


@pytest.mark.parametrize("form", FORMATS)
async def test_nothing_is_still_a_header(form: Any, tmp_path: Path) -> None:
    done = await export_rows(source([]), tmp_path / "a", form)
    text = (tmp_path / "a").read_text()
    assert done.rows == 0 and ("id" in text or form == "jsonl")


def test_names_that_repeat_are_told_apart() -> None:
    columns = [Column(name, name) for name in ("a", "b", "a", "a:2", "a")]
    assert shapes.unique_names(columns) == ["a", "b", "a:3", "a:2", "a:4"]
    assert list(json.loads(writer("jsonl", columns).row([1, 2, 3, 4, 5])).values()) == [1, 2, 3, 4, 5]


async def test_a_limit_is_said(tmp_path: Path) -> None:
    done = await export_rows(source(ROWS), tmp_path / "a.json", "json", limit=2)
    body = json.loads((tmp_path / "a.json").read_bytes())
    assert (done.rows, done.complete) == (2, False) and len(body["rows"]) == 2
    assert body["complete"] is False and "first 2" in body["reason"] and done.reason == body["reason"]


async def test_progress_counts_rows(tmp_path: Path) -> None:
    seen: list[int] = []
    await export_rows(source([[n, "x"] for n in range(600)]), tmp_path / "a.csv", "csv", progress=seen.append)
    assert seen == [256, 512, 600]


async def test_a_file_that_is_there_is_left_alone_unless_asked(tmp_path: Path) -> None:
    target = tmp_path / "a.csv"
    target.write_text("mine")
    with pytest.raises(ExportError) as caught:
        await export_rows(source(ROWS), target, "csv")
    assert caught.value.code == "file-exists" and target.read_text() == "mine"
    await export_rows(source(ROWS), target, "csv", overwrite=True)
    assert target.read_text("latin1").startswith("id,v")


class Torn(ListSource):
    """Fails, or is cancelled, after some rows."""

    error: BaseException = StoreDamagedError("page 7")

    async def everything(self, **_: Any) -> AsyncIterator[Row]:
        for n in range(5):
            yield Row((n,), (n, "x" * 100_000))
        raise self.error


@pytest.mark.parametrize("error", [StoreDamagedError("page 7"), asyncio.CancelledError()])
async def test_what_breaks_off_leaves_nothing(error: BaseException, tmp_path: Path) -> None:
    torn = Torn("rows", [Column("id", "id"), Column("v", "v")], [], READ)
    torn.error = error
    with pytest.raises(type(error)):
        await export_rows(torn, tmp_path / "a.csv", "csv")
    assert list(tmp_path.iterdir()) == []


async def test_no_room_is_a_refusal_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export, "_put", full)
    with pytest.raises(ExportError, match="No space left"):
        await export_rows(source(ROWS), tmp_path / "a.csv", "csv")
    assert list(tmp_path.iterdir()) == []


async def test_a_place_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="No such file"):
        await export_rows(source(ROWS), tmp_path / "none" / "a.csv", "csv")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    "name",
    ["s.db", "s.db-wal", "s.db-shm", "s.db-journal", "link.csv", "hard.csv", "other.db", "sub/../s.db"],
)
async def test_nothing_is_written_over_a_store(name: str, overwrite: bool, tmp_path: Path) -> None:
    """Not under its name, nor its sidecars', nor another name for it, nor over another database."""
    store = tmp_path / "s.db"
    store.write_bytes(b"SQLite format 3\0")
    (tmp_path / "other.db").write_bytes(b"another")
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.csv").symlink_to(store)
    os.link(store, tmp_path / "hard.csv")
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(ExportError) as caught:
        await export_rows(source(ROWS), tmp_path / name, "csv", location=locate(store), overwrite=overwrite)
    assert caught.value.code == "export-over-store"
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


async def test_a_store_behind_a_link_is_known_by_both_names(tmp_path: Path) -> None:
    (tmp_path / "real.store").write_bytes(b"SQLite format 3\0")
    (tmp_path / "link").symlink_to("real.store")
    for name in ("real.store-wal", "link-wal", "real.store"):
        with pytest.raises(ExportError) as caught:
            await export_rows(
                source(ROWS), tmp_path / name, "csv", location=locate(tmp_path / "link"), overwrite=True
            )
        assert caught.value.code == "export-over-store"


async def test_text_in_pieces(tmp_path: Path) -> None:
    async def pieces() -> AsyncIterator[str]:
        yield "caf\udce9"
        yield "\ud800 half a pair"

    size = await export_text(pieces(), tmp_path / "a.md")
    assert (tmp_path / "a.md").stat().st_size == size and b"half a pair" in (tmp_path / "a.md").read_bytes()


def test_bytes_that_were_not_text_come_out_as_they_were() -> None:
    assert encode("caf\udce9 日") == b"caf\xe9 \xe6\x97\xa5"
    assert encode("\ud800x") == b"?x"


def test_a_name_is_suggested_that_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert suggested_target("runs", ".csv") == tmp_path / "runs.csv"
    (tmp_path / "runs.csv").touch()
    assert suggested_target("runs", ".csv") == tmp_path / "runs-2.csv"
    assert suggested_target("../etc/pass\x1bwd", ".json").parent == tmp_path
    assert suggested_target("", ".md") == tmp_path / "export.md"


def test_beside_the_store_is_not_suggested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert suggested_target("runs", ".csv", locate(tmp_path / "s.db")).parent == Path.home()


def test_the_file_gets_the_mode_files_get(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        asyncio.run(_one(tmp_path / "a.csv"))
    finally:
        os.umask(before)
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o640


async def _one(path: Path) -> None:
    await export_rows(source(ROWS), path, "csv")


@pytest.mark.parametrize(
    ("name", "form"), [("a.CSV", "csv"), ("a.md", "markdown"), ("a.jsonl", "jsonl"), ("a", None)]
)
def test_the_ending_names_the_form(name: str, form: str | None) -> None:
    assert form_of(name) == form
