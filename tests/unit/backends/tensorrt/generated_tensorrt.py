"""A module with exactly the classes, attributes and arguments that a version of tensorrt has (`api/*.json`).

Using what a version lacks raises AttributeError or TypeError, as it would there. What the methods do is the least that
lets the backend go its way: `world` says how the network looks and what goes wrong. Device memory is the host's.
"""

from __future__ import annotations

import ctypes
import enum
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

VERSIONS = ("8.6.1", "10.0.1", "10.16.0", "11.1.0")
_SUBCLASSED = ("ILogger", "IErrorRecorder", "IOutputAllocator", "IProfiler")


@dataclass
class World:
    """One input and its outputs: name, type, declared shape. `compute` makes the outputs of an input."""

    inputs: dict[str, tuple[str, tuple[int, ...]]]
    outputs: dict[str, tuple[str, tuple[int, ...]]]
    compute: Callable[[dict[str, Any]], dict[str, Any]]
    layers: str = '{"Layers": [], "Bindings": []}'
    parser_error: dict[str, Any] = field(default_factory=dict)
    says: list[tuple[str, str]] = field(default_factory=list)
    fails: str = ""
    host_inputs: tuple[str, ...] = ()
    most: int = 8


def describe(version: str) -> dict[str, Any]:
    recording: dict[str, Any] = json.loads((Path(__file__).parent / "api" / f"{version}.json").read_text())
    return recording


def make(version: str, world: World) -> Any:
    description = describe(version)
    module: Any = ModuleType("tensorrt")
    module.__version__ = version
    module.calls = []
    for name, members in description["enums"].items():
        setattr(module, name, enum.IntEnum(name, {member: place for place, member in enumerate(members)}))
    for name, entry in description["classes"].items():
        setattr(module, name, _class(name, entry, description["classes"], module, world))
    module.ILogger.Severity = module.Severity
    return module


def _class(name: str, entry: dict[str, Any], classes: dict[str, Any], module: Any, world: World) -> type:
    if name in _SUBCLASSED:
        return type(name, (), {"__init__": lambda self: None})
    methods, properties = dict(entry["methods"]), dict(entry["properties"])
    for base in entry["bases"]:
        methods |= classes[base]["methods"]
        properties |= classes[base]["properties"]
    body: dict[str, Any] = {
        method: _method(name, method, arguments, module, world)
        for method, arguments in methods.items()
        if not method.startswith("__")
    }

    def setting(self: Any, attribute: str, value: Any) -> None:
        if not attribute.startswith("_") and properties.get(attribute) != "w":
            raise AttributeError(f"{name} of tensorrt {module.__version__} has no settable {attribute}")
        object.__setattr__(self, attribute, value)

    def getting(self: Any, attribute: str) -> Any:
        if attribute in properties:
            return PROPERTIES[(name, attribute)](world, self)
        raise AttributeError(f"{name} of tensorrt {module.__version__} has no {attribute}")

    def initial(self: Any, *arguments: Any) -> None:
        if len(arguments) > len(entry["init"] or ()):
            raise TypeError(f"{name} of tensorrt {module.__version__} takes {entry['init']}")
        object.__setattr__(self, "_given", arguments)
        _happen(world, name, arguments[-1] if arguments else None, module)

    return type(name, (), body | {"__setattr__": setting, "__getattr__": getting, "__init__": initial})


def _method(kind: str, method: str, declared: list[str], module: Any, world: World) -> Callable[..., Any]:
    known = [argument.rstrip("=") for argument in declared]

    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        wrong = set(named) - set(known)
        # A few lambdas of the bindings name no arguments: then nothing is known to hold against.
        if known and (len(arguments) + len(named) > len(known) or wrong):
            raise TypeError(f"{kind}.{method} of tensorrt {module.__version__} takes {known}, not {arguments} {named}")
        given = [*arguments, *named.values()]
        module.calls.append((f"{kind}.{method}", given))
        act = ACTIONS.get((kind, method))
        return act(module, world, self, *given) if act else None

    return call


def _happen(world: World, what: str, logger: Any, module: Any) -> bool:
    """Log what is to be said at this point. True where it is to fail."""
    if world.fails != what:
        return False
    for severity, text in world.says:
        LOGGERS[-1].log(module.Severity[severity], text)
    return True


LOGGERS: list[Any] = []


def _parse(module: Any, world: World, parser: Any, path: str) -> bool:
    assert Path(path).is_file()
    return not world.parser_error


def _error(module: Any, world: World, parser: Any, index: int) -> Any:
    error = module.ParserError()
    object.__setattr__(error, "_about", world.parser_error)
    return error


def _build(module: Any, world: World, builder: Any, network: Any, config: Any) -> bytes | None:
    if _happen(world, "build", None, module):
        return None
    return b"plan"


def _deserialize(module: Any, world: World, runtime: Any, plan: bytes) -> Any:
    return None if _happen(world, "deserialize", None, module) else module.ICudaEngine()


def _context(module: Any, world: World, engine: Any) -> Any:
    context = module.IExecutionContext()
    for name in ("_shapes", "_addresses", "_allocators"):
        object.__setattr__(context, name, {})
    return context


