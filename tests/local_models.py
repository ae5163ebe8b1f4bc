"""The small rotary model of the examples as other tools read it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

from safetensors.numpy import load_file

EXAMPLE = Path(__file__).parents[1] / "examples" / "language-model"


def writer() -> ModuleType:
    """examples/language-model/checkpoints.py"""
    spec = importlib.util.spec_from_file_location("example_checkpoints", EXAMPLE / "checkpoints.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rotary_folder(folder: Path, **changed: Any) -> Path:
    """A checkpoint folder, with other settings in its config.json."""
    made: Path = writer().write_folder(load_file(EXAMPLE / "rotary.safetensors"), folder)
    said = json.loads((made / "config.json").read_text("utf-8"))
    (made / "config.json").write_text(json.dumps(said | changed), "utf-8")
    return made


def rotary_gguf(path: Path, kind: str = "f32") -> Path:
    made: Path = writer().write_gguf(load_file(EXAMPLE / "rotary.safetensors"), path, kind)
    return made
