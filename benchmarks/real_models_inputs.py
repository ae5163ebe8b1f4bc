"""Plausible inputs for the benchmark of real models: drawn by the recipes of real_models.toml, kept as a golden."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from independent import Array
from safetensors.numpy import load_file, save_file

ASSAY = str(Path(sys.executable).parent / "assay")
SEED = 0


def plausible(path: Path, recipe: dict[str, str], folder: Path, samples: int) -> Path:
    """The golden in `folder`, recorded where it is not there yet."""
    stacked = {key: np.stack([draw(spec, key, sample) for sample in range(samples)]) for key, spec in recipe.items()}
    save_file(stacked, str(folder / "inputs.safetensors"))
    for producer in ("reference-f64", "onnxruntime-disable"):
        if not (folder / "golden" / "golden.lock").exists():
            record(path, folder / "golden", producer, folder / "inputs.safetensors", folder)
    return folder / "golden"


def draw(spec: str, name: str, sample: int) -> Array:
    """One input by its recipe."""
    sizes, kind = spec.split(" ", 1)
    shape = tuple(int(size) for size in sizes.split(",") if size)
    word, *bounds = kind.split(":")
    stream = np.random.default_rng([SEED + sample, *name.encode()])
    match word:
        case "uniform":
            return stream.uniform(float(bounds[0]), float(bounds[1]), shape).astype(np.float32)
        case "integers":
            return stream.integers(int(bounds[0]), int(bounds[1]) + 1, shape)
        case "value":
            value = float(bounds[0])
            return np.full(shape, value, np.float32) if "." in bounds[0] else np.full(shape, int(value))
        case _:
            return stream.standard_normal(shape).astype(np.float32)


def record(path: Path, golden: Path, flow: str, inputs: Path, folder: Path) -> int:
    """Inputs are cast to the model's types by whoever takes them; the exit code of the command."""
    cast_inputs(path, inputs)
    command = [ASSAY, "golden", "record", str(path), str(golden), "--flow", flow, "--inputs", str(inputs)]
    command += ["--reason", "benchmark of real models", "--history", str(folder / "history")]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder).returncode


def cast_inputs(path: Path, inputs: Path) -> None:
    """Recipes know numbers, the model their type."""
    if inputs.suffix != ".safetensors":
        return
    import onnx

    graph = onnx.load(str(path), load_external_data=False).graph
    types = {
        value.name: onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type) for value in graph.input
    }
    save_file({name: array.astype(types[name]) for name, array in load_file(str(inputs)).items()}, str(inputs))
