"""The lines of Python that call torch and ExecuTorch without Assay (see `ports.ShowsPlainUse`). `model` is a `torch.nn.Module` with the
names of what it takes and gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_TORCH = """def run(model, inputs):
    import torch
    import torch._inductor.config
    torch.set_num_threads({threads})
    given = tuple(torch.from_numpy(inputs[name].copy()) for name in model.inputs)
    with torch.no_grad(), torch._inductor.config.patch({config!r}):
        torch.compiler.reset()
{call}
    return {{name: value.numpy() for name, value in zip(model.outputs, call(*given))}}
"""
_CALLS = {
    "eager": "        call = model",
    "inductor": "        call = torch.compile(model, fullgraph=True, dynamic=False)\n        call(*given)",
    "aot-inductor": (
        "        package = torch._inductor.aoti_compile_and_package(torch.export.export(model, given))\n"
        "        call = torch._inductor.aoti_load_package(package)"
    ),
}

_EXECUTORCH = """def run(model, inputs):
    import torch
    from executorch.exir import to_edge_transform_and_lower
    from executorch.runtime import Runtime
    given = tuple(torch.from_numpy(inputs[name].copy()) for name in model.inputs)
{partitioners}
    edge = to_edge_transform_and_lower(torch.export.export(model, given), partitioner=partitioners)
    buffer = edge.to_executorch().buffer
    method = Runtime.get().load_program(buffer).load_method("forward")
    return {{name: value.clone().numpy() for name, value in zip(model.outputs, method.execute(given))}}
"""
_XNNPACK = """    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    partitioners = [XnnpackPartitioner()]"""
_LEFT_OUT = """
    for name in {names!r}:  # left to the portable kernels
        partitioners[0].target_partitioner_configs.pop(name)"""


def torch_code(compiler: str, threads: int, config: Mapping[str, object]) -> str:
    """Eager, compiled at the first call, or ahead of time."""
    return _TORCH.format(threads=threads, config=dict(config), call=_CALLS[compiler])


def executorch_code(delegate: str, undelegated: Sequence[str]) -> str:
    """With portable kernels, or with XNNPACK for all that it takes but those operators; "" for another delegate."""
    if delegate == "portable":
        return _EXECUTORCH.format(partitioners="    partitioners = []")
    if delegate != "xnnpack":
        return ""
    left_out = _LEFT_OUT.format(names=list(undelegated)) if undelegated else ""
    return _EXECUTORCH.format(partitioners=_XNNPACK + left_out)
