"""Every node case of the installed onnx package, with the outputs that ONNX publishes for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import metadata

from assay.core.case import Case
from assay.core.digest import value_digest
from assay.models.code_digest import code_digest
from assay.suites.cache import INDEX, cache_folder
from assay.suites.subprocess_run import cases_made_once

MAKER = "assay.suites.build_onnx_node"


class OnnxNode:
    """Conformance: `assay.testing.check_suite`. The seed has no effect: inputs and outputs are published."""

    name = "onnx-node"
    about = "every node case of the installed onnx package (197 operators, opsets 1 to 28), with its published outputs"

    def cases(self, *, seed: int) -> Iterator[Case]:  # noqa: ARG002
        """From the cache of this onnx version, which the first call fills in a process of its own (about 20 s)."""
        index = cache_folder(self.name, value_digest((code_digest(MAKER), metadata.version("onnx")))[:32]) / INDEX
        # Behind a wall: building the cases imports half of onnx's tests and takes 300 MB.
        yield from cases_made_once(index, MAKER, "the node cases of onnx could not be collected")

    def make(self, cases: Sequence[Case], *, workers: int) -> Iterator[tuple[Case, str]]:  # noqa: ARG002
        """Everything is there already."""
        for case in cases:
            yield case, ""
