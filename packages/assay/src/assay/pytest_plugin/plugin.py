"""pytest plug-in: suites as tests (`pytest --assay-suite operators --assay-flow onnxruntime`), and flows for people's own.

Nothing heavy is imported before an option or a fixture of ours is used: the plug-in is loaded into every pytest run.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from assay.pytest_plugin.flow_fixture import FlowUnderTest

FLOWS = "assay_flows"
OPTIONS = ("suites", "flows", "filters", "dtypes", "shard", "seed", "expectations")
"""Of `assay run`: those that pytest has too, as `--assay-suite`, `--assay-flow` and so on."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the group `assay`."""
    from assay.options.declaration import rows
    from assay.options.run import RunOptions

    group = parser.getgroup("assay", "flows and suites under test")
    declared = {row.name: row for row in rows(RunOptions)}
    for name in OPTIONS:
        row = declared[name]
        metavar = (row.metavar or name.removesuffix("s").upper()).removesuffix("...")
        keywords: dict[str, Any] = {"help": row.help, "metavar": metavar}
        keywords |= (
            {"action": "append", "default": []}
            if row.repeatable
            else {"type": type(row.default), "default": row.default}
        )
        group.addoption(f"--assay-{row.flag.removeprefix('--') or 'suite'}", **keywords)


def pytest_configure(config: pytest.Config) -> None:
    """Markers by flow and backend exist before --strict-markers looks for them."""
    config.addinivalue_line("markers", f"{FLOWS}(*names): flows that a test runs on (assay.parametrize_flows)")
    if config.getoption("--assay-suite") or config.getoption("--assay-flow"):
        _add_markers(config)


def _add_markers(config: pytest.Config) -> None:
    from assay import plugins

    known = plugins.catalogue()
    for flow in known.flows:
        config.addinivalue_line("markers", f"flow_{_word(flow)}: on flow {flow}")
    for backend in known.backends:
        config.addinivalue_line("markers", f"backend_{_word(backend)}: on a flow of {backend}")


def _word(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:  # noqa: ARG001
    """A suite without any path named is all that is run."""
    from _pytest.config import Config

    named = config.args_source is Config.ArgsSource.ARGS
    return True if config.getoption("--assay-suite") and not named else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Cases join the items before -k, -m and the like look at them. Raises UsageError as pytest knows it."""
    if not config.getoption("--assay-suite"):
        return
    from assay.errors import AssayError
    from assay.pytest_plugin.suite_items import suite_items

    try:
        items.extend(suite_items(session))
    except AssayError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`@assay.parametrize_flows()`: one test for each flow, marked `flow_<name>` and `backend_<name>`."""
    marker = metafunc.definition.get_closest_marker(FLOWS)
    if marker is None or "flow" not in metafunc.fixturenames:
        return
    from assay import plugins

    names = metafunc.config.getoption("--assay-flow") or list(marker.args)
    if not names:
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid} has no flow: name some in parametrize_flows, or give --assay-flow"
        )
    _add_markers(metafunc.config)
    flows = [plugins.find_flow(name) for name in names]
    metafunc.parametrize(
        "flow",
        [
            pytest.param(
                asked_flow.name,
                marks=[
                    getattr(pytest.mark, f"flow_{_word(asked_flow.name)}"),
                    getattr(pytest.mark, f"backend_{_word(asked_flow.backend)}"),
                ],
            )
            for asked_flow in flows
        ],
        indirect=True,
    )


@pytest.fixture
def flow(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> FlowUnderTest:
    """The flow a test is parametrized with; skips with the reason where its backend is not installed."""
    from assay.pytest_plugin.flow_fixture import FlowUnderTest

    name = getattr(request, "param", None)
    if name is None:
        raise pytest.UsageError("the fixture 'flow' needs @assay.parametrize_flows(...)")
    under_test = FlowUnderTest(name, tmp_path_factory.mktemp("assay"))
    if reason := under_test.unavailable():
        pytest.skip(reason)
    return under_test


def parametrize_flows(*names: str) -> Any:
    """A decorator: the test runs once for each of these flows, or for those that `--assay-flow` names."""
    return getattr(pytest.mark, FLOWS)(*names)
