"""Operators in numpy, by name: faster than onnx.reference, or with their inner roundings marked for the tolerance.

Each is compared with onnx.reference on every node case of the standard (tests/unit/numerics/oracle).
"""

from __future__ import annotations

from assay.numerics.oracle.hooks import Kernel
from assay.numerics.oracle.kernels.activation import ACTIVATIONS
from assay.numerics.oracle.kernels.affine import AFFINE
from assay.numerics.oracle.kernels.gathering import GATHERING
from assay.numerics.oracle.kernels.normalization import NORMALIZATIONS
from assay.numerics.oracle.kernels.padding import PADDING
from assay.numerics.oracle.kernels.quantization import QUANTIZATION
from assay.numerics.oracle.kernels.recurrent import RECURRENT
from assay.numerics.oracle.kernels.sampling import SAMPLING
from assay.numerics.oracle.kernels.shapes import SHAPES
from assay.numerics.oracle.kernels.softmax import SOFTMAXES
from assay.numerics.oracle.kernels.suppression import SUPPRESSION

KERNELS: dict[str, Kernel] = {
    **ACTIVATIONS,
    **NORMALIZATIONS,
    **SOFTMAXES,
    **RECURRENT,
    **QUANTIZATION,
    **SAMPLING,
    **GATHERING,
    **PADDING,
    **AFFINE,
    **SUPPRESSION,
    **SHAPES,
}

ANY_TYPE = frozenset({*GATHERING, *PADDING, *SUPPRESSION})
"""These move elements and compute nothing: they take half precision too."""
