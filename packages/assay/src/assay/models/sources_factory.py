"""Factories: a Python callable that builds a torch module, exported here. It is the user's own code, run in a worker."""

from __future__ import annotations

import difflib
import importlib
import random
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.model import TensorSpec
from assay.errors import BadModel
from assay.models.program import Names, Program, describe

if TYPE_CHECKING:
    import torch

SEED = 0
"""Of the random generators of Python, numpy and torch when a factory is called: weights that it draws are the same in
every worker, if those generators are all it draws from."""


def build_program(source: str) -> Program:
    """`package.module:factory` called and exported.

    The factory gives `(module, example_inputs)`, `(module, example_inputs, dynamic_shapes)`, a torch.nn.Module with the
    attribute `example_inputs` (and `dynamic_shapes`, if it likes), or a torch.export.ExportedProgram. Example inputs are
    a tensor, a tuple of them, or a dict by the names of forward's arguments. The module is exported in evaluation mode.
    Raises `BadModel` with one sentence.
    """
    import torch

    found = _find(source)
    try:
        with torch.random.fork_rng(devices=[]), _seeded():
            torch.manual_seed(SEED)
            made = found() if not isinstance(found, torch.nn.Module) else found
    except Exception as error:
        raise BadModel(
            f"{source} raised {type(error).__name__}: {_line(error)}; call it yourself to see where"
        ) from error
    if isinstance(made, torch.export.ExportedProgram):
        return describe(made)
    module, examples, dynamic = _parts(source, made)
    args, kwargs = _arguments(source, examples)
    try:
        with torch.no_grad():
            exported = torch.export.export(module.eval(), args, kwargs, dynamic_shapes=dynamic)
    except Exception as error:
        raise BadModel(
            f"{source} cannot be exported by torch.export ({type(error).__name__}: {_line(error)}); "
            "see the exporter's advice in torch.export.draft_export"
        ) from error
    plain = describe(exported)
    named = _with_dimensions(plain.inputs, dynamic)
    return describe(exported, Names(named, tuple(spec.name for spec in plain.outputs)))


def _find(source: str) -> Any:
    name, _, attribute = source.partition(":")
    try:
        found: Any = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise BadModel(
                f"{source}: there is no module {error.name!r} in the current folder or among the installed packages; "
                "correct the name, or install the package"
            ) from None
        raise BadModel(f"{source}: importing {name} needs the module {error.name!r}, which is not installed") from error
    except Exception as error:
        raise BadModel(f"{source}: importing {name} raised {type(error).__name__}: {_line(error)}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            near = difflib.get_close_matches(part, [one for one in dir(found) if not one.startswith("_")], n=1)
            hint = f"; perhaps you mean {near[0]!r}" if near else "; correct the name after the colon"
            raise BadModel(f"{source}: {name} has no {part!r}{hint}")
        found = getattr(found, part)
    if not callable(found):
        raise BadModel(
            f"{source} is a {type(found).__name__} and cannot be called; name a function that builds the model"
        )
    return found


def _parts(source: str, made: Any) -> tuple[torch.nn.Module, Any, Any]:
    import torch

    if isinstance(made, torch.nn.Module):
        examples = getattr(made, "example_inputs", None)
        if examples is None:
            raise BadModel(
                f"{source} gives a {type(made).__name__} without example inputs; return (module, example_inputs), or "
                "give the module the attribute example_inputs"
            )
        examples = examples() if callable(examples) and not isinstance(examples, torch.Tensor) else examples
        return made, examples, getattr(made, "dynamic_shapes", None)
    if isinstance(made, tuple) and len(made) in (2, 3) and isinstance(made[0], torch.nn.Module):
        return made[0], made[1], made[2] if len(made) == 3 else None
    raise BadModel(
        f"{source} gives a {type(made).__name__}; it must give (module, example_inputs), with dynamic_shapes as a third "
        "if it likes, or a torch.nn.Module with the attribute example_inputs"
    )


def _arguments(source: str, examples: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    import torch

    if isinstance(examples, torch.Tensor):
        return (examples,), {}
    if isinstance(examples, Mapping):
        return (), dict(examples)
    if isinstance(examples, Sequence) and not isinstance(examples, str):
        return tuple(examples), {}
    raise BadModel(
        f"{source}: example inputs are a {type(examples).__name__}; give a tensor, a tuple of tensors, or a dict by the "
        "names of forward's arguments"
    )


def _with_dimensions(specs: Sequence[TensorSpec], dynamic: Any) -> tuple[TensorSpec, ...]:
    """Symbols by the names that the user gave to his dimensions; torch.export forgets them."""
    given = list(dynamic.values()) if isinstance(dynamic, Mapping) else list(dynamic or ())
    if len(given) != len(specs):
        return tuple(specs)
    named = []
    for spec, dimensions in zip(specs, given, strict=True):
        by_axis = dimensions if isinstance(dimensions, Mapping) else dict(enumerate(dimensions or ()))
        shape = tuple(
            getattr(by_axis.get(axis), "__name__", None) or size if isinstance(size, str) else size
            for axis, size in enumerate(spec.shape)
        )
        named.append(TensorSpec(spec.name, spec.dtype, shape))
    return tuple(named)


class _seeded:
    """Python's and numpy's global generators, put back afterwards."""

    def __enter__(self) -> None:
        self._python, self._numpy = random.getstate(), np.random.get_state()
        random.seed(SEED)
        np.random.seed(SEED)

    def __exit__(self, *_: object) -> None:
        random.setstate(self._python)
        np.random.set_state(self._numpy)


def _line(error: Exception) -> str:
    """The first sentence of an exception, without the advice that exporters append."""
    text = re.split(r"\s*(?:\(unhinted|Caused by:|For more information|The following call raised)", str(error))[0]
    text = " ".join(text.split()) or type(error).__name__
    return text if len(text) <= 300 else text[:299] + "…"
