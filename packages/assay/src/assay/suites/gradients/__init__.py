"""Gradients: vector-Jacobian products of the operators, and second derivatives of the smooth ones, as programs of torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import msgspec

from assay.core.case import Case
from assay.numerics.tolerance.tolerance_tables import DERIVED
from assay.suites.build_cases import build_cases
from assay.suites.operators import TABLES
from assay.suites.torch_case import TorchCase, listed


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NOT_DIFFERENTIABLE = _words(
    "ceil floor round trunc sign isnan isinf div_rounded floor_divide eq ne lt le gt ge argmax argmin argsort "
    "nonzero arange full_like ones_zeros cast_to_int64 cast_to_int32 cast_to_bool cast_to_uint8 cast_to_float16 "
    "cast_to_float32 embedding embedding_bag median"
)
"""Steps, comparisons, indices and casts: their derivative is 0 where it exists, or the input is declared to have none.
embedding_bag and median choose among elements by rules of their own; an embedding takes nothing but indices."""
SMOOTH = _words(
    "sin cos tan asin acos atan sinh cosh tanh asinh atanh exp exp2 expm1 log log2 log10 log1p sqrt rsqrt "
    "reciprocal erf erfc sigmoid logit gelu silu mish softplus tanhshrink logsigmoid square pow_scalar mul div "
    "pow hypot atan2 addcmul prod var std norm2 logsumexp softmax log_softmax matmul mm bmm bilinear outer "
    "einsum_batch cosine_similarity layer_norm rms_norm normalize"
)
"""Twice differentiable at every input they are given, and not linear in it."""


class Gradients:
    """Conformance: `assay.testing.check_suite`. For flows of torch as they are; others convert the program to ONNX."""

    name = "gradients"
    about = "vector-Jacobian products of operators against float64 and finite differences; second derivatives of smooth ones"

    def cases(self, *, seed: int) -> Iterator[Case]:
        """Named `gradients/OPERATOR-float32-ATTRIBUTES-vjp` and `-second`."""
        for torch_case in authored().values():
            yield _derived(listed(torch_case, seed))

    def make(self, cases: Sequence[Case], *, workers: int) -> Iterator[tuple[Case, str]]:
        """Traced by torch; a gradient that finite differences contradict makes no case."""
        seed = cases[0].inputs.seed if cases else 0
        authored_cases = [authored()[case.name] for case in cases]
        for case, reason in build_cases(
            self.name, authored_cases, seed=seed, workers=workers, maker=f"{__name__}.build_gradients"
        ):
            yield _derived(case), reason


def _derived(case: Case) -> Case:
    """A derivative that is constant or zero is meant, and what rounds is held to the noise of its own graph all the same."""
    return msgspec.structs.replace(case, contract=msgspec.structs.replace(case.contract, tolerance=DERIVED))


@cache
def authored() -> dict[str, TorchCase]:
    """The first shape of each operator, every setting of its attributes, in float32."""
    cases: dict[str, TorchCase] = {}
    for operator in TABLES:
        if "float32" not in operator.dtypes or operator.name in NOT_DIFFERENTIABLE:
            continue
        first = operator.shapes.partition("|")[0]
        for setting in operator.attributes:
            alone = replace(operator, shapes=first, edge="", dtypes=("float32",), attributes=(setting,))
            smoke_case = next(alone.cases())
            stem = f"gradients/{smoke_case.name.partition('/')[2].replace('-smoke', '')}"
            for order in ("vjp", "second") if operator.name in SMOOTH else ("vjp",):
                # A derivative that is constant, or zero, is right where float64 and finite differences say so.
                case = msgspec.structs.replace(smoke_case, name=f"{stem}-{order}", source=order, published=True)
                cases[case.name] = case
    return cases
