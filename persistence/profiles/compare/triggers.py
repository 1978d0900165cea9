"""What a trigger's statements do: the tables and columns they write, how clashes end, whose rows they are.

Read by tokens. What is not plainly safe counts as unsafe: an owner is kept only where the text says
`NEW.owner` in the owner's place of an insert, or `owner = NEW.owner` among the conditions of an update.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from persistence.profiles.records import WriteRule, folded
from persistence.profiles.tokens import Token, Untokenized, tokens

__all__ = ["Effect", "Effects", "effects"]


class Effect(NamedTuple):
    """One statement that writes: verb, folded table, folded columns, whether the owner is carried over."""

    verb: str
    table: str
    columns: tuple[str, ...] = ()
    keeps_owner: bool = False


class Effects(NamedTuple):
    """On which event a trigger fires (`of`: only for these columns), and what it then does."""

    event: str
    of: tuple[str, ...]
    effects: tuple[Effect, ...]
    resolutions: tuple[str, ...]

    def fires(self, rule: WriteRule) -> bool:
        """Whether a write that the rule allows can set it off."""
        if self.event == "insert":
            return bool(rule.insert)
        updated = {folded(column) for column in rule.update}
        return self.event == "update" and bool(updated.intersection(self.of) if self.of else updated)


def effects(sql: str, owner: str | None) -> Effects | None:
    """What a CREATE TRIGGER does; None when it cannot be told."""
    try:
        return _effects(tokens(sql), folded(owner) if owner is not None else None)
    except (Untokenized, IndexError):  # no tokens, or a statement that ends early
        return None


def _effects(found: Sequence[Token], owner: str | None) -> Effects | None:
    begin = next((at for at, token in enumerate(found) if token.is_word("begin")), None)
    event = next((at for at, token in enumerate(found) if token.is_word("insert", "update", "delete")), None)
    if begin is None or event is None:
        return None
    of = []
    if found[event + 1].is_word("of"):
        for token in found[event + 2 : begin]:
            if token.is_word("on"):
                break
            if token.name is not None:
                of.append(token.name)
    body = found[begin + 1 :]
    writes = tuple(effect for part in _statements(body) for effect in _effect(part, owner))
    return Effects(found[event].text, tuple(of), writes, tuple(_resolutions(body)))


def _statements(body: Sequence[Token]) -> Iterator[Sequence[Token]]:
    start = 0
    for at, token in enumerate(body):
        if token.is_sign(";"):
            yield body[start:at]
            start = at + 1


def _resolutions(body: Sequence[Token]) -> Iterator[str]:
    """Every way out of a clash or an error other than refusing the write."""
    for at, token in enumerate(body):
        after = body[at + 1] if at + 1 < len(body) else token
        if token.is_word("insert", "update") and after.is_word("or"):
            how = body[at + 2].text
            if how != "abort":
                yield f"{token.text} or {how}".upper()
        elif token.is_word("replace") and after.is_word("into") and not body[at - 1].is_word("or"):
            yield "REPLACE INTO"
        elif token.is_word("on") and after.is_word("conflict"):
            yield "ON CONFLICT"
        elif token.is_word("raise") and after.is_sign("(") and not body[at + 2].is_word("abort"):
            yield f"RAISE({body[at + 2].text.upper()})"


def _effect(part: Sequence[Token], owner: str | None) -> Iterator[Effect]:
    if not part:
        return
    if part[0].is_word("delete"):
        yield Effect("delete", _name(part, 2)[0])
    elif part[0].is_word("update"):
        table, at = _name(part, 3 if part[1].is_word("or") else 1)
        columns = tuple(_assigned(part, at))
        yield Effect("update", table, columns, owner not in columns and _where_owner(part, owner))
    elif part[0].is_word("insert", "replace"):
        into = next((at for at, token in enumerate(part) if token.is_word("into")), 0)
        table, at = _name(part, into + 1)
        columns = ()
        if at + 1 < len(part) and part[at + 1].is_sign("("):
            end = _close(part, at + 1)
            columns = tuple(token.name or "" for token in part[at + 2 : end] if token.name is not None)
            at = end
        yield Effect("insert", table, columns, _gives_owner(part, at + 1, columns, owner))


def _name(part: Sequence[Token], at: int) -> tuple[str, int]:
    if at + 2 < len(part) and part[at + 1].is_sign("."):
        at += 2
    return (part[at].name or "", at) if at < len(part) else ("", at)


def _close(part: Sequence[Token], at: int) -> int:
    depth = 0
    for place in range(at, len(part)):
        depth += part[place].is_sign("(") - part[place].is_sign(")")
        if depth == 0:
            return place
    return len(part) - 1


def _assigned(part: Sequence[Token], at: int) -> Iterator[str]:
    """The columns an UPDATE sets: `a = x` and `(a, b) = x`, until FROM or WHERE."""
    depth, fresh = 0, False
    for token in part[at:]:
        if depth == 0 and token.is_word("from", "where"):
            return
        if depth == 0 and (token.is_word("set") or token.is_sign(",")):
            fresh = True
        elif fresh and token.is_sign("("):
            depth += 1
        elif fresh and token.name is not None:
            yield token.name
            fresh = depth > 0
        elif token.is_sign("(") or token.is_sign(")"):
            depth += 1 if token.text == "(" else -1
            fresh = fresh and depth > 0


def _is_new_owner(part: Sequence[Token], owner: str | None) -> bool:
    return (
        len(part) == 3 and part[0].is_word("new") and part[1].is_sign(".") and part[2].name == (owner or "")
    )


def _where_owner(part: Sequence[Token], owner: str | None) -> bool:
    """Whether `owner = NEW.owner` is one of the conditions that all have to hold."""
    where = next((at for at, token in enumerate(part) if token.is_word("where")), None)
    if where is None or owner is None:
        return False
    terms: list[list[Token]] = [[]]
    depth = 0
    for token in part[where + 1 :]:
        depth += token.is_sign("(") - token.is_sign(")")
        if depth == 0 and token.is_word("or", "between", "case"):
            return False
        if depth == 0 and token.is_word("and"):
            terms.append([])
        else:
            terms[-1].append(token)
    return any(
        len(term) == 5 and term[0].name == owner and term[1].is_sign("=") and _is_new_owner(term[2:], owner)
        for term in terms
    )


def _gives_owner(part: Sequence[Token], at: int, columns: Sequence[str], owner: str | None) -> bool:
    """Whether every row of an INSERT has `NEW.owner` in the owner's place."""
    if owner is None or owner not in columns or at >= len(part):
        return False
    place = list(columns).index(owner)
    if part[at].is_word("select"):
        end = next((n for n in range(at, len(part)) if part[n].is_word("from", "where")), len(part))
        compound = any(token.is_word("union", "except", "intersect") for token in part[at:])
        return not compound and _item(part[at + 1 : end], place, owner)
    if not part[at].is_word("values"):
        return False
    rows = []
    at += 1
    while at < len(part) and part[at].is_sign("("):
        end = _close(part, at)
        rows.append(_item(part[at + 1 : end], place, owner))
        at = end + 2
    return bool(rows) and all(rows)


def _item(part: Sequence[Token], place: int, owner: str) -> bool:
    items: list[list[Token]] = [[]]
    depth = 0
    for token in part:
        depth += token.is_sign("(") - token.is_sign(")")
        if depth == 0 and token.is_sign(","):
            items.append([])
        else:
            items[-1].append(token)
    return place < len(items) and _is_new_owner(items[place], owner)
