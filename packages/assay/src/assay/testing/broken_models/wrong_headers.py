"""Models that are wrong in one way each: header, versions, imports and external data."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
from onnx import helper

from assay.testing.broken_models.craft import case, external, relu


@case("model", "external-outside")
def external_parent(folder: Path) -> onnx.ModelProto:
    return external(folder, "../weights.bin")


@case("model", "external-absolute")
def external_absolute(folder: Path) -> onnx.ModelProto:
    return external(folder, "/etc/hostname", write=False)


@case("model", "external-symlink")
def external_symlink(folder: Path) -> onnx.ModelProto:
    (folder.parent / "outside.bin").write_bytes(b"\0" * 24)
    (folder / "w.bin").symlink_to(folder.parent / "outside.bin")
    return external(folder, "w.bin", write=False)


@case("model", "external-missing")
def external_missing(folder: Path) -> onnx.ModelProto:
    return external(folder, "nowhere.bin", write=False)


@case("model", "external-missing")
def external_name_too_long(folder: Path) -> onnx.ModelProto:
    return external(folder, "w" * 5000, write=False)


@case("model", "external-hard-link")
def external_hard_link(folder: Path) -> onnx.ModelProto:
    (folder.parent / "outside.bin").write_bytes(b"\0" * 24)
    os.link(folder.parent / "outside.bin", folder / "w.bin")
    return external(folder, "w.bin", write=False)


@case("model", "duplicate-metadata")
def duplicate_metadata(_: Path) -> onnx.ModelProto:
    model = relu()
    for value in ("a", "b"):
        entry = model.metadata_props.add()
        entry.key, entry.value = "author", value
    return model


@case("model", "external-overlap", zoo=True)
def external_overlap(folder: Path) -> onnx.ModelProto:
    return _beside(folder, "8")


@case("model", "external-overlap", zoo=True)
def external_overlap_of_tied_weights(folder: Path) -> onnx.ModelProto:
    return _beside(folder, "0", "8")


def _beside(folder: Path, *offsets: str) -> onnx.ModelProto:
    """A weight at offset 0, and others of the same length in the same file."""
    model = external(folder, "w.bin", offset="0")
    (folder / "w.bin").write_bytes(np.ones(12, np.float32).tobytes())
    for number, offset in enumerate(offsets):
        other = model.graph.initializer.add()
        other.CopyFrom(model.graph.initializer[0])
        other.name = f"v{number}"
        other.external_data[1].value = offset
        model.graph.node[0].input[0] = other.name
    return model


@case("model", "external-way")
def external_through_the_folder_above(folder: Path) -> onnx.ModelProto:
    model = external(folder, "sub/w.bin")
    model.graph.initializer[0].external_data[0].value = "sub/../sub/w.bin"
    return model


@case("model", "external-length")
def external_length(folder: Path) -> onnx.ModelProto:
    return external(folder, "w.bin", length="8")


@case("model", "external-short")
def external_offset_past_end(folder: Path) -> onnx.ModelProto:
    return external(folder, "w.bin", offset="4096")


@case("model", "external-self")
def external_data_in_the_model_itself(folder: Path) -> onnx.ModelProto:
    return external(folder, "model.onnx", write=False)


@case("model", "ir-version")
def ir_zero(_: Path) -> onnx.ModelProto:
    model = relu()
    model.ir_version = 0
    return model


@case("model", "newer-ir")
def ir_too_new(_: Path) -> onnx.ModelProto:
    model = relu()
    model.ir_version = 99
    return model


@case("model", "opset-import")
def opset_zero(_: Path) -> onnx.ModelProto:
    model = relu()
    model.opset_import[0].version = 0
    return model


@case("model", "zoo-opset", zoo=True)
def opset_too_new(_: Path) -> onnx.ModelProto:
    model = relu()
    model.opset_import[0].version = 27
    return model


@case("model", "duplicate-import")
def imported_twice(_: Path) -> onnx.ModelProto:
    model = relu()
    model.opset_import.append(helper.make_opsetid("ai.onnx", 13))
    return model


@case("model", "no-imports")
def no_imports(_: Path) -> onnx.ModelProto:
    model = relu()
    del model.opset_import[:]
    return model


@case("model", "nested")
def nested_400_deep(_: Path) -> bytes:
    # By hand: the onnx package itself does not build it.
    model, graph = 7, 1
    inner = b""
    for _level in range(400):
        inner = _field(graph, _field(5, _field(6, inner)))  # node, attribute, graph
    return _field(model, inner)


def _field(number: int, data: bytes) -> bytes:
    """One length-delimited field of protobuf."""
    size, length = b"", len(data)
    while True:
        size += bytes([length & 0x7F | (0x80 if length > 0x7F else 0)])
        length >>= 7
        if not length:
            return bytes([number << 3 | 2]) + size + data
