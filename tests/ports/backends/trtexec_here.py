"""trtexec on a machine with a device: conformance asks in a fresh interpreter, where no test can say that there is one."""

from __future__ import annotations

from assay.backends.tensorrt.trtexec_backend import Trtexec
from assay.ports import Availability


class Here(Trtexec):
    flows = tuple(flow for flow in Trtexec.flows if "fp8" not in flow.name)  # the tiny model carries no float8

    def availability(self) -> Availability:
        return Availability(available=True, version="10.16.0")
