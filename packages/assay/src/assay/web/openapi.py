"""The description of what programs may ask (OpenAPI 3.1), from the table of pages and the types of their answers."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import msgspec

from assay.web.pages import PAGES, Page, Parameter

_SENTENCE = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
_REFUSED = {"description": "Refused, in one sentence.", "content": _SENTENCE}


def describe() -> dict[str, Any]:
    """The whole document."""
    schemas, components = msgspec.json.schema_components(
        [page.answers for page in PAGES], ref_template="#/components/schemas/{name}"
    )
    refusal = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Assay",
            "version": metadata.version("assay"),
            "description": "The history of `assay serve`, to be read.",
        },
        "paths": {page.api: {"get": _operation(page, schema)} for page, schema in zip(PAGES, schemas, strict=True)},
        "components": {"schemas": {**components, "Refusal": refusal}},
    }


def _operation(page: Page, schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "operationId": page.api.rpartition("/")[2],
        "summary": page.meaning,
        "parameters": [_parameter(parameter) for parameter in page.parameters],
        "responses": {
            "200": {"description": page.meaning, "content": {"application/json": {"schema": schema}}},
            "400": _REFUSED,
            "404": _REFUSED,
            "503": _REFUSED,
        },
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    kind: dict[str, Any] = {"type": "integer", "minimum": 1} if parameter.number else {"type": "string"}
    return {
        "name": parameter.name,
        "in": "query",
        "description": parameter.meaning,
        "required": parameter.required,
        "schema": kind,
    }
