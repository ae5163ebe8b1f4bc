"""A case as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from assay.core.screening import CaseId, Use
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase


def write_anew(place: Path, data: bytes) -> None:
    """In a file of its own, whatever lay there: what is cut and filled again goes to the disk at once on ext4, which took a third of the
    time of a cheap case, and it changes under an engine that has it mapped."""
    place.unlink(missing_ok=True)
    place.write_bytes(data)


def keep_case(case: GeneratedCase, folder: Path, name: CaseId | str) -> Path:
    """`NAME.onnx`, and `NAME.npz` beside it; inputs of other sizes in `NAME.other-1.npz`, and so on. `NAME.uses` names what else is done
    with the engine, one a line, where anything is."""
    folder.mkdir(parents=True, exist_ok=True)
    _keep(folder / f"{name}.npz", case.inputs)
    for place, other in enumerate(case.others, 1):
        _keep(folder / f"{name}.other-{place}.npz", other)
    uses = [*([Use.OTHER_SIZES] if case.others else []), *case.uses]
    if uses:
        (folder / f"{name}.uses").write_text("\n".join(uses) + "\n")
    model = folder / f"{name}.onnx"
    model.write_bytes(case.model)  # the last: where it lies, all lies
    return model


def _keep(path: Path, arrays: Mapping[str, Tensor]) -> None:
    """As `numpy.savez` does, for arrays of any name: its own words are no names there, and those of numpy 1 are fewer."""
    with ZipFile(path, "w") as kept:
        for name, array in arrays.items():
            with kept.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_case(place: Path) -> GeneratedCase:
    """What `keep_case` wrote: `place` is the path without an ending."""
    uses_file = place.parent / f"{place.name}.uses"
    uses = [Use(part) for part in uses_file.read_text().split()] if uses_file.exists() else []
    others: list[dict[str, Tensor]] = []
    while (path := place.parent / f"{place.name}.other-{len(others) + 1}.npz").exists():
        others.append(_arrays(path))
    return GeneratedCase(
        (place.parent / f"{place.name}.onnx").read_bytes(),
        _arrays(place.parent / f"{place.name}.npz"),
        tuple(others),
        tuple(use for use in uses if use is not Use.OTHER_SIZES),
    )


def _arrays(path: Path) -> dict[str, Tensor]:
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def operators_of(model: Path) -> tuple[str, ...]:
    """Of its nodes, in their order, each once."""
    import onnx

    return tuple(dict.fromkeys(node.op_type for node in onnx.load(model).graph.node))


def types_of(model: Path) -> tuple[str, ...]:
    """Of its inputs, outputs and constants, each once."""
    import onnx

    from assay.core.dtype import dtype_name

    graph = onnx.load(model).graph
    elements = [value.type.tensor_type.elem_type for value in (*graph.input, *graph.output)]
    elements += [constant.data_type for constant in graph.initializer]
    known = [element for element in dict.fromkeys(elements) if element]
    return tuple(dtype_name(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(element))) for element in known)
