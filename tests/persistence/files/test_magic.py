"""What a file is by its first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persistence.magic import HEAD, looks_like


def _zip() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("state.db", "x")
    return out.getvalue()


def _tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("state.db"))
    return out.getvalue()


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
CASES = {
    "empty": b"",
    "text": "Grüße, 世界\n".encode(),
    "json": b'{"runs": []}',
    "sql": b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n",
    "markup": b"<!doctype html><html>404</html>",
    "gzip": gzip.compress(b"x" * 99),
    "bzip2": bz2.compress(b"x" * 99),
    "xz": lzma.compress(b"x" * 99),
    "zip": _zip(),
    "tar": _tar(),
    "git-lfs": LFS,
    "duckdb": bytes(8) + b"DUCK" + bytes(100),
    "zeros": bytes(8192),
    "parquet": b"PAR1" + bytes(range(60)),
    "sqlite-2": b"** This file contains an SQLite 2.1 database **\0",
    "journal": b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(600),
    "log": b"\x37\x7f\x06\x82" + bytes(600),
    "unknown": b"\x01\x02" * 300,
}


@pytest.mark.parametrize("kind", CASES)
def test_each_kind_is_told_by_its_first_bytes(kind: str) -> None:
    data = CASES[kind]
    assert looks_like(data[:HEAD], len(data)).kind == kind


def test_a_database_and_random_bytes_are_told_apart(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "s.db")
    connection.execute("CREATE TABLE t(a)")
    connection.close()
    data = (tmp_path / "s.db").read_bytes()
    assert looks_like(data[:HEAD], len(data)).kind == "sqlite"
    for seed in range(20):
        assert looks_like(random.Random(seed).randbytes(HEAD), 1 << 20).kind == "encrypted"


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_a_mark_alone_makes_no_text(mark: bytes) -> None:
    written = ("le phare 🗼 " * HEAD).encode("utf-16-le" if mark[:1] == b"\xff" else "utf-16-be")
    for cut in range(HEAD - 5, HEAD + 1):
        assert looks_like((mark + written)[:cut], 1 << 20).words == "a text file (UTF-16)"
    assert looks_like(mark + random.Random(7).randbytes(HEAD - 2), 1 << 20).kind == "encrypted"


def test_what_can_be_done_is_said() -> None:
    assert "git lfs pull" in (looks_like(LFS, len(LFS)).remedy or "")
    assert "-wal" in (looks_like(CASES["log"], 604).remedy or "")


def test_text_cut_in_the_middle_of_a_character_is_still_text() -> None:
    data = ("é" * HEAD).encode()[1:]
    assert looks_like(("x" + "é" * HEAD).encode()[:HEAD], 2 * HEAD).kind == "text"
    assert looks_like(data[:HEAD], len(data)).kind != "text"


@given(st.binary(max_size=600))
def test_any_bytes_look_like_something(data: bytes) -> None:
    found = looks_like(data, len(data))
    assert found.kind and found.words
