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

INSTALLERS = re.compile(
    r"^(environment|conda|pyproject|pipfile|poetry|uv|setup|pixi)[^/]*\.(ya?ml|toml|lock|cfg|py)$|^pipfile$",
    re.IGNORECASE,
)
"""Where else people ask for packages."""
NOT_READ = "asks for packages in a way that is not looked into: list them in requirements.txt"
_ASKED = re.compile(r"\b(?:pip3?|conda|mamba|uv|poetry)\s+(?:install|add)\s+([^\n;&|#)]+)")
_IDLE = ("-U", "--upgrade", "-q", "--quiet", "-y")
_FILE = re.compile(r"(?:^|\s)(?:-r|--requirement|-c|--constraint)[\s=]+requirements[^\s]*")


def asked_for_in(text: str, packages: Sequence[str]) -> Iterator[tuple[int, str]]:
    """As `requirement_problems`, of the commands in a readme."""
    from markdown_it import MarkdownIt

    for token in MarkdownIt("commonmark", {"maxNesting": 20}).parse(text):
        line = token.map[0] + 1 if token.map else 0
        for one in [token, *(token.children or [])]:
            for command in _ASKED.findall(one.content) if one.type in ("fence", "code_block", "code_inline") else ():
                words = _FILE.sub("", command).split()
                asked = "\n".join(word.strip("'\"") for word in words if word not in _IDLE)
                yield from ((line, told) for _, told in requirement_problems(asked, packages))


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
