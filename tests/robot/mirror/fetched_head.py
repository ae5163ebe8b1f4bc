"""A head that a mirror has fetched."""

from __future__ import annotations

from assay_zoo.robot.mirror import Mirror
from assay_zoo.robot.queue_records import Head

REF = "refs/heads/submission/a"
MOST = {"most_bytes": 100_000, "most_files": 50}


def fetched(mirror: Mirror, sha: str) -> Head:
    head = Head(sha=sha, branch="submission/a", ref=REF)
    mirror.fetch_head(head)
    return head
