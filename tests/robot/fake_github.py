"""GitHub as its REST documentation (version 2022-11-28) describes it, for the parts that the robot uses.

Refuses what GitHub refuses: requests without a valid token, descriptions past 140 characters. Shapes are cut down from recorded
answers. Every request is held against GitHub's own description (`github_openapi`).
`faults` holds answers that are given instead, each once.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from github_openapi import refusal
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

REPOSITORY = "zoo/models"
ROBOT = {"login": "robot-account", "id": 12, "type": "User"}
PER_PAGE = 30


@dataclass
class FakeGithub:
    repository: str
    token: str = "github_pat_1"
    pulls: dict[int, dict[str, Any]] = field(default_factory=dict)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    comments: list[dict[str, Any]] = field(default_factory=list)
    log: list[tuple[str, str]] = field(default_factory=list)
    reviews: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    permissions: dict[str, str] = field(default_factory=dict)
    faults: list[tuple[str, str, Response]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    renamed_from: str = ""
    most_per_page: int = 100

    def add_pull(
        self, number: int, sha: str, *, title: str = "A model", base: str = "main", login: str = "octocat"
    ) -> None:
        self.pulls[number] = {
            "id": 1000 + number,
            "number": number,
            "state": "open",
            "title": title,
            "html_url": f"https://github.example/{self.repository}/pull/{number}",
            "user": {"login": login, "id": 7, "type": "User"},
            "head": {"label": f"{login}:patch-{number}", "ref": f"patch-{number}", "sha": sha},
            "base": {"label": f"zoo:{base}", "ref": base, "sha": "0" * 40},
            "draft": False,
        }

    def app(self) -> Starlette:
        at = f"/repos/{self.repository}"
        return Starlette(
            routes=[
                self._route("/user", self._user),
                self._route(f"{at}/pulls", self._pulls),
                self._route(f"{at}/pulls/{{number:int}}", self._pull, "GET", "PATCH"),
                self._route(f"{at}/pulls/{{number:int}}/reviews", self._reviews),
                self._route(f"{at}/collaborators/{{login}}/permission", self._permission),
                self._route(f"{at}/statuses/{{sha}}", self._status, "POST"),
                self._route(f"{at}/issues/{{number:int}}/comments", self._comments, "GET", "POST"),
                self._route(f"{at}/issues/comments/{{id:int}}", self._change_comment, "PATCH"),
                Route("/repos/{owner}/{repo}/{rest:path}", self._renamed, methods=["GET", "POST", "PATCH"]),
            ]
        )

    def _route(self, path: str, handler: Callable[..., Any], *methods: str) -> Route:
        async def answer(request: Request) -> Response:
            self.log.append((request.method, request.url.path))
            for fault in self.faults:
                if fault[0] == request.method and fault[1] in request.url.path:
                    self.faults.remove(fault)
                    return fault[2]
            sent = await request.body()
            body = json.loads(sent) if sent else None
            if why := refusal(request.method, request.url.path, request.query_params, body):
                self.refused.append(why)
                return JSONResponse({"message": why}, 422)
            if request.headers.get("x-github-api-version") != "2022-11-28":
                return JSONResponse({"message": "no version"}, 400)
            given = request.headers.get("authorization", "").removeprefix("Bearer ")
            if given != self.token:
                return JSONResponse({"message": "Bad credentials"}, 401)
            return handler(request, body or {})  # type: ignore[no-any-return]

        return Route(path, answer, methods=list(methods) or ["GET"])

    async def _renamed(self, request: Request) -> Response:
        """GitHub answers 301 to whatever is asked of the old name, and 404 of one that it never had."""
        self.log.append((request.method, request.url.path))
        old = f"/repos/{self.renamed_from}/"
        if not self.renamed_from or not request.url.path.startswith(old):
            return JSONResponse({"message": "Not Found"}, 404)
        where = str(request.url).replace(old, f"/repos/{self.repository}/", 1)
        return JSONResponse({"message": "Moved Permanently", "url": where}, 301, headers={"location": where})

    def _user(self, request: Request, body: Any) -> Response:
        return JSONResponse(ROBOT)

    def _pulls(self, request: Request, body: Any) -> Response:
        state, base = request.query_params.get("state"), request.query_params.get("base")
        return self._paged(
            request, [pull for pull in self.pulls.values() if pull["state"] == state and pull["base"]["ref"] == base]
        )

    def _pull(self, request: Request, body: Any) -> Response:
        pull = self.pulls.get(request.path_params["number"])
        if pull is None:
            return JSONResponse({"message": "Not Found"}, 404)
        pull.update(body)
        return JSONResponse(pull)

    def _reviews(self, request: Request, body: Any) -> Response:
        return self._paged(request, self.reviews.get(request.path_params["number"], []))

    def _permission(self, request: Request, body: Any) -> Response:
        known = self.permissions.get(request.path_params["login"])
        if known is None:
            return JSONResponse({"message": "Not Found"}, 404)
        return JSONResponse({"permission": known, "role_name": known, "user": {"login": request.path_params["login"]}})

    def _status(self, request: Request, body: Any) -> Response:
        if body["state"] not in ("error", "failure", "pending", "success") or len(body["description"]) > 140:
            return JSONResponse({"message": "Validation Failed"}, 422)
        self.statuses.append({**body, "sha": request.path_params["sha"]})
        return JSONResponse({"id": len(self.statuses), **body}, 201)

    def _comments(self, request: Request, body: Any) -> Response:
        number = request.path_params["number"]
        if request.method == "GET":
            return self._paged(request, [comment for comment in self.comments if comment["number"] == number])
        if len(body["body"]) > 65536:
            return JSONResponse({"message": "body is too long"}, 422)
        self.comments.append({"id": 900 + len(self.comments), "number": number, "body": body["body"], "user": ROBOT})
        return JSONResponse(self.comments[-1], 201)

    def _change_comment(self, request: Request, body: Any) -> Response:
        comment = next(kept for kept in self.comments if kept["id"] == request.path_params["id"])
        comment["body"] = body["body"]
        return JSONResponse(comment)

    def _paged(self, request: Request, rows: list[Any]) -> Response:
        size = min(int(request.query_params.get("per_page", PER_PAGE)), self.most_per_page)
        page = int(request.query_params.get("page", 1))
        part = rows[(page - 1) * size : page * size]
        headers = {}
        if page * size < len(rows):
            following = request.url.include_query_params(page=page + 1)
            headers["link"] = f'<{following}>; rel="next", <{following}>; rel="last"'
        return JSONResponse(part, headers=headers)
