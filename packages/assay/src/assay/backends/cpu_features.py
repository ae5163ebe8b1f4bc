"""Whether this processor has the instructions that machine code was made of: without them it ends in SIGILL, at any operator."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import NotRunnable

# Sets of instructions that compilers make code of, and that Linux tells; LLVM's list has tuning and rights of the kernel besides.
# To Linux AVX-IFMA, AVX-VNNI-INT8 and -INT16, AVX-NE-CONVERT and most of AMX have no name, on processors that have them
# (arch/x86/include/asm/cpufeatures.h, arch/x86/kvm/reverse_cpuid.h).
_EMITTED = re.compile(
    r"sse4|ssse3|avx(?!10|ifma|neconvert|vnniint)|amx-(?:bf16|int8|tile)$|fma|f16c|bmi2|gfni|vaes|vpclmul|xop"
)


def check_processor(backend: str, features: Iterable[str]) -> None:
    """Of code for x86 with these features, as LLVM names them (`avx512vnni`, `sse4.1`). Raises NotRunnable, naming those that
    this processor lacks. Where the system does not tell what it has (other than Linux on x86), nothing is refused."""
    have = _features()
    lacking = sorted(feature for feature in set(features) if _EMITTED.match(feature) and _plain(feature) not in have)
    if have and lacking:
        raise NotRunnable(noted(BackendCode.OTHER_PROCESSOR, library=backend, features=tuple(lacking)))


def sums_saturate() -> bool:
    """Whether a product of unsigned and signed bytes is added up in sixteen bits here: on x86 without VNNI (vpmaddubsw). False where
    the system does not tell."""
    have = _features()
    return "avx2" in have and have.isdisjoint({"avx512vnni", "avxvnni"})


@cache
def _features() -> frozenset[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    return frozenset(_plain(part) for line in lines if line.startswith("flags") for part in line.split(":")[1].split())


def _plain(name: str) -> str:
    """LLVM's sse4.1 and avx512vnni are sse4_1 and avx512_vnni to Linux."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
