"""A file of YAML: libyaml reads it ten times as fast, and some are read in each process that collects the tests."""

from __future__ import annotations

from typing import Any

import yaml  # type: ignore[import-untyped]


def read_yaml(text: str) -> Any:
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
