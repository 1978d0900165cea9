"""Open: recent stores, the default one, `.env`, the demo, and the field; what each key does."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static
from textual.worker import WorkerCancelled

from inspector import choices, recents
from inspector.app import InspectorApp
from inspector.screens.open import OpenPlace
from inspector.widgets.path_field import unwrapped
from persistence.location import locate
from tests.gallery import CLOCK, copied_gallery


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gallery whose place is the same in every run, as far as pictures show it."""
    return copied_gallery(tmp_path_factory, tmp_path_factory.mktemp("open") / "gallery")


@pytest.fixture(autouse=True)
def nothing_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "work").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "home" / "work")


async def settled(pilot: Pilot[Any]) -> None:
    for _ in range(3):
        with suppress(WorkerCancelled):
            await pilot.app.workers.wait_for_complete()
        await pilot.pause()


@asynccontextmanager
async def opened(gallery: Path | None = None, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Pilot[Any]]:
    app = InspectorApp(None, gallery=gallery)
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        assert isinstance(app.screen, OpenPlace)
        yield pilot
        assert app.fault is None


def told(pilot: Pilot[Any]) -> str:
    listed = pilot.app.screen.query_one("#open-list", OptionList)
    return "\n".join(str(listed.get_option_at_index(n).prompt) for n in range(listed.option_count))


def said(pilot: Pilot[Any]) -> str:
    return str(pilot.app.screen.query_one("#path-names").render())


def field(pilot: Pilot[Any]) -> Input:
    return pilot.app.screen.query_one("#path", Input)


def store(path: Path) -> Path:
    import sqlite3

    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, created_at REAL NOT NULL)")
    connection.close()
    return path


async def test_with_nothing_known_the_field_waits() -> None:
    async with opened() as pilot:
        assert pilot.app.focused is field(pilot)
        assert "~/.lionagi/state.db  there is none" in told(pilot) and "a demo gallery" in told(pilot)


async def test_recent_stores_say_what_they_were(tmp_path: Path, frozen_clock: float) -> None:
    path = store(tmp_path / "here.db")
    recents.remember(locate(tmp_path / "gone.db"), kind="lionagi · 2", size=100, verdict="opens")
    recents.remember(locate("postgresql://kim:pw@host/db"), kind="", size=None, verdict="no-connection")
    recents.remember(locate(path), kind="lionagi · 4", size=831_488, verdict="opens")
    async with opened() as pilot:
        lines = told(pilot).split("\n")
        here = next(line for line in lines if "here.db" in line)
        assert "lionagi · 4" in here and "831 kB" in here and "✓ opens" in here
        assert "gone" in next(line for line in lines if "gone.db" in line).replace("gone.db", "")
        server = next(line for line in lines if "postgresql" in line)
        assert "✗ no-connection" in server and "pw" not in server
        assert isinstance(pilot.app.focused, OptionList)


async def test_enter_opens_the_store_under_the_cursor(tmp_path: Path) -> None:
    path = store(tmp_path / "here.db")
    recents.remember(locate(path), kind="", size=None, verdict="opens")
    async with opened() as pilot:
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.location.path == os.fsencode(path) and pilot.app.opened is not None
        assert not isinstance(pilot.app.screen, OpenPlace)


async def test_a_store_is_forgotten_and_left_alone(tmp_path: Path) -> None:
    path = store(tmp_path / "here.db")
    before = path.read_bytes()
    recents.remember(locate(path), kind="", size=None, verdict="opens")
    async with opened() as pilot:
        await pilot.press("x")
        await settled(pilot)
        assert "here.db" not in told(pilot) and recents.load() == () and path.read_bytes() == before


async def test_moving_and_the_way_into_the_field_and_back(built: Path) -> None:
    async with opened(built) as pilot:
        listed = pilot.app.screen.query_one("#open-list", OptionList)
        first = listed.highlighted
        await pilot.press("j")
        assert listed.highlighted != first
        await pilot.press("k")
        assert listed.highlighted == first
        await pilot.press("G")
        last = listed.highlighted
        await pilot.press("g")
        assert listed.highlighted == first and last != first
        await pilot.press("slash")
        assert pilot.app.focused is field(pilot)
        await pilot.press("slash", "t", "q")
        assert field(pilot).value == "/tq"  # letters only type
        await pilot.press("escape")
        assert pilot.app.focused is listed


