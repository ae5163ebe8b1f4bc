"""Files of a revision: of the repository at hand, or of another by its address."""

from __future__ import annotations

import os
import posixpath
import re
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from assay.errors import BadModel
from assay.models.files import is_lfs_pointer
from assay.models.named_sources import wanted as limits
from assay.models.named_sources.tokens import basic_credentials, check_server, demand_no_query, host_of
from assay.models.named_sources.wanted import SourceRequest, named_in

_REDIRECT = re.compile(r"requested URL returned error: (30\d)")
_PROTOCOLS = "https:http:ssh"
"""What git may speak: `ext::` would run a program that a name says, `file:` would read whatever lies there."""
_SETTINGS = [
    argument
    for setting in (
        "core.hooksPath=/dev/null",
        "core.fsmonitor=false",
        # git would show the token to the other host, and checks none of its addresses as ours are checked.
        "http.followRedirects=false",
        "fetch.fsckObjects=true",
        # Trees that old programs wrote, and no danger.
        "fetch.fsck.zeroPaddedFilemode=ignore",
    )
    for argument in ("-c", setting)
]
_OF_ANOTHER = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")
"""Set while a hook of git runs."""


def from_here(request: SourceRequest, into: Path) -> Path:
    """`git:REF:path`, of the repository of the working folder; the path is relative to that."""
    _, ref, path = [*request.said.split(":", 2), "", ""][:3]
    if not ref or not path or ref.startswith("-"):
        raise BadModel(f"{request.said} names no file of a revision: write git:REF:path, as in git:main:model.onnx")
    here = Path.cwd()
    below = _git(here, request, "rev-parse", "--show-prefix")
    return _from_tree(
        here, request, ref, posixpath.normpath(posixpath.join(os.fsdecode(below).rstrip("\n"), path)), into
    )


def from_repository(request: SourceRequest, into: Path) -> Path:
    """`git+https://host/repository@REF:path`: that revision alone is fetched, and of its files those that are read."""
    address, _, rest = request.said.removeprefix("git+").rpartition("@")
    ref, _, path = rest.partition(":")
    demand_no_query(f"{address}@{ref}" if address else request.said)  # no name of a revision has one
    if "://" not in address or not ref or not path or ref.startswith("-"):
        raise BadModel(f"{request.said} names no file of a revision: write git+https://host/repository@REF:path")
    check_server(address)
    with tempfile.TemporaryDirectory(dir=into.parent, prefix="tmp-") as name:
        here = Path(name)
        _git(here, request, "init", "--quiet", "--bare")
        _git(here, request, "remote", "add", "origin", address)
        _git(here, request, "fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", ref)
        return _from_tree(here, request, "FETCH_HEAD", posixpath.normpath(path), into)


def _from_tree(repository: Path, request: SourceRequest, ref: str, path: str, into: Path) -> Path:
    """The file, and those below its folder that it names."""
    if path.startswith(("../", "/")):
        raise BadModel(f"{request.said}: {path} lies outside of the repository; name a file in it")
    revision = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    request.commit = _git(repository, request, *revision).decode().strip()
    folder = posixpath.dirname(path)
    below = [f"{folder}/"] if folder else []
    objects = _files_of(
        _git(repository, request, "ls-tree", "-r", "-z", "--full-tree", request.commit, *below), request
    )
    if path not in objects:
        raise BadModel(
            f"{request.said}: there is no file {path} in the commit {request.commit[:12]}; name it from the folder that you are in"
        )
    model = into / PurePosixPath(path).name
    _write(repository, request, objects[path], model)
    beside = (posixpath.relpath(file, folder or ".") for file in objects if file != path)
    for name in named_in(model, beside):
        to = into / name
        if not to.resolve().is_relative_to(into.resolve()):
            raise _outside(request, name)
        to.parent.mkdir(parents=True, exist_ok=True)
        _write(repository, request, objects[posixpath.join(folder, name)], to)
    return model


def _files_of(listed: bytes, request: SourceRequest) -> dict[str, str]:
    """The object of each file, by its name. git's own commands make no tree that leads out of its folder; a program can."""
    objects = {}
    for line in listed.split(b"\0"):
        about, _, raw = line.partition(b"\t")
        name = os.fsdecode(raw)
        if about and any(part in ("", ".", "..") or part.casefold() == ".git" for part in name.split("/")):
            raise _outside(request, name)
        if about.startswith(b"100"):
            objects[name] = about.split(b" ")[2].decode("ascii")
    return objects


def _outside(request: SourceRequest, name: str) -> BadModel:
    return BadModel(
        f"{request.said}: the commit {request.commit[:12]} has a file {name!r}, which would lie outside of its "
        "folder: no file of it is used"
    )


def _write(repository: Path, request: SourceRequest, blob: str, to: Path) -> None:
    with to.open("wb") as file:
        _git(repository, request, "cat-file", "blob", blob, into=file)
    request.demand_room(to.stat().st_size)
    if is_lfs_pointer(to) and shutil.which("git-lfs"):
        pointer = to.read_bytes()
        with to.open("wb") as file:
            _git(repository, request, "lfs", "smudge", stdin=pointer, into=file)
        request.demand_room(to.stat().st_size)


def _git(
    folder: Path, request: SourceRequest, *arguments: str, stdin: bytes = b"", into: BinaryIO | None = None
) -> bytes:
    """What it prints, which a file gets where one is given. It asks nobody for a password, runs nothing that a repository says, and writes
    no file that is too large."""
    command = ["git", *_SETTINGS, *arguments]
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    most = limits.MOST_BYTES if hard == resource.RLIM_INFINITY else min(limits.MOST_BYTES, hard)
    try:
        ended = subprocess.run(
            command,
            cwd=folder,
            env=_environment(request),
            input=stdin,
            stdout=into or subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=request.left_s(),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
        )
    except FileNotFoundError:
        raise BadModel(f"{request.said} needs git: install it, or give a file") from None
    except subprocess.TimeoutExpired:
        raise request.too_slow() from None
    if ended.returncode:
        raise BadModel(f"{request.said}: {_reason(ended.stderr.decode(errors='replace'))}")
    return ended.stdout or b""


def _reason(text: str) -> str:
    """The first line of git's that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    wrong = [line for line in lines if line.startswith(("fatal: ", "error: ", "remote: "))]
    if code := _REDIRECT.search(text):
        return (
            f"the server sends git to another address (HTTP {code[1]}), which is not followed: "
            "give the address that it has now (often the same with .git at its end)"
        )
    if not lines:
        return "there is no such revision here; `git fetch` brings those of a server"
    return (wrong or lines)[0].split(": ", 1)[-1]


def _environment(request: SourceRequest) -> dict[str, str]:
    other = request.said.startswith("git+")
    known = {name: value for name, value in os.environ.items() if not (other and name in _OF_ANOTHER)}
    known |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": _PROTOCOLS, "LC_ALL": "C"}
    address = request.said.removeprefix("git+")
    if other and (header := basic_credentials(host_of(address))):
        server = "/".join(address.split("/")[:3])
        # Arguments would be seen by every user of the machine. Entries that are there already stay.
        count = known.get("GIT_CONFIG_COUNT", "")
        at = int(count) if count.isdecimal() else 0
        known |= {
            "GIT_CONFIG_COUNT": str(at + 1),
            f"GIT_CONFIG_KEY_{at}": f"http.{server}/.extraHeader",
            f"GIT_CONFIG_VALUE_{at}": header,
        }
    return known
