"""Known traps: what other gates were seen to let through, as mutants and as flows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

import assay
from assay.core.outcome import Outcome
from mutating import I64, F, record, save


def outcomes(path: Path, golden: Path, mutants: list[str]) -> dict[str, Outcome]:
    """Each mutant as a flow of its own on ONNX Runtime, and the model itself, in one run."""
    text = "".join(
        f'[flow."m{place}"]\nbackend = "onnxruntime"\ntransforms = ["mutant:{mutant}"]\n'
        for place, mutant in enumerate(mutants)
    )
    config = path.with_suffix(".toml")
    config.write_text(text)
    flows = ["onnxruntime", *(f"m{place}" for place in range(len(mutants)))]
    checked = assay.check(path, flows=flows, golden=golden, config=config, measure=False, history=path.parent / "h")
    found_outcomes = [result.outcome for result in sorted(checked.results, key=lambda r: flows.index(r.flow))]
    return dict(zip(["sound", *mutants], found_outcomes, strict=True))


def all_caught(path: Path, golden: Path, mutants: list[str]) -> None:
    outcome_of = outcomes(path, golden, mutants)
    assert outcome_of.pop("sound") is Outcome.OK
    assert set(outcome_of.values()) == {Outcome.MISMATCH}, outcome_of


@pytest.mark.parametrize("image", ["smooth", "noise"])
def test_nearest_for_linear_is_seen_even_on_a_smooth_image(image: str, tmp_path: Path) -> None:
    """On a smooth ramp the nearest neighbour passes mean 1e-2, cosine 0.9998, PSNR 40 dB and SNR 35 dB."""
    path = save(
        tmp_path / "grid.onnx",
        [helper.make_node("GridSample", ["x", "grid"], ["y"], name="grid", mode="linear")],
        {"x": (F, [1, 1, 32, 32]), "grid": (F, [1, 16, 16, 2])},
        {"y": (F, [1, 1, 16, 16])},
    )
    rng = np.random.default_rng(0)
    ramp = np.add.outer(np.linspace(0, 1, 32), np.linspace(0, 1, 32))[None, None]
    x = (ramp if image == "smooth" else rng.normal(size=ramp.shape)).astype(np.float32)
    samples = [{"x": x, "grid": rng.uniform(-0.95, 0.95, (1, 16, 16, 2)).astype(np.float32)}]
    all_caught(path, record(path, samples), ["nearest-for-linear@grid", "flip-align-corners@grid"])


def test_the_traps_that_other_gates_let_through(tmp_path: Path) -> None:
    """A softmax of zeros and 0.09 added pass ExecuTorch's limits, twice the answer passes cosine, one outlier passes PSNR,
    and a lost output passes a comparator that only walks over what is there."""
    path = save(
        tmp_path / "net.onnx",
        [
            helper.make_node("MatMul", ["x", "w"], ["h"], name="product"),
            helper.make_node("LayerNormalization", ["h", "s", "b"], ["n"], name="norm"),
            helper.make_node("Softmax", ["n"], ["p"], name="softmax"),
            helper.make_node("Add", ["h", "bias"], ["y"], name="sum"),
        ],
        {"x": (F, ["N", 24])},
        {"p": (F, ["N", 100]), "y": (F, ["N", 100])},
        {
            "w": np.random.default_rng(1).normal(size=(24, 100)).astype(np.float32),
            "s": np.ones(100, np.float32),
            "b": np.zeros(100, np.float32),
            "bias": np.random.default_rng(2).normal(size=100).astype(np.float32),
        },
    )
    rng = np.random.default_rng(3)
    samples = [{"x": rng.normal(size=(4, 24)).astype(np.float32)} for _ in range(3)]
    mutants = [
        "softmax-zeros@softmax", "norm-to-zeros@norm", "shifted-output@sum", "shifted-output@softmax",
        "scaled-output@sum", "scaled-output@softmax", "missing-output@sum", "missing-output@softmax",
        "one-element=1e6@sum", "one-element@sum", "exchange-outputs@softmax", "tf32-inputs@product",
        "drop-last-term@product",
    ]  # fmt: skip
    all_caught(path, record(path, samples), mutants)


def test_lengths_computed_in_bfloat16(tmp_path: Path) -> None:
    """floor((n - 1) / 2) + 1 three times: 12,001 frames give 1,501 and in bfloat16 1,504 (TensorRT issue 4822)."""
    nodes, last = [], "n"
    for step in range(3):
        nodes += [
            helper.make_node("Sub", [last, "one"], [f"a{step}"], name=f"sub{step}"),
            helper.make_node("Div", [f"a{step}", "two"], [f"b{step}"], name=f"div{step}"),
            helper.make_node("Add", [f"b{step}", "one"], [f"c{step}"], name=f"add{step}"),
        ]
        last = f"c{step}"
    path = save(
        tmp_path / "lengths.onnx", nodes, {"n": (I64, ["N"])}, {last: (I64, ["N"])},
        {"one": np.array(1, np.int64), "two": np.array(2, np.int64)},
    )  # fmt: skip
    short = [{"n": np.array([120, 133], np.int64)}]
    long = [{"n": np.array([11999, 12000, 12001, 20000, 24000], np.int64)}]
    assert outcomes(path, record(path, short), ["bf16-lengths@add2"])["bf16-lengths@add2"] is not Outcome.MISMATCH
    for folder in (tmp_path / "lengths.golden", tmp_path / "h"):
        for file in sorted(folder.rglob("*"), reverse=True):
            file.unlink() if file.is_file() else file.rmdir()
    all_caught(path, record(path, long), ["bf16-lengths@add2", "bf16-lengths@add0", "bf16-lengths@sub0"])


def test_a_normalization_that_collapses_in_half_precision_is_seen(tmp_path: Path) -> None:
    """One channel at 600: its square overflows float16, the variance is infinite, and every row is zero, finite all the way."""
    names = ("m", "d", "q", "v", "e", "s", "y")
    kinds = ("ReduceMean", "Sub", "Pow", "ReduceMean", "Add", "Sqrt", "Div")
    reads = (("x", "axis"), ("x", "m"), ("d", "two"), ("q", "axis"), ("v", "eps"), ("e",), ("d", "s"))
    path = save(
        tmp_path / "norm.onnx",
        [helper.make_node(kind, read, [name]) for name, kind, read in zip(names, kinds, reads, strict=True)],
        {"x": (F, [16, 768])},
        {"y": (F, [16, 768])},
        {"axis": np.array([-1]), "two": np.array(2, np.float32), "eps": np.array(1e-5, np.float32)},
    )
    x = np.random.default_rng(0).normal(size=(16, 768)).astype(np.float32)
    x[:, 7] = 600
    golden = record(path, [{"x": x}])
    flows = ["reference+fp16", "reference"]
    checked = assay.check(path, flows=flows, golden=golden, measure=False, history=tmp_path / "h")
    by_flow = {result.flow: result for result in checked.results}
    assert by_flow["reference"].outcome is Outcome.OK
    assert by_flow["reference+fp16"].outcome is Outcome.MISMATCH
    assert "degenerate" in [finding.kind for finding in by_flow["reference+fp16"].comparisons[0].findings]
