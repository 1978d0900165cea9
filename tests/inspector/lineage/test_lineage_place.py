"""The place Lineage: every key, every kind of store, and that nothing of a store's text acts on it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from inspector import recents
from inspector.screens.help import help_content
from inspector.screens.lineage import LineagePlace
from inspector.screens.page import PageScreen, StepScreen
from inspector.screens.refused import RefusedPlace
from tests.gallery import copied_gallery
from tests.inspector.driving import CONTROLS, driven, screen_text, settled
from tests.persistence.stores import make_store


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied_gallery(tmp_path_factory, tmp_path_factory.mktemp("gallery") / "stores")


def copied(gallery: Path, name: str, folder: Path) -> Path:
    for path in gallery.glob(f"{name}*"):
        shutil.copy2(path, folder)
    return folder / name


def place_of(pilot: Pilot[Any]) -> LineagePlace:
    place = pilot.app.screen
    assert isinstance(place, LineagePlace)
    return place


STORIES = [
    ("harbour.db", "A native open would go on", "lionagi manages it, version 4"),
    ("customs.db", "ForeignLineageError", "customs-desk manages it, version 7"),
    ("tomorrow.db", "SchemaTooNewError", "lionagi manages it, version 9"),
    ("tickets.db", "UnrecognizedStoreError", "No lineage is recorded, version 3"),
    ("power-cut.db", "ForeignLineageError", "file and journal"),
    ("takeover.db", "A native open would go on", "file and journal"),
    ("pilots.db", "ForeignLineageError", "file and log"),
    ("logbook.db", "UnreadableStoreError", "the header of logbook.db-wal is not valid"),
    ("stars.sqlite", "UnrecognizedStoreError", "No lineage is recorded"),
]


@pytest.mark.parametrize(("name", "verdict", "says"), STORIES, ids=[story[0] for story in STORIES])
async def test_each_store_of_the_gallery(
    gallery: Path, tmp_path: Path, name: str, verdict: str, says: str
) -> None:
    """Nothing of the store or beside it changes while it is looked at."""
    store = copied(gallery, name, tmp_path)
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
    async with driven(store, "lineage", size=(120, 60)) as pilot:
        text = screen_text(pilot)
        assert verdict in text and says in text, text
        for words in ("what each open would do", "how it was decided", "◂ decides", "files of the store"):
            assert words in text
    assert before == {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}


async def test_everything_is_told_stacked_at_80_columns(gallery: Path, tmp_path: Path) -> None:
    store = copied(gallery, "power-cut.db", tmp_path)
    async with driven(store, "lineage", size=(80, 24)) as pilot:
        place = place_of(pilot)
        assert not place.around.display and place.decided.has_focus
        seen = screen_text(pilot)
        for _ in range(12):
            await pilot.press("pagedown")
            seen += screen_text(pilot)
        wanted = ["customs-desk", "rules of a native open", "power-cut.db-journal", "schema_meta"]
        for words in (*wanted, "open in", "backups", "WAL-reset race", "no other hard link"):
            assert words in seen, words
        await pilot.resize_terminal(120, 40)
        await settled(pilot)
        assert place.around.display and "schema_meta" in screen_text(pilot)
        await pilot.press("tab")
        assert place.around.has_focus
        await pilot.resize_terminal(80, 24)
        await settled(pilot)
        assert place.decided.has_focus


async def test_enter_opens_the_page_of_a_refusal(gallery: Path, tmp_path: Path) -> None:
    store = copied(gallery, "customs.db", tmp_path)
    async with driven(store, "lineage") as pilot:
        await pilot.press("enter")  # the cursor begins on the native verdict
        await settled(pilot)
        assert isinstance(pilot.app.screen, PageScreen)
        text = screen_text(pilot)
        assert "Another application manages this store" in text and "'customs-desk'" in text
        await pilot.press("y")
        assert "what not to do" in pilot.app.clipboard and "customs-desk" in pilot.app.clipboard
        await pilot.press("j", "k", "escape")
        assert isinstance(pilot.app.screen, LineagePlace)
        await pilot.press("n")
        assert isinstance(pilot.app.screen, PageScreen)
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, LineagePlace)


async def test_enter_says_more_of_a_read_and_of_a_rule(gallery: Path, tmp_path: Path) -> None:
    store = copied(gallery, "power-cut.db", tmp_path)
    async with driven(store, "lineage") as pilot:
        place = place_of(pilot)
        last = len(place.report.reads) - 1 if place.report is not None else 0
        assert place.decided.select(f"read {last}")
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, StepScreen)
        assert "recovered there" in screen_text(pilot) and "decides   yes" in screen_text(pilot)
        await pilot.press("escape")
        assert place.decided.select("rule native is-new")
        await pilot.press("enter")
        assert "ADR-0128 D7" in screen_text(pilot)
        await pilot.press("escape")
        assert place.decided.select("rule native lineage-names")
        await pilot.press("enter")  # the rule that refuses leads to the refusal's page
        assert isinstance(pilot.app.screen, PageScreen)


async def test_a_heading_closes_and_opens(gallery: Path, tmp_path: Path) -> None:
    store = copied(gallery, "customs.db", tmp_path)
    async with driven(store, "lineage") as pilot:
        place = place_of(pilot)
        place.decided.select("section reads")
        assert "its first bytes" in screen_text(pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert "its first bytes" not in screen_text(pilot) and "▸ how it was decided" in screen_text(pilot)
        await pilot.press("r")
        await settled(pilot)
        assert "▸ how it was decided" in screen_text(pilot)  # it stays as it was left
        await pilot.press("enter")
        await pilot.pause()
        assert "its first bytes" in screen_text(pilot)


async def test_y_copies_the_report_for_a_ticket(gallery: Path, tmp_path: Path) -> None:
    store = copied(gallery, "customs.db", tmp_path)
    async with driven(store, "lineage") as pilot:
        await pilot.press("y")
        await settled(pilot)
        text = pilot.app.clipboard
        for words in ("## Store `", "### Verdicts", "| native | no | ForeignLineageError", "### Trace"):
            assert words in text, words
        assert "### schema_meta" in text and "rules, native" in text


@pytest.mark.parametrize("form", ["markdown", "json"])
async def test_e_writes_the_report(gallery: Path, tmp_path: Path, form: str) -> None:
    store = copied(gallery, "customs.db", tmp_path)
    target = tmp_path / f"report.{form}"
    async with driven(store, "lineage") as pilot:
        exported = place_of(pilot).exported()
        assert exported is not None and set(exported.forms) == {"markdown", "json"}
        await pilot.press("e")
        await settled(pilot)
        if form == "json":
            await pilot.press("down")
        field = pilot.app.screen.query_one("#export-path")
        field.value = str(target)  # type: ignore[attr-defined]
        field.focus()
        await pilot.press("enter")
        await settled(pilot)
    text = target.read_text("utf-8")
    if form == "json":
        body = json.loads(text)
        assert body["format"] == 1 and body["verdicts"]["native"]["refusal"]["type"] == "ForeignLineageError"
        assert body["lineage"]["application"] == "customs-desk" and body["trace"]
        assert body["store"]["display"].endswith("customs.db") and body["files"]
    else:
        assert text.startswith("## Store") and "customs-desk" in text


async def test_the_export_is_what_doctor_prints(gallery: Path, tmp_path: Path) -> None:
    store = copied(gallery, "power-cut.db", tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "inspector", "doctor", str(store), "--json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    printed = json.loads(done.stdout)
    async with driven(store, "lineage") as pilot:
        exported = place_of(pilot).exported()
        assert exported is not None
        written = json.loads("".join([piece async for piece in exported.texts["json"]()]))
    for answer in (printed, written):
        answer["store"].pop("read_at", None)
        answer.pop("openers")
    assert written == printed


BROKEN = {
    "text": b"not a database at all\n" * 40,
    "truncated": None,
    "encrypted": bytes(range(256)) * 16,
    "zero bytes": b"",
}


@pytest.mark.parametrize("kind", BROKEN)
async def test_a_broken_store_is_told_as_well(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "store.db"
    content = BROKEN[kind]
    if content is None:
        whole = make_store(tmp_path / "whole.db").read_bytes()
        content = whole[: len(whole) // 2]
    path.write_bytes(content)
    async with driven(path) as pilot:
        await pilot.press("2")
        await settled(pilot)
        text = screen_text(pilot)
        assert "what each open would do" in text and "how it was decided" in text
        assert "read-only" in text and "natively" in text
    assert path.read_bytes() == content


async def test_a_refused_store_leads_here_and_back(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("not a database at all\n" * 40)
    async with driven(path) as pilot:
        assert isinstance(pilot.app.screen, RefusedPlace) and "enter explains it" in screen_text(pilot)
        for key in ("enter", "exclamation_mark"):
            await pilot.press(key)
            await settled(pilot)
            assert isinstance(pilot.app.screen, PageScreen)
            assert "This is not a SQLite database" in screen_text(pilot)
            await pilot.press("escape")
        await pilot.press("2")
        await settled(pilot)
        assert "It does not open" in screen_text(pilot)
        make_store(tmp_path / "whole.db")
        shutil.copy(tmp_path / "whole.db", path)
        await pilot.press("r")  # examined again, without leaving the place
        await settled(pilot)
        assert place_of(pilot).report is not None and "It does not open" not in screen_text(pilot)
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, RefusedPlace)


async def test_no_such_store_leads_here_too(tmp_path: Path) -> None:
    async with driven(tmp_path / "none" / "state.db") as pilot:
        await pilot.press("2")
        await settled(pilot)
        text = screen_text(pilot)
        assert "There is no such store" in text and "no such folder" in text
    assert list(tmp_path.iterdir()) == []


async def test_it_follows_the_store(gallery: Path, tmp_path: Path) -> None:
    """Another program writes the row that decides; the place says so when it has moved."""
    store = copied(gallery, "harbour.db", tmp_path)
    async with driven(store, "lineage") as pilot:
        assert "A native open would go on" in screen_text(pilot)
        change = "UPDATE schema_meta SET value = 'ferry-desk' WHERE key = 'lineage'"
        script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()"
        subprocess.run([sys.executable, "-c", script, str(store), change], check=True)
        await pilot.press("r")
        await settled(pilot)
        assert "ferry-desk manages it" in screen_text(pilot)


async def test_links_backups_and_other_programs_are_told(gallery: Path, tmp_path: Path) -> None:
    store = copied(gallery, "harbour.db", tmp_path)
    (tmp_path / "harbour.db.pre-v4-20260101.bak").write_bytes(b"older")
    os.link(store, tmp_path / "second.db")
    hold = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
        "c.execute('select 1 from sessions').fetchone();"
        "print('open', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", hold, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None and other.stdout.readline() == "open\n"
        async with driven(store, "lineage", size=(140, 60)) as pilot:
            text = screen_text(pilot)
            assert "2 names for one file" in text and "harbour.db.pre-v4-20260101.bak" in text
            assert f"process {other.pid}" in text
            assert "The file has a second name" in text  # and so a native open would refuse
            place = place_of(pilot)
            place.around.focus()
            assert place.around.select("around names")
            await pilot.press("enter")
            assert isinstance(pilot.app.screen, PageScreen)
    finally:
        other.communicate()


HOSTILE = "acme\x1b]52;c;cGF3bmVk\x07[@click=app.quit]desk[/]\u202e\x9b31m\nline"


async def test_what_the_rows_hold_is_only_shown(tmp_path: Path) -> None:
    path = make_store(tmp_path / "state.db")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE schema_meta SET value = ? WHERE key = 'lineage'", (HOSTILE,))
        connection.execute("INSERT INTO schema_meta VALUES (?, ?)", (HOSTILE, "[/red]" * 9))
        connection.execute("INSERT INTO schema_meta VALUES ('long', ?)", ("x" * 200_000,))
    connection.close()
    async with driven(path, "lineage") as pilot:
        for _ in range(3):
            assert not CONTROLS.search(screen_text(pilot).replace("\n", ""))
            await pilot.press("tab", "pagedown", "G")
        await pilot.press("n")
        await settled(pilot)
        assert not CONTROLS.search(screen_text(pilot).replace("\n", ""))
        await pilot.press("escape", "y")
        await settled(pilot)
        assert "\x1b" not in pilot.app.clipboard


async def test_help_says_what_the_signs_mean(gallery: Path, tmp_path: Path) -> None:
    async with driven(copied(gallery, "customs.db", tmp_path), "lineage", size=(120, 60)) as pilot:
        text = help_content(place_of(pilot)).plain
        assert "a profile's admission decides" in text and "the read whose rows" in text


async def test_the_overview_says_how_it_opens(gallery: Path, tmp_path: Path) -> None:
    for name, says in (("customs.db", "natively (foreign-lineage)"), ("harbour.db", "✓ natively")):
        async with driven(copied(gallery, name, tmp_path), "overview") as pilot:
            await settled(pilot)
            assert says in screen_text(pilot), name


async def test_open_remembers_the_verdict(gallery: Path, tmp_path: Path) -> None:
    """A store that can be read and not written natively is told apart from one of its own."""
    stores = [copied(gallery, name, tmp_path) for name in ("harbour.db", "customs.db", "tomorrow.db")]
    for store in stores:
        async with driven(store, "overview") as pilot:
            await settled(pilot)
    verdicts = {Path(recent.store).name: recent.verdict for recent in recents.load()}
    assert verdicts == {
        "harbour.db": "opens", "customs.db": "reads foreign-lineage", "tomorrow.db": "reads schema-too-new",
    }  # fmt: skip
    async with driven(None) as pilot:
        text = screen_text(pilot)
        assert "▲ foreign-lineage" in text and "▲ schema-too-new" in text and "✓ opens" in text


async def test_a_failure_over_a_place_leads_to_its_page(gallery: Path, tmp_path: Path) -> None:
    from persistence.errors import BusyError

    async with driven(copied(gallery, "harbour.db", tmp_path), "runs") as pilot:
        place = pilot.app.screen
        place.refused(BusyError("Another program holds the store."))  # type: ignore[attr-defined]
        await pilot.pause()
        assert "! explains it" in screen_text(pilot)
        await pilot.press("exclamation_mark")
        await settled(pilot)
        assert "Somebody else has it now" in screen_text(pilot)
        await pilot.press("escape", "escape", "exclamation_mark")
        assert pilot.app.screen is place  # nothing to explain any more
