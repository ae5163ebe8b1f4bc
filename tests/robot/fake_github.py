"""GitHub as its REST documentation (version 2022-11-28) describes it, for the parts that the robot uses.

Refuses what GitHub refuses: requests without a valid token, JWTs that are not signed by the App's key or live too long,
more than 50 annotations at once, check runs of a plain token, descriptions past 140 characters. Shapes are cut down from
recorded answers. Every request is held against GitHub's own description (`github_openapi`).
`faults` holds answers that are given instead, each once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jwt
from github_openapi import refusal
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

APP_ID, INSTALLATION = 4711, 99
BOT = {"login": "assay-zoo[bot]", "id": 41898282, "type": "Bot"}
PER_PAGE = 30


@dataclass
class FakeGithub:
    repository: str
    public_key: bytes = b""
    token: str = "ghs_installation0001"
    pulls: dict[int, dict[str, Any]] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)
    annotations: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    comments: list[dict[str, Any]] = field(default_factory=list)
    log: list[tuple[str, str]] = field(default_factory=list)
    reviews: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    permissions: dict[str, str] = field(default_factory=dict)
    faults: list[tuple[str, str, Response]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    renamed_from: str = ""
    tokens_given: int = 0
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
                self._route("/app", self._app, as_app=True),
                self._route(f"{at}/installation", self._installation, as_app=True),
                self._route("/app/installations/{id:int}/access_tokens", self._token, "POST", as_app=True),
                self._route("/user", self._user),
                self._route(f"{at}/pulls", self._pulls),
                self._route(f"{at}/pulls/{{number:int}}", self._pull, "GET", "PATCH"),
                self._route(f"{at}/pulls/{{number:int}}/reviews", self._reviews),
                self._route(f"{at}/collaborators/{{login}}/permission", self._permission),
                self._route(f"{at}/commits/{{sha}}/check-runs", self._runs),
                self._route(f"{at}/check-runs", self._make_run, "POST"),
                self._route(f"{at}/check-runs/{{id:int}}", self._change_run, "PATCH"),
                self._route(f"{at}/statuses/{{sha}}", self._status, "POST"),
                self._route(f"{at}/issues/{{number:int}}/comments", self._comments, "GET", "POST"),
                self._route(f"{at}/issues/comments/{{id:int}}", self._change_comment, "PATCH"),
                Route("/repos/{owner}/{repo}/{rest:path}", self._renamed, methods=["GET", "POST", "PATCH"]),
            ]
        )

    def _route(self, path: str, handler: Callable[..., Any], *methods: str, as_app: bool = False) -> Route:
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
            if not (self._is_app(given) if as_app else given == self.token):
                return JSONResponse({"message": "Bad credentials"}, 401)
            return handler(request, body or {})  # type: ignore[no-any-return]

        return Route(path, answer, methods=list(methods) or ["GET"])

    def _is_app(self, given: str) -> bool:
        try:
            claims = jwt.decode(given, self.public_key, algorithms=["RS256"], issuer=str(APP_ID))
        except jwt.PyJWTError:
            return False
        return bool(claims["exp"] - claims["iat"] <= 600)

    async def _renamed(self, request: Request) -> Response:
        """GitHub answers 301 to whatever is asked of the old name, and 404 of one that it never had."""
        self.log.append((request.method, request.url.path))
        old = f"/repos/{self.renamed_from}/"
        if not self.renamed_from or not request.url.path.startswith(old):
            return JSONResponse({"message": "Not Found"}, 404)
        where = str(request.url).replace(old, f"/repos/{self.repository}/", 1)
        return JSONResponse({"message": "Moved Permanently", "url": where}, 301, headers={"location": where})

    def _app(self, request: Request, body: Any) -> Response:
        return JSONResponse({"id": APP_ID, "slug": "assay-zoo", "name": "Assay zoo"})

    def _installation(self, request: Request, body: Any) -> Response:
        return JSONResponse({"id": INSTALLATION, "app_id": APP_ID})

    def _token(self, request: Request, body: Any) -> Response:
        assert request.path_params["id"] == INSTALLATION
        self.tokens_given += 1
        self.token = f"ghs_installation{self.tokens_given:04d}"
        ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
        return JSONResponse({"token": self.token, "expires_at": ends, "permissions": {"checks": "write"}}, 201)

    def _user(self, request: Request, body: Any) -> Response:
        return JSONResponse({"login": "robot-account", "id": 12})

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

    def _runs(self, request: Request, body: Any) -> Response:
        wanted = (request.path_params["sha"], request.query_params.get("check_name"))
        found = [run for run in self.runs if (run["head_sha"], run["name"]) == wanted]
        return self._paged(request, found, key="check_runs")

    def _make_run(self, request: Request, body: Any) -> Response:
        if not self.public_key:
            return JSONResponse({"message": "You must authenticate via a GitHub App."}, 403)
        run = {
            "id": 5000 + len(self.runs),
            "app": {"id": APP_ID},
            "conclusion": None,
            "output": {"annotations_count": 0},
        }
        run |= {name: body[name] for name in ("name", "head_sha", "external_id", "status")}
        run["details_url"] = body.get("details_url", "")
        self.runs.append(run)
        self.annotations[run["id"]] = []
        return JSONResponse(run, 201)

    def _change_run(self, request: Request, body: Any) -> Response:
        run = next(check_run for check_run in self.runs if check_run["id"] == request.path_params["id"])
        output = dict(body.get("output", {}))
        added = output.pop("annotations", [])
        if len(added) > 50:
            return JSONResponse({"message": "Invalid request.\n\nNo more than 50 items are allowed"}, 422)
        if output and not (output.get("title") and output.get("summary") and len(output["summary"]) <= 65535):
            return JSONResponse({"message": "Invalid request."}, 422)
        if body.get("status") == "completed" and not body.get("conclusion"):
            return JSONResponse({"message": "conclusion is missing"}, 422)
        self.annotations[run["id"]] += added
        run.update({name: body[name] for name in ("status", "conclusion") if name in body})
        run["output"] = {**run["output"], **output, "annotations_count": len(self.annotations[run["id"]])}
        return JSONResponse(run)

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
        user = BOT if self.public_key else {"login": "robot-account", "id": 12}
        self.comments.append({"id": 900 + len(self.comments), "number": number, "body": body["body"], "user": user})
        return JSONResponse(self.comments[-1], 201)

    def _change_comment(self, request: Request, body: Any) -> Response:
        comment = next(kept for kept in self.comments if kept["id"] == request.path_params["id"])
        comment["body"] = body["body"]
        return JSONResponse(comment)

    def _paged(self, request: Request, rows: list[Any], key: str = "") -> Response:
        size = min(int(request.query_params.get("per_page", PER_PAGE)), self.most_per_page)
        page = int(request.query_params.get("page", 1))
        part = rows[(page - 1) * size : page * size]
        headers = {}
        if page * size < len(rows):
            following = request.url.include_query_params(page=page + 1)
            headers["link"] = f'<{following}>; rel="next", <{following}>; rel="last"'
        return JSONResponse({"total_count": len(rows), key: part} if key else part, headers=headers)
