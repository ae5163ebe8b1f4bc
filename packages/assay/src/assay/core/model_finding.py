"""One thing that is wrong with a model: a code, where, and the numbers and names of its sentence."""

from __future__ import annotations

from enum import StrEnum

import msgspec


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


class ModelFinding(msgspec.Struct, frozen=True):
    """`code` is the rule; `about` the place in the model ("node 'a' (Relu)"); `values` fill the sentence of that code
    (assay.models.examination.sentences)."""

    area: Area
    code: str
    about: str = ""
    values: tuple[int | str, ...] = ()
    severity: Severity = Severity.INVALID
