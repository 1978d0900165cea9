"""ADR-0128 D7: the rows are read from the very file SQLAlchemy opens, however a URL spells its path."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL

from persistence import Mode, StateDB
from persistence.errors import ForeignLineageError
from persistence.lineage import connection_identity, examine
from persistence.location import locate
from tests.persistence.lineage.craft import complete, foreign, meta, state_of

NAMES = [
    "store.db",
    "st re ü.db",
    "st?re.db",
    "st#re.db",
    "st%20re.db",
    "a;b&c=d.db",
    "'q\"uote.db",
    "-dash.db",
]


SQLALCHEMY = tuple(int(part) for part in sqlalchemy.__version__.split(".")[:2])


def _every_byte(path: Path) -> str:
    return "".join(f"%{byte:02x}" for byte in os.fsencode(path))


def spellings(folder: Path, name: str) -> dict[str, str]:
    """Every way to spell the file in `folder`, which is the working directory and the home."""
    from urllib.parse import quote

    within_url = quote(str(folder / name))
    if SQLALCHEMY >= (2, 1):  # decoded once as part of the URL, and once more as a URI
        within_url = quote(within_url)
    found = {
        "absolute": f"{folder}/{name}",
        "relative": f"./{name}",
        "with dots": f"{folder}/sub/../{name}",
        "home": f"~/{name}",
        "link": f"{folder}/link",
        "link to the folder": f"{folder}/linked/{name}",
        "file uri": f"file:{quote(str(folder / name))}",
        "file uri, three slashes": f"file://{quote(str(folder / name))}",
        "file uri, query": f"file:{quote(str(folder / name))}?mode=rw&cache=private",
        "file uri, every byte": f"file:{_every_byte(folder / name)}",
        "url of a file uri": f"sqlite:///file:{within_url}?uri=true",
    }
    if "?" not in name and "%" not in name:
        found["url"] = f"sqlite:///{folder}/{name}"
        found["url, query"] = f"sqlite+aiosqlite:///{folder}/{name}?timeout=7"
        found["url, relative"] = f"sqlite:///{name}"
        if SQLALCHEMY >= (2, 1):  # the line that decodes a path
            found["url, every byte"] = f"sqlite:///{_every_byte(folder / name)}"
    return found


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "sub").mkdir()
    (folder / "linked").symlink_to(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.mark.adr("0128-D7-42")
@pytest.mark.parametrize("name", NAMES)
def test_examined_and_opened_by_sqlalchemy_it_is_the_same_file(name: str, there: Path) -> None:
    path = foreign(there, name=name)
    (there / "link").symlink_to(path)
    for decoy in ("st", "st re.db", "a;b&c"):  # what a careless reader of the name would open
        if not (there / decoy).exists() and decoy != name:
            foreign(there, name=decoy)
    named = (path.stat().st_dev, path.stat().st_ino)
    before = state_of(there)
    for how, spelled in spellings(there, name).items():
        location = locate(spelled)
        report = examine(location, surroundings=False)
        assert report.identity == named, how
        assert report.application == "acme-desk", how
        if spelled.startswith("sqlite:"):  # the URL itself, as SQLAlchemy reads it
            assert _identity(create_engine(spelled)) == named, how
        # The two ways a path is handed to SQLAlchemy here: as it is, and through a creator.
        assert location.path is not None
        engine = create_engine(URL.create("sqlite", database=os.fsdecode(location.path)))
        assert _identity(engine) == named, how
    assert state_of(there) == before


def _identity(engine: Any) -> tuple[int, int] | None:
    seen: list[tuple[int, int] | None] = []

    @event.listens_for(engine, "connect")
    def connected(connection: sqlite3.Connection, _record: object) -> None:
        seen.append(connection_identity(connection))

    with engine.connect():
        pass
    engine.dispose()
    return seen[0]


@pytest.mark.adr("0128-D7-42")
@pytest.mark.parametrize("name", NAMES)
async def test_the_facade_opens_that_very_file_in_each_mode(name: str, there: Path) -> None:
    path = complete(there, name=name)
    (there / "link").symlink_to(path)
    count = len(list(there.iterdir()))
    for how, spelled in spellings(there, name).items():
        async with StateDB(spelled) as db:
            assert (await db.facts()).lineage == "lionagi", how
        async with StateDB(spelled, mode=Mode.NATIVE) as db:
            assert db.applied is not None and not db.applied.created, how
    assert len(list(there.iterdir())) == count  # no other file was made on the way
    meta(path, "lineage", "acme-desk")
    for how, spelled in spellings(there, name).items():
        with pytest.raises(ForeignLineageError):
            async with StateDB(spelled, mode=Mode.NATIVE):
                raise AssertionError(how)


@pytest.mark.adr("0128-D7-42")
def test_a_name_that_is_not_utf8_is_the_same_file_too(there: Path) -> None:
    path = os.fsencode(there) + b"/st\xffre.db"
    foreign(there, name="plain.db").rename(os.fsdecode(path))
    report = examine(locate(path), surroundings=False)
    found = os.stat(path)  # noqa: PTH116 (bytes)
    assert report.identity == (found.st_dev, found.st_ino)
    assert report.application == "acme-desk"
