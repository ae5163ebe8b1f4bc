"""In which function, comprehension or loop a name of a file stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp)
"""What is in them is run later, when a variable of a loop around them may have another value."""
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, *COMPREHENSIONS)
_SCOPES = (*_LATER, *COMPREHENSIONS, ast.ClassDef)


class Scopes:
    """Of one file."""

    def __init__(self, tree: ast.AST) -> None:
        self._around: dict[int, ast.AST | None] = {}
        waiting: list[tuple[ast.AST, ast.AST | None]] = [(tree, None)]
        while waiting:
            node, scope = waiting.pop()
            self._around[id(node)] = scope
            inside = {id(inner) for inner in _inside(node)}
            for child in ast.iter_child_nodes(node):
                waiting.append((child, node if id(child) in inside else scope))

    def around(self, node: ast.AST) -> ast.AST | None:
        """The innermost; none for the file itself. A function does not see the loops around it as they are now."""
        scope = self._around.get(id(node))
        while isinstance(node, _LATER) and isinstance(scope, ast.For):
            scope = self._around.get(id(scope))
        return scope


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """What of a node is in its own scope: a loop counts as one, for its variables."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.For):
        yield from node.body
    elif isinstance(node, ast.Lambda):
        yield node.body
    elif isinstance(node, COMPREHENSIONS):
        yield from ast.iter_child_nodes(node)


def parameters(scope: ast.AST) -> set[str]:
    """Of a function; none of anything else."""
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return set()
    return {node.arg for node in ast.iter_child_nodes(scope.args) if isinstance(node, ast.arg)}


def bound_here(tree: ast.AST) -> set[str]:
    """Names that a file, a class or a function itself binds, not those of a function, a class or a comprehension in it; of a loop
    its variables."""
    if isinstance(tree, LOOPS):
        targets = [tree.target] if isinstance(tree, ast.For) else [generator.target for generator in tree.generators]
        return {child.id for each in targets for child in ast.walk(each) if isinstance(child, ast.Name)}
    names: set[str] = set()
    waiting: list[ast.AST] = list(ast.iter_child_nodes(tree))
    if isinstance(
        tree, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    ):  # defaults and decorators are of what is around it
        names |= parameters(tree)
        waiting = [tree.body] if isinstance(tree, ast.Lambda) else list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        if not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)
    return names
