"""The three ways a store can be opened (ADR-0128 D1); a handle is in exactly one of them."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Mode"]


class Mode(StrEnum):
    """`READ_ONLY` applies nothing to a store; `NATIVE` is the writable open of this lineage;
    `COMPATIBILITY` writes, held to a profile, into a store another application manages."""

    READ_ONLY = "read-only"
    NATIVE = "native"
    COMPATIBILITY = "compatibility"
