"""Where each delegate of ExecuTorch runs, and what its lowering needs, by the name that it has in a program."""

from __future__ import annotations

_PLACES = {
    "VulkanBackend": "a runtime built with the Vulkan delegate",
    "CoreMLBackend": "macOS or iOS",
    "QnnBackend": "a Qualcomm device",
    "TOSABackend": "a TOSA reference model or an Ethos-U",
}
_INSTALL = {
    "OpenvinoBackend": "pip install 'assay[openvino]'",
    "CoreMLBackend": "pip install coremltools",
    "QnnBackend": "pip install py-cpuinfo, and the Qualcomm AI Engine Direct SDK with QNN_SDK_ROOT set",
    "TOSABackend": "pip install tosa-tools",
}


def delegate_place(delegate: object) -> str:
    """Where it runs: the wheel's runtime has it not, or not for this system."""
    return _PLACES.get(str(delegate), "a runtime built with it")


def delegate_install(delegate: object) -> str:
    """What to do where its lowering library is missing."""
    return _INSTALL.get(str(delegate), "install ExecuTorch again")
