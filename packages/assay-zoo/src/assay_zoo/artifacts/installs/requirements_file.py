"""What a submission asks others to install: packages of the zoo, and no name that is only nearly one of them."""

from __future__ import annotations

import difflib
import html
import re
from collections.abc import Iterator, Sequence

from assay_zoo.artifacts.installs.fetched_commands import run_from_address
from assay_zoo.artifacts.installs.install_commands import installed_by, needs_a_look

_DISTRIBUTIONS = {
    "PIL": "pillow", "cv2": "opencv-python", "sklearn": "scikit-learn", "skimage": "scikit-image", "yaml": "pyyaml",
    "bs4": "beautifulsoup4", "google.protobuf": "protobuf", "onnxruntime": "onnxruntime",
}  # fmt: skip
"""Where the name of the package that is imported is not that of what is installed."""
_HTML_CODE = re.compile(
    r"<(?:pre|code|kbd|samp|tt)\b[^>]*>(.*?)(?:</(?:pre|code|kbd|samp|tt)\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_TAG = re.compile(r"<[^>]*>")
_ALSO = ("pip", "setuptools", "wheel", "ipykernel", "jupyter", "notebook", "nbclient", "jupyterlab")
_VARIANTS = {
    "onnxruntime": ("onnxruntime-gpu", "onnxruntime-directml", "onnxruntime-openvino", "onnxruntime-qnn"),
    "opencv-python": ("opencv-python-headless", "opencv-contrib-python", "opencv-contrib-python-headless"),
    "tensorflow": ("tensorflow-cpu",),
    "cupy": ("cupy-cuda11x", "cupy-cuda12x"),
}
"""Other builds of a package, by the same people: who may ask for the one may ask for them."""
INSTALLERS = re.compile(
    r"^(?:setup\.(?:py|cfg)|pyproject\.toml|pipfile(?:\.lock)?|(?:poetry|uv|pixi|pdm)\.(?:toml|lock)|pylock(?:\.[^/]+)?\.toml"
    r"|(?:environments?|conda)(?:[-_.][^/]*)?\.(?:ya?ml|lock))$",
    re.IGNORECASE,
)
"""Where else people ask for packages."""
_COMMENT = re.compile(r"(^|\s+)#.*$")
_OPTIONS = re.compile(r"(.*?)((?:\s-.*)?)", re.DOTALL)
"""A requirement, and what pip is told of it: from the first word on that begins with a dash."""
_DIGESTS = re.compile(r"(?:\s+--hash[=\s]\s*sha(?:256|384|512):[0-9a-fA-F]+)*\s*")
"""They choose nothing: what is taken must be these very bytes."""
_OF_OTHERS = re.compile(
    r"\bhub\s*\.\s*load\s*\(|\btrust_remote_code\s*=\s*True|\bhub\s*\.\s*KerasLayer\s*\(\s*[\"']https?:|--trust-remote-code\b"
)
"""What fetches code of another repository and runs it (torch.hub, transformers, tensorflow_hub)."""
RUNS_ADDRESS = "tells readers to run what an address gives"
NOT_READ = "asks for packages in a way that is not looked into: list them in requirements.txt"
UNREAD_TABLE = "has {table}, which may load code and is not looked into: leave it out, or a person looks"


def asked_for_in(text: str, packages: Sequence[str]) -> Iterator[tuple[int, str]]:
    """As `requirement_problems`, of the commands in a readme."""
    from markdown_it import MarkdownIt

    fetched: set[str] = set()
    for token in MarkdownIt("commonmark", {"maxNesting": 20}).parse(text):
        line = token.map[0] + 1 if token.map else 0
        for part in [token, *(token.children or [])]:
            code = _code_of(part.type, part.content)
            if words := run_from_address(code, fetched):
                yield line, f"{RUNS_ADDRESS} ({words!r}): hand it in, or leave it out"
            if part.type != "code_inline" and (words := code_of_others(code)):
                yield line, f"tells readers to run code of another repository ({words!r}): hand it in, or leave it out"
            for asked in installed_by(code):
                yield from ((line, problem) for _, problem in requirement_problems("\n".join(asked), packages))


def code_of_others(code: str) -> str:
    """The words that fetch code of another repository and run it, "" for none."""
    match = _OF_OTHERS.search(code)
    return match[0] if match else ""


def _code_of(kind: str, content: str) -> str:
    """What a reader sees as code."""
    if kind in ("fence", "code_block", "code_inline"):
        return content
    inside = _HTML_CODE.findall(content) if kind in ("html_block", "inline") else []
    return "\n".join(html.unescape(_TAG.sub("", block)) for block in inside)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """As pip reads them (pip/_internal/req/req_file.py): a backslash at its end goes on with the next line, but not in a comment."""
    begun, parts = 0, list[str]()
    for number, line in enumerate([*text.splitlines(), ""], 1):
        begun = begun or number
        comment = _COMMENT.match(line) is not None
        if line.endswith("\\") and not comment:
            parts.append(line[:-1])
            continue
        asked = _COMMENT.sub("", "".join([*parts, f" {line}" if comment else line])).strip()
        if asked:
            yield begun, asked
        begun, parts = 0, []


def requirement_problems(text: str, packages: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(line, what is wrong), the file's name left out."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    known = {canonicalize_name(_DISTRIBUTIONS.get(name, name)) for name in packages} | set(_ALSO)
    known.update(*(_VARIANTS.get(name, ()) for name in tuple(known)))
    for number, asked in _lines(text):
        if asked.startswith("-"):
            if sentence := " ".join(needs_a_look(asked)):
                yield number, f"tells the installer {sentence[:60]!r}: list packages, nothing else"
            continue
        asked, options = _OPTIONS.fullmatch(asked).groups()  # type: ignore[union-attr]
        if not _DIGESTS.fullmatch(options):
            yield number, f"tells the installer {options.strip()[:60]!r}: list packages, nothing else"
        try:
            requirement = Requirement(asked)
        except InvalidRequirement:
            yield number, f"has {asked[:60]!r}, which is no requirement that can be read"
            continue
        name = canonicalize_name(requirement.name)
        if requirement.url:
            yield number, f"takes {requirement.name} from an address of its own: name a package of this zoo"
        elif name not in known and (near := difflib.get_close_matches(name, known, n=1, cutoff=0.75)):
            yield number, f"asks for {requirement.name!r}, which is nearly {near[0]!r} and is not: such names are traps"
        elif name not in known:
            yield number, f"asks for {requirement.name!r}, which is no package of this zoo ({', '.join(packages)})"
