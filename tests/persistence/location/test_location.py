"""What a STORE argument means: exact bytes, the file SQLite and SQLAlchemy open for the same words."""

from __future__ import annotations

import os
import sqlite3
import warnings
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from persistence.engines import direct
from persistence.errors import LocationError
from persistence.location import locate, mask, sqlite_uri

NAMES = [
    "plain.db",
    "with space.db",
    "what?.db",
    "a#b.db",
    "100%.db",
    "a%20b.db",
    "a%2Fb.db",
    "a&b=c.db",
    "mode=rwc.db",
    "x?mode=rwc.db",
    "x#y?z%41.db",
    "quote'\".db",
    "semi;colon.db",
    "plus+.db",
    "~tilde.db",
    "-dash.db",
    "[brackets].db",
    "new\nline.db",
    "tab\t.db",
    "Grüße 世界.db",
    "back\\slash.db",
    "user:secret.db",
    "file:looks.db",
]
BYTE_NAMES = [os.fsencode(name) for name in NAMES] + [
    b"not-utf8-\xff\xfe.db",
    b"latin-\xe9.db",
    b"\x01\x7f.db",
]


def make(path: bytes, mark: int) -> None:
    """A store whose `user_version` tells it from the others, made without any URI."""
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version={mark}")
    connection.close()


def mark_of(location: str | bytes | Path) -> int:
    found = locate(location)
    return int(direct.read(found, lambda c: c.execute("PRAGMA user_version").fetchone()[0])[0])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working directory, which must not gain a name by being looked at."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path


# -- paths -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BYTE_NAMES)
def test_any_name_is_opened_as_it_is(here: Path, name: bytes) -> None:
    """`#` opened and created another file, `?mode=rwc` beat read-only (mulder PR 86)."""
    path = os.path.join(os.fsencode(here), name)  # noqa: PTH118 (bytes)
    make(path, 41)
    names = sorted(os.listdir(os.fsencode(here)))  # noqa: PTH208 (bytes)
    assert mark_of(path) == 41
    assert mark_of(os.fsdecode(path)) == 41
    assert mark_of(Path(os.fsdecode(path))) == 41
    if not name.startswith((b"file:", b"~")):
        assert mark_of(os.fsdecode(name)) == 41  # relative
    assert mark_of(b"./" + name) == 41
    assert mark_of(sqlite_uri(path, "mode=ro")) == 41
    assert sorted(os.listdir(os.fsencode(here))) == names  # noqa: PTH208 (bytes)


