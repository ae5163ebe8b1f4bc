"""Operators of com.microsoft, one record each: the steps of the standard that it is made of.

Taken apart, each step is evaluated, batched and given its noise as everywhere else, the grids of dynamic quantization too. What
no steps say (a state that goes onto a grid in every turn) is a kernel. Sources: ONNX Runtime's ContribOperators.md and schemas;
each is compared with unoptimised ONNX Runtime in tests/unit/numerics/oracle.
"""

from __future__ import annotations

from assay.numerics.operators.index import onnx_operators
from assay.numerics.oracle.batched.operator import Lift
from assay.numerics.oracle.contrib.activations import ACTIVATIONS
from assay.numerics.oracle.contrib.attention import ATTENTION
from assay.numerics.oracle.contrib.body import Decomposition
from assay.numerics.oracle.contrib.few_bits import OPERATOR as FEW_BITS
from assay.numerics.oracle.contrib.few_bits import coarse_product
from assay.numerics.oracle.contrib.grouped_attention import GROUPED
from assay.numerics.oracle.contrib.movement_ops import MOVING
from assay.numerics.oracle.contrib.normalization import NORMALIZATIONS
from assay.numerics.oracle.contrib.products import PRODUCTS
from assay.numerics.oracle.contrib.quantized import QUANTIZED
from assay.numerics.oracle.contrib.recurrent import OPERATOR, lifted_lstm, quantized_lstm
from assay.numerics.oracle.contrib.tables import TABLES
from assay.numerics.oracle.hooks import Kernel

DOMAIN = "com.microsoft"

DECOMPOSITIONS: dict[str, Decomposition] = {
    **ACTIVATIONS,
    **ATTENTION,
    **GROUPED,
    **TABLES,
    **NORMALIZATIONS,
    **PRODUCTS,
    **QUANTIZED,
    **MOVING,
    **{
        name: one.decomposition
        for (domain, name), one in onnx_operators().items()
        if domain == DOMAIN and one.decomposition is not None
    },
}
"""By operator. LayerNormalization and SimplifiedLayerNormalization are in the domain of the standard."""

CONTRIB_KERNELS: dict[str, Kernel] = {OPERATOR: quantized_lstm, FEW_BITS: coarse_product}
"""Those that are computed as they are, where they have no steps."""

CONTRIB_LIFTS: dict[str, Lift] = {OPERATOR: lifted_lstm}
"""The same for several evaluations at once."""

STATES: dict[str, tuple[int | None, ...]] = {OPERATOR: (4, 3, 3), FEW_BITS: (None,)}
"""The rank of each result of a kernel, None where that is another's; all are real numbers."""
