"""Writing into a store another application manages: a manifest of operations, held to a profile (D4)."""
