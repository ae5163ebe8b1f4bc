"""GitHub's published description of its REST interface (data/github_openapi.json): whether a request is one that it allows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

_FILE = Path(__file__).parent / "data" / "github_openapi.json"


def refusal(method: str, path: str, query: Mapping[str, str], body: object) -> str:
    """Why the description does not allow the request, "" where it does. `body` is None for none."""
    operation = _operation(method, path)
    if operation is None:
        return f"{method} {path} is not described"
    known = {
        parameter["name"]: parameter["schema"] for parameter in operation["parameters"] if parameter["in"] == "query"
    }
    for name, value in query.items():
        if name not in known:
            return f"{method} {path} has no parameter {name}"
        try:
            jsonschema.validate(_typed(known[name], value), known[name])
        except jsonschema.ValidationError as error:
            return f"{name}: {error.message}"
    if operation["body"] is None:
        return "" if body is None else f"{method} {path} takes no body"
    if body is None:
        return f"{method} {path} needs a body" if operation["body_required"] else ""
    if unknown := set(body) - set(operation["body"]["properties"]) if isinstance(body, dict) else set():
        return f"the body has {', '.join(sorted(unknown))}, which GitHub does not know"
    try:
        jsonschema.validate(body, operation["body"])
    except jsonschema.ValidationError as error:
        return f"body, {error.json_path}: {error.message}"
    return ""


def _typed(schema: Mapping[str, Any], value: str) -> object:
    return int(value) if schema.get("type") == "integer" and value.isdigit() else value


def _operation(method: str, path: str) -> Any:
    for pattern, operations in _paths():
        if pattern.fullmatch(path) and method.lower() in operations:
            return operations[method.lower()]
    return None


@cache
def _paths() -> list[tuple[re.Pattern[str], Any]]:
    paths = json.loads(_FILE.read_text(encoding="utf-8"))["paths"]
    return [
        (re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))), operations) for path, operations in paths.items()
    ]
