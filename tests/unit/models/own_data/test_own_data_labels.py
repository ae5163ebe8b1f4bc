"""Labels beside the inputs: one for each sample, under the names that tasks read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.core.data import Data
from assay.core.model import Model, TensorSpec
from assay.errors import BadGolden
from assay.models.own_data import read_data

MODEL = Model("m", "m.onnx", "0", (TensorSpec("x", "float32", (1, 4)),), (TensorSpec("y", "float32", (1, 3)),))


def test_a_label_for_each_sample_of_a_stack(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "d.npz", x=np.zeros((3, 1, 4), np.float32), label=np.arange(3), label_tokens=np.ones((3, 5), int)
    )
    read = read_data(Data(str(tmp_path / "d.npz"), False), MODEL)
    assert len(read.inputs) == 3
    assert read.labels["label"].tolist() == [0, 1, 2]
    assert read.labels["tokens"].shape == (3, 5)


def test_a_function_yields_them_beside_its_inputs(tmp_path: Path) -> None:
    (tmp_path / "feed.py").write_text(
        "import numpy as np\ndef calls():\n    for k in (2, 0): yield {'x': np.zeros((1, 4), np.float32), 'label': k}\n"
    )
    assert read_data(Data(f"{tmp_path}/feed.py:calls", False), MODEL).labels["label"].tolist() == [2, 0]


@pytest.mark.parametrize(
    ("label", "says"),
    [
        (np.arange(2), "d.npz: 'label' has shape [2] for 3 samples; give one entry for each"),
        (np.array(["a", "b", "c"]), "'label' is <U1; give the numbers of classes, tokens or places"),
    ],
)
def test_labels_that_do_not_fit(tmp_path: Path, label: np.ndarray, says: str) -> None:  # type: ignore[type-arg]
    np.savez(tmp_path / "d.npz", x=np.zeros((3, 1, 4), np.float32), label=label)
    with pytest.raises(BadGolden) as raised:
        read_data(Data(str(tmp_path / "d.npz"), False), MODEL)
    assert says in str(raised.value)
