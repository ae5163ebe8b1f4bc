"""Weights of another model are known again; tables that two models have both are not weights."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from onnx import helper, numpy_helper

from assay_zoo.conflicts import copies_of
from assay_zoo.facts import Facts, centred_constants, found_key, largest_of
from assay_zoo.manifest import Accuracy, Entry, Version
from assay_zoo.weight_sketch import Lines, counted, share_found, sketch_of

SCALES = np.geomspace(0.2, 5, 128, dtype=np.float32)[:, None]


def _weights(seed: int, *shape: int) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(shape) * 0.02).astype(np.float32)


def _waves(rows: int, length: int) -> list[np.ndarray]:
    """As of a transform to frequencies: some are of the sine of pi."""
    angles = np.arange(rows)[:, None] * np.arange(length)[None] * 2 * np.pi / length
    window = np.hanning(length + 1)[:length]
    return [(wave * window)[:, None].astype(np.float32) for wave in (np.cos(angles), -np.sin(angles))]


def _turns() -> list[np.ndarray]:
    angles = np.outer(np.arange(512), 1 / 1e4 ** (np.arange(0, 64, 2) / 64))
    return [np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)]


def _levels(seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).integers(-7, 8, (256, 256)) * 0.01).astype(np.float32)


def _ternary(seed: int) -> np.ndarray:
    values = _weights(seed, 256, 256)
    return np.asarray(np.where(np.abs(values) < 0.013, 0, np.sign(values)) * _weights(seed + 9, 256, 1), np.float32)


def _facts(arrays: list[np.ndarray], others: dict[str, Entry]) -> Facts:
    tensors = [numpy_helper.from_array(array, f"w{at}") for at, array in enumerate(arrays)]
    model = helper.make_model(helper.make_graph([], "g", [], [], tensors))
    lines = Lines(counted(centred_constants(model, Path())))
    versions = ((name, version) for name, entry in others.items() for version in entry.versions)
    found = {
        found_key(name, version): share_found(version.sketch, lines) for name, version in versions if version.sketch
    }
    return Facts(
        closure=str(id(model)), weights="", opset=17, ir=8, files=(), largest=largest_of(model, Path()),
        sketch=sketch_of(lines), found=found,
    )  # fmt: skip


def _version(served: list[np.ndarray], bases: tuple[str, ...], number: str = "1.0") -> Version:
    facts = _facts(served, {})
    return Version(
        version=number, digest="d", closure="c", title="t", license="MIT", scenario="s", promoted_at="", by="b",
        reason="r", decision="promote", files=(), opset=17, inputs=(), outputs=(), tags=(), performance={},
        accuracy=Accuracy(metric="m", claimed=1.0), largest=facts.largest, sketch=facts.sketch, based_on=bases,
    )  # fmt: skip


def _copies(
    served: list[np.ndarray], submitted: list[np.ndarray], bases: tuple[str, ...] = (), own_bases: tuple[str, ...] = ()
) -> list[str]:
    others = {"other": Entry(current="1.0", versions=(_version(served, bases),))}
    return list(copies_of("own", others, _facts(submitted, others), own_bases))


def _thinned(weights: np.ndarray, part: float) -> np.ndarray:
    small = np.abs(weights) < np.quantile(np.abs(weights), part)
    return np.asarray(np.where(small, 0, weights), np.float32)


def _with(weights: np.ndarray, row: int, value: float) -> np.ndarray:
    """With a row that does nothing."""
    changed = weights.copy()
    changed[row] = value
    return changed


def _in_eight_bits(weights: np.ndarray, axis: int | None = None) -> np.ndarray:
    steps = np.abs(weights).max(axis=None if axis is None else 1 - axis, keepdims=True) / 127
    return np.asarray(np.round(weights / steps), np.int8)


FIRST, SECOND = _weights(1, 128, 256), _weights(2, 128, 256)
DECOY = (np.exp(np.random.default_rng(7).standard_normal((8, 16)) * 9) * 1e3).astype(np.float32)


@pytest.mark.parametrize(
    ("served", "submitted"),
    [
        ([FIRST], [FIRST, DECOY]),
        ([FIRST], [FIRST * SCALES, DECOY]),
        ([_weights(1, 1024, 16)], [np.concatenate([_weights(2, 1024, 16), _weights(1, 1024, 16)])]),
        ([FIRST], [(FIRST * SCALES)[::-1, ::-1]]),
        ([FIRST], [(FIRST * SCALES).T]),
        ([FIRST], [(FIRST * SCALES).astype(np.float16)]),
        ([FIRST, FIRST], [FIRST * SCALES, FIRST * SCALES]),
        ([FIRST], [np.pad(FIRST, ((0, 1), (0, 8))), DECOY]),
        ([FIRST], [_with(FIRST, 4, 20), DECOY]),
        ([FIRST], [_with(FIRST, 5, np.inf), DECOY]),
        ([FIRST], [_with(FIRST.T, 5, np.nan).T, DECOY]),
        ([FIRST], [(FIRST * 5e5).astype(np.int16), DECOY]),
        ([_weights(1, 4096, 16)], [_with(_weights(1, 4096, 16).T, 0, 1).T, DECOY]),
        ([FIRST], [_thinned(FIRST, 0.1)]),
        ([FIRST], [_thinned(FIRST, 0.5)]),
        ([FIRST], [_in_eight_bits(FIRST)]),
        ([FIRST], [_in_eight_bits(_thinned(FIRST * SCALES, 0.2), 0)[::-1, ::-1]]),
        ([FIRST, SECOND], [np.concatenate([_in_eight_bits(FIRST), _in_eight_bits(SECOND)])]),
        ([np.concatenate([FIRST, SECOND], 1)], [_thinned(SECOND, 0.1), _thinned(FIRST, 0.1)]),
        ([FIRST, _weights(5, 512, 256)], [_thinned(FIRST, 0.1), _weights(6, 64, 256)]),
    ],
)
def test_a_copy_asks_a_person(served: list[np.ndarray], submitted: list[np.ndarray]) -> None:
    assert _copies(served, submitted)


def test_a_copy_of_many_weights_asks_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_zoo.weight_sketch._MOST", 1 << 18)
    weights = _weights(3, 640, 640)
    assert _copies([weights], [weights * np.geomspace(0.2, 5, 640, dtype=np.float32)])


@pytest.mark.parametrize(
    ("tables", "first", "second"),
    [
        (_waves(129, 256), _weights(1, 128, 129), _weights(2, 128, 129)),
        (_turns(), _weights(1, 128, 128), _weights(2, 128, 128)),
        ([np.triu(np.full((128, 128), -1e9, np.float32), 1)], _weights(1, 64, 64), _weights(2, 64, 64)),
        ([], *(np.random.default_rng(seed).random((256, 256), np.float32) for seed in (1, 2))),
        ([], _levels(1), _levels(2)),
        ([], _ternary(1), _ternary(2)),
        ([], _weights(1, 256, 1, 3, 3), _weights(2, 256, 1, 3, 3)),
        ([_weights(3, 64, 64)], _weights(1, 128, 256), _weights(2, 128, 256)),
        ([], _weights(1, 1024, 1024), _weights(2, 1024, 1024)),
        ([], _weights(1, 1024, 16), _weights(2, 16384, 16)),
        ([], _weights(3, 1024, 16), _weights(4, 65536, 16)),
        ([], _weights(1, 2048, 32), _weights(2, 65536, 32)),
        ([], *(_weights(seed, 128, 256) + (np.eye(128, 256) * 0.2).astype(np.float32) for seed in (1, 2))),
    ],
)
def test_what_two_models_may_both_have_asks_nobody(
    tables: list[np.ndarray], first: np.ndarray, second: np.ndarray
) -> None:
    assert not _copies([*tables, first], [*tables, second])


def test_what_both_are_based_on_both_may_have() -> None:
    served, own = [FIRST, _weights(5, 10, 256)], [FIRST, _weights(6, 10, 256)]
    assert _copies(served, own, ("resnet50",), ("ResNet-50",)) == []
    assert "% of that model are in this one" in _copies(served, own, ("resnet50",), ("bert",))[0]
    assert _copies(served, own, ("resnet50",)) != []


def test_what_a_newer_version_is_based_on_an_older_one_is_based_on_too() -> None:
    served, own = [FIRST, _weights(5, 10, 256)], [FIRST, _weights(6, 10, 256)]
    versions = _version(served, ()), _version(served, ("resnet50",), "1.1")
    others = {"other": Entry(current="1.1", versions=versions)}
    assert list(copies_of("own", others, _facts(own, others), ("resnet50",))) == []
    assert list(copies_of("own", others, _facts(own, others), ("bert",))) != []


def test_rows_that_are_too_long_or_do_nothing_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_zoo.weight_sketch._MOST", 1000)
    nothing = np.full((16, 16), np.nan, np.float32), np.zeros((16, 16), np.float32)
    (kept,) = counted([_weights(1, 1, 1024), *nothing, np.pad(_weights(2, 16, 16), 1)])
    assert kept.shape[:2] == (16, 16)


def test_of_many_matrices_the_largest_are_held_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_zoo.weight_sketch._ALL", 3 * 256 * 256)
    tracemalloc.start()
    kept = counted(_weights(seed, 256 + seed % 2, 256) for seed in range(40))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [len(array) for array in kept] == [257, 257]
    assert most < 12 * 256 * 256 * 4


def test_of_two_trainings_nothing_is_a_copy() -> None:
    load_digits = pytest.importorskip("sklearn.datasets").load_digits
    MLPClassifier = pytest.importorskip("sklearn.neural_network").MLPClassifier
    images, kinds = load_digits(return_X_y=True)
    nets = []
    for seed in range(2):
        net = MLPClassifier((64, 64), random_state=seed)
        for _ in range(15):
            net.partial_fit(images / 16, kinds, classes=range(10))
        nets.append(net.coefs_)
    first, second = ([np.asarray(weights, np.float32) for weights in net] for net in nets)
    assert not _copies(first, second)
    assert _copies(first, [_in_eight_bits(weights) for weights in first])
    assert _copies(first, [_thinned(weights, 0.3).T for weights in first])


@pytest.mark.parametrize("in_a_node", [False, True])
@pytest.mark.parametrize(("zero", "axis", "shape"), [(117, 1, ()), (range(16), 0, (16, 1)), (range(16), 1, 16)])
def test_eight_bits_are_taken_without_their_zero_points(
    zero: int | range, axis: int, shape: int | tuple[int, ...], in_a_node: bool
) -> None:
    weights, zeros = np.random.default_rng(0).integers(0, 256, (16, 16)).astype(np.uint8), np.array(zero, np.uint8)
    nodes = [helper.make_node("DequantizeLinear", ["w", "scale", "zero"], ["y"], axis=axis)]
    tensors = [numpy_helper.from_array(array, name) for name, array in (("w", weights), ("zero", zeros))]
    if in_a_node:
        nodes.insert(0, helper.make_node("Constant", [], ["zero"], value=numpy_helper.from_array(zeros)))
        tensors.pop()
    model = helper.make_model(helper.make_graph(nodes, "g", [], [], tensors))
    (array,) = centred_constants(model, Path())
    assert (array == weights.astype(np.float32) - zeros.astype(np.float32).reshape(shape)).all()
