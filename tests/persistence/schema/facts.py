"""The shape of a store lionagi 0.36.0 makes, as read by machine from such stores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FACTS: dict[str, Any] = json.loads(Path(__file__).with_name("schema-facts.json").read_text("utf-8"))
