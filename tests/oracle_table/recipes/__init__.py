"""Cases of one version of an operator: from a recipe by its name, or from its schema alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from oracle_table.case import OpCase
from oracle_table.gen import Gen
from oracle_table.recipes.computing import COMPUTING
from oracle_table.recipes.elementwise import ELEMENTWISE, elementwise, is_elementwise
from oracle_table.recipes.indexing import INDEXING
from oracle_table.recipes.learning import LEARNING
from oracle_table.recipes.moving import MOVING
from oracle_table.recipes.quantizing import QUANTIZING
from oracle_table.recipes.reducing import REDUCING, reduction
from oracle_table.recipes.resizing import RESIZING
from oracle_table.recipes.sequences import SEQUENCES
from oracle_table.recipes.signals import SIGNALS
from oracle_table.recipes.windows import WINDOWS

Recipe = Callable[[Gen], Iterator[OpCase]]
RECIPES: dict[str, Recipe] = {
    **ELEMENTWISE,
    **REDUCING,
    **WINDOWS,
    **MOVING,
    **INDEXING,
    **RESIZING,
    **COMPUTING,
    **QUANTIZING,
    **SIGNALS,
    **SEQUENCES,
    **LEARNING,
}


def recipe_of(schema: Any) -> Recipe | None:
    """None: nothing is known of how its inputs fit each other."""
    if schema.name in RECIPES:
        return RECIPES[schema.name]
    if schema.name.startswith("Reduce"):
        return reduction
    return elementwise if schema.domain == "" and is_elementwise(schema) else None


def cases_of(schema: Any, seed: int = 0) -> list[OpCase]:
    recipe = recipe_of(schema)
    return [] if recipe is None else list(recipe(Gen(schema, seed)))
