"""The codes of what a backend of our own refuses. `assay.judge.refusals.backend_text` makes the sentences."""

from __future__ import annotations

import enum


class BackendCode(enum.StrEnum):
    """The facts that come with each are the names in its sentence."""

    # torch
    NO_CPP_COMPILER = "no_cpp_compiler"
    SPECIALISED = "specialised"
    TORCH_CANNOT_DO_IT = "torch_cannot_do_it"
    TORCH_FAILS = "torch_fails"
