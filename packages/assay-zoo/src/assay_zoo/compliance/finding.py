"""One thing that is wrong with a model, by the part of the ONNX specification that it breaks."""

from __future__ import annotations

from enum import StrEnum

import msgspec

NAME_LENGTH = 80
"""Of a third party's name that is repeated in a sentence."""


class Area(StrEnum):
    """The part of a model that a finding is about; each is a check of its own, `compliance.<area>`."""

    MODEL = "model"
    GRAPH = "graph"
    NODE = "node"
    ATTRIBUTE = "attribute"
    FUNCTION = "function"


class Finding(msgspec.Struct, frozen=True):
    """`kind` is the rule (docs/zoo-compliance.md lists them); a `remark` is worth telling and fails nothing."""

    area: Area
    kind: str
    sentence: str
    remark: bool = False


def shown(name: str) -> str:
    """A third party's name in quotes: no control characters, no endless text."""
    return repr(name if len(name) <= NAME_LENGTH else f"{name[:NAME_LENGTH]}...")
