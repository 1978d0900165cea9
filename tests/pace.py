"""How long a test waits for nothing; a plugin that conftest registers.

Textual's pilot takes the process for idle once 20 ms have passed almost without work, after every key and
pause: a little longer than one frame lasts. Frames are made shorter here, and the waiting with them; what is
waited for stays the same. A sheet that was parsed once is not parsed again for the next application. And what
nobody looks at is not drawn: where there is no terminal, a screen is drawn when a test looks at it or ends.
"""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest
import textual._wait as waiting
from _pytest import tmpdir
from textual import constants
from textual.app import App
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.screen import Screen

_FASTER = 4

constants.MAX_FPS *= _FASTER  # type: ignore[misc]
waiting.SLEEP_GRANULARITY /= _FASTER
waiting.SLEEP_IDLE /= _FASTER

_parsed: dict[Any, Any] = {}
_parse = Stylesheet._parse_rules


def _parse_once(sheet: Stylesheet, css: str, *where: Any, **more: Any) -> Any:
    key = (css, where, frozenset(more.items()), frozenset(sheet._variables.items()))
    if key not in _parsed:
        _parsed[key] = _parse(sheet, css, *where, **more)
    return _parsed[key]


Stylesheet._parse_rules = _parse_once  # type: ignore[method-assign]

_draw = Screen._compositor_refresh
_ask_everyone = Pilot._wait_for_screen


def _draw_for_a_terminal(screen: Screen[Any]) -> None:
    app = screen.app
    if app.is_headless and screen is app.screen:
        screen._dirty_widgets.clear()  # the compositor remembers where they are
        app._update_mouse_over(screen)
    else:
        _draw(screen)


def _rests(pump: MessagePump) -> bool:
    """Whether it has done all it was told to, and waits for more."""
    queue = pump._message_queue
    return bool(not queue.values and queue.ready_event._waiters and not pump._next_callbacks)


def _is_due(app: App[Any], screen: Screen[Any]) -> bool:
    """Whether something is to be done at the next frame."""
    return bool(
        app._resize_timer is not None
        or screen._layout_required
        or screen._scroll_required
        or screen._recompose_required
        or screen._callbacks
    )


async def _wait_for_rest(pilot: Pilot[Any], timeout: float = 30.0) -> bool:
    """The pilot tells each widget to tell it when it is through. Most often all are: a look will do."""
    app = pilot.app
    for _ in range(200):
        if app._exception_event.is_set() or not app._screen_stack:
            break
        screen = app.screen
        if not all(map(_rests, (app, *screen.walk_children(with_self=True)))):
            await asyncio.sleep(0)
        elif _is_due(app, screen):
            await asyncio.sleep(0.001)
        else:
            return True
    return await _ask_everyone(pilot, timeout)


def drawn(pilot: Pilot[Any]) -> None:
    """Draws what is due, as a terminal would have it."""
    screen = pilot.app.screen
    if screen.is_attached and screen._compositor._dirty_regions:
        _draw(screen)


Screen._compositor_refresh = _draw_for_a_terminal  # type: ignore[method-assign]
Pilot._wait_for_screen = _wait_for_rest  # type: ignore[method-assign]

# A rule is looked up by what it is, a million times a test; Textual says the same with a function of its own.
RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]

_numbers: dict[tuple[Path, str], int] = {}


def _next_folder(root: Path, prefix: str, mode: int = 0o700) -> Path:
    """The next directory of a name. pytest would look through all that thousands of tests made before."""
    number = _numbers.get((root, prefix), 0)
    while True:
        folder = root / f"{prefix}{number}"
        number += 1
        try:
            folder.mkdir(mode=mode)
        except FileExistsError:
            continue
        _numbers[root, prefix] = number
        return folder


tmpdir.make_numbered_dir = _next_folder  # type: ignore[attr-defined]


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was imported and collected stays: it need not be looked through for garbage again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
