"""Every file of a submission that is read as text, in one limited process: what others import, run, or see in a browser."""

from __future__ import annotations

from typing import Any

from assay_zoo.artifacts.inspect_source import README, inspect_source
from assay_zoo.artifacts.published import inspect_published

TARGET = "assay_zoo.artifacts.inspect_part:inspect_part"


def inspect_part(item: dict[str, Any]) -> Any:
    """The target of `run_limited`: `kind` is readme-fields or source, else one of `published`."""
    return (inspect_source if item["kind"] in (README, "source") else inspect_published)(item)
