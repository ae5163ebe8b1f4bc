"""How many files a tree of a commit stands for, counted before anything is listed: a few trees that hold one another many
times stand for more than any machine could write."""

from __future__ import annotations

import re
from collections.abc import Callable

from assay_zoo.robot.git import Git, GitFailed, GitTooLarge

TREES_MOST = 20_000
"""Different trees that are looked at."""
DEEPEST = 64
_TREE = b"40000"
_MANY = "the commit stands for more than {most} files: it holds the same folders many times, or too many"


def count_entries(git: Git, commit: str, path: str, most: int) -> int:
    """Files, links and folders below `path` ("" for all) of a commit; 0 where it is not there. Every tree is read once, however often it
    occurs. Raises GitTooLarge past `most`, or past what is looked at."""
    try:
        top = git.text("rev-parse", "--verify", "--quiet", f"{commit}:{path}")
    except GitTooLarge:
        raise
    except GitFailed:
        return 0
    if git.text("cat-file", "-t", top) != "tree":
        return 1
    with git.objects() as read:
        return _count(top, read.whole, most)


def _count(top: str, read: Callable[[str], bytes], most: int) -> int:
    below: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    known: dict[str, int] = {}
    waiting, seen = [(top, 1, False)], 0
    while waiting:
        tree, depth, done = waiting.pop()
        if done:
            known[tree] = sizes[tree] + sum(known.get(child, most) for child in below[tree])
            if known[tree] > most:
                raise GitTooLarge(_MANY.format(most=most))
        elif tree not in below:
            if depth > DEEPEST:
                raise GitTooLarge(f"the commit has folders in more than {DEEPEST} folders")
            if len(below) >= TREES_MOST:
                raise GitTooLarge(f"the commit has more than {TREES_MOST} different folders")
            below[tree], sizes[tree] = _parsed(read(tree), len(top) // 2)
            seen += sizes[tree]
            if seen > most:
                raise GitTooLarge(_MANY.format(most=most))
            waiting.append((tree, depth, True))
            waiting += [(child, depth + 1, False) for child in below[tree]]
    return known[top]


def _parsed(data: bytes, digest: int) -> tuple[list[str], int]:
    """Trees below, one for each time, and how many entries there are."""
    trees, count, at = [], 0, 0
    while at < len(data):
        end = data.find(b"\0", at)
        if end < 0:
            raise GitFailed("a folder of the commit is damaged: make the commit again")
        mode = data[at:end].partition(b" ")[0]
        blob = data[end + 1 : end + 1 + digest]
        count += 1
        if re.fullmatch(b"0*" + _TREE, mode):
            trees.append(blob.hex())
        at = end + 1 + digest
    return trees, count
