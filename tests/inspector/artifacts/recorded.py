"""A store with artifacts of every key shape, files there, gone or not to be told, and a contract."""

from __future__ import annotations

from pathlib import Path

from tests.persistence.stores import make_store, put

CLOCK = 1_795_953_600.0
SESSION = "5e551011-0000-4000-8000-000000000001"
EVIL = "evil [b]\x1b[31m\u202ex"


def make_artifacts(folder: Path, at: str | None = None) -> Path:
    """`at` is the folder the rows say it all is in, where that is to be the same in every picture.

    Files beneath `folder/out`: `report.md` (12 bytes), `link` to what is outside; `data.csv` is gone."""
    (folder / "store").mkdir()
    store = make_store(folder / "store" / "state.db")
    root = folder / "out"
    root.mkdir()
    named = at or str(folder)
    (root / "report.md").write_text("twelve bytes")
    (folder / "secret").write_text("x")
    (root / "link").symlink_to(folder / "secret")
    put(store, "progressions", {"id": "p", "created_at": CLOCK, "collection": []})
    expected = [
        {"id": "report", "path": "report.md", "required": True},
        {"id": "data", "path": "data.csv", "required": True},
        {"id": "link", "path": "link", "required": False},
        {"id": "new", "path": "report.md", "required": False},
    ]
    put(
        store,
        "sessions",
        {
            "id": SESSION,
            "created_at": CLOCK,
            "updated_at": CLOCK,
            "progression_id": "p",
            "name": "tide board",
            "status": "completed",
            "artifacts_path": f"{named}/out",
            "artifact_contract_json": {"expected": expected},
            "artifact_verification_json": {
                "status": "passed",
                "checked_at": CLOCK - 3600,
                "missing_required": [],
                "missing_optional": [expected[2], expected[3]],
                "produced": [
                    {"id": "report", "path": "report.md", "size": 10, "present": True},
                    {"id": "data", "path": "data.csv", "size": 9_120, "present": True},
                ],
            },
        },
    )
    put(
        store,
        "invocations",
        {"id": "inv", "skill": "board", "started_at": CLOCK, "created_at": CLOCK, "updated_at": CLOCK,
         "status": "completed"},
    )  # fmt: skip
    rows = [
        ("both", SESSION, "inv", "data.csv"),
        ("by session", SESSION, None, f"{named}/out/report.md"),
        ("led out", SESSION, None, "link"),
        ("by invocation", None, "inv", f"{named}/nothing"),
        (EVIL, None, None, "somewhere.md"),
    ]
    put(
        store,
        "artifacts",
        *(
            {
                "id": f"art{number:09}",
                "created_at": CLOCK - 600,
                "updated_at": CLOCK - 60 * number,
                "kind": "report",
                "name": name,
                "content": {"tides": [1, 2], "note": EVIL},
                "session_id": session,
                "invocation_id": invocation,
                "file_path": path,
            }
            for number, (name, session, invocation, path) in enumerate(rows)
        ),
    )
    return store
