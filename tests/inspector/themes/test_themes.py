"""The themes: readable by measure, complete, and usable under anybody's palette."""

from __future__ import annotations

from itertools import product

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Button, Input, OptionList, Static, Tabs, Tree

import themes

GROUNDS = ("ground", "step", "panel", "cursor")
INKS = ("text", "quiet", "code", "accent", "ok", "refuse", "notice", "live", "writes")
COLOURED = [name for name in themes.names() if name != "mono"]


def luminance(colour: str) -> float:
    """WCAG 2 relative luminance of `#RRGGBB`."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_measure_is_wcag() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("name", COLOURED)
def test_every_ink_is_readable_on_every_ground(name: str) -> None:
    colours = themes.palette(name)
    needed = 7.0 if name == "high-contrast" else 4.5
    pairs = [
        *product(INKS, GROUNDS),
        ("on-colour", "accent"),
        ("on-colour", "writes"),
        ("badge-text", "badge"),
    ]
    poor = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in pairs}
    assert {pair: round(found, 2) for pair, found in poor.items() if found < needed} == {}


@pytest.mark.parametrize("name", COLOURED)
def test_what_holds_and_what_refuses_differ_by_more_than_red_and_green(name: str) -> None:
    """Blue and orange: far apart in the blue channel, which red-green colour blindness leaves alone."""
    colours = themes.palette(name)
    blue_of = {role: int(colours[role][5:7], 16) for role in ("ok", "refuse")}
    assert blue_of["ok"] - blue_of["refuse"] > 80


def test_every_palette_names_every_role() -> None:
    for name in themes.names():
        assert set(themes.palette(name)) == set(themes.PALETTE)


def test_mono_has_no_colour_of_its_own() -> None:
    mono = next(theme for theme in themes.load() if theme.name == "mono")
    generated = mono.to_color_system().generate()
    own = {name: generated[name] for name in [*mono.variables, "primary", "error", "background", "surface"]}
    words = {"ansi_default", "none", "bold", "dim", "reverse", "underline", "transparent"}
    assert {name: value for name, value in own.items() if not set(value.split()) <= words} == {}


class Gallery(App[None]):
    CSS_PATH = themes.style_sheets("base")

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.role_defaults(self.current_theme)

    def compose(self) -> ComposeResult:
        for role in (*INKS[1:], "heading"):
            yield Static(role, classes=role)
        yield Input("typed")
        yield OptionList("one", "two")
        yield Tabs("first", "second")
        yield Button("do")
        yield Tree("root")


async def test_the_style_sheet_works_under_our_themes_and_everybody_elses() -> None:
    app = Gallery()
    for theme in themes.load():
        app.register_theme(theme)
    async with app.run_test(size=(80, 24)) as pilot:
        for name in app.available_themes:
            app.theme = name
            await pilot.pause()
            drawn = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
            assert "refuse" in drawn
            assert "first" in drawn
        app.theme = "lion-light"
        await pilot.pause()
        assert app.query_one(".refuse").styles.color.hex == themes.palette("lion-light")["refuse"]


async def test_under_no_color_the_gallery_still_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Gallery()
    for theme in themes.load():
        app.register_theme(theme)
    app.theme = themes.NO_COLOR
    async with app.run_test() as pilot:
        app.query_one(OptionList).focus()
        await pilot.pause()
        assert app.no_color
        strips = app.screen._compositor.render_strips()
        marked = {
            segment.text.strip(): segment.style for strip in strips for segment in strip if segment.style
        }
        style = marked["one"]
        assert style is not None
        assert style.bold
        assert style.underline


def test_style_sheets_come_base_first() -> None:
    assert themes.style_sheets()[0].name == "base.tcss"
    assert all(path.is_file() for path in themes.style_sheets())
    assert [path.name for path in themes.style_sheets("runs")] == ["base.tcss", "runs.tcss"]
