"""The one door through which stored data becomes something shown (DESIGN 8).

Whatever is in a store is data: never markup, never control sequences. `text` and `lines` make it
visible: control and format characters become marks, bytes that were not UTF-8 become `\\xNN`, the
direction of right-to-left writing is contained, tabs are expanded, long text is cut with `…`. `cell`
does the same for any value a row holds and keeps apart what must not be mistaken for each other.
Nothing here needs Textual until `content` is called; the plain command line uses the same functions.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from inspector import formats
from persistence.basics import Mark, Preview, Unreadable

if TYPE_CHECKING:
    from textual.content import Content

__all__ = [
    "LINE_LIMIT",
    "TEXT_LIMIT",
    "Face",
    "FaceRole",
    "Shown",
    "cell",
    "clip",
    "content",
    "exact",
    "face",
    "fit",
    "lines",
    "shown",
    "text",
    "width",
]

LINE_LIMIT = 2_000  # characters of a one-line text looked at
TEXT_LIMIT = 200_000  # characters of a multi-line text looked at
TAB = 4
COMBINING_LIMIT = 4  # marks on one character; more would spill into the lines above and below

# Format characters that draw nothing. The few of the category that do draw (Arabic number signs,
# U+06DD) stay; variation selectors, joiners and tags are judged by what stands before them.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROLS = "\x00-\x1f\x7f-\x9f\u2028\u2029"
_STACKING = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)


class _Pattern:
    """A pattern compiled when it is first used: plain text, which is most text, never needs one."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __getattr__(self, name: str) -> Any:
        method = getattr(re.compile(self._text), name)
        setattr(self, name, method)
        return method


