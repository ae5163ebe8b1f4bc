"""One thing that is wrong with a model: a code, where, and the numbers and names of its sentence."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from assay.core.model_part import MODEL, ModelPart

_LARGEST = 2**63 - 1
_WRITTEN_BITS = 256
"""Of a number whose digits anybody reads."""


class Area(StrEnum):
    """The part of a model that a finding is about."""

    MODEL = "model"
    GRAPH = "graph"
    NODE = "node"
    ATTRIBUTE = "attribute"
    FUNCTION = "function"


class Severity(StrEnum):
    """INVALID: no backend is asked. CONTRADICTION: the model declares something that its own nodes do not give; it is run, and
    judged as its nodes give it. RESTRICTED: valid, and a collection may refuse it. REMARK: worth knowing."""

    INVALID = "invalid"
    CONTRADICTION = "contradiction"
    RESTRICTED = "restricted"
    REMARK = "remark"


Fact = int | str | ModelPart
"""A number, a name, or a part of the model."""


class ModelFinding(msgspec.Struct, frozen=True):
    """`code` is the rule; `about` the part of the model that breaks it; `values` fill the sentence of that code
    (assay.core.model_finding_text)."""

    area: Area
    code: str
    about: ModelPart = MODEL
    values: tuple[Fact, ...] = ()
    severity: Severity = Severity.INVALID

    def __post_init__(self) -> None:
        """A number that is too large for the wire (a product of sizes) is kept as text."""
        if any(isinstance(value, int) and not -_LARGEST <= value <= _LARGEST for value in self.values):
            kept = tuple(_kept(value) for value in self.values)
            msgspec.structs.force_setattr(self, "values", kept)


def _kept(value: Fact) -> Fact:
    if not isinstance(value, int) or -_LARGEST <= value <= _LARGEST:
        return value
    bits = value.bit_length()
    return str(value) if bits < _WRITTEN_BITS else f"{'-' if value < 0 else ''}about 2**{bits - 1}"
