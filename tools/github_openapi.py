"""What GitHub's published OpenAPI description says of the requests that the robot makes, cut out of it for the tests.

`npm pack @octokit/openapi`, unpack, then `python tools/github_openapi.py package/generated/api.github.com.json`.
Answers, examples and words are left out; `nullable` becomes JSON schema's own.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

OUT = Path(__file__).parents[1] / "tests" / "robot" / "data" / "github_openapi.json"
USED = {
    "/user": ("get",),
    "/repos/{owner}/{repo}/pulls": ("get",),
    "/repos/{owner}/{repo}/pulls/{pull_number}": ("get", "patch"),
    "/repos/{owner}/{repo}/pulls/{pull_number}/reviews": ("get",),
    "/repos/{owner}/{repo}/collaborators/{username}/permission": ("get",),
    "/repos/{owner}/{repo}/statuses/{sha}": ("post",),
    "/repos/{owner}/{repo}/issues/{issue_number}/comments": ("get", "post"),
    "/repos/{owner}/{repo}/issues/comments/{comment_id}": ("patch",),
}
_WORDS = ("description", "example", "examples", "externalDocs", "deprecated", "title")


def main(source: Path) -> None:
    whole = json.loads(source.read_bytes())
    document: dict[str, Any] = {"version": whole["info"]["version"], "license": whole["info"]["license"], "paths": {}}
    for path, methods in USED.items():
        for method in methods:
            document["paths"].setdefault(path, {})[method] = _operation(whole, whole["paths"][path][method])
    OUT.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _operation(whole: Any, operation: Any) -> dict[str, Any]:
    parameters = [_plain(whole, parameter) for parameter in operation.get("parameters", ())]
    body = operation.get("requestBody", {})
    schema = body.get("content", {}).get("application/json", {}).get("schema")
    return {
        "parameters": parameters,
        "body": _plain(whole, schema) if schema else None,
        "body_required": bool(body.get("required")),
    }


def _plain(whole: Any, node: Any, named: bool = False) -> Any:
    """Without references and words; `named`: the keys are names of properties and no keywords."""
    if isinstance(node, list):
        return [_plain(whole, entry) for entry in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node and not named:
        found = whole
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        return _plain(whole, found)
    kept = {key: _plain(whole, entry, key == "properties") for key, entry in node.items() if named or key not in _WORDS}
    if not named and kept.pop("nullable", False) and isinstance(kept.get("type"), str):
        kept["type"] = [kept["type"], "null"]
    return kept


if __name__ == "__main__":
    main(Path(sys.argv[1]))
