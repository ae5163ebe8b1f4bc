"""What a webhook of a forge says: whether it is the forge's, which delivery it is, and where to look. Nothing else of
its body is used: the forge is asked again before anything is done."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from assay_zoo.robot.config import Secret
from assay_zoo.robot.deliveries import Hint

_SHA = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


class Forge(Protocol):
    """The part of a forge's webhooks that differs. Headers are in lower case."""

    def authentic(self, headers: Mapping[str, str], body: bytes, secrets: Sequence[Secret], /) -> bool: ...

    def delivery(self, headers: Mapping[str, str], body: bytes, /) -> str:
        """The id that a replay repeats; "" where there is none, and then the delivery is refused."""
        ...

    def hint(self, headers: Mapping[str, str], payload: Mapping[str, Any]) -> Hint | None:
        """None for an event that changes nothing for the robot."""
        ...


class Github:
    """X-Hub-Signature-256 over the raw body, as GitHub documents it in "Validating webhook deliveries"."""

    def authentic(self, headers: Mapping[str, str], body: bytes, secrets: Sequence[Secret]) -> bool:
        signature = headers.get("x-hub-signature-256", "").encode()
        # Every secret is tried, so that the time does not tell which of them is in use.
        fits = [
            hmac.compare_digest(
                b"sha256=" + hmac.new(_bytes(secret), body, hashlib.sha256).hexdigest().encode(), signature
            )
            for secret in secrets
        ]
        return any(fits)

    def delivery(self, headers: Mapping[str, str], _: bytes) -> str:
        return headers.get("x-github-delivery", "")

    def hint(self, headers: Mapping[str, str], payload: Mapping[str, Any]) -> Hint | None:
        event = headers.get("x-github-event", "")
        if event in ("pull_request", "pull_request_review"):
            return _numbered(payload.get("pull_request"), "number")
        if event in ("check_run", "check_suite"):
            return _again(payload.get(event)) if payload.get("action") == "rerequested" else None
        return Hint() if event == "push" else None


class Gitlab:
    """X-Gitlab-Token is the secret itself; the delivery is named by Idempotency-Key, before GitLab 17.4 by the event."""

    def authentic(self, headers: Mapping[str, str], _: bytes, secrets: Sequence[Secret]) -> bool:
        token_digest = hashlib.sha256(headers.get("x-gitlab-token", "").encode()).digest()
        # Digests are compared: compare_digest tells the length of what it is given.
        fits = [hmac.compare_digest(hashlib.sha256(_bytes(secret)).digest(), token_digest) for secret in secrets]
        return any(fits)

    def delivery(self, headers: Mapping[str, str], body: bytes) -> str:
        named = headers.get("idempotency-key") or headers.get("x-gitlab-event-uuid")
        return named or hashlib.sha256(body).hexdigest()

    def hint(self, headers: Mapping[str, str], payload: Mapping[str, Any]) -> Hint | None:
        event = headers.get("x-gitlab-event", "")
        if event == "Merge Request Hook":
            return _numbered(payload.get("object_attributes"), "iid")
        return Hint() if event == "Push Hook" else None


FORGES: dict[str, Forge] = {"github": Github(), "gitlab": Gitlab()}


def _numbered(table: object, key: str) -> Hint | None:
    number = table.get(key) if isinstance(table, dict) else None
    return Hint(number=number) if type(number) is int and 0 < number < 2**31 else None


def _again(run: object) -> Hint | None:
    """ "Re-run" of one check, whose external id begins with our number of the submission, or of all checks of a commit."""
    table = run if isinstance(run, dict) else {}
    sha, number = str(table.get("head_sha", "")), str(table.get("external_id", "")).partition(".")[0]
    if not _SHA.fullmatch(sha):
        return None
    return Hint(sha=sha, number=int(number) if _NUMBER.fullmatch(number) else 0)


def _bytes(secret: Secret) -> bytes:
    return secret.reveal().encode()
