"""The lines of Python that call OpenVINO, IREE and TVM without Assay (see `ports.ShowsPlainUse`)."""

from __future__ import annotations

from collections.abc import Mapping

from assay.backends.openvino.defaults import GROUP_SIZE, NONE

_OPENVINO = """def run(model, inputs):
    try:
        from openvino import Core
    except ImportError:  # before 2023.1
        from openvino.runtime import Core
    core = Core()
    config = {config}
{older}    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", config)
{again}    given = compiled([inputs[value.name] for value in model.graph.input])
    return {{value.name: given[port] for value, port in zip(model.graph.output, compiled.outputs)}}
"""

_AGAIN = """    kept = compiled.export_model()  # bytes in 2023.1, and a buffer later
    compiled = core.import_model(kept if isinstance(kept, bytes) else kept.getvalue(), "CPU", config)
"""

_OLDER = """    if "{name}" not in core.get_property("CPU", "SUPPORTED_PROPERTIES"):
        del config["{name}"]  # this release does no such thing
"""

_IREE = """def run(model, inputs):
    import iree.runtime
    import onnx
    from iree.compiler.extras import onnx_importer
    from iree.compiler.ir import Context
    from iree.compiler.tools import compile_str
    info = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(model, data_prop=True))
    module = info.create_module(context=Context()).operation
    onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
    code = module.get_asm(binary=True, enable_debug_info=True)
    made = compile_str(code, input_type="onnx", target_backends=[{target!r}], extra_args={flags!r})
    context = iree.runtime.SystemContext(config=iree.runtime.Config({driver!r}))
    context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, made))
    function = list(context.modules.values())[-1][model.graph.name]
    given = function(*[inputs[value.name] for value in model.graph.input])
    given = given if isinstance(given, (list, tuple)) else [given]
{read}"""
_IREE_MAPPED = """    return {value.name: array.to_host() for value, array in zip(model.graph.output, given)}
"""
_IREE_COPIED = """    from iree.runtime import BufferUsage, HalFence, MemoryType

    def to_host(array):
        # DeviceArray.to_host() imports memory that Vulkan refuses where it is not aligned to a page
        device, view = array._device, array._buffer_view
        source = view.get_buffer()
        staging = device.allocator.allocate_buffer(
            memory_type=int(MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE),
            allowed_usage=int(BufferUsage.TRANSFER_TARGET | BufferUsage.MAPPING_SCOPED),
            allocation_size=source.byte_length(),
        )
        semaphore = device.create_semaphore(0)
        copied = HalFence.create_at(semaphore, 1)
        device.queue_copy(source, staging, wait_semaphores=HalFence.create_at(semaphore, 0), signal_semaphores=copied)
        copied.wait()
        return np.array(staging.map().asarray(view.shape, array._get_raw_dtype())).astype(array.dtype)

    return {value.name: to_host(array) for value, array in zip(model.graph.output, given)}
"""


_TVM = """def run(model, inputs):
    import tvm
    from tvm import relax
    from tvm.relax.frontend.onnx import from_onnx
    from tvm.target import codegen
    target = tvm.target.Target({{"kind": "llvm", "mcpu": {cpu}, "opt-level": {level}}})
    passes = [relax.transform.DecomposeOpsForInference(), relax.transform.CanonicalizeBindings(){pipeline}]
    with target, tvm.transform.PassContext(opt_level={level}, disabled_pass={disabled!r}):
        module = tvm.transform.Sequential(passes)(from_onnx(model, keep_params_in_input=False))
        made = tvm.compile(module, target=target)
    main = relax.VirtualMachine(made, tvm.cpu())["main"]
    given = main(*[tvm.runtime.tensor(inputs[value.name], tvm.cpu()) for value in model.graph.input])
    given = [given] if len(model.graph.output) == 1 else list(given)
    return {{value.name: array.numpy() for value, array in zip(model.graph.output, given)}}
"""


def tvm_code(cpu: str, disabled: list[str], *, optimize: bool) -> str:
    """For LLVM, on a processor by its name or on this one ("host")."""
    named = "str(codegen.llvm_get_system_cpu())" if cpu == "host" else repr(cpu)
    pipeline = ', relax.get_pipeline("zero")' if optimize else ""
    return _TVM.format(cpu=named, level=3 if optimize else 0, pipeline=pipeline, disabled=disabled)


def openvino_code(config: Mapping[str, str | int], *, saved: bool = False) -> str:
    """With these properties, as texts: before 2025 a number of Python is refused for some. `saved`: by way of the file that is deployed."""
    texts = {name: str(value) for name, value in config.items()}
    again = _AGAIN if saved else ""
    older = _OLDER.format(name=GROUP_SIZE) if texts.get(GROUP_SIZE) == str(NONE) else ""
    return _OPENVINO.format(config=texts, again=again, older=older)


def iree_code(target: str, driver: str, flags: tuple[str, ...]) -> str:
    """For one code generator and the driver that runs what it makes."""
    read = _IREE_COPIED if driver == "vulkan" else _IREE_MAPPED
    return _IREE.format(target=target, driver=driver, flags=list(flags), read=read)
