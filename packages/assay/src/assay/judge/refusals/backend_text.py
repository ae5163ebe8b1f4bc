"""The sentences of what a backend of our own refuses."""

from __future__ import annotations

from assay.core.refusals.backend_codes import BackendCode

BACKENDS: dict[str, str] = {
    # torch
    BackendCode.NO_CPP_COMPILER: "Inductor needs a C++ compiler and found none; run apt-get install g++",
    BackendCode.SPECIALISED: "the exported program takes no input of this size: it was specialised to {sizes}",
    BackendCode.TORCH_CANNOT_DO_IT: "torch cannot do it: {error}",
    BackendCode.TORCH_FAILS: "torch failed: {error}",
}