def _names(world: World) -> list[str]:
    return [*world.inputs, *world.outputs]


def _set_shape(module: Any, world: World, context: Any, name: str, shape: tuple[int, ...]) -> bool:
    declared = world.inputs[name][1]
    if any(size > world.most for size, known in zip(shape, declared, strict=True) if known < 0):
        return False
    context._shapes[name] = tuple(shape)
    return True


def _shape(module: Any, world: World, context: Any, name: str) -> tuple[int, ...]:
    if name in context._shapes:
        return context._shapes[name]
    declared = world.outputs[name][1]
    if -2 in declared:  # the data decide
        return tuple(-1 if size == -2 else size for size in declared)
    first = next(iter(context._shapes.values()))
    return tuple(first[0] if size == -1 else size for size in declared)


_NUMPY = {"FLOAT": np.float32, "HALF": np.float16, "INT32": np.int32, "INT64": np.int64, "BOOL": np.bool_}


def _execute(module: Any, world: World, context: Any, stream: int) -> bool:
    assert stream == 5
    if _happen(world, "execute", None, module):
        return False
    feeds = {
        name: _read(context._addresses[name], context._shapes[name], _NUMPY[kind])
        for name, (kind, _) in world.inputs.items()
    }
    for name, array in world.compute(feeds).items():
        array = np.ascontiguousarray(array, _NUMPY[world.outputs[name][0]])
        allocator = context._allocators.get(name)
        if allocator is not None:
            new_style = module.__version__ >= "10" and module.__version__[0] != "8"
            ask = allocator.reallocate_output_async if new_style else allocator.reallocate_output
            address = ask(name, 0, array.nbytes, 256, *([stream] if new_style else []))
            allocator.notify_shape(name, array.shape)
        else:
            address = context._addresses[name]
        ctypes.memmove(address, array.ctypes.data, array.nbytes)
    return True


def _read(address: int, shape: tuple[int, ...], dtype: Any) -> Any:
    array = np.empty(shape, dtype)
    ctypes.memmove(array.ctypes.data, address, array.nbytes)
    return array


def _location(module: Any, world: World, engine: Any, name: str) -> Any:
    return module.TensorLocation.HOST if name in world.host_inputs else module.TensorLocation.DEVICE


ACTIONS: dict[tuple[str, str], Callable[..., Any]] = {
    ("Builder", "create_network"): lambda m, w, s, *flags: m.INetworkDefinition(),
    ("Builder", "create_builder_config"): lambda m, w, s: m.IBuilderConfig(),
    ("Builder", "create_optimization_profile"): lambda m, w, s: m.IOptimizationProfile(),
    ("Builder", "build_serialized_network"): _build,
    ("OnnxParser", "parse_from_file"): _parse,
    ("OnnxParser", "get_error"): _error,
    ("ParserError", "code"): lambda m, w, s: m.ErrorCode[s._about["code"]],
    ("ParserError", "desc"): lambda m, w, s: s._about["desc"],
    ("ParserError", "node"): lambda m, w, s: s._about["node"],
    ("ParserError", "node_name"): lambda m, w, s: s._about["node_name"],
    ("ParserError", "node_operator"): lambda m, w, s: s._about["node_operator"],
    ("IBuilderConfig", "create_timing_cache"): lambda m, w, s, data: m.ITimingCache(),
    ("IBuilderConfig", "get_timing_cache"): lambda m, w, s: m.ITimingCache(),
    ("ITimingCache", "serialize"): lambda m, w, s: b"times",
    ("Runtime", "deserialize_cuda_engine"): _deserialize,
    ("ICudaEngine", "create_execution_context"): _context,
    ("ICudaEngine", "create_engine_inspector"): lambda m, w, s: m.EngineInspector(),
    ("ICudaEngine", "get_tensor_name"): lambda m, w, s, index: _names(w)[index],
    ("ICudaEngine", "get_tensor_dtype"): lambda m, w, s, name: m.DataType[{**w.inputs, **w.outputs}[name][0]],
    ("ICudaEngine", "get_tensor_location"): _location,
    ("EngineInspector", "get_engine_information"): lambda m, w, s, form: w.layers,
    ("IExecutionContext", "set_input_shape"): _set_shape,
    ("IExecutionContext", "get_tensor_shape"): _shape,
    ("IExecutionContext", "set_tensor_address"): lambda m, w, s, name, address: s._addresses.__setitem__(name, address),
    ("IExecutionContext", "set_output_allocator"): lambda m, w, s, name, allocator: s._allocators.__setitem__(
        name, allocator
    ),
    ("IExecutionContext", "execute_async_v3"): _execute,
}
PROPERTIES: dict[tuple[str, str], Callable[[World, Any], Any]] = {
    ("OnnxParser", "num_errors"): lambda w, s: 1 if w.parser_error else 0,
    ("ICudaEngine", "num_io_tensors"): lambda w, s: len(_names(w)),
    ("ICudaEngine", "device_memory_size"): lambda w, s: 1024,
    ("ICudaEngine", "device_memory_size_v2"): lambda w, s: 2048,
}
