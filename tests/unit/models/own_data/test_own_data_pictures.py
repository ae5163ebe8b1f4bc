"""Images prepared as they are declared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.data import Data
from assay.core.model import Model, TensorSpec
from assay.errors import UsageError
from assay.models.own_data import read_data
from assay.options.pictures import read_picture

Image = pytest.importorskip("PIL.Image")


def read(tmp_path: Path, text: str, shape: tuple[int | str, ...], dtype: str = "float32") -> np.ndarray[Any, Any]:
    pixels = np.zeros((4, 8, 3), np.uint8)
    pixels[..., 0], pixels[..., 2] = 255, 51
    Image.fromarray(pixels).save(tmp_path / "a.png")
    model = Model("net", "", "", inputs=(TensorSpec("x", dtype, shape),), outputs=())
    return read_data(Data(str(tmp_path / "a.png"), image=read_picture(text)), model).inputs[0]["x"]


def test_pixels_are_scaled_and_normalized_for_each_channel(tmp_path: Path) -> None:
    x = read(tmp_path, "scale=1/255,mean=0.5:0:0.1,std=0.5:1:2", (1, 3, 4, 8))
    assert x.shape == (1, 3, 4, 8)
    assert x.dtype == np.float32
    assert np.allclose(x[0, :, 0, 0], [1.0, 0.0, 0.05])


def test_colours_and_layout(tmp_path: Path) -> None:
    x = read(tmp_path, "layout=NHWC,colour=bgr,size=2x4", (1, "h", "w", 3), "uint8")
    assert x.shape == (1, 2, 4, 3)
    assert x[0, 0, 0].tolist() == [51, 0, 255]
    assert read(tmp_path, "colour=gray,scale=1", (1, 1, 4, 8)).shape == (1, 1, 4, 8)


def test_a_letterbox_keeps_the_proportions(tmp_path: Path) -> None:
    x = read(tmp_path, "fit=letterbox,fill=114", (1, 3, 8, 8), "uint8")
    assert x[0, :, 0, 0].tolist() == [114, 114, 114]
    assert x[0, :, 4, 0].tolist() == [255, 0, 51]
    assert read(tmp_path, "fit=crop", (1, 3, 4, 4), "uint8").shape == (1, 3, 4, 4)


@pytest.mark.parametrize(
    ("text", "shape", "sentence"),
    [
        (
            "size=4x8",
            (1, 3, 4, 8),
            "input 'x' is float32, and how pixels of 0 to 255 become it is not declared: give scale=1/255, or scale=1 where the model "
            "takes them as they are",
        ),
        (
            "scale=1",
            (1, 3, "h", "w"),
            "input 'x' of the model has no fixed size ([1, 3, h, w]): give size=HEIGHTxWIDTH with --image",
        ),
        ("scale=1,mean=1:2", (1, 3, 4, 8), "--image mean has 2 values for 3 channels; give one, or one for each"),
        ("scala=1", (1, 3, 4, 8), "image 'scala=1': 'scala=1' is not KEY=VALUE of an image; perhaps you mean scale"),
        ("size=4", (1, 3, 4, 8), "image size '4' is not HEIGHTxWIDTH; write for example size=224x224"),
        ("std=0", (1, 3, 4, 8), "image std '0' divides by 0; give numbers above 0"),
    ],
)
def test_what_is_not_declared_is_not_guessed(
    text: str, shape: tuple[int | str, ...], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text, shape)
    assert str(caught.value) == sentence
