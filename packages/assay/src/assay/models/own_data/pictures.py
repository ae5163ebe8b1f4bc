"""Images as inputs, by a declared preparation: nothing about it is guessed but what the model itself declares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from assay.core.data import Picture
from assay.core.dtype import is_floating, numpy_dtype
from assay.core.model import Model, TensorSpec
from assay.core.note import noted
from assay.core.refusals.data_codes import DataCode
from assay.errors import BadGolden, UsageError
from assay.models.own_data.raw import Raw

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp")


def read_picture(path: Path, model: Model, picture: Picture | None) -> Raw:
    """One image as the input of the model that takes images. Raises BadGolden, and UsageError for what the declaration lacks."""
    if picture is None:
        raise UsageError(noted(DataCode.IMAGE_NOT_DECLARED, file=str(path)))
    spec = _input(model, picture)
    batched = _batched(spec, picture)
    height, width = _size(spec, batched, picture)
    pixels = _pixels(path, picture, height, width)
    return Raw(str(path), {spec.name: prepared(pixels, spec, picture)}, splits=False)


def prepared(pixels: Any, spec: TensorSpec, picture: Picture) -> Any:
    """Pixels (height, width, channels) as the input: in float64 first, and rounded once."""
    floating = is_floating(spec.dtype)
    if picture.scale is None and floating:
        raise UsageError(noted(DataCode.IMAGE_SCALE, input=spec.name, dtype=spec.dtype))
    channels = pixels.shape[-1]
    mean, std = (_of_channels(name, getattr(picture, name), channels) for name in ("mean", "std"))
    values = (pixels.astype(np.float64) * (picture.scale if picture.scale is not None else 1.0) - mean) / std
    values = values if floating else np.rint(values)
    if picture.layout in ("NCHW", "CHW"):
        values = values.transpose(2, 0, 1)
    array = np.ascontiguousarray(values.astype(numpy_dtype(spec.dtype)))
    return array[None] if _batched(spec, picture) else array


def _of_channels(name: str, values: tuple[float, ...], channels: int) -> Any:
    if len(values) not in (1, channels):
        raise UsageError(noted(DataCode.IMAGE_CHANNELS, key=name, values=len(values), channels=channels))
    return np.asarray(values, np.float64)


def _input(model: Model, picture: Picture) -> TensorSpec:
    """The one that is named, or the only one that can hold an image."""
    ranks = (4,) if picture.layout.startswith("N") else (3,)
    fitting = [spec for spec in model.inputs if len(spec.shape) in ranks or spec.shape == ("...",)]
    if picture.input:
        fitting = [spec for spec in model.inputs if spec.name == picture.input]
    if len(fitting) != 1:
        inputs = tuple(f"{tensor_spec.name} {list(tensor_spec.shape)}" for tensor_spec in model.inputs)
        raise UsageError(noted(DataCode.IMAGE_INPUT, model=model.name, layout=picture.layout, inputs=inputs))
    return fitting[0]


def _batched(spec: TensorSpec, picture: Picture) -> bool:
    return len(spec.shape) == 4 or (spec.shape == ("...",) and picture.layout.startswith("N"))


def _size(spec: TensorSpec, batched: bool, picture: Picture) -> tuple[int, int]:
    """What was declared, else what the model fixes."""
    shape: tuple[int | str, ...] = spec.shape[1:] if batched else spec.shape
    sides = (shape[1:3] if picture.layout.endswith("CHW") else shape[:2]) if len(shape) == 3 else ()
    fixed = tuple(side for side in sides if isinstance(side, int))
    if picture.size:
        return picture.size[0], picture.size[1]
    if len(fixed) != 2:
        raise UsageError(noted(DataCode.IMAGE_SIZE, input=spec.name, shape=spec.shape))
    return fixed[0], fixed[1]


def _pixels(path: Path, picture: Picture, height: int, width: int) -> Any:
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError:
        raise UsageError(noted(DataCode.PILLOW_NOT_INSTALLED)) from None
    try:
        with Image.open(path) as opened:
            upright = ImageOps.exif_transpose(opened) or opened
            image: Any = upright.convert("L" if picture.colour == "gray" else "RGB")
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        raise BadGolden(noted(DataCode.IMAGE_NOT_READ, file=str(path), error=" ".join(str(error).split()))) from None
    background: Any = picture.fill if picture.colour == "gray" else (picture.fill,) * 3
    bilinear = Image.Resampling.BILINEAR
    if picture.fit == "crop":
        image = ImageOps.fit(image, (width, height), bilinear)
    elif picture.fit == "letterbox":
        image = ImageOps.pad(image, (width, height), bilinear, color=background)
    else:
        image = image.resize((width, height), bilinear)
    pixels: Any = np.asarray(image)
    pixels = pixels[..., None] if pixels.ndim == 2 else pixels
    return pixels[..., ::-1] if picture.colour == "bgr" else pixels
