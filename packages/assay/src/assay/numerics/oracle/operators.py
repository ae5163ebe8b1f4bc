"""All operators that replace those of onnx.reference; a later one of the same name wins."""

from __future__ import annotations

from typing import Any

from onnx.reference.op_run import OpRun

from assay.numerics.oracle.contrib import CONTRIB_OPERATORS
from assay.numerics.oracle.contrib.text import TfIdfVectorizer
from assay.numerics.oracle.control import CONTROL_OPERATORS
from assay.numerics.oracle.convolution import FAST_OPERATORS
from assay.numerics.oracle.counting import COUNTING
from assay.numerics.oracle.deformed import DEFORMED
from assay.numerics.oracle.dequantize import DECLARED_TYPE_OPERATORS, ONE_TYPE_OPERATORS
from assay.numerics.oracle.learning import DECLARED_LEARNING, ONE_TYPE_LEARNING
from assay.numerics.oracle.old_forms import OLD_FORMS
from assay.numerics.oracle.old_opsets import FORMER_OPERATORS
from assay.numerics.oracle.random_ops import RANDOM_OPERATORS
from assay.numerics.oracle.reducing import REDUCING
from assay.numerics.oracle.region_ops import REGION_OPERATORS
from assay.numerics.oracle.resizing import RESIZING


def operators(*, one_type: bool) -> list[type[OpRun]]:
    """`one_type`: for a model that was widened, whose operators give the type of what they take."""
    own: list[Any] = [
        *FAST_OPERATORS,
        *CONTROL_OPERATORS,
        *REGION_OPERATORS,
        *FORMER_OPERATORS,
        *RANDOM_OPERATORS,
        *OLD_FORMS,
        *REDUCING,
        *RESIZING,
        *CONTRIB_OPERATORS,
        *DEFORMED,
        *COUNTING,
    ]
    if one_type:
        return [*own, TfIdfVectorizer, *ONE_TYPE_OPERATORS, *ONE_TYPE_LEARNING]
    return [*own, *DECLARED_TYPE_OPERATORS, *DECLARED_LEARNING]