async def test_the_gallery_is_shown_and_opens(built: Path) -> None:
    async with opened(built) as pilot:
        shown = told(pilot)
        assert "The harbour office" in shown and "● being written" in shown and "The star catalogue" in shown
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.location.name == "harbour.db" and pilot.app.opened is not None


async def test_a_story_the_list_cuts_off_is_told_whole_below_it(built: Path) -> None:
    from inspector.demo.gallery import read_index

    story = read_index(built)[0].story
    async with opened(built, (80, 24)) as pilot:
        assert story[:40] in told(pilot) and story not in told(pilot)
        below = str(pilot.app.screen.query_one("#open-look", Static).render())
        assert below.startswith(f"{story}\nwhat to look at  ")
    async with opened(built, (160, 40)) as pilot:
        assert told(pilot).count(story) == 1


async def test_what_is_typed_is_completed(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "stores"
    folder.mkdir()
    store(folder / "harbour.db")
    (folder / "harbour-notes").mkdir()
    (folder / "harbour.db-wal").touch()
    (folder / "har\x1b[31m").touch()
    async with opened() as pilot:
        await pilot.press(*"~", *"/st")
        await settled(pilot)
        await pilot.press("tab")
        assert field(pilot).value == "~/stores/"
        await settled(pilot)
        await pilot.press("h")
        await settled(pilot)
        assert (
            "harbour.db  harbour-notes/" in said(pilot)
            and "wal" not in said(pilot)
            and "31m" not in said(pilot)
        )
        await pilot.press("tab")
        assert field(pilot).value == "~/stores/harbour"
        await pilot.press("full_stop", "tab")
        await settled(pilot)
        await pilot.press("tab", "enter")
        await settled(pilot)
        assert pilot.app.location.path == os.fsencode(folder / "harbour.db") and pilot.app.opened is not None


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("/no/such/store.db", "there is no such file"),
        ("mysql://kim:tide-secret@host/db", "No store is kept behind mysql://"),
        ("kim:tide-secret@host/db", "looks like credentials"),
    ],
)
async def test_a_name_that_is_no_store_is_told_in_place(typed: str, answer: str) -> None:
    async with opened() as pilot:
        field(pilot).value = typed
        await pilot.press("enter")
        await settled(pilot)
        assert answer in said(pilot) and "tide-secret" not in said(pilot)
        assert isinstance(pilot.app.screen, OpenPlace)


async def test_a_dropped_file_goes_into_the_field(tmp_path: Path) -> None:
    path = store(tmp_path / "my store.db")
    recents.remember(locate(tmp_path / "gone.db"), kind="", size=None, verdict="opens")
    for text in (f"'{path}'", str(path).replace(" ", "\\ "), f"{path}\n"):
        async with opened() as pilot:
            pilot.app.screen.post_message(events.Paste(text))
            await settled(pilot)
            assert pilot.app.focused is field(pilot) and field(pilot).value == str(path)
            await pilot.press("enter")
            await settled(pilot)
            assert pilot.app.location.path == os.fsencode(path)


