"""Inputs and expected outputs as people have them: where they lie, and how they become what a model takes."""

from __future__ import annotations

import msgspec

LAYOUTS = ("NCHW", "NHWC", "CHW", "HWC")
COLOURS = ("rgb", "bgr", "gray")
FITS = ("stretch", "crop", "letterbox")


class Picture(msgspec.Struct, frozen=True):
    """How an image becomes an input: decoded in `colour`, fitted to `size` (height, width; empty: what the model declares),
    then `(pixel * scale - mean) / std` for each channel, in the `layout`.

    `scale` None is 1 for an input of whole numbers, and must be given for any other. `fit`: stretched, the shorter side
    fitted and the middle cropped, or the longer side fitted and the rest filled with `fill` (0 to 255).
    """

    input: str = ""
    size: tuple[int, ...] = ()
    layout: str = "NCHW"
    colour: str = "rgb"
    fit: str = "stretch"
    scale: float | None = None
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    fill: int = 0


class Data(msgspec.Struct, frozen=True):
    """`source` is a path, or `module:function` or `file.py:function`, which gives dicts. `expected`: outputs that lie beside
    the inputs are what an engine should answer; else they are left out. `state` maps an output to the input of the next
    call that it is fed into; `most` is how many dicts a function is asked for (0: all).
    `tokenizer` is the file that makes tokens of the text of prompts."""

    source: str
    expected: bool = True
    image: Picture | None = None
    state: dict[str, str] = {}
    most: int = 0
    tokenizer: str = ""
