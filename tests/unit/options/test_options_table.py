"""Every option is one row: what is made of the rows says the same as they do."""

from __future__ import annotations

import inspect

import pytest

import assay
from assay.options.arguments import KINDS
from assay.options.check import BaselineOptions, CheckOptions
from assay.options.compare import CompareOptions
from assay.options.declaration import rows
from assay.options.golden import RecordOptions
from assay.options.mutate import MutateOptions
from assay.options.run import RunOptions

IN_PYTHON = {
    "tuple[str, ...]": ("Sequence[str]",),
    "tuple[int, ...]": ("Sequence[int]",),
    "Mapping[str, Value]": ("Mapping[str, Value]",),
    "Mapping[str, str]": ("Mapping[str, str]",),
    "Mapping[str, Sizes]": ("Mapping[str, str | int | Sequence[int]]",),
    "Path | None": ("str | Path | None",),
    "Picture | None": ("str | Picture | None",),
    "MetricChoice | None": ("str | MetricChoice | None",),
    "tuple[tuple[str, Path], ...]": ("Mapping[str, str | Path]",),
    "str": ("str", "str | Path"),
    "Mapping[str, InputRange]": (
        "Mapping[str, str | Sequence[float]]",
        "Mapping[str, str | float | Sequence[float]]",
    ),
}
"""Of the type of a row, what a call in Python may say; any other type is itself."""
EVERY = [CheckOptions, BaselineOptions, RunOptions, CompareOptions, MutateOptions, RecordOptions]


def test_the_python_api_has_every_option_of_the_command_with_its_type_and_default() -> None:
    parameters = dict(inspect.signature(assay.check).parameters)
    assert parameters.pop("models").kind is inspect.Parameter.VAR_POSITIONAL
    assert parameters.pop("measure").default is True  # short for only_kind="verify"
    declared = {row.name: row for row in rows(CheckOptions) if not row.argument}
    assert list(parameters) == list(declared)
    for name, row in declared.items():
        assert parameters[name].annotation in IN_PYTHON.get(row.type, (row.type,)), name
        assert parameters[name].default in ([(), {}] if row.repeatable else [row.default]), name


def test_a_keyword_that_is_no_option_is_refused_as_python_does() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'flow'"):
        assay.check("m.onnx", flow=["onnxruntime"])


@pytest.mark.parametrize("options", EVERY)
def test_a_row_has_a_name_of_its_own_and_a_kind_that_is_known(options: type) -> None:
    declared = [row for row in rows(options) if not row.argument]
    assert len({row.flag for row in declared}) == len(declared)
    assert {row.kind for row in declared} <= {"", *KINDS}
    assert all(row.help.endswith((".", "]", "std=...")) for row in declared)
