"""The variables by which libraries are kept from instructions that the processor has: what is right with fewer is the hardware's."""

from __future__ import annotations

from assay.core.flow import VARIABLE
from assay.ports import OptionSpec

ONEDNN = OptionSpec(
    f"{VARIABLE}ONEDNN_MAX_CPU_ISA",
    "",
    help="most instructions that oneDNN may use: AVX512_CORE_VNNI, AVX512_CORE, AVX2, AVX, SSE41; empty: what there is",
    tried=("AVX512_CORE_VNNI", "AVX512_CORE", "AVX2", "AVX", "SSE41"),
    of_processor=True,
)
"""oneDNN's own variable (CPU dispatcher control); measured to work in the wheels of OpenVINO 2026.4 and torch 2.13."""

ATEN = OptionSpec(
    f"{VARIABLE}ATEN_CPU_CAPABILITY",
    "",
    help="kernels of torch's own operators: avx512, avx2, default; empty: as the processor can",
    tried=("avx2", "default"),
    of_processor=True,
)
