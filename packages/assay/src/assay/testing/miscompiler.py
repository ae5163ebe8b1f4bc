"""A backend that rewrites graphs wrongly where one narrow pattern stands: what triage has to find."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from assay.backends.flow_options import resolve_options
from assay.backends.onnxruntime.backend import OnnxRuntime
from assay.backends.onnxruntime.engine import OnnxRuntimeEngine
from assay.core.flow import VARIABLE, Flow, Option
from assay.errors import Unsupported, UsageError
from assay.ports import Availability, OptionSpec
from assay.testing.faulty_rewrites import BIRTHS, CHOICES, KERNELS, REWRITES, WIDE, Rewriter

PREPARATION = "prepare"
"""A pass that only marks nodes, and without which no other finds its pattern: it cures all faults, and makes none."""

LIMIT = "MISCOMPILER_MAX_ISA"
"""A variable of the process: most instructions that may be used."""
NARROW = ("avx", "sse")


class Miscompiler:
    """ONNX Runtime without optimization, behind a compiler of one pass for each of `REWRITES`. With `untapped` no fault shows in a graph
    of more than one output."""

    name = "miscompiler"
    accepts = "onnx"
    dynamic = True
    options = (
        OptionSpec("fault", "none", help="what goes wrong: a name of `faulty_rewrites`, crash or refuse"),
        OptionSpec("site", "", help="the name of the last node of the pattern; empty: wherever it stands"),
        OptionSpec("untapped", False, help="the fault is gone when the graph has a second output"),
        OptionSpec("turns", "", help="a file: the fault strikes in every second engine, as that counts them"),
        OptionSpec("level", "full", ("none", "full"), "whether passes run"),
        OptionSpec("disabled", "", help="passes to leave out, with a semicolon between two"),
        OptionSpec(
            f"{VARIABLE}{LIMIT}", "", help="most instructions to use", tried=("avx2", *NARROW), of_processor=True
        ),
    )
    flows = (Flow(name="miscompiler", backend="miscompiler"),)
    levels: tuple[Mapping[str, Option], ...] = ({"level": "none"}, {"level": "full"})

    def availability(self) -> Availability:
        """That of ONNX Runtime."""
        return OnnxRuntime().availability()

    def prepare(self) -> None:
        """Import onnxruntime."""
        OnnxRuntime().prepare()

    def lower(self, model: Path, flow: Flow) -> OnnxRuntimeEngine:
        """What is left after its passes."""
        folder = Path(tempfile.mkdtemp(prefix="miscompiled-"))
        return OnnxRuntime().lower(_rewritten(model, folder, resolve_options(self.options, flow)), _plain())

    def load(self, folder: Path, flow: Flow) -> OnnxRuntimeEngine:  # noqa: ARG002  the port's
        """What `save` left."""
        return OnnxRuntime().load(folder, _plain())

    def passes_run(self, model: Path, flow: Flow) -> tuple[str, ...]:  # noqa: ARG002  the port's
        """All: it does not say which changed anything."""
        return (PREPARATION, *REWRITES)

    def after_passes(self, model: Path, flow: Flow, folder: Path) -> Path:
        """As it is given to ONNX Runtime."""
        return _rewritten(model, folder, {**resolve_options(self.options, flow), "turns": ""})

    def without_passes(self, flow: Flow, names: Sequence[str]) -> Flow:
        """By `disabled`."""
        before = [part for part in str(flow.options.get("disabled", "")).split(";") if part]
        return replace(flow, options={**flow.options, "disabled": ";".join(dict.fromkeys([*before, *names]))})


def _plain() -> Flow:
    return Flow(name="onnxruntime-disable", backend="onnxruntime", options={"optimization": "disable"})


def _rewritten(model: Path, folder: Path, options: Mapping[str, Option]) -> Path:
    import onnx

    proto = onnx.load(str(model))
    fault, left_out = str(options["fault"]), str(options["disabled"]).split(";")
    graph = Rewriter(proto, str(options["site"]))
    if (options["untapped"] and len(proto.graph.output) > 1) or _spared(str(options["turns"])):
        return model
    if fault in ("crash", "refuse"):
        _fail(fault, graph)
        return model
    if options["level"] == "full" and PREPARATION not in left_out:
        graph.prepare()
    if fault in REWRITES and options["level"] == "full" and fault not in left_out:
        REWRITES[fault][0](graph)
    elif fault in KERNELS:
        KERNELS[fault][0](graph)
    elif fault in BIRTHS:
        BIRTHS[fault](graph)
    elif fault in CHOICES and not (fault == WIDE and os.environ.get(LIMIT) in NARROW):
        CHOICES[fault](graph)
    elif fault not in ("none", *REWRITES, *CHOICES):
        raise UsageError(
            f"the miscompiler has no fault {fault!r}; use one of: none, {', '.join((*REWRITES, *KERNELS, *BIRTHS, *CHOICES))}"
        )
    path = folder / "rewritten.onnx"
    onnx.save(proto, str(path))
    return path


def _spared(turns: str) -> bool:
    """Whether it is the turn of a right engine."""
    if not turns:
        return False
    with Path(turns).open("ab") as file:
        file.write(b".")
        return file.tell() % 2 == 0


def _fail(fault: str, graph: Rewriter) -> None:
    """Where two Transposes follow one another."""
    if not any(graph.chains("Transpose", "Transpose")):
        return
    if fault == "crash":
        import ctypes

        ctypes.string_at(0)
    raise Unsupported("The compiler has no rule for two Transposes.", node="")
