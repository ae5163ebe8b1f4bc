"""Real git repositories: a zoo that anybody may push to, and commits that no honest git would make."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

ZOO = """
name = "tiny"
[decision]
required = ["files"]
"""
WHO = {
    f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "m"), ("EMAIL", "m@x"))
}


def git(folder: Path, *words: str, input_bytes: bytes | None = None) -> str:
    environment = {**os.environ, **WHO, "GIT_CONFIG_GLOBAL": "/dev/null"}
    ended = subprocess.run(
        ["git", "-C", str(folder), *words], input=input_bytes, capture_output=True, env=environment, check=False
    )
    assert ended.returncode == 0, ended.stderr.decode()
    return ended.stdout.decode().strip()


def make_zoo(folder: Path, files: Mapping[str, str] | None = None) -> Path:
    """A bare repository whose main is a zoo."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "--bare", "-b", "main")
    put(folder, "refs/heads/main", {"zoo.toml": ZOO, "README.md": "# tiny\n", **(files or {})}, base=False)
    return folder


def put(repository: Path, ref: str, files: Mapping[str, str | bytes], *, base: bool = True) -> str:
    """A commit with these files, on top of main, as `ref`."""
    lines = []
    for path, data in files.items():
        blob = git(
            repository, "hash-object", "-w", "--stdin", input_bytes=data.encode() if isinstance(data, str) else data
        )
        lines.append(f"100644 {blob}\t{path}")
    return put_entries(repository, ref, lines, base=base)


def put_entries(repository: Path, ref: str, lines: list[str], *, base: bool = True) -> str:
    """The same from lines of an index, with any mode."""
    index = repository / f"index-{ref.replace('/', '-')}"
    environment = {**os.environ, **WHO, "GIT_INDEX_FILE": str(index)}

    def run(*words: str, input_bytes: bytes | None = None) -> str:
        ended = subprocess.run(
            ["git", "-C", str(repository), *words], input=input_bytes, capture_output=True, env=environment, check=False
        )
        assert ended.returncode == 0, ended.stderr.decode()
        return ended.stdout.decode().strip()

    run("read-tree", "main" if base else "--empty")
    run("update-index", "--index-info", input_bytes="".join(f"{line}\n" for line in lines).encode())
    return commit_tree(repository, ref, run("write-tree"), base=base)


def commit_tree(repository: Path, ref: str, tree: str, *, base: bool = True) -> str:
    parents = ["-p", git(repository, "rev-parse", "main")] if base else []
    commit = git(repository, "commit-tree", tree, *parents, "-m", "a submission")
    git(repository, "update-ref", ref, commit)
    return commit


def tree_of(repository: Path, *entries: tuple[str, str, str]) -> str:
    """A tree object as it is told, with none of git's own checks: (mode, name, object)."""
    body = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(blob) for mode, name, blob in entries)
    return git(repository, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", input_bytes=body)


def blob_of(repository: Path, data: bytes) -> str:
    return git(repository, "hash-object", "-w", "--stdin", input_bytes=data)
