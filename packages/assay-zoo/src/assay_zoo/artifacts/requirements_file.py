"""What a submission asks others to install: packages of the zoo, and no name that is only nearly one of them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

_DISTRIBUTIONS = {
    "PIL": "pillow", "cv2": "opencv-python", "sklearn": "scikit-learn", "skimage": "scikit-image", "yaml": "pyyaml",
    "bs4": "beautifulsoup4", "google.protobuf": "protobuf", "onnxruntime": "onnxruntime",
}  # fmt: skip
"""Where the name of the package that is imported is not that of what is installed."""
_ALSO = ("pip", "setuptools", "wheel", "ipykernel", "jupyter", "notebook", "nbclient", "jupyterlab")
NAMES = re.compile(r"^(requirements|constraints)[^/]*\.(txt|in)$", re.IGNORECASE)


def requirement_problems(text: str, packages: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(line, what is wrong), the file's name left out."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    known = {canonicalize_name(_DISTRIBUTIONS.get(name, name)) for name in packages} | set(_ALSO)
    for number, line in enumerate(text.splitlines(), 1):
        asked = line.partition(" #")[0].strip()
        if not asked or asked.startswith("#"):
            continue
        if asked.startswith("-"):
            yield number, f"tells the installer {asked[:60]!r}: list packages, nothing else"
            continue
        try:
            one = Requirement(asked)
        except InvalidRequirement:
            yield number, f"has {asked[:60]!r}, which is no requirement that can be read"
            continue
        name = canonicalize_name(one.name)
        if one.url:
            yield number, f"takes {one.name} from an address of its own: name a package of this zoo"
        elif name not in known and (near := difflib.get_close_matches(name, known, n=1, cutoff=0.75)):
            yield number, f"asks for {one.name!r}, which is nearly {near[0]!r} and is not: such names are traps"
        elif name not in known:
            yield number, f"asks for {one.name!r}, which is no package of this zoo ({', '.join(packages)})"
