"""The palettes (TOML, made into Textual themes) and the style sheets; loading, no other logic.

A palette names colours by role, and each role is a variable in every style sheet: `$ok`, `$refuse`,
`$notice`, `$live`, `$writes`, `$quiet`, `$code`, `$accent`, `$rule`, `$cursor`, `$cell`, `$on-colour`,
`$badge`, `$badge-text`, and the three
grounds `$background`, `$surface`, `$panel`. Where a theme has no colour to spend (`mono`) the same role has
a text style: `$refuse-style`, `$cursor-style`, ... ; in the others that is `none`, `bold` for the cursor.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.theme import Theme

__all__ = [
    "DEFAULT",
    "NO_COLOR",
    "PALETTE",
    "STYLES",
    "load",
    "names",
    "palette",
    "role_defaults",
    "style_sheets",
]

DEFAULT = "lion-dark"
NO_COLOR = "mono"
"""The theme to start with where colours are not wanted (`NO_COLOR`)."""

ORDER = ("lion-dark", "lion-light", "high-contrast", "mono")

PALETTE = (
    "ground",
    "step",
    "panel",
    "text",
    "quiet",
    "code",
    "accent",
    "ok",
    "refuse",
    "notice",
    "live",
    "writes",
    "rule",
    "cursor",
    "cell",
    "on-colour",
    "badge",
    "badge-text",
)
"""What every palette names: three grounds, then what is written on them."""

STYLES = (
    "quiet", "code", "accent", "ok", "refuse", "notice", "live", "writes", "cursor", "cell", "badge", "field",
)  # fmt: skip
"""Roles that have a text style besides (or instead of) a colour."""


@lru_cache(maxsize=1)
def _documents() -> dict[str, dict[str, Any]]:
    folder = files("themes")
    return {
        name: tomllib.loads(folder.joinpath(f"{name}.toml").read_text(encoding="utf-8"))  # our own files
        for name in ORDER
    }


def names() -> dict[str, str]:
    """The themes shipped, by name, with the label a person reads."""
    return {name: document["label"] for name, document in _documents().items()}


def palette(name: str) -> dict[str, str]:
    """The colours of one theme by role (`PALETTE`)."""
    return dict(_documents()[name]["palette"])


def load() -> tuple[Theme, ...]:
    """Every theme shipped, the default first, for `App.register_theme`."""
    return tuple(map(_theme, _documents().values()))


def role_defaults(theme: Theme | None = None) -> dict[str, str]:
    """A value for each of our variables under a theme of somebody else, for `get_theme_variable_defaults`.

    Taken from what that theme says for success, warning and error, so that roles stay apart there too.
    """
    styles = _styles({})
    if theme is None:
        colours = palette(DEFAULT)
        return {
            role: colours[role] for role in PALETTE if role not in ("ground", "step", "panel", "text")
        } | styles
    colours = theme.to_color_system().generate()
    shades = {
        "quiet": _between(colours, 0.3),
        "code": colours["foreground"],
        "accent": colours["accent"],
        "ok": colours["success"],
        "refuse": colours["error"],
        "notice": colours["warning"],
        "live": colours["secondary"],
        "writes": colours["primary"],
        "rule": _between(colours, 0.75),
        "cursor": colours["panel"],
        "cell": colours.get("surface-active", colours["panel"]),
        "on-colour": colours["background"],
        "badge": colours["success"],
        "badge-text": colours["background"],
    }
    if theme.ansi:
        styles |= _styles(
            {"quiet": "dim", "cursor": "bold reverse", "cell": "bold reverse underline", "badge": "reverse"}
        )
    return shades | styles


def style_sheets(*screens: str) -> list[Path]:
    """`base.tcss` and then the sheets of these screens (all there are when none is named), for `CSS_PATH`."""
    folder = Path(str(files("themes")))
    found = [folder / f"{name}.tcss" for name in screens] or sorted(folder.glob("*.tcss"))
    return [folder / "base.tcss", *(path for path in found if path.name != "base.tcss")]


def _between(colours: dict[str, str], share: float) -> str:
    """The text's colour moved towards the ground's; solid, for what is drawn without blending."""
    from textual.color import Color

    text, ground = (Color.parse(colours[name]) for name in ("foreground", "background"))
    return colours["foreground"] if text.ansi is not None else text.blend(ground, share, alpha=1.0).hex


def _styles(given: dict[str, str]) -> dict[str, str]:
    """A whole text style for each role; `none` cannot stand beside another word in a style sheet."""
    usual = {"cursor": "bold", "cell": "bold", "badge": "bold"}
    return {f"{role}-style": given.get(role, usual.get(role, "none")) for role in STYLES}


def _theme(document: dict[str, Any]) -> Theme:
    from textual.theme import Theme

    colours: dict[str, str] = document["palette"]
    ansi = bool(document.get("ansi"))
    styles = _styles(document.get("styles", {}))
    roles = {role: colours[role] for role in PALETTE if role not in ("ground", "step", "panel", "text")}
    textual_roles = {
        "border": colours["accent"],
        "border-blurred": colours["rule"],
        "block-cursor-background": colours["cursor"],
        "block-cursor-foreground": colours["text"],
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": colours["panel"],
        "block-cursor-blurred-foreground": colours["text"],
        "block-hover-background": colours["step"],
        "scrollbar": colours["rule"],
        "scrollbar-hover": colours["quiet"],
        "scrollbar-active": colours["accent"],
        "scrollbar-background": colours["ground"],
        "scrollbar-background-hover": colours["ground"],
        "scrollbar-background-active": colours["ground"],
        "scrollbar-corner-color": colours["ground"],
        "footer-background": colours["ground"],
        "footer-foreground": colours["quiet"],
        "footer-description-foreground": colours["quiet"],
        "footer-key-foreground": colours["accent"],
        "input-cursor-background": colours["accent"],
        "input-cursor-foreground": colours["on-colour"],
        "input-selection-background": colours["accent"],
        "input-selection-foreground": colours["on-colour"],
        "screen-selection-background": colours["accent"],
        "screen-selection-foreground": colours["on-colour"],
        "button-color-foreground": colours["on-colour"],
    }
    return Theme(
        name=document["name"],
        primary=colours["accent"],
        secondary=colours["live"],
        warning=colours["notice"],
        error=colours["refuse"],
        success=colours["ok"],
        accent=colours["accent"],
        foreground=colours["text"],
        background=colours["ground"],
        surface=colours["step"],
        panel=colours["panel"],
        dark=document["dark"],
        ansi=ansi,
        variables=roles | styles | textual_roles | document.get("variables", {}),
    )
