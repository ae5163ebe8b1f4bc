"""Factories: a Python callable that builds a torch module, exported here. It is the user's own code, run in a worker."""

from __future__ import annotations

import difflib
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.model import TensorSpec
from assay.core.note import noted
from assay.core.refusals.model_codes import ModelCode
from assay.errors import BadModel
from assay.models.import_user_module import import_user_module, importable
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
    with importable(Path.cwd()):
        return _built(source)


def _built(source: str) -> Program:
    import torch

    factory = _find(source)
    try:
        with torch.random.fork_rng(devices=[]), _seeded():
            torch.manual_seed(SEED)
            made = factory() if not isinstance(factory, torch.nn.Module) else factory
    except Exception as error:
        raise BadModel(
            noted(ModelCode.FUNCTION_RAISED, source=source, exception=type(error).__name__, error=_line(error))
        ) from error
    if isinstance(made, torch.export.ExportedProgram):
        return describe(made)
    module, examples, dynamic = _parts(source, made)
    args, kwargs = _arguments(source, examples)
    try:
        with torch.no_grad():
            exported = torch.export.export(module.eval(), args, kwargs, dynamic_shapes=dynamic)
    except Exception as error:
        if suggestion := _suggestion(error):
            raise BadModel(noted(ModelCode.FACTORY_SIZES, source=source, suggestion=suggestion)) from error
        raise BadModel(
            noted(ModelCode.FACTORY_NOT_EXPORTED, source=source, exception=type(error).__name__, error=_line(error))
        ) from error
    plain = describe(exported)
    named = _with_dimensions(plain.inputs, dynamic)
    return describe(exported, Names(named, tuple(spec.name for spec in plain.outputs)))


def _find(source: str) -> Any:
    name, _, attribute = source.partition(":")
    try:
        target: Any = import_user_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise BadModel(noted(ModelCode.FACTORY_NO_MODULE, source=source, module=error.name)) from None
        raise BadModel(
            noted(ModelCode.FACTORY_NEEDS_MODULE, source=source, importing=name, module=error.name or "")
        ) from error
    except Exception as error:
        raise BadModel(
            noted(
                ModelCode.FACTORY_IMPORT_RAISED,
                source=source,
                importing=name,
                exception=type(error).__name__,
                error=_line(error),
            )
        ) from error
    for part in attribute.split("."):
        if not hasattr(target, part):
            near = difflib.get_close_matches(
                part, [member for member in dir(target) if not member.startswith("_")], n=1
            )
            if near:
                raise BadModel(noted(ModelCode.FUNCTION_MISSPELT, source=source, module=name, name=part, near=near[0]))
            raise BadModel(noted(ModelCode.FUNCTION_NO_NAME, source=source, module=name, name=part))
        target = getattr(target, part)
    if not callable(target):
        raise BadModel(noted(ModelCode.FACTORY_NOT_CALLED, source=source, type=type(target).__name__))
    return target


def _parts(source: str, made: Any) -> tuple[torch.nn.Module, Any, Any]:
    import torch

    if isinstance(made, torch.nn.Module):
        examples = getattr(made, "example_inputs", None)
        if examples is None:
            raise BadModel(noted(ModelCode.FACTORY_NO_EXAMPLES, source=source, type=type(made).__name__))
        examples = examples() if callable(examples) and not isinstance(examples, torch.Tensor) else examples
        return made, examples, getattr(made, "dynamic_shapes", None)
    if isinstance(made, tuple) and len(made) in (2, 3) and isinstance(made[0], torch.nn.Module):
        return made[0], made[1], made[2] if len(made) == 3 else None
    raise BadModel(noted(ModelCode.FACTORY_GIVES, source=source, type=type(made).__name__))


def _arguments(source: str, examples: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    import torch

    if isinstance(examples, torch.Tensor):
        return (examples,), {}
    if isinstance(examples, Mapping):
        return (), dict(examples)
    if isinstance(examples, Sequence) and not isinstance(examples, str):
        return tuple(examples), {}
    raise BadModel(noted(ModelCode.FACTORY_EXAMPLES, source=source, type=type(examples).__name__))


def _with_dimensions(specs: Sequence[TensorSpec], dynamic: Any) -> tuple[TensorSpec, ...]:
    """Symbols by the names that the user gave to his dimensions; torch.export forgets them."""
    ranges = list(dynamic.values()) if isinstance(dynamic, Mapping) else list(dynamic or ())
    if len(ranges) != len(specs):
        return tuple(specs)
    named = []
    for spec, dimensions in zip(specs, ranges, strict=True):
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


SUGGESTION = 600
"""Characters of dimensions that torch proposes: some ten of them."""


def _line(error: Exception) -> str:
    """The first sentence of an exception, without the advice that exporters append."""
    text = re.split(r"\s*(?:\(unhinted|Caused by:|For more information|The following call raised)", str(error))[0]
    text = " ".join(text.split()) or type(error).__name__
    return text if len(text) <= 300 else text[:299] + "…"


def _suggestion(error: Exception) -> str:
    """The dimensions that torch.export proposes where a module does not take all sizes, such as `_h = Dim('_h', max=200); h = 2*_h`."""
    _, _, advice = str(error).partition("Suggested fixes:\n")
    return "; ".join(line.strip() for line in advice.partition("\n\n")[0].splitlines())[:SUGGESTION]
