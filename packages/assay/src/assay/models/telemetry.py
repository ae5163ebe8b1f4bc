"""Libraries that send to their makers what they are used for, and how a process is kept from it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

SENDERS = ("openvino_telemetry",)
"""Of OpenVINO and NNCF, which begin with an event when they are imported, from a process that they fork. Both do without it where it
is not installed."""
SWITCHES = ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK")
"""ONNX Runtime from 1.29 sends the name of a model's file and graph, and hashes of its weights."""
GUARD = (
    f"import os, sys; sys.modules.update(dict.fromkeys({SENDERS!r})); "
    f"os.environ.update({{one: os.environ.get(one, '1') for one in {SWITCHES!r}}}); "
)
"""What `forbid_telemetry` does, as the beginning of a program for `python -c`: also where Assay cannot be imported."""
RUN_SCRIPT = GUARD + "import runpy; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"
"""`python SCRIPT ARGUMENT...`, as `python -c RUN_SCRIPT SCRIPT ARGUMENT...`."""


def forbid_telemetry() -> None:
    """Nothing of a check leaves the machine. To be called before a library is imported; what a user has set stays."""
    for name in SENDERS:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]
    os.environ.update(without_telemetry(os.environ))


def without_telemetry(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables of a process that is no Python of Assay's."""
    return {**dict.fromkeys(SWITCHES, "1"), **variables}
