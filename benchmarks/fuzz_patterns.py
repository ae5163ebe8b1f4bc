"""Subgraphs that fusions look for: the bodies of ONNX's functions, from the node cases that come with onnx.

python benchmarks/fuzz_patterns.py > packages/assay/src/assay/generators/data/patterns.json
"""

from __future__ import annotations

import sys

from onnx.backend.test.case.node import collect_testcases

from assay.generators.mined import MinedPattern, encode, mine

NEWEST = 24


def main() -> None:
    patterns: dict[tuple[object, ...], MinedPattern] = {}
    for case in sorted(collect_testcases(None), key=lambda test_case: test_case.name):
        if "_expanded" not in case.name or case.model is None:
            continue
        for pattern in mine(case.model):
            if pattern.opset <= NEWEST:
                patterns.setdefault(tuple((node.operator, node.reads) for node in pattern.nodes), pattern)
    sys.stdout.buffer.write(encode([*patterns.values()]))


if __name__ == "__main__":
    main()
