"""The keys of assay.toml that are options of the command line, made from the rows of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, create_model

from assay.config.value_types import Bytes, InputBounds, InputNumbers, Sizes
from assay.options.check import CheckOptions
from assay.options.declaration import Option, rows

Table = TypeVar("Table", bound=BaseModel)
_BY_KIND: dict[str, Any] = {
    "sizes": dict[str, Sizes],
    "range": dict[str, InputBounds],
    "values": dict[str, InputNumbers],
    "map": dict[str, str],
    "state": dict[str, str],
    "image": str,
    "bytes": Bytes,
}
_BY_TYPE: dict[str, Any] = {"int": int, "float": float, "str": str, "bool": bool, "Path": str}


def option_rows(table: str) -> dict[str, Option]:
    """The rows whose keys stand in this table of assay.toml, by the name of the key's field."""
    keyed = {row.toml: row for row in rows(CheckOptions) if row.toml.rpartition(".")[0] == table}
    return {key.rpartition(".")[2].replace("-", "_"): row for key, row in keyed.items()}


def with_option_keys(table: str) -> Callable[[type[Table]], type[Table]]:
    """Gives a table its keys, behind those that it declares itself."""

    def made(model: type[Table]) -> type[Table]:
        own = model.model_fields
        fields: dict[str, Any] = {
            name: (_type(row), Field(_default(row), description=row.help))
            for name, row in option_rows(table).items()
            if name not in own
        }
        return create_model(model.__name__, __base__=model, __module__=model.__module__, **fields)

    return made


def option_values(table: str, parsed: BaseModel) -> dict[str, Any]:
    """What a table said, by the name of the option."""
    return {row.name: getattr(parsed, name) for name, row in option_rows(table).items()}


def _default(row: Option) -> Any:
    """Of a list or a table none was given; a number or a text that was not given is the command line's default."""
    if row.kind or row.type.startswith("Path"):
        return {} if row.repeatable else None
    return list(row.default) if row.repeatable else row.default


def _type(row: Option) -> Any:
    plain, optional = row.type.removesuffix(" | None"), _default(row) is None
    inner = _item(row, plain)
    whole = _BY_KIND[row.kind] if row.kind else list[inner] if row.repeatable else inner  # type: ignore[valid-type]
    return whole | None if optional else whole


def _item(row: Option, plain: str) -> Any:
    if row.choices:
        return Literal[row.choices]
    item_type = _BY_TYPE.get(plain.removeprefix("tuple[").removesuffix(", ...]"), str)
    return Annotated[item_type, Field(ge=row.least)] if row.least is not None else item_type
