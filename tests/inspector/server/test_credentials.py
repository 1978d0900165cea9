"""A password in a URL is nowhere to be found: outputs, errors, screens, what is remembered on the disk."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from persistence import Mode, StateDB, StoreError
from tests.inspector.cli.conftest import Command, command
from tests.inspector.driving import driven, screen_text
from tests.inspector.server.conftest import Twins

__all__ = ["command"]

WORD = "tide-secret"
COMMANDS = ("doctor", "runs", "tables", "definitions", "artifacts", "progression", "open", "run")


def urls(server: str) -> tuple[str, ...]:
    """A wrong password, nobody there, no such database, the word in the query, spellings of all sorts."""
    port = urlsplit(server).port
    return (
        f"postgresql://postgres:{WORD}@127.0.0.1:{port}/postgres",
        f"postgresql://kim:{WORD}%2F%40@127.0.0.1:1/none?sslmode=disable",
        f"postgresql://127.0.0.1:{port}/none?user=postgres&password={WORD}",
        f"postgresql+asyncpg://kim:{WORD}@127.0.0.1:{port}/none?sslpassword={WORD}",
        f"postgresql://kim:{WORD}@[::1/none",
        f"postgresql://kim:{WORD}@127.0.0.1:port/none",
        f"mysql://kim:{WORD}@127.0.0.1/none",
        f"kim:{WORD}@127.0.0.1/none",
    )


def kept(folder: str) -> str:
    """Every byte of what was written to a directory."""
    files = (path for path in Path(folder).rglob("*") if path.is_file())
    return "".join(path.read_bytes().decode("utf-8", "replace") + path.name for path in files)


def everything_kept() -> str:
    return "".join(kept(os.environ[f"STORE_INSPECTOR_{kind}_DIR"]) for kind in ("STATE", "CONFIG", "CACHE"))


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(command: Command, twins: Twins, name: str) -> None:
    for url in urls(twins.url):
        words = [name, url, *(["0f3c"] if name == "run" else [])]
        for form in ([], ["--json"]) if name != "open" else ([],):
            done = command(*words, *form)
            assert done.status in (2, 3, 4), (url, done.out, done.err)
            assert WORD not in done.out + done.err
            assert done.out or done.err
    assert WORD not in everything_kept()


@pytest.mark.parametrize("number", range(8))
async def test_the_application(twins: Twins, number: int) -> None:
    async with driven(urls(twins.url)[number], size=(160, 40)) as pilot:
        assert WORD not in screen_text(pilot)
        assert WORD not in f"{pilot.app.title} {pilot.app.sub_title}"
        assert WORD not in pilot.app.export_screenshot()
    assert WORD not in everything_kept()


async def test_what_was_opened_is_remembered_without_it(twins: Twins) -> None:
    async with driven(twins.url, "runs") as pilot:
        assert twins.secret not in f"{screen_text(pilot)} {pilot.app.title} {pilot.app.sub_title}"
    remembered = everything_kept()
    assert "127.0.0.1" in remembered and twins.secret not in remembered


async def test_writable_opens(twins: Twins) -> None:
    for url in urls(twins.url):
        with pytest.raises(StoreError) as refused:
            await StateDB(url, mode=Mode.NATIVE).open()
        causes: list[BaseException | None] = [refused.value, refused.value.__cause__]
        assert WORD not in "".join(f"{each!r}{each}" for each in causes) + str(refused.value.as_dict())
