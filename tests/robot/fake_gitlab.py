"""GitLab's API v4 as its documentation describes it, for the parts that the robot uses. Shapes are cut down from recorded answers.

GitLab itself ignores a parameter that it does not know: a misspelt one would be lost in silence. Here it is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

TOKEN, ROBOT, PROJECT = "glpat-0001", {"id": 42, "username": "assay"}, "zoo/models"
_KNOWN: dict[tuple[str, str], dict[str, tuple[type, bool]]] = {
    ("PUT", "request"): {"state_event": (str, False), "title": (str, False), "description": (str, False)},
    ("POST", "notes"): {"body": (str, True), "internal": (bool, False), "created_at": (str, False)},
    ("PUT", "note"): {"body": (str, True)},
    ("POST", "status"): {
        "state": (str, True), "name": (str, False), "context": (str, False), "description": (str, False), "target_url": (str, False),
        "pipeline_id": (int, False), "ref": (str, False), "coverage": (float, False),
    },
}  # fmt: skip
"""By method and what is asked: the attributes of a body by docs.gitlab.com/api (merge_requests, notes, commits), with the type
of each and whether it must be there."""
_QUERIES = ("state", "target_branch", "per_page", "page")
_FINAL = ("success", "failed", "canceled")


def refusal(method: str, what: str, query: Mapping[str, str], body: object) -> str:
    """Why the documentation does not allow the request, "" where it does. `body` is None for none."""
    if unknown := set(query) - set(_QUERIES):
        return f"{method} {what} has no parameter {', '.join(sorted(unknown))}"
    known = _KNOWN.get((method, what), {})
    fields = body if isinstance(body, dict) else {}
    if unknown := set(fields) - set(known):
        return f"{method} {what} has no attribute {', '.join(sorted(unknown))}"
    if missing := [name for name, (_, must) in known.items() if must and name not in fields]:
        return f"{', '.join(missing)} is missing"
    if wrong := [name for name, value in fields.items() if type(value) is not known[name][0]]:
        return f"{wrong[0]} is invalid"
    return ""


@dataclass
class FakeGitlab:
    requests: dict[int, dict[str, Any]] = field(default_factory=dict)
    statuses: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    notes: list[dict[str, Any]] = field(default_factory=list)
    log: list[tuple[str, str]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def add_request(self, number: int, sha: str, *, pipeline: int = 0, target: str = "main") -> None:
        self.requests[number] = {
            "iid": number, "state": "opened", "sha": sha, "source_branch": f"patch-{number}", "target_branch": target,
            "title": "A model", "author": {"id": 7, "username": "octocat"},
            "web_url": f"https://gitlab.example/{PROJECT}/-/merge_requests/{number}",
            "diff_refs": {"base_sha": "0" * 40, "start_sha": "1" * 40, "head_sha": sha},
            "head_pipeline": {"id": pipeline, "sha": sha} if pipeline else None,
        }  # fmt: skip

    def app(self) -> Starlette:
        at = "/api/v4/projects/{project}"
        routes = [
            Route("/api/v4/user", self._user),
            Route(f"{at}/merge_requests", self._requests),
            Route(f"{at}/merge_requests/{{number:int}}", self._request, methods=["GET", "PUT"]),
            Route(f"{at}/merge_requests/{{number:int}}/notes", self._notes, methods=["GET", "POST"]),
            Route(f"{at}/merge_requests/{{number:int}}/notes/{{id:int}}", self._note, methods=["PUT"]),
            Route(f"{at}/statuses/{{sha}}", self._status, methods=["POST"]),
        ]
        return Starlette(routes=[_Guarded(self, route) for route in routes])

    async def _user(self, request: Request) -> Response:
        return JSONResponse(ROBOT)

    async def _requests(self, request: Request) -> Response:
        wanted = (request.query_params["state"], request.query_params["target_branch"])
        candidates = [
            candidate
            for candidate in self.requests.values()
            if (candidate["state"], candidate["target_branch"]) == wanted
        ]
        return _paged(request, candidates)

    async def _request(self, request: Request) -> Response:
        merge_request = self.requests.get(request.path_params["number"])
        if merge_request is None:
            return JSONResponse({"message": "404 Not found"}, 404)
        if request.method == "PUT" and (await request.json())["state_event"] == "close":
            merge_request["state"] = "closed"
        return JSONResponse(merge_request)

    async def _notes(self, request: Request) -> Response:
        number = request.path_params["number"]
        if request.method == "GET":
            return _paged(request, [note for note in self.notes if note["number"] == number])
        body = (await request.json())["body"]
        self.notes.append({"id": 70 + len(self.notes), "number": number, "body": body, "author": ROBOT})
        return JSONResponse(self.notes[-1], 201)

    async def _note(self, request: Request) -> Response:
        note = next(kept for kept in self.notes if kept["id"] == request.path_params["id"])
        note["body"] = (await request.json())["body"]
        return JSONResponse(note)

    async def _status(self, request: Request) -> Response:
        status = await request.json()
        if (
            status["state"] not in ("pending", "running", "success", "failed", "canceled")
            or len(status["description"]) > 255
        ):
            return JSONResponse({"message": "state does not have a valid value"}, 400)
        key = (request.path_params["sha"], status["name"])
        before = self.statuses.get(key, {}).get("state", "")
        # The state machine of GitLab: not to the state it is in, not back to pending.
        if before == status["state"] or (before == "running" and status["state"] == "pending"):
            words = f'Cannot transition status via :run from :{before} (Reason(s): Status cannot transition via "run")'
            return JSONResponse({"message": words}, 400)
        self.statuses[key] = status
        return JSONResponse({"id": 1, **status}, 201)


class _Guarded(Route):
    """A route that wants the token."""

    def __init__(self, fake: FakeGitlab, route: Route) -> None:
        async def endpoint(request: Request) -> Response:
            fake.log.append((request.method, request.url.path))
            if request.headers.get("private-token") != TOKEN:
                return JSONResponse({"message": "401 Unauthorized"}, 401)
            if request.path_params.get("project", PROJECT) not in (PROJECT, "zoo%2Fmodels"):
                return JSONResponse({"message": "404 Project Not Found"}, 404)
            sent = await request.body()
            what = route.endpoint.__name__.removeprefix("_")
            if why := refusal(request.method, what, request.query_params, json.loads(sent) if sent else None):
                fake.refused.append(why)
                return JSONResponse({"error": why}, 400)
            answer: Response = await route.endpoint(request)
            return answer

        path = route.path.replace("{project}", "{project:path}")
        super().__init__(path, endpoint, methods=list(route.methods or ()))


def _paged(request: Request, rows: list[Any]) -> Response:
    size, page = int(request.query_params.get("per_page", 20)), int(request.query_params.get("page", 1))
    headers = {}
    if page * size < len(rows):
        headers["link"] = f'<{request.url.include_query_params(page=page + 1)}>; rel="next"'
    return JSONResponse(rows[(page - 1) * size : page * size], headers=headers)
