"""Settings: their layers and origins, and a file that never blocks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from inspector import places, settings


def write(text: str | bytes) -> Path:
    path = places.config_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_without_a_file_everything_is_its_default() -> None:
    got = settings.load()
    assert {name: got.value(name) for name in got.origins} == {s.name: s.default for s in settings.SETTINGS}
    assert set(got.origins.values()) == {"default"} and got.notices == ()
    assert got.file is not None and not got.file.parent.exists()  # asking creates nothing


def test_each_layer_wins_over_the_one_below_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    path = write('theme = "lion-light"\ntimes = "exact"\nrecents = 5\n[keymap]\n"app.quit" = "ctrl+x"\n')
    monkeypatch.setenv("STORE_INSPECTOR_TIMES", "relative")
    monkeypatch.setenv("STORE_INSPECTOR_FOLLOW", "off")
    got = settings.load({"theme": "mono", "mouse": None})
    assert (got.theme, got.times, got.recents, got.follow) == ("mono", "relative", 5, False)
    assert got.keymap == {"app.quit": "ctrl+x"}
    assert got.origins == {
        "theme": "command line",
        "times": "$STORE_INSPECTOR_TIMES",
        "recents": str(path),
        "follow": "$STORE_INSPECTOR_FOLLOW",
        "mouse": "default",
        "history": "default",
        "profile": "default",
        "owner": "default",
        "keymap": str(path),
        "writes": "default",
    }


def test_a_profile_and_an_owner_can_be_named_and_an_owner_keeps_its_spelling() -> None:
    assert (settings.load().profile, settings.load().owner) == (None, None)
    path = write('profile = " desk@2 "\nowner = " Kim "\n')
    assert (settings.load().profile, settings.load().owner) == ("desk@2", " Kim ")
    path.write_text('profile = 2\nowner = " "\n')
    assert (settings.load().profile, settings.load().owner) == (None, None)
    assert len(settings.load().notices) == 2


def test_an_unknown_key_is_told_with_the_nearest_one() -> None:
    path = write('them = "mono"\nzzz = 1\n')
    assert settings.load().notices == (
        f"{path}: there is no setting them; is theme meant?",
        f"{path}: there is no setting zzz",
    )


@pytest.mark.parametrize(
    "text",
    [b"theme = ", b"\xff\xfe", b"theme = 1\n", b"a = " + b"[" * 100_000, b'recents = "many"\nfollow = 3\n'],
)
def test_a_bad_file_is_a_notice_and_leaves_the_defaults(text: bytes) -> None:
    write(text)
    got = settings.load()
    assert got.notices and got.theme == "lion-dark" and got.recents == 20 and got.follow is True


def test_a_file_that_cannot_be_read_is_a_notice() -> None:
    places.config_file().mkdir(parents=True)
    assert "is not used" in settings.load().notices[0]


@pytest.mark.parametrize("value", ["-1", "201", "x", ""])
def test_a_number_out_of_range_is_not_used(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORE_INSPECTOR_RECENTS", value)
    got = settings.load()
    assert got.recents == 20 and "from 0 to 200" in got.notices[0]


def test_the_keymap_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORE_INSPECTOR_KEYMAP", "app.quit=ctrl+x, app.help=f1")
    assert settings.load().keymap == {"app.quit": "ctrl+x", "app.help": "f1"}


def test_the_chosen_theme_is_remembered_and_nothing_else_moves() -> None:
    before = '# mine\nrecents = 3  # few\ntheme = "lion-light"  # day\n\n[keymap]\n"theme" = "f9"\n'
    path = write(before)
    path.chmod(0o640)
    assert settings.save_theme('od"d\\') is None
    assert path.read_text() == before.replace('theme = "lion-light"  # day', 'theme = "od\\"d\\\\"')
    assert settings.load().theme == 'od"d\\' and settings.load().keymap == {"theme": "f9"}
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in path.parent.iterdir()] == ["config.toml"]


@pytest.mark.parametrize("before", ["", "recents = 3", '[keymap]\n"app.quit" = "x"\n'])
def test_a_theme_is_added_where_there_was_none(before: str) -> None:
    path = write(before)
    assert settings.save_theme("mono") is None
    assert settings.load().theme == "mono" and settings.load().notices == ()
    assert set(before.split()) <= set(path.read_text().split())


def test_a_first_theme_makes_the_directory() -> None:
    assert settings.save_theme("mono") is None and settings.load().theme == "mono"


@pytest.mark.parametrize("before", [b"theme = ", b"\xff", b'x = """\ntheme = "no"\n"""\n'])
def test_a_file_that_cannot_be_changed_safely_is_left_alone(before: bytes) -> None:
    path = write(before)
    said = settings.save_theme("mono")
    assert said is not None and "not remembered" in said
    assert path.read_bytes() == before


def test_the_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("recents = 7\n")
    places.config_dir().mkdir(parents=True)
    places.config_file().symlink_to(real)
    assert settings.save_theme("mono") is None
    assert places.config_file().is_symlink() and 'theme = "mono"' in real.read_text()


def test_a_place_that_cannot_be_written_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("STORE_INSPECTOR_CONFIG_DIR", str(tmp_path / "file" / "below"))
    assert "not remembered" in (settings.save_theme("mono") or "")
    assert settings.load().theme == "lion-dark"


def test_where_files_live(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": "relative/is/ignored", "HOME": "/h"}
    assert places.config_dir(environ) == tmp_path / "store-inspector"
    assert places.state_dir(environ) == Path("~/.local/state/store-inspector").expanduser()
    environ["STORE_INSPECTOR_CACHE_DIR"] = str(tmp_path / "own")
    assert places.cache_dir(environ) == tmp_path / "own"


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="the short way is Linux's")
@pytest.mark.parametrize("home", [None, "/somewhere"])
def test_the_short_way_answers_what_platformdirs_does(
    home: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import platformdirs

    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.delenv(f"STORE_INSPECTOR_{kind}_DIR")
        monkeypatch.delenv(f"XDG_{kind}_HOME")
        if home:
            monkeypatch.setenv(f"XDG_{kind}_HOME", home)
    assert places.config_dir() == platformdirs.user_config_path("store-inspector", appauthor=False)
    assert places.state_dir() == platformdirs.user_state_path("store-inspector", appauthor=False)
    assert places.cache_dir() == platformdirs.user_cache_path("store-inspector", appauthor=False)
