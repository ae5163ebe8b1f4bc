"""Libraries that send to their makers what they are used for."""

from __future__ import annotations

import os
import sys

SENDERS = ("openvino_telemetry",)
"""Of OpenVINO and NNCF, which begin with an event when they are imported, from a process that they fork. Both do without it where it
is not installed."""
SWITCHES = ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK")
"""ONNX Runtime from 1.29 sends the name of a model's file and graph, and hashes of its weights."""


def forbid_telemetry() -> None:
    """Nothing of a check leaves the machine. To be called before a library is imported; what a user has set stays."""
    for name in SENDERS:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]
    for name in SWITCHES:
        os.environ.setdefault(name, "1")
