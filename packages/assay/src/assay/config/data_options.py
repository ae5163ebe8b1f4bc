"""What a user writes of own data, as values: `--golden`, `--inputs`, `--image`, `--state`, and the keys of assay.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.core.data import COLOURS, FITS, LAYOUTS, Data, Picture
from assay.core.nearest_name import nearest
from assay.errors import UsageError
from assay.models.golden_checks import FILES, LOCK
from assay.models.own_data.functions import is_function

_KEYS = ("input", "size", "layout", "colour", "fit", "scale", "mean", "std", "fill")


def is_data(source: str) -> bool:
    """Whether it is there and no golden folder: a function, a file, or a folder without a lock and without a golden's files."""
    path = Path(source)
    if is_function(source):
        return True
    if not path.is_dir():
        return path.is_file()
    return not any((path / name).exists() for name in (LOCK, *FILES.values()))


def data_of(golden: str, inputs: str, *, state: Mapping[str, str], image: str, most: int = 0) -> Data | None:
    """What is to be read before anything runs; None where a golden folder serves as it is, or nothing was given. Raises
    UsageError for options that say nothing of what was given."""
    if golden and inputs:
        raise UsageError(f"--golden {golden} and --inputs {inputs} both bring inputs; give one of them")
    picture = parse_picture(image) if image else None
    if not golden and not inputs:
        if image or state:
            raise UsageError(
                "--image and --state say how given data are read, and none are given: add --inputs or --golden"
            )
        return None
    if golden and not is_data(golden) and not state:
        return None
    return Data(golden or inputs, bool(golden), picture, dict(state), most)


def parse_state(pairs: Sequence[str]) -> dict[str, str]:
    """`OUTPUT=INPUT` each. Raises UsageError."""
    state = {}
    for pair in pairs:
        output, separator, name = pair.partition("=")
        if not separator or not output or not name:
            raise UsageError(f"--state {pair!r} is not OUTPUT=INPUT; write for example --state stateN=state")
        state[output] = name
    return state


def parse_picture(text: str) -> Picture:
    """`size=224x224,layout=NCHW,scale=1/255,mean=0.485:0.456:0.406,...`. Raises UsageError."""
    told: dict[str, str] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        key, separator, value = part.partition("=")
        key, value = key.strip().replace("color", "colour"), value.strip()
        if not separator or key not in _KEYS:
            near = nearest(key, _KEYS)
            hint = f"perhaps you mean {near}" if near else f"it has {', '.join(_KEYS)}"
            raise UsageError(f"image {text!r}: {part!r} is not KEY=VALUE of an image; {hint}")
        told[key] = value
    return Picture(
        input=told.get("input", ""),
        size=_size(told["size"]) if "size" in told else (),
        layout=_one_of("layout", told.get("layout", "NCHW").upper(), LAYOUTS),
        colour=_one_of("colour", told.get("colour", "rgb").lower(), COLOURS),
        fit=_one_of("fit", told.get("fit", "stretch").lower(), FITS),
        scale=_number("scale", told["scale"]) if "scale" in told else None,
        mean=_numbers("mean", told.get("mean", "0")),
        std=_deviations(told.get("std", "1")),
        fill=int(_number("fill", told.get("fill", "0"))),
    )


def _size(text: str) -> tuple[int, ...]:
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdigit() and int(part) for part in parts):
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
