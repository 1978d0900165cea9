"""The keys of the shell and its places: each with an id (for `keymap`), a word and a tooltip.

Footer, help and palette are made from the bindings in force, never from a list of their own; widgets
keep theirs beside the widget, made with `bind` too. A person's own keys come from the settings
(`keymap`, id to key) and go through Textual's keymap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.binding import Binding

if TYPE_CHECKING:
    from typing import Any

    from textual.app import App
    from textual.screen import Screen

__all__ = ["FOOTER", "PLACE", "Shortcut", "bind", "display", "shortcuts"]


def bind(
    id: str,
    keys: str,
    action: str,
    label: str,
    tooltip: str,
    *,
    show: bool = True,
    shown_as: str | None = None,
    priority: bool = False,
) -> Binding:
    """A binding: `label` is the footer's word, `tooltip` the sentence help and palette show."""
    return Binding(
        keys, action, label, show=show, key_display=shown_as, priority=priority, tooltip=tooltip, id=id
    )


PLACE: list[Binding] = [
    bind("place.filter", "slash", "filter", "filter", "Narrow down what is shown"),
    bind("place.copy", "y", "copy", "copy", "Copy what the cursor is on, whole and exact"),
    bind("place.copy_row", "Y", "copy_row", "copy row", "Copy the whole row as JSON", show=False),
    bind("place.export", "e", "export", "export", "Write what is shown to a file: CSV, JSON, Markdown"),
    bind("place.refresh", "r", "refresh", "refresh", "Read the store again"),
    bind("app.follow", "f", "app.follow", "follow", "Follow a store being written, or stop", show=False),
    bind("app.open", "o", "app.open", "open", "Open another store", show=False),
    bind("app.themes", "t", "app.themes", "themes", "Choose the colours", show=False),
    bind("app.back", "left_square_bracket", "app.previous", "back", "Back to where you were", show=False),
    bind("app.forward", "right_square_bracket", "app.next", "forward", "Forward again", show=False),
    bind("app.help", "question_mark,f1", "app.help", "help", "What this place is, and its keys"),
    bind("app.commands", "ctrl+p,colon", "app.command_palette", "commands", "Find a place, a run, an action"),
    bind("place.close", "escape", "close", "back", "Close the topmost layer: filter, detail, then the place",
         show=False),
    bind("place.explain", "exclamation_mark", "explain", "explain",
         "The page of the refusal that is shown: what it means, what to do", show=False),
    bind("place.notices", "i", "notices", "notices", "What is to be known about this store", show=False),
    bind("app.quit", "q", "app.quit", "quit", "Leave; the store is as it was"),
]  # fmt: skip

FOOTER: tuple[str, ...] = (
    "place.filter",
    "list.open",
    "grid.open",
    "conversation.open",
    "place.copy",
    "place.export",
    "place.refresh",
    "app.help",
    "app.commands",
    "app.quit",
)
"""The order of the footer by binding id; anything else that is shown comes after `open`."""

_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "exclamation_mark": "!",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "escape": "esc",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "space": "space",
    "delete": "del",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "full_stop": ".",
    "number_sign": "#",
    "tilde": "~",
    "backspace": "bksp",
    "comma": ",",
}


def display(binding: Binding) -> str:
    """The key as it is written in footer and help: `?`, `^p`, `esc`."""
    if binding.key_display:
        return binding.key_display
    *modifiers, key = binding.key.split("+")
    key = _NAMES.get(key, key)
    if key.startswith("upper_"):
        key = key.removeprefix("upper_").upper()
    marks = {"ctrl": "^", "shift": "⇧", "alt": "alt+"}
    return "".join(marks.get(modifier, f"{modifier}+") for modifier in modifiers) + key


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A binding in force: its keys as written, its words, and how to run it."""

    id: str
    keys: tuple[str, ...]
    label: str
    tooltip: str
    action: str
    namespace: object
    enabled: bool
    show: bool


def shortcuts(screen: Screen[Any]) -> list[Shortcut]:
    """What the keys do on this screen now, one a binding id, in the footer's order."""
    found: dict[str, Shortcut] = {}
    for key, active in screen.active_bindings.items():
        binding = active.binding
        if binding.system or binding.id is None or not binding.description:
            continue
        name = binding.id
        shown = display(binding if binding.key == key else binding.with_key(key))
        if (known := found.get(name)) is not None:
            if known.namespace is active.node:
                found[name] = _with_key(known, shown)
            continue
        found[name] = Shortcut(
            id=name,
            keys=(shown,),
            label=binding.description,
            tooltip=binding.tooltip or binding.description,
            action=binding.action,
            namespace=active.node,
            enabled=active.enabled,
            show=binding.show,
        )
    return sorted(found.values(), key=_rank)


def _with_key(known: Shortcut, key: str) -> Shortcut:
    from dataclasses import replace

    return known if key in known.keys else replace(known, keys=(*known.keys, key))


def _rank(shortcut: Shortcut) -> float:
    try:
        return FOOTER.index(shortcut.id)
    except ValueError:
        return FOOTER.index("place.copy") - 0.5


async def run(app: App[Any], shortcut: Shortcut) -> None:
    """Does what the key does."""
    await app.run_action(shortcut.action, shortcut.namespace)  # type: ignore[arg-type]


def clashes(keymap: dict[str, str], bindings: Iterable[Binding]) -> Iterator[tuple[str, str, str]]:
    """(key, id, other id) for each key a person's keymap gives to two bindings of one screen."""
    taken: dict[str, str] = {}
    for binding in bindings:
        if binding.id is None:
            continue
        for key in keymap.get(binding.id, binding.key).split(","):
            other = taken.setdefault(key.strip(), binding.id)
            if other != binding.id:
                yield key.strip(), other, binding.id
