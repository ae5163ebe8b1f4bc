"""Annotations that are written as texts, read as the code that they are: singledispatch and others run them."""

from __future__ import annotations

import ast

_HARMLESS = (ast.Name, ast.Constant, ast.expr_context, ast.Expression)
_Given = ast.Assign | ast.AnnAssign | ast.NamedExpr


def with_annotations_read(tree: ast.Module) -> ast.Module:
    """The tree, with code in place of such texts, and of those that a name of an annotation stands for in the file."""
    given: dict[str, list[_Given]] = {}
    waiting: set[str] = set()
    for node in list(ast.walk(tree)):
        if isinstance(node, _Given):
            for name in _targets(node):
                given.setdefault(name, []).append(node)
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation:
            node.annotation = _read(node.annotation)
            waiting |= _names(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns:
            node.returns = _read(node.returns)
            waiting |= _names(node.returns)
    while waiting:  # a name may stand for another
        for one in given.pop(waiting.pop(), ()):
            if one.value:
                one.value = _read(one.value)
                waiting |= _names(one.value)
    return tree


def _names(code: ast.expr | None) -> set[str]:
    """Those that are part of an annotation: not what a call in it is given."""
    found: set[str] = set()
    waiting: list[ast.AST] = [code] if code else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            found.add(node.id)
        if not isinstance(node, ast.Call):
            waiting += ast.iter_child_nodes(node)
    return found


def _targets(node: _Given) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [one.id for one in targets if isinstance(one, ast.Name)]


class _Texts(ast.NodeTransformer):
    """Texts of one annotation as code, and texts in those too."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        code = _code(node)
        return node if code is None else _read(code)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Its texts are not the annotation: a description, or a name."""
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return _unread(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if text := _text(node):
            return self.visit_Constant(ast.copy_location(ast.Constant(text), node))
        made = isinstance(node.op, ast.Add | ast.Mod) and any(map(_is_text, ast.walk(node)))
        return _unread(node) if made else self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """The words of a Literal are no code, but under its name may be something else."""
        name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        words = [one for one in ast.walk(node.slice) if isinstance(one, ast.Constant)]
        codes = [each for one in words if (each := _code(one)) is not None]
        plain = all(isinstance(each, _HARMLESS) for code in codes for each in ast.walk(code))
        return node if name == "Literal" and plain else self.generic_visit(node)


def _read(code: ast.expr) -> ast.expr:
    found = _Texts().visit(code)
    return found if isinstance(found, ast.expr) else code


def _unread(node: ast.expr) -> ast.expr:
    """A text that is put together while it runs is as good as `eval`: nobody can read it before."""
    return ast.copy_location(ast.Name("eval", ast.Load()), node)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _code(node: ast.Constant) -> ast.expr | None:
    if not isinstance(node.value, str):
        return None
    try:
        code = ast.parse(node.value.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for one in ast.walk(code):
        if isinstance(one, ast.expr | ast.keyword | ast.arg):
            ast.copy_location(one, node)
    return code


def _text(node: ast.expr) -> str:
    """Of texts that are put together, where all are written there."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return left + right if left and right else ""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
