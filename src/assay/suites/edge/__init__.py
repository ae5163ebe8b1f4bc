"""Exception scenarios: the specified answer for odd values, a clear error for a wrong use, and a usable engine afterwards."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

from assay.core.case import Case
from assay.core.digest import sha256_bytes
from assay.errors import HarnessError
from assay.suites.cache import cache_folder, read_index
from assay.suites.edge import numbers, values, wrong
from assay.suites.edge.declare import Edge

INDEX = "index.msgpack"


@cache
def tables() -> tuple[Edge, ...]:
    """Every line, each name once."""
    found = (*values.table(), *numbers.table(), *wrong.table())
    assert len({one.name for one in found}) == len(found), "two cases of the edge suite have one name"
    return found


class EdgeCases:
    """Conformance: `assay.testing.check_suite`. The seed has no effect: values and answers are specified."""

    name = "edge"
    about = "exception scenarios: NaN, infinity, -0, subnormal, overflow, empty; wrong inputs, indices, sizes, models"

    def cases(self, *, seed: int) -> Iterator[Case]:  # noqa: ARG002
        """Named `edge/OPERATOR-what`; from the cache, which is made anew when a table changes."""
        index = cache_folder(self.name, _state()) / INDEX
        found = read_index(index)
        if found is None:
            _make(str(index))
            found = read_index(index)
        yield from found or ()

    def make(self, cases: Sequence[Case], *, workers: int) -> Iterator[tuple[Case, str]]:  # noqa: ARG002
        """Everything is there already."""
        for case in cases:
            yield case, ""


def _state() -> str:
    sources = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return sha256_bytes(sources + metadata.version("onnx").encode())[:32]


def _make(index: str) -> None:
    command = [sys.executable, "-m", "assay.suites.edge.build", index]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise HarnessError(f"the cases of the edge suite cannot be made: {' '.join(done.stderr.split()[-60:])}")
