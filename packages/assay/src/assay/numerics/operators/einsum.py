"""Einsum."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.shapes.constraints import Inputs, Walk, equal, plain
from assay.numerics.shapes.values import UNKNOWN, Node, Value
from assay.numerics.tolerance.rules.sums import einsum


def _einsum_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    equation = node.attributes["equation"].replace(" ", "")
    terms, arrow, result = equation.partition("->")
    sizes: dict[str, int | None] = {}
    if "." in equation:
        return [UNKNOWN]
    for term, value in zip(terms.split(","), inputs, strict=True):
        if value.shape is None:
            continue
        equal(len(term), len(value.shape), ConstraintCode.EINSUM_RANK, term=term)
        for letter, size in zip(term, value.shape, strict=True):
            if sizes.get(letter, 1) in (1, None):
                sizes[letter] = size
            elif size != 1:
                equal(sizes[letter], size, ConstraintCode.EINSUM_SIZES, letter=letter, equation=equation)
    if not arrow:
        flat = terms.replace(",", "")
        result = "".join(sorted(term_letter for term_letter in set(flat) if flat.count(term_letter) == 1))
    return plain(tuple(sizes.get(letter) for letter in result))


OPERATORS: tuple[OnnxOperator, ...] = (*alike("Einsum", rounding=einsum, weights=(0, 1, 2, 3), shape=_einsum_shape),)
