"""Exported programs where a part of what compiles them is missing."""

from __future__ import annotations

import importlib.metadata
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from assay.backends.exported_decoder import ExportedDecoder
from assay.backends.local_prompts import DecodingEngine
from assay.core.flow import Flow, Option
from assay.errors import Unavailable
from local_models import EXAMPLE, rotary_folder

MODEL = EXAMPLE / "models" / "rotary.onnx"


def test_a_compiler_that_is_missing_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch._inductor import config as inductor

    options: dict[str, Option] = {"checkpoint": str(rotary_folder(tmp_path / "rotary"))}

    def lowered(compiler: str) -> DecodingEngine:
        return ExportedDecoder().lower(
            MODEL, Flow("exported", "exported-decoder", options={**options, "compiler": compiler})
        )

    def version(name: str) -> str:
        if name == "executorch":
            raise PackageNotFoundError(name)
        return known(name)

    known = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setitem(sys.modules, "executorch", None)
    with pytest.raises(Unavailable, match=r"is missing \(executorch\)\. Run pip install 'assay\[executorch\]'"):
        lowered("executorch")
    with (
        inductor.patch({"cpp.cxx": (None, "/nonexistent")}),
        pytest.raises(Unavailable, match=r"Inductor needs a C\+\+ compiler and found none; run apt-get install"),
    ):
        lowered("inductor")
