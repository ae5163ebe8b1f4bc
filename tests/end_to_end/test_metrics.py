"""A metric of a third party: found by its entry point, recorded beside the comparator's metrics, and asked for by a goal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import rmtree

import pytest

from assay.commands.check import run_check
from assay.core.comparison import StatedMetric
from assay.core.outcome import Outcome
from assay.core.verdict import VerdictStatus
from assay.options.check import CheckOptions
from assay.ports import Metric
from assay.testing import check_metric
from small_models import linear_model

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
EXAMPLE = PAGE.partition("```python\n")[2].partition("```")[0]
"""As the page tells a stranger to write it."""
RAISING = """
def peak_error(actual, expected, contract):
    raise ValueError("no such thing")
peak_error.metrics = {"peak_error": ("", "up")}
"""
UNSTATED = """
def peak_error(actual, expected, contract):
    return {"peak_error": 0.0}
"""
AGREEMENT = """
def peak_error(actual, expected, contract):
    return {"peak_agreement": 90.0}
peak_error.metrics = {"peak_agreement": ("points", "down")}
"""
Installed = Callable[[str], None]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what says of a package that it has a metric. One for all: workers in the same environment start from one process."""
    folder = tmp_path_factory.mktemp("plug")
    info = folder / "strangers_metric-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: strangers-metric\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[assay.metrics]\npeak = strangers_metric:peak_error\n")
    return folder


@pytest.fixture
def installed(package: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    """Writes its source where every process of ours looks."""

    def install(source: str) -> None:
        rmtree(package / "__pycache__", ignore_errors=True)
        (package / "strangers_metric.py").write_text(source)
        monkeypatch.setenv("PYTHONPATH", str(package))

    return install


def _options(tmp_path: Path, limit: str) -> CheckOptions:
    policy = tmp_path / "policy.toml"
    policy.write_text(f'[[policy.goal]]\nmetric = "y.peak_error"\nmax = {limit}\n')
    model = linear_model(tmp_path / "m.onnx")
    return CheckOptions(
        models=(model,), flows=("onnxruntime",), only_kind="verify", policy=policy, history=str(tmp_path / "h")
    )


@pytest.mark.parametrize(("limit", "word"), [("0.1", VerdictStatus.PASS), ("-1", VerdictStatus.FAIL)])
def test_its_figure_is_recorded_and_judged(
    tmp_path: Path, installed: Installed, limit: str, word: VerdictStatus
) -> None:
    installed(EXAMPLE)
    checked = run_check(_options(tmp_path, limit))
    (comparison,) = checked.results[0].comparisons
    assert 0.0 <= comparison.metrics["peak_error"] < 1e-3
    assert [verdict.word for verdict in checked.judgement.verdicts] == [word]


def test_the_example_of_the_page_passes_the_check_that_it_names() -> None:
    namespace: dict[str, Metric] = {}
    exec(EXAMPLE, namespace)
    check_metric(namespace["peak_error"])


def test_one_that_raises_blames_nobody_else(tmp_path: Path, installed: Installed) -> None:
    installed(RAISING)
    checked = run_check(_options(tmp_path, "0.1"))
    (result,) = checked.results
    assert result.outcome is Outcome.INFRASTRUCTURE
    assert "metric 'peak' fails on output 'y' (ValueError: no such thing): fix it" in result.detail


def test_one_that_states_nothing_is_named(tmp_path: Path, installed: Installed) -> None:
    installed(UNSTATED)
    (result,) = run_check(_options(tmp_path, "0.1")).results
    assert result.outcome is Outcome.INFRASTRUCTURE
    assert "metric 'peak' does not state its metrics: give it `metrics`" in result.detail


def test_what_it_states_is_recorded_with_its_figure(tmp_path: Path, installed: Installed) -> None:
    installed(AGREEMENT)
    (result,) = run_check(_options(tmp_path, "0.1")).results
    assert result.comparisons[0].stated == {"peak_agreement": StatedMetric("points", "down")}
