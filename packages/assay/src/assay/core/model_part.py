"""Where in a model something is: a part by its kind, its name or number, and the part that holds it; and how a sentence names it."""

from __future__ import annotations

from enum import StrEnum

import msgspec

NAME_LENGTH = 80
"""Of a third party's name that is kept and repeated."""


class PartKind(StrEnum):
    """What a part is. `SPARSE_VALUES` and `SPARSE_INDICES` are the tensors of a sparse one, `INITIALIZATION` and `ALGORITHM` the two
    graphs of an entry of training_info."""

    FILE = "file"
    MODEL = "model"
    DOMAIN = "domain"
    GRAPH = "graph"
    FUNCTION = "function"
    INITIALIZATION = "initialization"
    ALGORITHM = "algorithm"
    NODE = "node"
    ATTRIBUTE = "attribute"
    INPUT = "input"
    OUTPUT = "output"
    VALUE = "value"
    TENSOR = "tensor"
    INITIALIZER = "initializer"
    SPARSE_INITIALIZER = "sparse initializer"
    SPARSE_VALUES = "values"
    SPARSE_INDICES = "indices"


class ModelPart(msgspec.Struct, frozen=True, omit_defaults=True):
    """`name` is the model's own, and `number` counts from 0 among its like where it has none; `operator` is a node's; `inside` is the
    part that holds it, None for what the model or its main graph holds."""

    kind: PartKind = PartKind.MODEL
    name: str = ""
    number: int = -1
    operator: str = ""
    inside: ModelPart | None = None

    def __post_init__(self) -> None:
        """Names of third parties may be endless."""
        for field in ("name", "operator"):
            if len(text := getattr(self, field)) > NAME_LENGTH:
                msgspec.structs.force_setattr(self, field, f"{text[:NAME_LENGTH]}...")


MODEL = ModelPart()


def part_text(part: ModelPart) -> str:
    """As a sentence names it: attribute 'axis' of node 'a' (Concat) in 'then_branch' of node number 3 (If)."""
    if part.inside is None:
        return _alone(part)
    joint = "of" if part.kind in (PartKind.ATTRIBUTE, PartKind.GRAPH) else "in"
    if part.kind in (PartKind.SPARSE_VALUES, PartKind.SPARSE_INDICES):
        joint = "of"
    return f"{_alone(part)} {joint} {part_text(part.inside)}"


def _alone(part: ModelPart) -> str:
    match part.kind:
        case PartKind.FILE:
            return part.name
        case PartKind.NODE:
            return _node(part)
        case PartKind.GRAPH if part.name:
            return repr(part.name)
        case PartKind.INITIALIZATION | PartKind.ALGORITHM:
            return f"the {part.kind} of training_info {part.number}"
        case PartKind.MODEL | PartKind.GRAPH | PartKind.SPARSE_VALUES | PartKind.SPARSE_INDICES:
            return f"the {part.kind}"
        case _:
            return f"{part.kind} {part.name!r}"


def _node(part: ModelPart) -> str:
    operator = f" ({repr(part.operator)[1:-1]})" if part.operator else ""
    if part.name:
        return f"node {part.name!r}{operator}"
    return f"a node{operator}" if part.number < 0 else f"node number {part.number}{operator}"
