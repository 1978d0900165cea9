"""The writers behind `StateDB`: one interface, one writer a mode (DESIGN 3.3)."""
