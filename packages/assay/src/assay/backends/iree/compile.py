"""From an ONNX model to an IREE module, and what its dispatches are called."""

from __future__ import annotations

import contextlib
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assay.backends.iree.errors import compiler_failure, import_failure
from assay.backends.onnx_loader import every_node, inlined, refuse_foreign
from assay.backends.placements import count
from assay.core.dtype import UNIT_ROUNDOFF
from assay.core.engine_info import Placement

if TYPE_CHECKING:
    from onnx import ModelProto

_EXPORT = re.compile(r"hal\.executable\.export[^\n]*?@\"?([^\s\"(]*_dispatch_\d+[^\s\"(]*)")
_NAME = re.compile(r"_dispatch_\d+_(?P<kind>.*)$")
# A dispatch called conv or elementwise may hold what was fused into it: the name does not tell.
_ROLES = dict.fromkeys(("slow_memcpy", "pack", "unpack", "transpose", "encode"), "reformat")
_TYPES = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16", "i1": "bool"} | {
    f"i{bits}": f"int{bits}" for bits in (4, 8, 16, 32, 64)
}


DEMOTION = "--iree-input-demote-f64-to-f32"
SWITCHES = (
    "--iree-opt-const-eval=false",
    "--iree-opt-const-expr-hoisting=false",
    "--iree-opt-data-tiling=false",
    "--iree-flow-enable-pad-handling=false",
    "--iree-dispatch-creation-fuse-multi-use=false",
    "--iree-dispatch-creation-opt-level=O0",
    "--iree-global-opt-propagate-transposes=false",
    "--iree-global-opt-enable-qdq-to-integer-math=false",
    "--iree-global-optimization-opt-level=O0",
    "--iree-llvmcpu-reassociate-fp-reductions=false",
    "--iree-llvmcpu-skip-intermediate-roundings=false",
    "--iree-llvmcpu-use-fast-min-max-ops=false",
    "--iree-llvmcpu-enable-ukernels=none",
    "--iree-llvmcpu-slp-vectorization=false",
    "--iree-llvmcpu-loop-vectorization=false",
    "--iree-llvmcpu-mlir-opt-level=O0",
    "--iree-opt-strip-assertions=false",
    "--iree-opt-level=O0",
)
"""What triage turns off one at a time: rewrites and phases of iree-compile 3.13, the narrow ones first. An unknown one is refused."""


class Target(msgspec.Struct, frozen=True):
    """A code generator of iree-compile, its flags, and the runtime driver that runs what it makes."""

    backend: str
    driver: str
    flags: tuple[str, ...] = ()


def compiled(
    proto: ModelProto, target: Target, opset: int, *, demoted: bool = True
) -> tuple[bytes, tuple[Placement, ...]]:
    """The module and its dispatches; `demoted`: doubles inside of it in float32.

    Raises what `iree_failures` makes of the words of importer and compiler.
    """
    from iree.compiler.tools import CompilerToolError, compile_str

    module = imported(proto)
    with tempfile.TemporaryDirectory(prefix="assay-iree-") as folder:
        flags = [
            *flags_of(proto, target, demoted=demoted),
            f"--iree-hal-dump-executable-sources-to={folder}",
        ]
        try:
            made = compile_str(module, input_type="onnx", target_backends=[target.backend], extra_args=flags)
        except CompilerToolError as error:
            raise compiler_failure(str(error), opset) from error
        sources = [path.read_text(errors="replace") for path in sorted(Path(folder).iterdir())]
    return made, dispatches(sources, target.backend)


def flags_of(proto: ModelProto, target: Target, *, demoted: bool = True) -> tuple[str, ...]:
    """With what is to become of doubles."""
    return (*target.flags, *([] if demoted and not _gives_doubles(proto) else [f"{DEMOTION}=false"]))


def between_phases(module: bytes, target: Target, begin: str, end: str) -> bytes | None:
    """From what one phase left ("": the importer) to the end of another ("": the last, a module that runs); None where that is refused."""
    from iree.compiler.tools import CompilerToolError, compile_str

    resumed = [*([f"--compile-from={begin}"] if begin else []), *([f"--compile-to={end}"] if end else [])]
    try:
        made: bytes = compile_str(
            module, input_type="none" if begin else "onnx", target_backends=[target.backend],
            extra_args=[*target.flags, *resumed],
        )  # fmt: skip
    except CompilerToolError:
        return None
    return made


def _gives_doubles(proto: ModelProto) -> bool:
    """Left alone, the compiler (3.13) makes float32 of double, inputs and outputs too: then no module takes or gives one."""
    from onnx import TensorProto

    ends = (*proto.graph.input, *proto.graph.output)
    return any(end.type.tensor_type.elem_type == TensorProto.DOUBLE for end in ends)


def narrows_doubles(proto: ModelProto) -> bool:
    """Whether the model, left alone, has doubles inside, and only there: cast to it, or stored in it."""
    from onnx import TensorProto

    stored = any(tensor.data_type == TensorProto.DOUBLE for tensor in proto.graph.initializer)
    attributes = [attribute for node in every_node(proto.graph) for attribute in node.attribute]
    made = any(
        (attribute.name == "to" and attribute.i == TensorProto.DOUBLE) or attribute.t.data_type == TensorProto.DOUBLE
        for attribute in attributes
    )
    return (stored or made) and not _gives_doubles(proto)


def imported(proto: ModelProto) -> bytes:
    """MLIR bytecode with the nodes' names as locations: errors are told by them."""
    import onnx
    from iree.compiler.extras import onnx_importer
    from iree.compiler.ir import Context, MLIRError

    proto = inlined(proto)
    refuse_foreign(proto, "IREE")
    for node in every_node(proto.graph):
        node.name = node.name or next(filter(None, node.output), "")
    # Larger than a protobuf may be, or shapes that cannot be inferred: then the importer goes without.
    with contextlib.suppress(RuntimeError, ValueError):
        proto = onnx.shape_inference.infer_shapes(proto, data_prop=True)
    try:
        info = onnx_importer.ModelInfo(proto)
        module = info.create_module(context=Context()).operation
        onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
        module.verify()
    except (onnx_importer.OnnxImportError, MLIRError, KeyError, ValueError, TypeError, NotImplementedError) as error:
        raise import_failure(error) from error
    made: bytes = module.get_asm(binary=True, enable_debug_info=True)
    return made


def dispatches(sources: list[str], backend: str) -> tuple[Placement, ...]:
    """From the sources of the executables: `main$async_dispatch_0_conv_2x8x8_f32` is one conv in float32."""
    rows = count(_row(name, backend) for source in sources for name in _EXPORT.findall(source))
    return tuple(msgspec.structs.replace(row, role=_ROLES.get(row.operator, "")) for row in rows)


def _row(name: str, backend: str) -> tuple[str, str, str]:
    match = _NAME.search(name)
    parts = match.group("kind").partition("_dispatch_")[0].split("_") if match else []
    shapes = [part.split("x") for part in parts if _is_shape(part)]
    types = [_TYPES[size] for shape in shapes for size in shape if size in _TYPES]
    floating = [dtype for dtype in types if dtype in UNIT_ROUNDOFF]
    # Of f16xf16xf32 the operands are what was rounded.
    precision = max(floating, key=UNIT_ROUNDOFF.__getitem__) if floating else next(iter(types), "")
    return "_".join(part for part in parts if not _is_shape(part)) or "dispatch", backend, precision


def _is_shape(part: str) -> bool:
    return all(size in _TYPES or size == "D" or size.isdecimal() for size in part.split("x"))
