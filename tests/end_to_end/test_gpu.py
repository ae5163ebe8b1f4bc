"""The three digit models on every flow of a CUDA device that can be installed: `pytest -m gpu`, skipped with the reason elsewhere."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from assay import plugins
from assay.commands.check import run_check
from assay.core.device import Gpu
from assay.core.flow import Option
from assay.core.outcome import Outcome
from assay.core.verdict import VerdictStatus
from assay.judge.words.missing_text import missing_text
from assay.launch.gpus import gpus
from assay.options.check import CheckOptions
from assay.options.sizes import Sizes

pytestmark = pytest.mark.gpu
DIGITS = Path(__file__).parents[2] / "examples" / "digits"
NO_TF32: dict[str, Option] = {"tf32": "off"}
FLOWS: dict[str, dict[str, Option]] = {
    "tensorrt-fp32": {}, "tensorrt-fp16": {}, "tensorrt-int8-qdq": {}, "trtexec-fp32": {},
    "torch-eager-cuda": NO_TF32, "torch-inductor-cuda": NO_TF32, "torch-aot-inductor-cuda": NO_TF32,
    "tvm-cuda": {}, "iree-cuda": {},
}  # fmt: skip


@pytest.fixture(scope="module")
def found() -> tuple[Gpu, ...]:
    gpus.cache_clear()
    return gpus() or pytest.skip("no GPU here: neither NVML nor nvidia-smi shows one")


@pytest.mark.parametrize("model", ["classifier", "detector", "segmenter"])
@pytest.mark.parametrize("flow", FLOWS)
def test_a_digit_model_is_built_right_and_timed(
    flow: str, model: str, found: tuple[Gpu, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = plugins.availability(plugins.find_flow(flow).backend)
    if not here.available:
        pytest.skip(missing_text(here))
    monkeypatch.chdir(tmp_path)
    checked = run_check(
        CheckOptions(
            models=(DIGITS / "models" / f"{model}.onnx",),
            flows=(flow,),
            golden=DIGITS / "goldens" / model,
            options=FLOWS[flow],
            dims={"batch": Sizes(1, 1, 4)},
            measure_seconds=0.5,
        )
    )
    verified, measured = checked.results
    if verified.outcome in (Outcome.UNAVAILABLE, Outcome.UNSUPPORTED):
        pytest.skip(verified.detail)
    assert verified.outcome is Outcome.OK, verified.detail
    assert measured.outcome is Outcome.OK, measured.detail
    taken = measured.measurements[0]
    if flow.startswith("trtexec"):  # Timed by the program itself, in a process that is not watched.
        assert taken.wall_s
        return
    assert taken.gpu is not None
    assert taken.gpu.clock == ("" if flow.startswith("iree") else "cuda events")
    assert taken.wall_s or taken.gpu.lost
    assert len(taken.device_s) == (len(taken.wall_s) if taken.gpu.clock else 0)
    # The device works for no longer than the caller waits.
    assert sum(taken.device_s) <= sum(taken.wall_s)
    if importlib.util.find_spec("pynvml"):
        assert (taken.gpu.untold, taken.gpu.readings > 0) == (None, True)
        assert taken.gpu.memory_bytes > 0
    # A GPU that is hot, capped or shared proves nothing, and is told so.
    words = {verdict.word for verdict in checked.judgement.verdicts}
    assert words == ({VerdictStatus.PASS} if taken.wall_s else {VerdictStatus.PASS, VerdictStatus.INCONCLUSIVE})
    assert found[0].name in checked.run.machine.gpus[0]
