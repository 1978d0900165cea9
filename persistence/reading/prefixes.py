"""The beginning of a JSON text, read as far as it goes: a long message's head still shows as what it is."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["completed"]


def completed(head: str) -> Any:
    """The value whose JSON begins with `head`, with what is missing left out; None when it does not parse.

    Strings that are cut end where the text ends; a key without a value goes.
    """
    stack: list[str] = []
    in_string = escaped = False
    safe = 0  # where the last whole element of the innermost container ends
    closers = ""
    for place, char in enumerate(head):
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "{[":
            stack.append("}" if char == "{" else "]")
            safe, closers = place + 1, "".join(reversed(stack))
        elif char in "}]":
            if not stack:
                return None
            stack.pop()
            safe, closers = place + 1, "".join(reversed(stack))
        elif char == ",":
            safe, closers = place, "".join(reversed(stack))
    tries = [head[:safe] + closers]
    if in_string:
        # Of `\u12` only the part that is whole is kept.
        text = head
        for cut in range(7):
            tries.insert(cut, text[: len(text) - cut] + '"' + "".join(reversed(stack)))
    else:
        tries.insert(0, head + "".join(reversed(stack)))
    for text in tries:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            continue
    return None
