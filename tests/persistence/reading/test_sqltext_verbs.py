"""Whether a statement says that it does more than read, by its verb and nothing it names."""

from __future__ import annotations

import pytest

from persistence.reading.sqltext import writes


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO nowhere VALUES (1)",
        "  -- first\n/* then */ delete from nowhere",
        "WITH a AS (SELECT 1) DELETE FROM b",
        "WITH a(x) AS (VALUES (1)) REPLACE INTO b SELECT x FROM a",
        "with recursive a as (select 1) update b set c = 1",
        "REPLACE INTO x VALUES (1)",
        "VACUUM INTO 'x'",
        "; DROP TABLE x",
        "COMMIT",
    ],
)
def test_verbs_that_write(sql: str) -> None:
    assert writes(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 'DELETE FROM x'",
        "SELECT replace(a, 'INSERT', 'UPDATE') FROM b",
        "WITH a AS (SELECT 1) SELECT replace(x, 'INTO', '') FROM a",
        'WITH a(x) AS (VALUES (1)) SELECT "UPDATE", [INTO], `DELETE` FROM a -- INSERT',
        "VALUES (1)",
        "EXPLAIN DELETE FROM x",
        "PRAGMA table_info(x)",
        "'INSERT'",
        "",
        ";",
    ],
)
def test_what_does_not_say_so(sql: str) -> None:
    assert not writes(sql)
