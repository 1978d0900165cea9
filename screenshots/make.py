"""Pictures of every screen, made from the demo gallery: `python -m screenshots.make [NAME...]`.

The clock, the sizes, the ids and the directory are fixed, so the SVGs are the same bytes each time; they are
the application's own export. PNGs are made from them by Chromium, whose columns stay straight, or by
resvg-py (the `pictures` extra) where there is none.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CLOCK = 1_795_953_600.0  # 2026-11-29 12:00:00 UTC
HOME = Path(tempfile.gettempdir()) / "sable-point"
"""Where the gallery is built: paths are part of what is seen."""
STORES = HOME / "stores"


def still() -> None:
    """Before anything of the application is imported: one clock, one zone, nobody's settings."""
    for name in list(os.environ):
        if name in ("NO_COLOR", "COLORTERM", "COLUMNS", "LINES") or name.startswith(
            ("TEXTUAL", "LIONAGI_", "XDG_", "STORE_INSPECTOR_")
        ):
            del os.environ[name]
    for kind in ("CONFIG", "STATE", "CACHE"):
        os.environ[f"STORE_INSPECTOR_{kind}_DIR"] = str(HOME / f".{kind.lower()}")
    os.environ.update(HOME=str(HOME), TZ="UTC", TERM="xterm-256color", LC_ALL="C.UTF-8")
    time.tzset()
    time.time = lambda: CLOCK


def build() -> None:
    """The gallery, anew, with fixed times on its files."""
    from inspector.demo.gallery import INDEX
    from inspector.demo.session import build_gallery

    if HOME.exists() and not (STORES / INDEX).exists():
        raise SystemExit(f"{HOME} is somebody else's; it is left as it is")
    shutil.rmtree(HOME, ignore_errors=True)
    STORES.mkdir(parents=True)
    build_gallery(STORES, CLOCK)
    for path in STORES.rglob("*"):
        os.utime(path, (CLOCK - 900, CLOCK - 900))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m screenshots.make", description=__doc__)
    parser.add_argument("names", nargs="*", help="only these pictures")
    parser.add_argument("--to", type=Path, default=HERE, help="where they go (here)")
    parser.add_argument("--svg-only", action="store_true", help="leave the PNGs as they are")
    asked = parser.parse_args()
    still()
    sys.path.insert(0, str(ROOT))
    from screenshots.shots import SHOTS, take

    target = asked.to.absolute()
    turn = os.open(f"{HOME}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(turn, fcntl.LOCK_EX)  # the place is fixed: one at a time
    build()
    os.chdir(HOME)  # the working directory is suggested for exports: it is seen as well
    try:
        for shot in SHOTS:
            if asked.names and shot.name not in asked.names:
                continue
            svg = asyncio.run(take(shot, STORES))
            written = target / f"{shot.name}.svg"
            written.write_text(svg, encoding="utf-8")
            if not asked.svg_only:
                to_png(written, written.with_suffix(".png"))
            print(shot.name)
    finally:
        os.chdir(ROOT)
        shutil.rmtree(HOME, ignore_errors=True)
        os.close(turn)


def to_png(svg: Path, png: Path) -> None:
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg.read_text("utf-8")[:2000])
    assert found is not None, svg
    width, height = (int(float(side)) for side in found.groups())
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        import resvg_py

        png.write_bytes(bytes(resvg_py.svg_to_bytes(svg_path=str(svg))))
        return
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        picture = base64.b64encode(svg.read_bytes()).decode("ascii")
        page.write_text(
            f'<body style="margin:0"><img src="data:image/svg+xml;base64,{picture}"'
            f' style="display:block;width:{width}px"></body>'
        )
        command = [
            chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--hide-scrollbars", f"--user-data-dir={folder}/profile", f"--window-size={width},{height}",
            f"--screenshot={png}", page.as_uri(),
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    main()
