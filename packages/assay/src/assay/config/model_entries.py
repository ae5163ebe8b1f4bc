"""The models of an assay.toml: which files a table names, and what it says of each."""

from __future__ import annotations

import dataclasses
import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from assay.config.option_values import inputs_of
from assay.core.case import Contract, Inputs, Tolerance
from assay.errors import BadPolicy
from assay.models.named_sources import is_named
from assay.models.sources import is_factory, source_name
from assay.options.arguments import values_from_python
from assay.options.check import ModelOptions

if TYPE_CHECKING:
    from pydantic import BaseModel

    from assay.config.toml_errors import TomlFile
    from assay.config.toml_schema import ConfigFile, ModelFile

Options = TypeVar("Options")


class ModelEntry(msgspec.Struct, frozen=True):
    """One model to check. `path` is absolute; `inputs.golden` too, or "" for the float64 reference; `reference` is the file of
    the model that it is to be still ("" none), or `golden_of_another_model` says that the golden is of that one.

    `flows` empty: those of the whole file. The precision in `contract` is the flow's business.
    """

    name: str
    path: Path
    inputs: Inputs = Inputs()
    contract: Contract = Contract()
    flows: tuple[str, ...] = ()
    random_samples: int = 0
    reference: str = ""
    golden_of_another_model: bool = False
    map_inputs: dict[str, str] = {}
    map_outputs: dict[str, str] = {}


def beside(path: Path, name: str) -> Path:
    return path.absolute().parent / name


def model_entries(path: Path, parsed: ConfigFile, text: TomlFile) -> tuple[ModelEntry, ...]:
    entries: list[ModelEntry] = []
    wrong: list[str] = []
    for index, model_file in enumerate(parsed.model):
        paths = _found(path, model_file)
        if not paths:
            fix = (
                "correct the pattern"
                if glob.has_magic(model_file.path)
                else "correct the path, it is relative to the file"
            )
            wrong.append(text.sentence(("model", index, "path"), f"'{model_file.path}' matches no file: {fix}"))
        elif len(paths) > 1 and (shared := next((key for key in ("name", "golden") if getattr(model_file, key)), "")):
            sentence = (
                f"one {shared} for the {len(paths)} models that '{model_file.path}' matches: list them one by one"
            )
            wrong.append(text.sentence(("model", index, shared), sentence))
        else:
            entries.extend(_entries(path, model_file, paths))
            for name in _twice([entry.name for entry in entries]):
                sentence = f"two models are called '{name}': give one of them another name"
                wrong.append(text.sentence(("model", index, "name" if model_file.name else "path"), sentence))
    if wrong:
        raise BadPolicy("\n".join(dict.fromkeys(wrong)))
    return tuple(entries)


def _found(path: Path, model_file: ModelFile) -> list[Path]:
    if is_factory(model_file.path) or is_named(model_file.path):
        return [Path(model_file.path)]
    pattern = beside(path, model_file.path)
    if pattern.exists() or not glob.has_magic(model_file.path):
        return [pattern] if pattern.exists() else []
    names = sorted(glob.glob(model_file.path, root_dir=path.absolute().parent, recursive=True))
    return [beside(path, name) for name in names]


def _entries(path: Path, model_file: ModelFile, files: list[Path]) -> list[ModelEntry]:
    stems = [source_name(file) for file in files]
    names = stems if not _twice(stems) else [_relative(path, file) for file in files]
    entry = options_in(ModelOptions, "model", model_file)
    golden = _data(path, str(entry.golden)) if entry.golden else ""
    input_source = _data(path, entry.inputs) if entry.inputs else ""
    entry = dataclasses.replace(entry, tokenizer=_data(path, entry.tokenizer) if entry.tokenizer else "")
    # A value takes the place of a range of the same input.
    ranges = {name: bounds for name, bounds in entry.input_ranges.items() if name not in entry.input_values}
    inputs = inputs_of(dataclasses.replace(entry, input_ranges=ranges), golden, input_source)
    stated: Any = model_file.tolerance
    named = {} if isinstance(stated, str) else model_file.tolerance
    contract = Contract(
        tolerances={output: Tolerance(limits.rtol, limits.atol) for output, limits in named.items()},
        task_metric=model_file.task_metric,
        task_metric_options=model_file.task_metric_options,
        tolerance=stated if isinstance(stated, str) else Contract().tolerance,
    )
    return [
        ModelEntry(
            model_file.name or name,
            file,
            inputs,
            contract,
            tuple(model_file.flows),
            entry.random_samples or 0,
            _reference(path, str(entry.reference)) if entry.reference else "",
            entry.golden_of_another_model,
            dict(entry.map_inputs),
            dict(entry.map_outputs),
        )
        for name, file in zip(names, files, strict=True)
    ]


def _reference(path: Path, source: str) -> str:
    return source if is_named(source) else str(beside(path, source))


def _data(path: Path, source: str) -> str:
    """Beside the file; a function of a module as it is written."""
    file = beside(path, source)
    of_module = is_factory(source) and not source.rpartition(":")[0].endswith(".py") and not file.exists()
    return source if of_module else str(file)


def options_in(options: type[Options], table: str, parsed: BaseModel) -> Options:
    """What a table of the file says, as options. Raises UsageError."""
    from assay.config.option_keys import option_values

    return options(**values_from_python(options, option_values(table, parsed)))


def _relative(path: Path, file: Path) -> str:
    """A name for one of several files of the same stem: `resnet/model`."""
    folder = path.absolute().parent
    return (file.relative_to(folder) if file.is_relative_to(folder) else file).with_suffix("").as_posix()


def _twice(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})