_ODD = _Pattern(
    f"[{_CONTROLS}{_INVISIBLE}\ud800-\udfff]|[\ufe00-\ufe0f]{{2,}}|[{_STACKING}]{{{COMBINING_LIMIT + 1},}}"
)
_RTL = _Pattern("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_LRM = "\u200e"  # strong left-to-right on both sides: neighbouring columns keep their direction

# What a joiner may stand after or before; between these it shapes what is seen and hides nothing.
_PICTURE = _Pattern("[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff\ufe0f\U000e007f]")
_SHAPED = _Pattern("[\u0600-\u08ff\u0900-\u0dff\u0e00-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc]")
_FLAG_TAGS = _Pattern("\U0001f3f4([\U000e0061-\U000e007a\U000e0030-\U000e0039]{1,8}\U000e007f)")

_MARKS: dict[int, str] = {code: chr(0x2400 + code) for code in range(0x20)}
_MARKS[0x7F] = "\u2421"
_MARKS.update(dict.fromkeys(range(128, 160), "�"))

_ONE_CELL = frozenset("…·→←↑↓✓✗▲●○∅⧗—⏎")
"""Signs of our own that take one cell: with them alone a short command need not load Rich to count."""

_WORDS = frozenset({"NULL", "—", "…", "n/a", "NaN", "Infinity", "-Infinity"})
"""What `cell` says for values that are not text; a text that reads the same is quoted."""


class Shown(NamedTuple):
    """Text made visible; `cut` says that there was more than the limit."""

    text: str
    cut: bool


FaceRole: TypeAlias = Literal["", "null", "absent", "pending", "unreadable", "blob", "odd", "number"]


class Face(NamedTuple):
    """A value of a row as it is shown, and what it is (for colour, alignment and the viewer)."""

    text: str
    role: FaceRole = ""
    cut: bool = False


def text(value: object, *, limit: int = LINE_LIMIT) -> str:
    """`value` as one visible line of at most about `limit` characters, `…` at the end when cut."""
    return shown(value, limit=limit).text


def lines(value: object, *, limit: int = TEXT_LIMIT) -> str:
    """`value` with its line breaks kept and everything else made visible; `…` at the end when cut."""
    return shown(value, limit=limit, multiline=True).text


def shown(value: object, *, limit: int = LINE_LIMIT, multiline: bool = False) -> Shown:
    """`text` or `lines`, and whether anything was cut off."""
    raw = _as_text(value)
    cut = len(raw) > limit
    if cut:
        raw = raw[: max(0, limit)]
    visible = _visible(raw, multiline)
    return Shown(f"{visible}…" if cut else visible, cut)


def content(value: object, style: str = "", *, multiline: bool = False, limit: int | None = None) -> Content:
    """`value` as Textual content: visible, styled as a whole, and never parsed as markup."""
    from textual.content import Content

    visible = shown(value, limit=limit or (TEXT_LIMIT if multiline else LINE_LIMIT), multiline=multiline).text
    return Content.styled(visible, style) if style else Content(visible)


def exact(value: object) -> str:
    """`value` as it goes to the clipboard or a text file: unchanged but for what UTF-8 cannot carry.

    Bytes become hexadecimal digits; surrogates (bytes that were not UTF-8) become U+FFFD.
    """
    match value:
        case None:
            return ""
        case Preview():
            return exact(value.head)
        case Unreadable():
            return exact(value.raw)
        case Mark():
            return ""
        case bytes():
            return value.hex()
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case _:
            return exact(_as_text(value))


def cell(value: object, *, limit: int = LINE_LIMIT) -> str:
    """Any value of a row as one visible line; see `face`."""
    return face(value, limit=limit).text


def face(value: object, *, limit: int = LINE_LIMIT) -> Face:
    """Any value of a row as one visible line, and what it is.

    NULL, a column this store lacks, a value still to come, one that could not be read, bytes and the
    numbers that are not numbers all look different, and a text that spells one of them is quoted.
    """
    match value:
        case str():
            line = shown(value, limit=limit)
            quoted = f'"{line.text}"' if line.text in _WORDS else line.text
            return Face(quoted, "", line.cut)
        case None:
            return Face("NULL", "null")
        case bool():
            return Face("true" if value else "false")
        case int():
            return Face(_digits(value), "number")
        case float():
            return _float_face(value)
        case Mark.PENDING:
            return Face("…", "pending")
        case Mark.ABSENT:
            return Face("—", "absent")
        case Mark():
            return Face("n/a", "absent")
        case Unreadable():
            return Face(f"✗ not readable: {text(value.why, limit=limit)}", "unreadable")
        case Preview():
            return _preview_face(value, limit)
        case bytes() | bytearray() | memoryview():
            return _bytes_face(bytes(value[:64]), len(value))
        case _:
            line = shown(value, limit=limit)
            return Face(line.text, "", line.cut)


def width(visible: str) -> int:
    """How many cells of a terminal line `visible` takes."""
    if visible.isascii() or all(letter.isascii() or letter in _ONE_CELL for letter in visible):
        return len(visible)
    from rich.cells import cell_len

    return cell_len(visible)


def clip(visible: str, cells: int) -> str:
    """`visible` (from `text`, `cell`, …) in at most `cells` cells, ending in `…` when something is gone."""
    if cells <= 0:
        return ""
    if visible.isascii():
        return visible if len(visible) <= cells else f"{visible[: cells - 1]}…"
    from rich.cells import cell_len, set_cell_size

    # Nothing that passed the door has more than a dozen characters to a cell, so a long text is not measured.
    head = visible[: cells * 16 + 16]
    if len(head) == len(visible) and cell_len(visible) <= cells:
        return visible
    clipped = set_cell_size(head, cells - 1).rstrip(" ") if cells > 1 else ""
    return f"{clipped}…{_LRM}" if visible.startswith(_LRM) else f"{clipped}…"


def fit(visible: str, cells: int, *, right: bool = False) -> str:
    """`clip`, padded with blanks to exactly `cells` cells, on the left when `right` is asked."""
    clipped = clip(visible, cells)
    padding = " " * max(0, cells - width(clipped))
    return f"{padding}{clipped}" if right else f"{clipped}{padding}"


def _visible(raw: str, multiline: bool) -> str:
    if raw.isascii() and raw.isprintable():
        return raw
    if _ODD.search(raw):
        raw = _scrub(raw, multiline)
    if raw.isascii():
        return raw
    if multiline and "\n" in raw:
        return "\n".join(map(_contained, raw.split("\n")))
    return _contained(raw)


def _contained(line: str) -> str:
    """The line with no mark hanging on what stands left of it, and its direction kept to itself."""
    import unicodedata

    if (
        line
        and ord(line[0]) > 0x2FF
        and (line[0] in "\ufe0e\ufe0f" or unicodedata.category(line[0])[0] == "M")
    ):
        line = f"\u25cc{line}"
    return f"{_LRM}{line}{_LRM}" if _RTL.search(line) else line


def _scrub(raw: str, multiline: bool) -> str:
    if "\r\n" in raw:
        raw = raw.replace("\r\n", "\n")
    flags = [match.span(1) for match in _FLAG_TAGS.finditer(raw)] if "\U0001f3f4" in raw else []

    def mark(match: re.Match[str]) -> str:
        found = match.group()
        start, end = match.span()
        if len(found) > 1:
            keep = 1 if "\ufe00" <= found[0] <= "\ufe0f" else COMBINING_LIMIT
            return f"{found[:keep]}\ufffd"
        code = ord(found)
        if found == "\n":
            return "\n" if multiline else "⏎"
        if found == "\t":
            return "\t"
        if code in _MARKS:
            return _MARKS[code]
        if 0xDC80 <= code <= 0xDCFF:
            return f"\\x{code - 0xDC00:02x}"
        before, after = raw[start - 1 : start], raw[end : end + 1]
        if _harmless(code, before, after) or any(first <= start < last for first, last in flags):
            # Widths count nothing for a joiner and what it joins; outside pictures that would be wrong.
            return "" if code == 0x200D and not _PICTURE.match(after) else found
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

    scrubbed = _ODD.sub(mark, raw)
    return _expanded(scrubbed) if "\t" in scrubbed else scrubbed


def _harmless(code: int, before: str, after: str) -> bool:
    """Whether an invisible character only shapes its neighbours, as joiners in emoji and Persian do."""
    if not before or not after:
        return 0xE0100 <= code <= 0xE01EF and bool(before) and _is_ideograph(before)
    if code == 0x200D:
        pictures = _PICTURE.match(before) or "\U0001f3fb" <= before <= "\U0001f3ff"
        shaped = _SHAPED.match(before) and _SHAPED.match(after)
        return bool((pictures and _PICTURE.match(after)) or shaped)
    if code == 0x200C:
        return bool(_SHAPED.match(before) and _SHAPED.match(after))
    if 0xE0100 <= code <= 0xE01EF:
        return _is_ideograph(before)
    return False


def _is_ideograph(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff" or "\uf900" <= character <= "\ufaff" or character >= "\U00020000"


def _expanded(raw: str) -> str:
    """Tabs as blanks up to the next stop, by cells; widgets would each do it differently."""
    if raw.isascii():
        return raw.expandtabs(TAB)
    out: list[str] = []
    for line in raw.split("\n"):
        column, pieces = 0, line.split("\t")
        for piece in pieces[:-1]:
            column += width(piece)
            blanks = TAB - column % TAB
            out += [piece, " " * blanks]
            column += blanks
        out += [pieces[-1], "\n"]
    return "".join(out[:-1])


def _as_text(value: object) -> str:
    match value:
        case str():
            return value
        case bytes():
            return value.decode("utf-8", "surrogateescape")
        case bool() | None:
            return str(value)
        case int():
            return _digits(value)
        case Preview() | Unreadable() | Mark():
            return cell(value)
        case _:
            return _foreign(value)


def _foreign(value: Any) -> str:
    """What a driver or an exception hands over; showing it must never be what fails."""
    try:
        if isinstance(value, dict | list):
            import json

            return json.dumps(value, ensure_ascii=False, default=str)
        return str(value)
    except Exception as problem:  # a `__str__` of somebody else's may do anything
        return f"{type(value).__name__} (cannot be shown: {type(problem).__name__})"


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # Python refuses to write integers of more than 4300 digits in decimal
        return f"{value:#x}"


def _float_face(value: float) -> Face:
    if math.isnan(value):
        return Face("NaN", "odd")
    if math.isinf(value):
        return Face("Infinity" if value > 0 else "-Infinity", "odd")
    return Face(repr(value), "number")


def _bytes_face(head: bytes, size: int) -> Face:
    digits = head[:16].hex(" ")
    more = " …" if size > 16 else ""
    return Face(f"{size:,} B  {digits}{more}" if size else "0 B", "blob", size > 16)


def _preview_face(value: Preview, limit: int) -> Face:
    if isinstance(value.head, bytes):
        return _bytes_face(value.head[:64], value.size)
    head = text(value.head, limit=limit).removesuffix("…")
    return Face(f"{head}… ({formats.size(value.size)})", "", True)
