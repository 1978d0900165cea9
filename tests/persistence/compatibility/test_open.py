"""Opening a managed store through the facade: by a profile's name, its path or the document."""

from __future__ import annotations

from pathlib import Path

import pytest

from persistence import StateCompatibilityRefused, StateDB, StoreError
from persistence.mode import Mode
from persistence.profiles.catalogue import SHIPPED
from persistence.profiles.records import Profile
from tests.managed import dump, live, make_run, profile_of, shipped, stamps

DOCUMENT = SHIPPED / "acme-desk-fresh-run.toml"


@pytest.mark.parametrize(
    "profile",
    ["acme-desk-fresh-run", "acme-desk-fresh-run@1", str(DOCUMENT), DOCUMENT, shipped()],
    ids=["name", "name and version", "path as text", "path", "document"],
)
async def test_a_profile_is_named_or_passed(desk: Path, profile: str | Path | Profile) -> None:
    async with StateDB(desk, profile=profile, owner="kim") as db:
        assert db.mode is Mode.COMPATIBILITY and db.is_open and db.applied is None
        assert db.admission is not None and db.admission.admitted
        assert db.admission.profile == shipped().identity and db.admission.owner == "kim"
        await make_run(db)
        assert (await db.get_branch_messages("b"))[0]["id"] == "m"
        assert [one["id"] for one in await db.list_sessions(status="running")] == ["s", "lee-sess"]
    assert not db.is_open and db.admission is None and db.committed == {}


async def test_a_handle_is_opened_again_as_new(desk: Path) -> None:
    db = StateDB(desk, profile=shipped(), owner="kim")
    for key in ("1", "2"):
        async with db:
            assert await db.open() is db
            await make_run(db, key)
            assert db.committed["session"] == 1
    await db.close()
    with pytest.raises(StoreError) as caught:
        await live(db, "x", "2")
    assert caught.value.code == "not-open"


@pytest.mark.parametrize(
    ("profile", "owner", "code"),
    [
        ("lionagi-shape-fresh-run", None, None),
        (shipped(), None, None),
        (shipped(), "nobody", None),
        ("no-such-profile", "kim", "no-such-profile"),
        (profile_of("create_progression", "no_such_operation"), "kim", None),
    ],
    ids=["another lineage", "no owner", "no principal", "no profile", "an operation that is none"],
)
async def test_a_refused_open_leaves_nothing(
    desk: Path, profile: str | Profile, owner: str | None, code: str | None
) -> None:
    before, written = dump(desk), stamps(desk)
    db = StateDB(desk, profile=profile, owner=owner)
    with pytest.raises(StoreError) as caught:
        await db.open()
    assert caught.value.code == code or (code is None and isinstance(caught.value, StateCompatibilityRefused))
    assert not db.is_open and db.admission is None
    assert dump(desk) == before and stamps(desk) == written
    # The refusal holds nothing of the file: it can be opened at once.
    async with StateDB(desk, profile=shipped(), owner="kim") as again:
        await make_run(again)
