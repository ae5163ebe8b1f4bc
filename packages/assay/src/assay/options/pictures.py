"""How images become inputs, as it is written: `size=224x224,layout=NCHW,scale=1/255,mean=0.485:0.456:0.406,...`"""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.data import COLOURS, FITS, LAYOUTS, Picture
from assay.core.nearest_name import nearest
from assay.errors import UsageError

_KEYS = ("input", "size", "layout", "colour", "fit", "scale", "mean", "std", "fill")


def read_picture(text: str) -> Picture:
    """`size=224x224,layout=NCHW,scale=1/255,mean=0.485:0.456:0.406,...`. Raises UsageError."""
    values: dict[str, str] = {}
    for part in filter(None, (item.strip() for item in text.split(","))):
        key, separator, value = part.partition("=")
        key, value = key.strip().replace("color", "colour"), value.strip()
        if not separator or key not in _KEYS:
            near = nearest(key, _KEYS)
            hint = f"perhaps you mean {near}" if near else f"it has {', '.join(_KEYS)}"
            raise UsageError(f"image {text!r}: {part!r} is not KEY=VALUE of an image; {hint}")
        values[key] = value
    return Picture(
        input=values.get("input", ""),
        size=_size(values["size"]) if "size" in values else (),
        layout=_one_of("layout", values.get("layout", "NCHW").upper(), LAYOUTS),
        colour=_one_of("colour", values.get("colour", "rgb").lower(), COLOURS),
        fit=_one_of("fit", values.get("fit", "stretch").lower(), FITS),
        scale=_number("scale", values["scale"]) if "scale" in values else None,
        mean=_numbers("mean", values.get("mean", "0")),
        std=_deviations(values.get("std", "1")),
        fill=int(_number("fill", values.get("fill", "0"))),
    )


def _size(text: str) -> tuple[int, ...]:
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdecimal() and int(part) for part in parts):
        raise UsageError(f"image size {text!r} is not HEIGHTxWIDTH; write for example size=224x224")
    return int(parts[0]), int(parts[1])


def _one_of(key: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise UsageError(f"image {key} {value!r} is not one of {', '.join(known)}")
    return value


def _numbers(key: str, text: str) -> tuple[float, ...]:
    return tuple(_number(key, part) for part in text.split(":"))


def _deviations(text: str) -> tuple[float, ...]:
    numbers = _numbers("std", text)
    if not all(numbers):
        raise UsageError(f"image std {text!r} divides by 0; give numbers above 0")
    return numbers


def _number(key: str, text: str) -> float:
    """Also a fraction, 1/255."""
    above, slash, below = text.partition("/")
    try:
        return float(above) / float(below) if slash else float(above)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"image {key} {text!r} is no number; write for example {key}=1/255") from None


def write_picture(picture: Picture) -> str:
    """The text that is read as this picture: what differs from the defaults."""
    plain = Picture()
    by_key = {
        "input": picture.input,
        "size": "x".join(map(str, picture.size)),
        "layout": picture.layout if picture.layout != plain.layout else "",
        "colour": picture.colour if picture.colour != plain.colour else "",
        "fit": picture.fit if picture.fit != plain.fit else "",
        "scale": "" if picture.scale is None else f"{picture.scale:.17g}",
        "mean": ":".join(f"{number:.17g}" for number in picture.mean) if picture.mean != plain.mean else "",
        "std": ":".join(f"{number:.17g}" for number in picture.std) if picture.std != plain.std else "",
        "fill": str(picture.fill) if picture.fill else "",
    }
    return ",".join(f"{key}={value}" for key, value in by_key.items() if value) or f"layout={plain.layout}"
