"""Recent stores: what is remembered, and what never is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from inspector import places, recents
from persistence.location import locate


def remember(store: str | bytes, **more: object) -> tuple[recents.Recent, ...]:
    facts = {"kind": "lionagi 4", "size": 10, "verdict": "opens"} | more
    return recents.remember(locate(store), **facts)  # type: ignore[arg-type]


def test_the_newest_comes_first_once_and_the_oldest_goes(tmp_path: Path) -> None:
    for n in range(25):
        remember(str(tmp_path / f"{n}.db"))
    remember(str(tmp_path / "10.db"), verdict="no-permission")
    names = [Path(recent.store).name for recent in recents.load()]
    assert names == ["10.db", *(f"{n}.db" for n in range(24, 4, -1) if n != 10)]
    assert recents.load()[0].verdict == "no-permission"


def test_a_path_that_is_not_utf8_comes_back_as_it_was(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff \xe6\xbd\xae.db"
    Path(os.fsdecode(path)).touch()
    remember(path)
    (recent,) = recents.load()
    assert os.fsencode(recent.store) == path and recent.is_there
    os.unlink(path)  # noqa: PTH108 (bytes)
    assert not recent.is_there


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://kim:tide-secret@host:5433/db",
        "postgres://kim:tide%2Dsecret@host:5433/db?password=tide-secret&sslmode=require",
        "postgresql://host/db?user=kim&password=tide-secret",
        "postgresql://kim:a@tide-secret@host/db",
    ],
)
def test_no_password_is_ever_stored(url: str) -> None:
    remember(url)
    stored = (places.state_dir() / "recents.json").read_text()
    assert "secret" not in stored and "host" in stored
    assert locate(recents.load()[0].store).backend == "postgresql"
    assert recents.load()[0].is_there


def test_the_url_without_its_password_still_opens_the_same_database() -> None:
    remember("postgresql://kim:pw@host:5433/db?sslmode=require&password=x&application_name=y")
    assert recents.load()[0].store == "postgresql://kim@host:5433/db?sslmode=require&application_name=y"


def test_a_store_that_is_forgotten_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(b"x")
    remember(str(path))
    assert recents.forget(str(path)) == () == recents.load()
    assert path.read_bytes() == b"x"


@pytest.mark.parametrize(
    "text",
    ["", "[", "[]", '{"stores": 3}', '{"stores": [1, {}, {"store": "x"}]}', '{"stores": [' * 9000, "\x00"],
)
def test_a_file_nobody_wrote_is_no_recents(text: str) -> None:
    places.state_dir().mkdir(parents=True)
    (places.state_dir() / "recents.json").write_text(text)
    assert recents.load() == ()


def test_a_password_somebody_put_into_the_file_is_not_used() -> None:
    remember("postgresql://kim@host/db")
    file = places.state_dir() / "recents.json"
    body = json.loads(file.read_text())
    body["stores"][0]["store"] = "postgresql://kim:pw@host/db"
    file.write_text(json.dumps(body))
    assert recents.load()[0].store == "postgresql://kim@host/db"


def test_an_unwritable_place_never_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("STORE_INSPECTOR_STATE_DIR", str(tmp_path / "file" / "below"))
    assert remember(str(tmp_path / "a.db"))[0].kind == "lionagi 4"
    assert recents.load() == ()


def test_none_are_kept_when_none_are_wanted(tmp_path: Path) -> None:
    remember(str(tmp_path / "a.db"), limit=0)
    assert not (places.state_dir() / "recents.json").exists()


def test_only_this_user_can_read_them(tmp_path: Path) -> None:
    remember(str(tmp_path / "a.db"))
    assert (places.state_dir() / "recents.json").stat().st_mode & 0o777 == 0o600
