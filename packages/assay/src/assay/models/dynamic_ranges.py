"""Programs whose activations are quantized by ranges found while running, with these computed as XNNPACK does.

torchao writes one range of a whole tensor (`choose_qparams`), which torch.onnx.export 2.13 cannot translate; XNNPACK takes one of
each row that enters a product and one of each picture that enters a convolution (its `qd8` types, `num_nonbatch_dims` of
ExecuTorch 1.4; which convolutions are products was found by trying). What follows is the latter in plain operators, so that
an engine is compared with what it is meant to compute. A layer whose bias is computed is none of XNNPACK's ("Expected bias to be
a static param"): it keeps one range.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.core.note import noted
from assay.core.refusals.model_codes import ModelCode
from assay.errors import Lowering
from assay.models.program import Program, open_program, save_program
from assay.models.reexport import reexport, symbols

_MOST = 4096
_USUAL = 16
_CHOOSES = "choose_qparams"


def ranged(module: Any) -> set[str]:
    """Names of the values of a program's module that get such a range."""
    return {node.args[0].name for node in module.graph.nodes if _CHOOSES in str(node.target)}


def with_ranges(model: Path, folder: Path) -> Path:
    """The program with its ranges spelled out; the same file where it has none. Raises Lowering where torch cannot export it again."""
    program = open_program(model)
    module: Any = program.exported.module()
    if not ranged(module):
        return model
    for node in list(module.graph.nodes):
        chosen = finder(node.args[1]) if "dequantize_per_tensor" in str(node.target) else None
        if chosen is not None:
            made: dict[tuple[int, ...], Any] = {}
            for user in list(node.users):
                axes = _axes(user, node.meta["val"].ndim)
                if axes not in made:
                    made[axes] = _spelled(module.graph, node, chosen, axes)
                user.replace_input_with(node, made[axes])
    module.graph.eliminate_dead_code()
    module.recompile()
    where = symbols(program.inputs)
    usual = {symbol: 2 if axis == 0 else _USUAL for symbol, axis in where.items()}
    try:
        plain: Program = reexport(program, dict.fromkeys(where, (1, _MOST)), usual=usual, module=module)
    except Exception as error:  # torch.export raises whatever its passes raise
        raise Lowering(noted(ModelCode.RANGES_NOT_SPELLED, error=" ".join(str(error).split())[:300])) from error
    names = [output.name for output in program.outputs]
    return save_program(plain.exported, folder / "ranges.pt2", program.inputs, names)


def finder(scale: Any) -> Any:
    """The node that found this scale, None for a scale that is none of these."""
    node = scale.args[0] if getattr(scale, "op", "") == "call_function" and scale.args else None
    return node if _CHOOSES in str(getattr(node, "target", "")) else None


def _axes(user: Any, rank: int) -> tuple[int, ...]:
    """Those that one range spans for this operator: the channels of each place before a convolution that is a product of them,
    all but the batch's before another, all where XNNPACK does not take it, else the last. Each has ranges of its own, where several
    read the same values."""
    if _has_computed_bias(user):
        return tuple(range(rank))
    if "conv" not in str(user.target):
        return (-1,)
    return (1,) if _is_product(user) else tuple(range(1, rank))


def _has_computed_bias(layer: Any) -> bool:
    """As attention has it where queries and keys have one weight, which is split."""
    return len(layer.args) > 2 and getattr(layer.args[2], "op", "") == "call_function"


def _is_product(convolution: Any) -> bool:
    """Whether XNNPACK runs it as a fully connected layer over the places: one tap, no stride, no padding, no groups, and
    not transposed."""
    arguments = dict(enumerate(convolution.args))
    stride, padding, groups = arguments.get(3, 1), arguments.get(4, 0), arguments.get(6, 1)
    taps = set(arguments[1].meta["val"].shape[2:])
    return (
        "transpose" not in str(convolution.target)
        and taps == {1}
        and groups == 1
        and _all(stride, 1)
        and (padding in ("valid", "same") or _all(padding, 0))
    )


def _all(numbers: Any, value: int) -> bool:
    return set(numbers if isinstance(numbers, list | tuple) else [numbers]) == {value}


def _spelled(graph: Any, node: Any, chosen: Any, axes: tuple[int, ...]) -> Any:
    """Quantized and back: scale and zero point of XNNPACK's asymmetric bytes (xnn_qd8_asymmetric_quantization_params)."""
    import torch

    aten = torch.ops.aten
    x, least, most = chosen.args[0], float(chosen.args[1]), float(chosen.args[2])
    with graph.inserting_before(node):

        def add(operator: Any, *args: Any) -> Any:
            return graph.call_function(operator, args)

        low = add(aten.clamp.default, add(aten.amin.default, x, list(axes), True), None, 0.0)
        high = add(aten.clamp.default, add(aten.amax.default, x, list(axes), True), 0.0)
        span = add(aten.div.Tensor, add(aten.sub.Tensor, high, low), most - least)
        scale = add(aten.where.self, add(aten.gt.Scalar, span, 0.0), span, add(aten.ones_like.default, span))
        zero = add(aten.round.default, add(aten.rsub.Scalar, add(aten.div.Tensor, low, scale), least))
        zero = add(aten.clamp.default, zero, least, most)
        steps = add(aten.add.Tensor, add(aten.round.default, add(aten.div.Tensor, x, scale)), zero)
        whole = add(aten.sub.Tensor, add(aten.clamp.default, steps, least, most), zero)
        return add(aten.mul.Tensor, whole, scale)
