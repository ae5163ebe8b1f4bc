from __future__ import annotations

AFTER: dict[str, tuple[str, ...]] = {}
