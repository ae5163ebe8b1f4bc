"""The filters say what scipy's say, and nothing on the way to a tolerance imports those."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from assay.numerics.tolerance.rules.window_filters import average, largest, smallest


@pytest.mark.parametrize("window", [(1, 1, 3, 3), (1, 1, 6, 6), (1, 1, 1, 3), (3, 1, 2, 5), (1, 1, 1, 1)])
@pytest.mark.parametrize("shape", [(2, 3, 8, 9), (1, 1, 2, 1)])
def test_they_say_what_scipy_says(shape: tuple[int, ...], window: tuple[int, ...]) -> None:
    from scipy import ndimage

    value = np.random.default_rng(0).normal(size=shape)
    assert np.array_equal(largest(value, window), ndimage.maximum_filter(value, window, mode="nearest"))
    assert np.array_equal(smallest(value, window), ndimage.minimum_filter(value, window, mode="nearest"))
    assert np.allclose(
        average(value, window), ndimage.uniform_filter(value, window, mode="nearest"), rtol=1e-12, atol=1e-12
    )


def test_no_elements_are_no_mistake() -> None:
    assert largest(np.zeros((2, 0, 3)), (3, 3, 3)).shape == (2, 0, 3)


DERIVE = """
import sys
import numpy as np
from onnx import parser
from assay.numerics.tolerance.derive import derive_model

model = parser.parse_model('''<ir_version: 10, opset_import: ["" : 21]>
g (float[1, 2, 8, 8] x, float[2, 2, 3, 3] w) => (float[1, 2, 16, 16] z) {
  y = Conv<pads=[1,1,1,1]>(x, w)
  s = Constant<value_floats=[1.0, 1.0, 2.0, 2.0]>()
  z = Resize<mode="linear">(y, , s)
}''')
draw = np.random.default_rng(0)
feeds = {"x": draw.normal(size=(1, 2, 8, 8)).astype("float32"), "w": draw.normal(size=(2, 2, 3, 3)).astype("float32")}
derive_model(model, [feeds], "float32", allowances=("winograd",))
assert "scipy.ndimage" not in sys.modules
"""


def test_deriving_a_tolerance_does_not_import_them() -> None:
    done = subprocess.run([sys.executable, "-c", DERIVE], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
