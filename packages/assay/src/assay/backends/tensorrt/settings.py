"""What a flow asks of TensorRT."""

from __future__ import annotations

import msgspec


class Settings(msgspec.Struct, frozen=True):
    """What the flow asks for, already checked."""

    precision: str
    strongly_typed: bool = False
    workspace_mib: int = 0
    optimization_level: int = 3
    version_compatible: bool = False
    timing_cache: str = ""
    sparse_weights: bool = False
