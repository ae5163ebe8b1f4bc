"""A case as files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.core.screening import CaseId, Use
from assay.ports.generator import GeneratedCase


def keep_case(case: GeneratedCase, folder: Path, name: CaseId) -> Path:
    """`NAME.onnx`, and `NAME.npz` beside it; inputs of other sizes in `NAME.other-1.npz`, and so on. `NAME.uses` names what else is done
    with the engine, one a line, where anything is."""
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / f"{name}.onnx"
    model.write_bytes(case.model)
    np.savez(folder / f"{name}.npz", allow_pickle=False, **dict(case.inputs))
    for place, other in enumerate(case.others, 1):
        np.savez(folder / f"{name}.other-{place}.npz", allow_pickle=False, **dict(other))
    uses = [*([Use.OTHER_SIZES] if case.others else []), *case.uses]
    if uses:
        (folder / f"{name}.uses").write_text("\n".join(uses) + "\n")
    return model


def operators_of(model: Path) -> tuple[str, ...]:
    """Of its nodes, in their order, each once."""
    import onnx

    return tuple(dict.fromkeys(node.op_type for node in onnx.load(model).graph.node))
