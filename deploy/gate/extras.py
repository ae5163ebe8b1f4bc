"""Which extras of the package install what these flows need: `onnxruntime,nncf` of `onnxruntime openvino-int8`. Those that
assay.toml names count, too. What is no flow is left for `assay check` to refuse."""

from __future__ import annotations

import argparse
import tomllib
from importlib import metadata
from pathlib import Path

from assay import plugins
from assay.errors import HarnessError, UnknownName

OF_TRANSFORMS = {"int8-nncf": "nncf", "int8-qdq": "onnxruntime", "int8-dynamic": "onnxruntime"}
"""What quantizes with a library that the backend does not bring."""


def extras(flows: list[str]) -> list[str]:
    """In the order of the flows, each once."""
    known = set(metadata.metadata("assay").get_all("Provides-Extra") or ())
    found = []
    for name in flows:
        try:
            flow = plugins.find_flow(name)
        except (HarnessError, UnknownName):
            continue
        if not flow.environment:
            found += [flow.backend, *(OF_TRANSFORMS.get(one.partition(":")[0], "") for one in flow.transforms)]
    return list(dict.fromkeys(one for one in found if one in known))


def configured(path: Path) -> list[str]:
    """The flows of assay.toml, wherever they stand in it; none where it is missing or no TOML, which `assay check` tells."""
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    tables = [read, *(one for one in read.get("model", []) if isinstance(one, dict))]
    return [flow for table in tables for flow in table.get("flows", []) if isinstance(flow, str)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("flows", nargs="*")
    parser.add_argument("--config", type=Path, default=Path("assay.toml"))
    given = parser.parse_args()
    print(",".join(extras(given.flows or configured(given.config))))
