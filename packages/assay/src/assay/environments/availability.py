"""`python -m assay.environments.availability BACKEND...`: asked inside an environment, what its backends say of themselves."""

from __future__ import annotations

import sys

import msgspec

from assay.models.telemetry import forbid_telemetry
from assay.plugins import availability

if __name__ == "__main__":
    forbid_telemetry()
    sys.stdout.buffer.write(msgspec.json.encode({name: availability(name) for name in sys.argv[1:]}))
