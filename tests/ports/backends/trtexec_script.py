"""No TensorRT: a script that takes the command line which trtexec documents and writes the files that it documents.

What stands for the engine is the ONNX file itself, evaluated by onnx. It proves how Assay talks with the program, and nothing
about any engine. The version is that of the environment's TRTEXEC_VERSION, as in the banner: 8601, 101600, 110100.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

BANNER = f"[TensorRT v{os.environ.get('TRTEXEC_VERSION', '101600')}]"
NEWER = BANNER >= "[TensorRT v11" and len(BANNER) == len("[TensorRT v110100]")
KNOWN = {
    "--help", "--onnx", "--saveEngine", "--loadEngine", "--skipInference", "--profilingVerbosity", "--exportLayerInfo",
    "--builderOptimizationLevel", "--noTF32", "--stronglyTyped", "--memPoolSize", "--versionCompatible", "--timingCacheFile",
    "--minShapes", "--optShapes", "--maxShapes", "--loadInputs", "--shapes", "--iterations", "--warmUp", "--duration",
    "--dumpRawBindingsToFile", "--exportTimes", "--exportProfile",
}  # fmt: skip
OLDER = {"--fp16", "--int8", "--bf16", "--fp8", "--separateProfileRun"}


def main(arguments: list[str]) -> int:
    command = " ".join(["trtexec", *arguments])
    print(f"&&&& RUNNING TensorRT.trtexec {BANNER} # {command}")
    given = dict(argument.partition("=")[::2] for argument in arguments)
    for name in given:
        if name not in (KNOWN if NEWER else KNOWN | OLDER):
            return fail(f"Unknown option: {name} {given[name]}", command)
    if "--help" in given:
        return 0
    return build(given, command) if "--onnx" in given else infer(given, command)


def fail(text: str, command: str) -> int:
    print(f"[11/22/2026-12:00:00] [E] {text}", file=sys.stderr)
    print(f"&&&& FAILED TensorRT.trtexec {BANNER} # {command}")
    return 1


def build(given: dict[str, str], command: str) -> int:
    import onnx

    model = onnx.load(given["--onnx"])
    for node in model.graph.node:
        if not onnx.defs.has(node.op_type):
            print(
                f"[11/22/2026-12:00:00] [I] [TRT] No importer registered for op: {node.op_type}. Attempting to import as plugin."
            )
            return fail(f"[TRT] 3: getPluginCreator could not find plugin: {node.op_type} version: 1", command)
    profile = {name: given.get(f"--{name}Shapes", "") for name in ("min", "opt", "max")}
    model.metadata_props.add(key="profile", value=json.dumps(profile))
    Path(given["--saveEngine"]).write_bytes(model.SerializeToString())
    kind = "Row major linear FP16" if "--fp16" in given else "Row major linear FP32"
    tensor = [{"Name": "t", "Format/Datatype": kind}]
    layers = [
        {
            "Name": node.name or node.op_type,
            "LayerType": node.op_type,
            "ParameterType": node.op_type,
            "Inputs": tensor,
            "Outputs": tensor,
        }
        for node in model.graph.node
    ]
    Path(given["--exportLayerInfo"]).write_text(json.dumps({"Layers": layers, "Bindings": []}))
    print(f"&&&& PASSED TensorRT.trtexec {BANNER} # {command}")
    return 0


def infer(given: dict[str, str], command: str) -> int:
    import numpy as np
    import onnx
    from onnx.reference import ReferenceEvaluator

    try:
        model = onnx.load_from_string(Path(given["--loadEngine"]).read_bytes())
    except Exception:
        return fail("[TRT] 1: [stdArchiveReader.cpp::StdArchiveReader::30] Error Code 1: Serialization (Serialization assertion "
                    "stdVersionRead == serializationVersion failed.Version tag does not match.", command)  # fmt: skip
    files = dict(pair.rpartition(":")[::2] for pair in given.get("--loadInputs", "").split(",") if pair)
    shapes = sizes(given.get("--shapes", ""))
    profile = json.loads(next(prop.value for prop in model.metadata_props if prop.key == "profile"))
    least, most = sizes(profile["min"]), sizes(profile["max"])
    feeds = {}
    for value in model.graph.input:
        fixed = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        shape = shapes.get(value.name, fixed)
        if value.name in least and not all(
            a <= b <= c for a, b, c in zip(least[value.name], shape, most[value.name], strict=True)
        ):
            return fail(f"[TRT] 3: [executionContext.cpp::setInputShape::2278] Error Code 3: API Usage Error (Parameter "
                        f"check failed at: setInputShape::2278, condition: satisfyProfile {shape})", command)  # fmt: skip
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        data = Path(files[value.name]).read_bytes()
        if len(data) != int(np.prod(shape)) * dtype.itemsize:
            return fail(f"Unexpected file size for input file: {files[value.name]}.", command)
        feeds[value.name] = np.frombuffer(data, dtype).reshape(shape)
    outputs = ReferenceEvaluator(model).run(None, feeds)
    if "--dumpRawBindingsToFile" in given:
        print("[11/22/2026-12:00:00] [I] Dumping I/O Bindings to RAW Files:")
        dump(model.graph.output, outputs)
    if "--exportTimes" in given:
        row = {"startEnqMs": 1.0, "endEnqMs": 1.5, "h2dMs": 0.25, "computeMs": 1.0, "d2hMs": 0.25, "latencyMs": 1.5}
        Path(given["--exportTimes"]).write_text(json.dumps([row] * 7))
    if "--exportProfile" in given:
        layers = [node.name or node.op_type for node in model.graph.node]
        rows = [
            {"name": name, "timeMs": 7.0, "averageMs": 1.0, "medianMs": 0.5, "percentage": 100 / len(layers)}
            for name in layers
        ]
        Path(given["--exportProfile"]).write_text(json.dumps([{"count": 7}, *rows]))
    print(f"&&&& PASSED TensorRT.trtexec {BANNER} # {command}")
    return 0


def dump(names: Sequence[Any], outputs: Sequence[Any]) -> None:
    for value, array in zip(names, outputs, strict=True):
        type_name = {"float32": "fp32", "int64": "int64"}[array.dtype.name]
        dims = ".".join(map(str, array.shape))
        file = f"{value.name}.output.{dims}.{type_name}.raw"
        Path(file).write_bytes(array.tobytes())
        print(
            f"Writing file for output binding {value.name} (with datatype {type_name} and dimensions {dims}) to {file}"
        )


def sizes(text: str) -> dict[str, list[int]]:
    return {
        name: list(map(int, size.split("x")))
        for name, _, size in (part.rpartition(":") for part in text.split(",") if part)
    }


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
