"""`python -m assay.environments.probe BACKEND...`: asked inside an environment, what its backends say of themselves."""

from __future__ import annotations

import sys

import msgspec

from assay import plugins
from assay.errors import HarnessError, UnknownName
from assay.ports import Availability, Backend


def ask(name: str) -> Availability:
    """The availability of one backend here; a backend that is not known or broken here is not available."""
    try:
        backend: Backend = plugins.load(plugins.BACKENDS, name)()
        return backend.availability()
    except (HarnessError, UnknownName) as error:
        return Availability(available=False, reason=str(error))


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode({name: ask(name) for name in sys.argv[1:]}))
