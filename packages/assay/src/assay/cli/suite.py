"""`assay suite`: which suites there are, and what is in one."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from assay.cli.from_options import from_options, read_options
from assay.options.declaration import option
from assay.options.run import SuiteOptions

app = typer.Typer(no_args_is_help=True)

_ALSO = {
    "FOLDER": "the models below a folder of your own, with their test_data_set_N or golden beside them: write it with a slash",
    "mined:MODEL": "the unique operators of your own models, weighed by use; several models with commas",
}
"""Suites without a name."""


@app.command("list")
def list_suites() -> None:
    """Every suite here, one line each; of a broken one the reason."""
    from assay import plugins
    from assay.commands.run import GROUP

    texts = {name: _about(name) for name in plugins.names(GROUP)} | _ALSO
    indent = max(map(len, texts)) + 2
    width = max(shutil.get_terminal_size((100, 24)).columns, indent + 20)
    for name, about in texts.items():
        print(textwrap.fill(f"{name:<{indent}}{about}", width, subsequent_indent=" " * indent))


def _about(name: str) -> str:
    from assay import plugins
    from assay.commands.run import GROUP
    from assay.errors import HarnessError, UnknownName

    try:
        return str(plugins.load(GROUP, name)().about)
    except (HarnessError, UnknownName) as error:
        return f"cannot be used: {error}"


@app.command("mine")
def mine(
    models: Annotated[list[str], typer.Argument(metavar="MODEL", help="ONNX files, or folders of them.")],
) -> None:
    """The unique operators of your own models, the most used first: what `assay run mined:MODEL,...` runs."""
    from assay.suites.mined_operators import Mined

    suite = Mined(",".join(models))
    cases = list(suite.cases(seed=0))
    for case in cases:
        inputs = ", ".join(f"{tensor_spec.dtype}{list(tensor_spec.shape)}" for tensor_spec in case.model.inputs)
        print(f"{case.uses:6}  {case.model.name}  {inputs}")
    for line in suite.left_out():
        print(f"left out: {line}")
    print(f"{len(cases)} operators, used {sum(case.uses for case in cases)} times")


@dataclass(frozen=True, kw_only=True)
class ShowOptions(SuiteOptions):
    """The cases of one suite."""

    suite: str = option("", "A suite: `assay suite list` names them.", metavar="SUITE", argument=True, needed=True)


@app.command("show")
@from_options(ShowOptions)
def show(values: Mapping[str, Any]) -> None:
    """The cases of a suite with their inputs, and how many they are."""
    from assay.commands.run import find_suites
    from assay.pipeline.suite_cases.suite_contract import collect_cases
    from assay.pipeline.suite_cases.suite_select import Selection, parse_shard, select

    options = read_options(ShowOptions, values)
    (suite,) = find_suites([options.suite])
    selection = Selection(filters=options.filters, dtypes=options.dtypes, shard=parse_shard(options.shard))
    cases = select(collect_cases(suite, options.seed), selection)
    for case in cases:
        inputs = ", ".join(f"{tensor_spec.dtype}{list(tensor_spec.shape)}" for tensor_spec in case.model.inputs)
        print(f"{case.name}  {inputs}")
    print(f"{len(cases)} cases")