@given(
    st.binary(min_size=1, max_size=60).filter(
        lambda name: not set(name) & {0, 47} and name not in (b".", b"..")
    )
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_name_a_file_can_have(tmp_path: Path, name: bytes) -> None:
    path = os.path.join(os.fsencode(tmp_path), name)  # noqa: PTH118 (bytes)
    make(path, 7)
    assert mark_of(path) == 7 and locate(path).path == path
    connection = sqlite3.connect(sqlite_uri(path, "mode=ro"), uri=True)
    assert connection.execute("PRAGMA user_version").fetchone() == (7,)
    connection.close()
    os.unlink(path)  # noqa: PTH108 (bytes)


def test_two_slashes_are_not_a_host(here: Path) -> None:
    make(os.fsencode(here / "s.db"), 5)
    assert mark_of("/" + str(here / "s.db")) == 5
    assert mark_of("//" + str(here / "s.db")) == 5
    assert mark_of(b"//" + os.fsencode(here / "s.db")) == 5


def test_a_path_is_what_the_kernel_makes_of_it(here: Path) -> None:
    """`link/..` is the parent of where the link leads, not of where it lies."""
    (here / "far" / "away").mkdir(parents=True)
    (here / "link").symlink_to(here / "far" / "away")
    make(os.fsencode(here / "s.db"), 1)
    make(os.fsencode(here / "far" / "s.db"), 2)
    assert mark_of("link/../s.db") == 2


def test_a_tilde_is_the_home_directory(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(here))
    make(os.fsencode(here / "s.db"), 3)
    found = locate("~/s.db")
    assert found.path == os.fsencode(here / "s.db") and found.display == "~/s.db" and found.name == "s.db"
    assert locate(str(here / "s.db")).display == "~/s.db"
    assert locate(Path("~/s.db")).path == os.fsencode(here) + b"/~/s.db"


def test_a_slash_at_the_end_leaves_the_name(here: Path) -> None:
    assert locate(f"{here}/s.db/").name == "s.db"


@pytest.mark.parametrize("store", ["", ":memory:", "a\0b", b"", b"a\0b"])
def test_what_names_no_file(store: str | bytes) -> None:
    with pytest.raises(LocationError) as caught:
        locate(store)
    assert caught.value.exit_status == 2


# -- where no argument leads --------------------------------------------------------------------------


def test_the_environment_then_the_default(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(here))
    assert locate(environ={}).path == os.fsencode(here / ".lionagi" / "state.db")
    assert locate(environ={}).origin == "default"
    assert locate(environ={"LIONAGI_HOME": "/x"}).path == b"/x/state.db"
    assert locate(environ={"LIONAGI_HOME": "~/y"}).path == os.fsencode(here / "y" / "state.db")
    both = {"LIONAGI_HOME": "/x", "lionagi_state_db_url": "sqlite:////z.db"}
    assert (locate(environ=both).path, locate(environ=both).origin) == (b"/z.db", "$lionagi_state_db_url")
    assert locate(environ={"LIONAGI_STATE_DB_URL": "  "}).origin == "default"
    assert locate("s.db", environ=both).path == os.fsencode(here / "s.db")
    assert list(here.iterdir()) == []


# -- URIs --------------------------------------------------------------------------------------------


URIS = [
    "file:{path}",
    "file://{path}",
    "file://localhost{path}",
    "file:{path}?mode=rwc",
    "file:{path}?mode=rw&cache=private#fragment",
    "file:{path}#?mode=rwc",
    "file:{name}",
    "file:./{name}",
    "file:%2e/{name}?immutable=1",
]


@pytest.mark.parametrize("form", URIS)
@pytest.mark.parametrize("name", ["s.db", "a b%?#é.db"])
def test_a_uri_is_read_as_sqlite_reads_it(here: Path, form: str, name: str) -> None:
    make(os.fsencode(here / name), 9)
    uri = form.format(path=quote(str(here / name)), name=quote(name))
    connection = sqlite3.connect(uri, uri=True)
    assert connection.execute("PRAGMA user_version").fetchone() == (9,)
    connection.close()
    assert mark_of(uri) == 9
    assert os.listdir(here) == [name]  # noqa: PTH208


@pytest.mark.parametrize(
    "uri", ["file://host/s.db", "file:", "file:?mode=ro", "file::memory:", "file:x?mode=memory", "file:%00x"]
)
def test_uris_that_name_no_file_here(uri: str) -> None:
    with pytest.raises(LocationError):
        locate(uri)


def test_what_of_a_uri_is_not_used_is_said(here: Path) -> None:
    assert locate("file:s.db?mode=ro").notices == ()
    assert "mode=rwc" in locate("file:s.db?mode=rwc").notices[0]


# -- SQLAlchemy's URLs -------------------------------------------------------------------------------


def opened_by_sqlalchemy(url: str) -> tuple[int, int]:
    """Device and inode of the file the installed SQLAlchemy opens for a URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine = create_engine(url, poolclass=NullPool)
        with engine.connect() as connection:
            name = connection.exec_driver_sql("PRAGMA database_list").fetchone()[2]  # type: ignore[index]
    status = Path(name).stat()
    return status.st_dev, status.st_ino


SPELLINGS = [
    "sqlite:///{name}",
    "sqlite:///./{name}",
    "sqlite:////{rooted}",
    "sqlite://///{rooted}",
    "sqlite+pysqlite:///{name}",
    "sqlite:///{name}?timeout=5",
    "sqlite:///{name}?mode=rwc",
    "sqlite:///sub/../{name}",
    "sqlite:///link/../{name}",
    "sqlite:///file:{name}?uri=true",
    "sqlite:///file:{rooted_uri}?uri=true&mode=rwc",
    "sqlite:///file:{name}?mode=rw",
    "sqlite:///{name}?uri=true",
    "sqlite:///~/{name}",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(
    "name", ["s.db", "with space.db", "a%20b.db", "a%41%zz.db", "a#b.db", "a@b:c.db", "é.db"]
)
def test_a_url_is_the_file_sqlalchemy_opens(here: Path, spelling: str, name: str) -> None:
    (here / "sub").mkdir()
    (here / "far" / "away").mkdir(parents=True)
    (here / "link").symlink_to(here / "far" / "away")
    (here / "~").mkdir()
    url = spelling.format(
        name=name, rooted=str(here / name).lstrip("/"), rooted_uri=quote(str(here)) + "/" + name
    )
    expected = opened_by_sqlalchemy(url)  # makes it where there is none
    found = locate(url)
    assert found.path is not None
    status = Path(os.fsdecode(found.path)).stat()
    assert (status.st_dev, status.st_ino) == expected


def test_sqlite_urls_that_name_no_file() -> None:
    for url in ("sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite://host/s.db", "sqlite:///?mode=ro"):
        with pytest.raises(LocationError):
            locate(url)


@pytest.mark.parametrize("url", ["mysql://u:secret@h/d", "http://h/s.db", "duckdb:///s.db"])
def test_other_schemes_are_refused_and_masked(url: str) -> None:
    with pytest.raises(LocationError) as caught:
        locate(url)
    assert "secret" not in str(caught.value.as_dict())


# -- servers -----------------------------------------------------------------------------------------


def test_a_server_is_shown_without_its_credentials() -> None:
    found = locate("postgres://user:s3cret@host:5432/data?sslmode=require&sslpassword=s3cret")
    assert found.backend == "postgresql" and found.name == "data" and found.path is None
    assert found.display == "postgresql://user:***@host:5432/data?sslmode=require&sslpassword=***"
    assert found.url == "postgresql+asyncpg://user:s3cret@host:5432/data?sslmode=require&sslpassword=s3cret"
    assert "s3cret" not in repr(found) + found.display
    with pytest.raises(LocationError):
        _ = found.fspath
    assert locate("postgresql+asyncpg://h1:1,h2:2/d").display == "postgresql://h1:1,h2:2/d"


def test_words_that_look_like_credentials_are_no_file(here: Path) -> None:
    with pytest.raises(LocationError) as caught:
        locate("user:s3cret@host/db")
    assert "s3cret" not in str(caught.value.as_dict()) and "./" in (caught.value.remedy or "")
    make(b"user:s3cret@host", 4)
    assert mark_of("./user:s3cret@host") == 4


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3cret@h/d",
        "postgresql://u:s3/cret@h/d",
        "postgresql://u:s3@cret@h/d",
        "postgresql://u:s3?cret@h/d",
        "postgresql://u:s3#cret@h/d",
        "postgresql://u:s3:cret@h/d",
        "postgresql://u:s3%40cret@h:1/d?x=1",
        "postgresql://u:s3cret",
        "postgresql://u:[s3cret@h/d",
        "postgresql://h/d?password=s3cret",
        "postgresql://h/d?user=u&Password=s3cret&x=1",
        "postgresql://h/d?x=1&sslkey=s3cret#s3",
        "postgresql://u:p@h/d?api_token=s3cret",
        "u:s3cret@h",
    ],
)
def test_no_part_of_a_password_is_ever_shown(url: str) -> None:
    assert "s3" not in mask(url).partition("#")[0] and "cret" not in mask(url)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://h/d",
        "postgresql://u@h:5432/d?application_name=a@b",
        "postgresql://h:5432,i:5433/d",
        "sqlite:////home/x@y/s.db",
        "postgresql:///d?host=/var/run",
    ],
)
def test_what_is_no_secret_stays(url: str) -> None:
    assert mask(url) == url


@given(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=4, max_size=20))
@settings(deadline=None)
def test_a_properly_written_password_is_hidden_whatever_it_is(password: str) -> None:
    url = f"postgresql://user:{quote(password, safe='')}@host:5432/d?sslmode=require"
    assert mask(url) == "postgresql://user:***@host:5432/d?sslmode=require"


# -- Windows, as pure functions ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        (r"C:\a b#c?d%e\x.db", "file:///C:/a%20b%23c%3Fd%25e/x.db?mode=ro"),
        (r"\\srv\share\x.db", "file:////srv/share/x.db?mode=ro"),
        (r"c:/x.db", "file:///c:/x.db?mode=ro"),
        (r"sub\x.db", "file:sub/x.db?mode=ro"),
        (r"D:\Grüße\x.db", "file:///D:/Gr%C3%BC%C3%9Fe/x.db?mode=ro"),
    ],
)
def test_windows_paths(path: str, uri: str) -> None:
    """Drive letters and backslashes in a URI (bursa PR 838)."""
    assert sqlite_uri(str(PureWindowsPath(path)).encode(), "mode=ro", windows=True) == uri
