"""The acceptance of a profile on scratch copies of its stores (ADR-0128 D8)."""
