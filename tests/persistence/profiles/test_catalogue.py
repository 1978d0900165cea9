"""Finding a profile: by path, by name in the user's directory and in the catalogue; none is ever picked."""

from __future__ import annotations

from pathlib import Path

import pytest

from persistence.errors import ProfileError
from persistence.profiles import catalogue, load_profile
from tests.persistence.profiles.documents import DOCUMENT, changed


@pytest.fixture
def user(own_places: Path) -> Path:
    """The user's directory of profiles, where the application's configuration is."""
    folder = own_places / "config" / "profiles"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shipped"
    folder.mkdir()
    monkeypatch.setattr(catalogue, "SHIPPED", folder)
    return folder


def refusal(name: object, **more: object) -> ProfileError:
    with pytest.raises(ProfileError) as caught:
        load_profile(name, **more)  # type: ignore[arg-type]
    return caught.value


def test_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "desk.toml"
    path.write_text(DOCUMENT)
    assert load_profile(path).source == load_profile(str(path)).source == str(path)
    monkeypatch.chdir(tmp_path)
    assert load_profile("desk.toml") == load_profile("./desk.toml")
    (tmp_path / "small-desk").write_text(DOCUMENT)  # a name is a name, whatever lies here
    assert refusal("small-desk").code == "no-such-profile"
    assert load_profile("./small-desk").name == "small-desk"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load_profile("~/desk.toml").name == "small-desk"


@pytest.mark.adr("0128-D2-02", "0128-D2-03")
def test_by_name_with_and_without_a_version(user: Path) -> None:
    (user / "anything.toml").write_text(DOCUMENT)
    for name in ("small-desk", "small-desk@2"):
        assert load_profile(name).identity == "small-desk@2"
    assert load_profile("small-desk").source == str(user / "anything.toml")
    missing = refusal("small-desk@1")
    assert missing.code == "no-such-profile" and "small-desk@2" in str(missing.expected)
    for odd in ("Small-Desk", "small-desk@", "small-desk@two", "", " ", "small desk", "@2"):
        assert refusal(odd).code == "no-such-profile", odd


def test_a_name_that_means_two_is_refused_and_both_are_named(user: Path, shipped: Path) -> None:
    """DECISIONS 22."""
    (user / "mine.toml").write_text(DOCUMENT)
    (shipped / "small-desk.toml").write_text(DOCUMENT)
    for name in ("small-desk", "small-desk@2"):
        error = refusal(name)
        assert error.code == "profile-ambiguous" and error.observed is not None
        assert str(user / "mine.toml") in error.observed
        assert str(shipped / "small-desk.toml") in error.observed
    (shipped / "small-desk.toml").write_text(changed(("version = 2", "version = 3")))
    assert refusal("small-desk").code == "profile-ambiguous"  # never the newest by itself
    assert load_profile("small-desk@3").source == str(shipped / "small-desk.toml")
    assert load_profile(user / "mine.toml").identity == "small-desk@2"
    assert load_profile("small-desk", directories=()).version == 3


def test_a_broken_document_is_no_obstacle_to_others(user: Path) -> None:
    (user / "good.toml").write_text(DOCUMENT)
    (user / "torn.toml").write_text("name = ")
    (user / "blob.toml").write_bytes(b"\xff\xfe\x00")
    (user / "folder.toml").mkdir()
    (user / "notes.txt").write_text(DOCUMENT)
    assert load_profile("small-desk").version == 2
    found = {entry.path.name: entry for entry in catalogue.entries() if entry.origin == "user"}
    assert set(found) == {"good.toml", "torn.toml", "blob.toml", "folder.toml"}
    assert found["good.toml"].identity == "small-desk@2" and found["good.toml"].lineage == "small-desk"
    assert found["good.toml"].operations == ("create_progression", "insert_message")
    assert found["torn.toml"].name is None and found["torn.toml"].why
    assert "UTF-8" in str(found["blob.toml"].why)


def test_a_broken_document_under_the_very_name_is_told(user: Path) -> None:
    (user / "torn.toml").write_text('name = "torn"\nversion = \n')
    error = refusal("torn")
    assert error.code == "profile-invalid" and error.where == f"{user / 'torn.toml'}:2"
    (user / "blob.toml").write_bytes(b"\xff\xfe\x00")
    assert refusal("blob").code == "profile-unreadable"


def test_what_is_not_there_and_what_cannot_be_read(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.toml").code == "no-such-profile"
    assert refusal(tmp_path).code == "profile-unreadable"
    big = tmp_path / "big.toml"
    with big.open("wb") as file:
        file.truncate(5 * 1024 * 1024)
    assert "more than" in str(refusal(big).observed)


def test_the_user_directory_is_the_applications(own_places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspector import places

    assert catalogue.user_directory() == places.profiles_dir() == places.config_dir() / "profiles"
    monkeypatch.delenv("STORE_INSPECTOR_CONFIG_DIR")
    assert catalogue.user_directory() == places.config_dir() / "profiles"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert catalogue.user_directory() == places.config_dir() / "profiles"
