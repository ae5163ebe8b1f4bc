"""What releases of OpenVINO before those of today do otherwise, so that old and new run side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.backends.openvino.defaults import GROUP_SIZE, NONE
from assay.backends.openvino.runtime_graph import DEVICE


def library() -> Any:
    """The module of its classes, which was `openvino.runtime` until 2023.0. Raises ImportError."""
    import openvino

    if hasattr(openvino, "Core"):
        return openvino
    from openvino import runtime

    return runtime


def of_release(core: Any, config: Mapping[str, str | int]) -> dict[str, str]:
    """Without what turns off a thing that this release does not do yet: it refuses the name (before 2024.1). As texts: 2024.1 refuses a
    number of Python for some."""
    known = core.get_property(DEVICE, "SUPPORTED_PROPERTIES")
    return {name: str(value) for name, value in config.items() if name in known or (name, value) != (GROUP_SIZE, NONE)}


def exported(compiled: Any) -> bytes:
    """A compiled model as one file, which 2023.1 gives as it is and others in a buffer."""
    blob = compiled.export_model()
    return blob if isinstance(blob, bytes) else bytes(blob.getvalue())
