"""Triggers, views and virtual tables that touch the closure: by name, and by the tokens of their text."""

from __future__ import annotations

from collections.abc import Sequence

from persistence.profiles.codes import finding
from persistence.profiles.compare.text import Outcome
from persistence.profiles.records import Closure, Finding, ObjectShape, folded
from persistence.profiles.tokens import Token, Untokenized, alike, tokens

__all__ = ["objects"]


def objects(declared: Closure, live: Closure) -> Outcome:
    """Every declared object, and every live one nobody declared."""
    expected = {_key(shape): shape for shape in declared.objects}
    observed = {_key(shape): shape for shape in live.objects}
    found: list[Finding] = []
    held = 0
    for key, shape in expected.items():
        other = observed.get(key)
        if other is None:
            found.append(_found(f"{shape.kind}-missing", shape, live, shape.sql, f"no such {shape.kind}"))
        elif not _alike(shape, other):
            found.append(_found(f"{shape.kind}-changed", other, live, shape.sql, other.sql))
        else:
            held += 1
    for key, shape in observed.items():
        if key not in expected:
            found.append(_found(f"{shape.kind}-extra", shape, live, f"no such {shape.kind}", shape.sql))
    return Outcome(tuple(found), held)


def _key(shape: ObjectShape) -> tuple[str, str]:
    return shape.kind, folded(shape.name)


def _found(code: str, shape: ObjectShape, live: Closure, expected: str, observed: str) -> Finding:
    """The table named is the one a trigger stands on, if it is the closure's; else the first touched."""
    on = live.table(shape.table) if shape.table is not None else None
    touched = next(iter(shape.touches), None)
    table = on.name if on is not None else touched
    return finding(code, table=table, object=shape.name, expected=expected, observed=observed)


def _alike(expected: ObjectShape, observed: ObjectShape) -> bool:
    if expected.sql == observed.sql:
        return True
    try:
        before, after = tokens(expected.sql), tokens(observed.sql)
    except Untokenized:
        return False
    if expected.kind == "virtual":
        # A module reads its arguments as text, so the case of what stands behind its name may count.
        return _exact(expected.sql, before) == _exact(observed.sql, after)
    return alike(_plain(before), _plain(after))


_OPTIONAL = (("if", "not", "exists"), ("for", "each", "row"), ("before",))


def _plain(found: Sequence[Token]) -> Sequence[Token]:
    """Without the words of a header that say what is so anyway."""
    body = next((at for at, token in enumerate(found) if token.is_word("begin", "as", "when")), len(found))
    head, at = [], 0
    while at < body:
        words = next((words for words in _OPTIONAL if _come(found, at, words)), ())
        if not words:
            head.append(found[at])
        at += len(words) or 1
    return [*head, *found[at:]]


def _come(found: Sequence[Token], at: int, words: Sequence[str]) -> bool:
    return all(
        at + ahead < len(found) and found[at + ahead].is_word(word) for ahead, word in enumerate(words)
    )


def _exact(sql: str, found: Sequence[Token]) -> list[tuple[str, str]]:
    using = next((at for at, token in enumerate(found) if token.is_word("using")), len(found))
    head = [("w", folded(token.text)) for token in found[:using] if not token.is_word("if", "not", "exists")]
    return head + [(token.kind, sql[token.start : token.end]) for token in found[using + 1 :]]
