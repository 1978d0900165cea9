"""A store of definitions whose files are the same, other, gone, and none of the store's business."""

from __future__ import annotations

from pathlib import Path

from tests.persistence.stores import make_store, put

CLOCK = 1_795_953_600.0
DAY = 86_400.0
HOSTILE = "# evil \x1b[31m[/red] [@click=app.quit]x[/]\n\u202egnp.exe\n"

FIRST = "---\nname: clerk\nmodel: model-3\n---\n# clerk\n\nYou keep the tide table.\n\nNever guess.\n"
SECOND = FIRST.replace("the tide table", "the tide tables of both ports")
THIRD = SECOND + "\n- ask when in doubt\n"


def make_definitions(folder: Path) -> Path:
    """`agent/clerk` (three versions, its file is version 2), `playbook/board` (its file is gone), others."""
    store = make_store(folder / "state.db")
    written = folder / "clerk.md"
    written.write_text(SECOND, encoding="utf-8")
    rows = [
        ("agent", "clerk", str(written), FIRST, 1, None),
        ("agent", "clerk", str(written), SECOND, 2, "both ports"),
        ("agent", "clerk", str(written), THIRD, 3, "ask [b]first[/b] \x1b[7m"),
        ("agent", "evil [b]", str(store), HOSTILE, 1, None),
        ("playbook", "board", str(folder / "gone.yaml"), "name: board\nsteps:\n  - look\n", 1, None),
        ("skill", "twelfths", "skills/twelfths/SKILL.md", "1, 2, 3, 3, 2, 1\n", 7, None),
    ]
    put(
        store,
        "definitions",
        *(
            {
                "id": f"d{number}",
                "kind": kind,
                "name": name,
                "path": path,
                "content": content,
                "version": version,
                "created_at": CLOCK - DAY * (9 - version),
                "message": message,
            }
            for number, (kind, name, path, content, version, message) in enumerate(rows)
        ),
    )
    return store
