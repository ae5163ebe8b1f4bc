"""Determinants, and inverses of com.microsoft."""

from __future__ import annotations

from assay.numerics.operators.record import MICROSOFT, OnnxOperator, alike
from assay.numerics.shapes.elementwise import same_shape
from assay.numerics.tolerance.rules.functions import determinant, inverse

OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("Det", rounding=determinant, shape=same_shape),
    *alike("Inverse", domain=MICROSOFT, rounding=inverse, reference="contrib.computed", shape=same_shape),
)