@pytest.mark.parametrize(
    ("pasted", "name"),
    [
        ("'/a b'", "/a b"), ("/a\\ b\n", "/a b"), ("file:///a%20b", "file:///a%20b"),
        ("/a\x1b[31mb", "/a[31mb"), ("/one /two", "/one /two"), ("'", "'"), ("\u202e/a", "/a"),
    ],
)  # fmt: skip
def test_what_terminals_put_around_a_name(pasted: str, name: str) -> None:
    assert unwrapped(pasted) == name


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("LIONAGI_STATE_DB_URL=/srv/a.db\n", "/srv/a.db"),
        ('export lionagi_state_db_url="/srv/with space.db" # why\n', "/srv/with space.db"),
        ("# LIONAGI_STATE_DB_URL=/srv/no.db\nLIONAGI_HOME='/srv/home'\n", "/srv/home/state.db"),
        ("OTHER=1\n", None),
        ("LIONAGI_STATE_DB_URL=mysql://x/y\n", None),
    ],
)
def test_a_dotenv_that_names_a_store(text: str, path: str | None, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(text)
    found = choices.named_by_dotenv(tmp_path)
    assert (found.location.fspath if found is not None else None) == path


async def test_a_dotenv_is_told_and_offered(tmp_path: Path) -> None:
    """DECISIONS 23: such a file is not read for settings; what it names is offered."""
    path = store(tmp_path / "named.db")
    Path(".env").write_text(f"LIONAGI_STATE_DB_URL=sqlite:///{path}\n")
    Path(".env.local").write_text("LIONAGI_STATE_DB_URL=postgresql://kim:tide-secret@host/db\n")
    async with opened() as pilot:
        assert ".env here names" in told(pilot) and "named.db" in told(pilot)
        await pilot.press("escape", "G", "k", "enter")
        await settled(pilot)
        assert pilot.app.location.path == os.fsencode(path)


async def test_the_default_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_STATE_DB_URL", "postgresql://kim:tide-secret@host/db")
    async with opened() as pilot:
        assert "$LIONAGI_STATE_DB_URL names" in told(pilot) and "tide-secret" not in told(pilot)


async def test_nothing_is_opened_to_show_it(
    tmp_path: Path, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Listing and completing look with stat and at directories alone."""
    fifo = tmp_path / "home" / "work" / "pipe.db"
    os.mkfifo(fifo)  # opening it would wait for ever
    recents.remember(locate(fifo), kind="", size=None, verdict="opens")
    async with opened(built) as pilot:
        await pilot.press("slash", *"pi")
        await settled(pilot)
        assert "pipe.db" in said(pilot)


async def test_a_working_directory_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspector.reports.export import suggested_target

    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    async with opened() as pilot:
        assert "a demo gallery" in told(pilot)
    assert suggested_target("runs", ".csv").parent == Path.home()


async def test_the_demo_can_be_built_from_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import atexit

    from inspector.demo import session

    leavers: list[Any] = []
    monkeypatch.setattr(atexit, "register", lambda *call: leavers.append(call))
    monkeypatch.setattr(session.tempfile, "tempdir", str(tmp_path))
    async with opened() as pilot:
        await pilot.press("escape", "G", "enter")
        await settled(pilot)
        assert "The harbour office" in told(pilot)
    for leave, *arguments in leavers:
        leave(*arguments)
    assert not list(tmp_path.glob("store-inspector-demo-*"))


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["wide", "small"])
def test_picture(
    size: tuple[int, int], built: Path, tmp_path: Path, snap_compare: Any, frozen_clock: float
) -> None:
    home = tmp_path / "home"
    shutil.copy(built / "stars.sqlite", home / "stars.sqlite")
    for name, kind, octets, verdict in (
        ("old/state.db", "lionagi · 2", 12_400_000, "opens"),
        ("notes.txt", "", 2_100, "not-a-database"),
        ("stars.sqlite", "not a state store", 151_552, "opens"),
    ):
        recents.remember(locate(home / name), kind=kind, size=octets, verdict=verdict)
    rows = [recents.replace(row, opened=CLOCK - 4000 * n) for n, row in enumerate(recents.load(), 1)]
    recents._save(rows)
    app = InspectorApp(None, gallery=built)
    assert snap_compare(app, terminal_size=size, run_before=settled)


def test_its_scroll_bar_is_thin_where_nothing_else_was_loaded(as_program: list[str]) -> None:
    code = "import inspector.screens.open; from textual.scrollbar import ScrollBar; print(ScrollBar.renderer)"
    done = subprocess.run([as_program[0], "-c", code], capture_output=True, text=True, check=True)
    assert "ThinBar" in done.stdout


async def test_settings_are_in_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times, following and keys as a person's settings say."""
    from inspector.widgets.grid import Grid

    path = store(tmp_path / "here.db")
    monkeypatch.setenv("STORE_INSPECTOR_TIMES", "exact")
    monkeypatch.setenv("STORE_INSPECTOR_FOLLOW", "no")
    monkeypatch.setenv("STORE_INSPECTOR_KEYMAP", "app.help=f4")
    app = InspectorApp(str(path), start_place="tables/sessions")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        grid = app.screen.query_one(Grid)
        assert grid.exact_times
        assert not app.session.follower.on
        place = app.screen
        await pilot.press("f4")
        await settled(pilot)
        assert app.screen is not place  # the help
