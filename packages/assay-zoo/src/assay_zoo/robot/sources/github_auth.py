"""Who the robot is at GitHub: an App whose installation gives short-lived tokens, or the holder of one token."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime

from assay_zoo.robot.config_schema import AppTable
from assay_zoo.robot.sources.forge_http import ForgeHttp
from assay_zoo.robot.sources.source import SourceFailed

_EARLY_S = 300.0
"""A token is renewed before it ends, so that a long push does not lose it on the way."""
VERSION = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}


class TokenHolder:
    """A personal or fine-grained token."""

    def __init__(self, token: str, http: Callable[[], ForgeHttp]) -> None:
        self._token, self._http = token, http
        self._login = ""

    def token(self, fresh: bool = False) -> str:  # noqa: ARG002 - there is but one
        return self._token

    def end(self) -> None:
        """Its connection is that of the others."""

    def login(self) -> str:
        """The name under which its comments stand."""
        self._login = self._login or str(self._http().get("/user")["login"])
        return self._login


class App:
    """A GitHub App: a JWT signed by its key asks for the token of the repository's installation."""

    def __init__(
        self, table: AppTable, key: str, api: str, repository: str, *, now: Callable[[], float] = time.time
    ) -> None:
        self._id, self._key, self._repository, self._now = table.id, key, repository, now
        self._http = ForgeHttp(api, self._as_app, headers=VERSION, now=now)
        self._lock = threading.Lock()
        self._token, self._until, self._login = "", 0.0, ""

    def token(self, fresh: bool = False) -> str:
        with self._lock:
            if fresh or self._now() > self._until - _EARLY_S:
                installation = self._http.get(f"/repos/{self._repository}/installation")
                asked = {"repositories": [self._repository.partition("/")[2]]}
                given = self._http.send(
                    "POST", f"/app/installations/{int(installation['id'])}/access_tokens", asked
                ).json()
                self._token = str(given["token"])
                self._until = datetime.fromisoformat(given["expires_at"].replace("Z", "+00:00")).timestamp()
            return self._token

    def end(self) -> None:
        self._http.end()

    def login(self) -> str:
        self._login = self._login or f"{self._http.get('/app')['slug']}[bot]"
        return self._login

    def _as_app(self, _: bool) -> Mapping[str, str]:
        import jwt

        now = int(self._now())
        # A minute back and nine ahead: GitHub takes ten at most, and clocks differ.
        claims = {"iat": now - 60, "exp": now + 540, "iss": str(self._id)}
        try:
            signed = jwt.encode(claims, self._key, algorithm="RS256")
        except (ValueError, TypeError, jwt.PyJWTError):
            raise SourceFailed(
                "the private key of the GitHub App cannot be used: give the PEM file that GitHub made"
            ) from None
        return {"authorization": f"Bearer {signed}"}
