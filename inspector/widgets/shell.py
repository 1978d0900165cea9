"""The lines every place has: the store, the places, standing notices, where one is, and the keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from inspector import formats, keys, safe
from inspector.typeset.lines import Line, clipped, line, line_width
from inspector.widgets.pieces import Piece, PieceLine
from persistence.records import Route

if TYPE_CHECKING:
    from inspector.opened import OpenedStore
    from inspector.screens import PlaceInfo
    from persistence.location import StoreLocation
    from persistence.records import Notice

__all__ = ["Card", "KeyLine", "NoticeLine", "PlacesLine", "Rule", "StatusLine", "StoreLine"]


class Rule(Widget):
    """A thin line."""

    DEFAULT_CSS = "Rule { height: 1; width: 1fr; }"

    def render(self) -> RenderResult:
        return Content.styled("─" * self.size.width, ".line")


class StoreLine(PieceLine):
    """Whose store, how it is open, how it was read and when, and how big it is. Never scrolls away."""

    SPARE = True

    def show_store(
        self,
        location: StoreLocation | None,
        opened: OpenedStore | None,
        *,
        following: bool = False,
        stale: bool = False,
        state: str = "",
        writes: str = "",
    ) -> None:
        """`writes` is the mode word when this program may write, through the gate. `state` is said instead of
        how it was read while there is no reading: `opening …`, `refused`."""
        if location is None:
            self.show([Piece(line(("◆ ", "accent"), ("no store", "strong")), weight=0)])
            return
        self.show(list(_identity(location)) + list(_reading(opened, following, stale, state, writes)))


def _identity(location: StoreLocation) -> Iterable[Piece]:
    name = safe.text(location.name)
    mark = ("◆ ", "accent")
    full = line(mark, (safe.clip(name, 40), "strong"))
    yield Piece(
        full,
        "app.open",
        location.display,
        weight=0,
        short=line(mark, (safe.clip(name, 20), "strong")),
    )
    if location.backend == "sqlite":
        folder, _, _ = safe.text(location.display).rpartition("/")
        yield Piece(
            line((_left_clip(folder or ".", 40), "quiet")),
            tip=location.display,
            weight=1,
            short=line((_left_clip(folder or ".", 16), "quiet")),
        )
    else:
        shown = safe.text(location.display)
        yield Piece(line((safe.clip(shown, 48), "quiet")), weight=1)


def _left_clip(path: str, cells: int) -> str:
    """The end of a path, which tells more than its beginning: `…/runs/today`."""
    if safe.width(path) <= cells:
        return path
    while path and safe.width(path) > cells - 1:
        path = path[max(1, (safe.width(path) - cells) // 2) :]
    return f"…{path}"


def _reading(
    opened: OpenedStore | None, following: bool, stale: bool, state: str, writes: str
) -> Iterable[Piece]:
    if opened is not None and opened.lineage:
        yield Piece(line((safe.clip(safe.text(opened.lineage), 32), "plain")), weight=5, gap=4)
    if writes:
        tip = "Started with --allow-writes: 0 Actions may write, through its gate; all else is read-only"
        yield Piece(line((f" {writes} ", "badge-writes")), "app.place('actions')", tip, weight=0, gap=4)
    else:
        tip = "Nothing of the store is changed"
        yield Piece(line((" READ-ONLY ", "badge")), tip=tip, weight=0, gap=4)
    read = opened.read if opened is not None else None
    if state:
        yield Piece(line((state, "notice")), weight=6, gap=4)
    elif read is not None:
        live = read.route in (Route.LIVE, Route.LIVE_LOG, Route.SERVER)
        words = f"{read.route} {formats.clock(read.at)}"
        text = line(
            ("● " if live and following else "○ " if live else "", "live" if following else "quiet"),
            (words, "plain"),
            (" · moved since" if stale else "", "notice"),
        )
        short = line((str(read.route), "plain"), (" · moved" if stale else "", "notice"))
        yield Piece(text, tip=_route_tip(read.route), weight=6, gap=4, short=short)
        if read.route is not Route.SERVER:
            held = "kernel-held" if read.kernel_held else "not kernel-held"
            tip = (
                "The kernel holds the readers: they cannot write, whatever happens"
                if read.kernel_held
                else "This system cannot hold readers in the kernel; see the README"
            )
            yield Piece(line((held, "quiet")), tip=tip, weight=2, gap=2)
    facts = opened.facts if opened is not None else None
    if facts is not None and facts.size is not None:
        yield Piece(line((formats.size(facts.size), "plain")), weight=4, right=True, gap=2)


def _route_tip(route: Route) -> str:
    return {
        Route.LIVE: "Read in place, as it is now",
        Route.LIVE_LOG: "Read in place beside its log, through the log's index",
        Route.SETTLED: "At rest: read as a file that does not change, and it did not",
        Route.COPY: "Read from a private copy, recovered there; press r for a new one",
        Route.EMPTY: "A file of zero bytes",
        Route.SERVER: "Read from the server in a read-only transaction",
    }[route]


class PlacesLine(PieceLine):
    """The places by number; the current one stands out, those this store has nothing for are dimmed.

    Where there is no room for all titles they are cut, all to the same length.
    """

    SHORTEST = 4  # cells of a title that still says something

    def show_places(self, places: Sequence[PlaceInfo], current: str, missing: dict[str, str]) -> None:
        self._places = places, current, missing
        self._arrange()

    def on_resize(self) -> None:
        if hasattr(self, "_places"):
            self._arrange()

    def _arrange(self) -> None:
        places, current, missing = self._places
        room = self.content_size.width
        longest = max((len(place.title) for place in places), default=0)
        for most in (None, *range(longest, self.SHORTEST - 1, -1), 0):
            pieces = [_place_piece(place, current, missing.get(place.name), most) for place in places]
            if sum(piece.width + piece.gap for piece in pieces) <= room:
                break
        self.show(pieces)


def _place_piece(place: PlaceInfo, current: str, why_not: str | None, most: int | None) -> Piece:
    """`most`: how much of the title of another place there is room for (0: its number alone), and for little
    between two; None: for all of it, and for more."""
    here = place.name == current
    title = place.title if here or most is None else safe.clip(place.title, most) if most else ""
    number, title = f" {place.key}", f" {title}" if title else ""
    loose = " " if most is None else ""
    if here:
        text = line((f"{number}{title} ", "here"))
    elif why_not is not None:
        text = line((f"{number}{title}{loose}", "dimmed"))
    else:
        text = line((number, "accent"), (f"{title}{loose}", "quiet"))
    gap = 1 if most is None else 0
    return Piece(text, f"app.place({place.name!r})", why_not or place.says, weight=0, gap=gap)


class NoticeLine(PieceLine):
    """What must be told for as long as it holds (DESIGN 9); hidden when there is nothing."""

    _first: Line = ()
    _more = 0

    def show_notices(self, notices: Sequence[Notice]) -> None:
        self.display = bool(notices)
        self._more = max(0, len(notices) - 1)
        self._first = line(("▲ ", "notice"), (safe.text(notices[0].text), "notice")) if notices else ()
        self.refresh()

    def laid(self) -> list[tuple[int, Piece]]:
        """The first, as much of it as there is room for; and at the end how many more, and the key to all."""
        room = self.content_size.width
        if not self._more and line_width(self._first) <= room:
            return [(0, Piece(self._first, "app.notices"))]
        config = getattr(self.app, "config", None)
        key = (config.keymap if config is not None else {}).get("place.notices", "i").split(",")[0]
        said = f" {self._more} more" if self._more else " whole"
        rest = Piece(line((safe.text(key), "key"), (said, "quiet")), "app.notices")
        first = clipped(self._first, max(0, room - rest.width - 2))
        return [(0, Piece(first, "app.notices")), (max(0, room - rest.width), rest)]


class StatusLine(PieceLine):
    """Where one is (each part leads there), and what is shown of how much."""

    def show_status(self, crumbs: Sequence[tuple[str, str | None]], status: Line) -> None:
        pieces: list[Piece] = []
        for index, (words, address) in enumerate(crumbs):
            last = index == len(crumbs) - 1
            text = line((safe.clip(safe.text(words), 48), "plain" if last else "quiet"))
            if index:
                pieces.append(Piece(line(("›", "dimmed")), weight=2 + index, gap=1))
            action = None if address is None or last else f"app.go({address!r})"
            pieces.append(Piece(text, action, weight=0 if last else 2 + index, gap=1))
        pieces.append(Piece(status, weight=8, right=True))
        self.show(pieces)


class KeyLine(PieceLine):
    """What the keys do here, from the bindings in force; a click does the same."""

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _screen: self.update_keys())
        self.update_keys()

    def update_keys(self) -> None:
        if self.screen.is_current:
            self.show([_key_piece(key) for key in keys.shortcuts(self.screen) if key.show])


def _key_piece(shortcut: keys.Shortcut) -> Piece:
    if shortcut.enabled:
        text = line((shortcut.keys[0], "accent"), (f" {shortcut.label}", "quiet"))
    else:
        text = line((f"{shortcut.keys[0]} {shortcut.label}", "dimmed"))
    staying = {"app.quit": 9, "app.help": 8, "app.commands": 7, "list.open": 6, "grid.open": 6}
    staying |= {"place.filter": 5, "place.copy": 4, "place.export": 4, "run.next": 4}
    return Piece(
        text,
        shortcut.action if shortcut.enabled else None,
        shortcut.tooltip,
        weight=staying.get(shortcut.id, 3),
        right=shortcut.id == "app.quit",
        namespace=shortcut.namespace,
    )


class Card(Widget):
    """Shown alone when the terminal is too small for anything else."""

    def render(self) -> RenderResult:
        width, height = self.app.size
        return Content.assemble(
            ("make me bigger", ".heading"), "\n", (f"{width}x{height}, 60x16 is enough", ".quiet")
        )
