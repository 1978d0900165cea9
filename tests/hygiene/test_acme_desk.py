"""The made-up managing application is another program: what it reads and writes is another program's word."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DESK = ROOT / "inspector" / "demo" / "acme_desk"


def test_it_shares_no_code_with_persistence() -> None:
    """It uses the standard library and itself, nothing else."""
    assert len(list(DESK.glob("*.py"))) >= 8
    foreign = {"persistence", "sqlalchemy", "aiosqlite", "textual", "rich", "click"}
    for path in DESK.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, path
                names = [node.module or ""]
            for name in names:
                assert name.split(".")[0] not in foreign, path
                assert not name.startswith("inspector") or name.startswith("inspector.demo.acme_desk"), path


def test_its_process_loads_nothing_of_ours_either() -> None:
    script = (
        "import sys, inspector.demo.acme_desk.__main__ as desk; desk.main(['check', 'nowhere.db']);"
        "print([n for n in sys.modules if n.split('.')[0] in ('persistence', 'sqlalchemy', 'aiosqlite')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
