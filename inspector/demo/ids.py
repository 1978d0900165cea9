"""Ids that look made up and are always the same: out of a hash of what they are for."""

from __future__ import annotations

from hashlib import sha256

__all__ = ["hex_id", "uuid"]


def hex_id(*parts: object, length: int = 32) -> str:
    """So many hexadecimal digits."""
    return sha256("/".join(map(str, parts)).encode()).hexdigest()[:length]


def uuid(*parts: object) -> str:
    """In the form of a random UUID."""
    digits = hex_id(*parts)
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"
