"""The delegates of ExecuTorch: how each one's partitioner is made, and whether what runs it is here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from assay.backends.executorch.patches import faster_xnnpack_partitioner
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unavailable, UsageError


@dataclass(frozen=True)
class Delegate:
    """`id` is its name in a program and in the runtime. `partitioners` raises ImportError where its lowering library is
    missing. `in_wheel`: the wheel's runtime has it; else only that for the systems `wheels`. What to install, and where it runs, in words:
    `assay.judge.refusals.delegate_text`. `inner` tells the type that it rounds every float to, "" where it does not. `fixed`: it takes
    no dynamic sizes."""

    id: str
    partitioners: Callable[[], list[Any]]
    in_wheel: bool = True
    wheels: tuple[str, ...] = ()
    inner: Callable[[], str] = str
    fixed: bool = False


def _portable() -> list[Any]:
    return []


def _xnnpack() -> list[Any]:
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    faster_xnnpack_partitioner()
    return [XnnpackPartitioner()]


def _xnnpack_dynamic() -> list[Any]:
    """Operators quantized while running are taken one by one, and before the others (as executorch's own recipe does)."""
    from executorch.backends.xnnpack.partition.config.xnnpack_config import ConfigPrecisionType
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    faster_xnnpack_partitioner()
    dynamic = XnnpackPartitioner(config_precisions=ConfigPrecisionType.DYNAMIC_QUANT, per_op_mode=True)
    return [dynamic, XnnpackPartitioner()]


def _openvino() -> list[Any]:
    from executorch.backends.openvino.partitioner import OpenvinoPartitioner
    from executorch.exir.backend.compile_spec_schema import CompileSpec

    return [OpenvinoPartitioner([CompileSpec("device", b"CPU")])]


def _openvino_inner() -> str:
    """What its CPU plug-in takes by default: the delegate (1.4) passes no precision on."""
    import openvino

    hint = openvino.Core().get_property("CPU", "INFERENCE_PRECISION_HINT").get_type_name()
    return {"bf16": "bfloat16", "f16": "float16"}.get(hint, "")


def _half() -> str:
    return "float16"


def _vulkan() -> list[Any]:
    from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner

    return [VulkanPartitioner()]


def _coreml() -> list[Any]:
    """For iOS 17 and macOS 14: older ones have no int8 activations."""
    import coremltools
    from executorch.backends.apple.coreml.compiler import CoreMLBackend
    from executorch.backends.apple.coreml.partition import CoreMLPartitioner

    specs = CoreMLBackend.generate_compile_specs(minimum_deployment_target=coremltools.target.iOS17)
    return [CoreMLPartitioner(compile_specs=specs)]


def _qnn() -> list[Any]:
    from executorch.backends.qualcomm.partition.qnn_partitioner import QnnPartitioner
    from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
    from executorch.backends.qualcomm.utils.utils import (
        generate_htp_compiler_spec,
        generate_qnn_executorch_compiler_spec,
    )

    return [
        QnnPartitioner(
            generate_qnn_executorch_compiler_spec(
                soc_model=QcomChipset.SM8650, backend_options=generate_htp_compiler_spec(use_fp16=True)
            )
        )
    ]


def _tosa() -> list[Any]:
    from executorch.backends.arm.tosa import TosaSpecification
    from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
    from executorch.backends.arm.tosa.partitioner import TOSAPartitioner

    return [TOSAPartitioner(TosaCompileSpec(TosaSpecification.create_from_string("TOSA-1.0+FP")))]


DELEGATES = {
    "portable": Delegate("portable", _portable),
    "xnnpack": Delegate("XnnpackBackend", _xnnpack),
    "xnnpack-dynamic": Delegate("XnnpackBackend", _xnnpack_dynamic),
    "openvino": Delegate("OpenvinoBackend", _openvino, inner=_openvino_inner, fixed=True),
    "vulkan": Delegate("VulkanBackend", _vulkan, in_wheel=False, fixed=True),
    "coreml": Delegate("CoreMLBackend", _coreml, in_wheel=False, wheels=("darwin",), inner=_half),
    "qnn": Delegate("QnnBackend", _qnn, in_wheel=False, inner=_half),
    "arm-tosa": Delegate("TOSABackend", _tosa, in_wheel=False, fixed=True),
}


def partitioners(delegate: str, undelegated: Collection[str] = ()) -> list[Any]:
    """They take none of the operators `undelegated`. Raises Unavailable with what to install, UsageError for an operator that none of them
    takes by its name; where there are no partitioners, nothing is taken in any case."""
    chosen = DELEGATES[delegate]
    try:
        made = chosen.partitioners()
    except (ImportError, OSError) as error:
        text = " ".join(str(error).split()).rstrip(".")
        note = noted(BackendCode.DELEGATE_NEEDS, delegate=chosen.id, error=text)
        raise Unavailable(note) from error
    named = _by_operator(made)
    for name in undelegated:
        if made and not any(name in configs for configs in named):
            known = tuple(sorted({operator for configs in named for operator in configs}))
            raise UsageError(noted(BackendCode.UNDELEGATED_NAME, delegate=delegate, operator=name, operators=known))
        for configs in named:
            configs.pop(name, None)
    return made


def taken_operators(delegate: str) -> list[str]:
    """By which its partitioners decide; none where they do not tell."""
    return list(dict.fromkeys(name for configs in _by_operator(partitioners(delegate)) for name in configs))


def _by_operator(made: Sequence[Any]) -> list[dict[str, Any]]:
    """What partitioners of that kind look each operator up in (executorch 1.4)."""
    from executorch.exir.backend.canonical_partitioners.config_partitioner import ConfigerationBasedPartitioner

    return [
        partitioner.target_partitioner_configs
        for partitioner in made
        if isinstance(partitioner, ConfigerationBasedPartitioner)
    ]
