"""One file of a submission: what is imported under which name, and where each part of it stands."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from types import ModuleType

from assay_zoo.artifacts.code.folded_text import FoldedTexts
from assay_zoo.artifacts.code.known_modules import HARMLESS
from assay_zoo.artifacts.code.known_names import in_python
from assay_zoo.artifacts.installs.package_names import is_package_module
from assay_zoo.artifacts.notebooks.bound_names import bound_names

USUAL = {"np": "numpy", "plt": "matplotlib.pyplot", "environ": "os.environ", "getenv": "os.getenv"}
"""What these are called also where nobody in the file imports them."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class CodeFile:
    """`imported` are the names of the file that an import binds, each with all that it may be; `bound` all others with their values."""

    def __init__(self, tree: ast.AST, packages: Collection[str], depth: int = 1) -> None:
        self.depth = depth  # folders from the file up to that of the submission
        self.nodes = list(ast.walk(tree))
        self._packages = packages
        self.bound = bound_names(self.nodes)
        self.parents = {id(child): node for node in self.nodes for child in ast.iter_child_nodes(node)}
        self.imported: dict[str, list[str]] = {}
        self.modules: set[str] = set()
        for node in self.nodes:
            for name, path in imports_of(node):
                self.imported.setdefault(name, []).append(path)
            if isinstance(node, ast.Import):
                self.modules.update(alias.name for alias in node.names)
        arguments = [node.arg for node in self.nodes if isinstance(node, ast.arg)]
        self.own = {*self.bound, *arguments} - self.imported.keys()
        self.globals = {name for node in self.nodes if isinstance(node, ast.Global) for name in node.names}
        self.classes = {node.name for node in self.nodes if isinstance(node, ast.ClassDef)}
        self.words = {id(node.value) for node in self.nodes if isinstance(node, ast.Expr)}
        """Docstrings, and calls whose answer nobody takes."""

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self.parents.get(id(node))

    def paths(self, node: ast.AST | None) -> list[str]:
        """Where the value of an expression comes from, each as `module.name`; nothing where it is no name of a module."""
        names: list[str] = []
        while isinstance(node, ast.Attribute) or (isinstance(node, ast.Call) and written_getattr(node)):
            if isinstance(node, ast.Attribute):
                names.append(node.attr)
                node = node.value
            else:
                names += reversed(written_getattr(node).split("."))
                node = node.args[0]
        starts: Sequence[str] = ()
        if isinstance(node, ast.Call) and last_name(node.func) == "import_module":
            starts = [imported_by(node)]
        elif isinstance(node, ast.Call) and last_name(node.func) == "reload" and node.args:
            starts = self.paths(node.args[0])
        elif isinstance(node, ast.Name) and not self.is_argument(node):
            known = node.id in self._packages or node.id in HARMLESS
            usual = USUAL.get(node.id, node.id if known else "")
            starts = self.imported.get(node.id, [] if node.id in self.own else [usual])
        return [self._rooted(".".join([start, *reversed(names)])) for start in starts if start]

    def _rooted(self, path: str) -> str:
        """By way of another file a module keeps its name: `helper.np.mean` is one of numpy."""
        parts = path.split(".")
        if not self.is_shared(path):
            for at, part in enumerate(parts[1:], 1):
                if part in USUAL or part in HARMLESS or part in self._packages:
                    return ".".join([USUAL.get(part, part), *parts[at + 1 :]])
        return path

    def function_of(self, node: ast.Name) -> ast.AST | None:
        """The function around it of which the name is a parameter."""
        at: ast.AST | None = node
        while at is not None and node.id not in self.globals:
            before, at = at, self.parent(at)
            if isinstance(at, _FUNCTIONS) and before not in (at.args, getattr(at, "returns", None)):
                named = [part.arg for part in ast.walk(at.args) if isinstance(part, ast.arg)]
                if node.id in named and before not in getattr(at, "decorator_list", ()):
                    return at
        return None

    def is_argument(self, node: ast.Name) -> bool:
        """Whether the name is a parameter of a function around it, and nothing else there."""
        function = self.function_of(node)
        return function is not None and not any(_binds(part, node.id) for part in ast.walk(function))

    def is_self(self, node: ast.AST) -> bool:
        """Whether it is what a method of a class of the file is called on."""
        if not isinstance(node, ast.Name) or node.id not in ("self", "cls") or not self.is_argument(node):
            return False
        method = self.function_of(node)
        first = [*method.args.posonlyargs, *method.args.args][:1] if isinstance(method, ast.FunctionDef) else []
        return isinstance(self.parent(method), ast.ClassDef) and [arg.arg for arg in first] == [node.id]  # type: ignore[arg-type]

    def is_parsed(self, node: ast.AST) -> bool:
        """Whether it is what `parse_args()` gives."""
        if isinstance(node, ast.Name):
            values = self.values(node.id)
            return bool(values) and not self.function_of(node) and all(map(self.is_parsed, values))
        node = node.value if isinstance(node, ast.Subscript) else node
        return isinstance(node, ast.Call) and last_name(node.func) in ("parse_args", "parse_known_args")

    def is_module(self, path: str) -> bool:
        top = path.partition(".")[0]
        known = top in self._packages and is_package_module(path)
        return path in self.modules or known or isinstance(in_python(path), ModuleType)

    def is_shared(self, path: str) -> bool:
        """Of Python or of a package: every file of a submission has the same one."""
        top = path.partition(".")[0]
        return top in self._packages or top in HARMLESS

    def written_names(self, node: ast.AST) -> set[str]:
        """All that a text may be, where it is written out: as it stands, or as the variable of a loop over a tuple of such texts. Nothing
        where it may be anything else."""
        names: set[str] = set()
        seen: set[str] = set()
        waiting = [node]
        while waiting:
            part = waiting.pop()
            looped = isinstance(self.parent(part), ast.For | ast.comprehension)
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                names.add(part.value)
            elif isinstance(part, ast.IfExp):
                waiting += (part.body, part.orelse)
            elif isinstance(part, ast.Name) and (over := self._run_over(part)):
                if isinstance(over, ast.Name) and over.id == part.id:
                    return set()
                waiting.append(over)
            elif (
                isinstance(part, ast.Name)
                and self.values(part.id)
                and not (part.id in self._unsure or self._has_parameter(part))
            ):
                waiting += () if part.id in seen else self.values(part.id)
                seen.add(part.id)
            elif isinstance(part, ast.Tuple | ast.List) and (looped or isinstance(part, ast.Tuple)) and part.elts:
                waiting += part.elts
            else:
                return set()
        return names

    def _run_over(self, name: ast.Name) -> ast.expr | None:
        """What a comprehension around a name runs it over: there it means nothing else, whatever the rest of the file calls so."""
        at = self.parent(name)
        while at is not None and not isinstance(at, _FUNCTIONS):
            for part in getattr(at, "generators", ()):
                if isinstance(part.target, ast.Name) and part.target.id == name.id:
                    return part.iter  # type: ignore[no-any-return]
            at = self.parent(at)
        return None

    @cached_property
    def texts(self) -> FoldedTexts:
        """What each part is as a text, where it is written out."""
        return FoldedTexts(self.nodes)

    @cached_property
    def _unsure(self) -> set[str]:
        """Names that are given something in other ways than by `bound`: what is imported, caught or matched; and all, beside a star."""
        keys = {ast.ExceptHandler: "name", ast.MatchAs: "name", ast.MatchStar: "name", ast.MatchMapping: "rest"}
        starred = any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in self.nodes)
        others = {getattr(node, keys[type(node)]) or "" for node in self.nodes if type(node) in keys}
        return others | self.imported.keys() | {name for name in self.bound if starred or name.startswith("__")}

    def _has_parameter(self, node: ast.Name) -> bool:
        """Whether a function around it has one of that name."""
        at = self.parent(node)
        while at is not None:
            if isinstance(at, _FUNCTIONS) and node.id in {
                part.arg for part in ast.walk(at.args) if isinstance(part, ast.arg)
            }:
                return True
            at = self.parent(at)
        return False

    def values(self, name: str) -> Sequence[ast.AST]:
        """All that a name is given in the file."""
        return self.bound.get(name, ())


def _binds(node: ast.AST, name: str) -> bool:
    """Whether a part of a function gives a name another meaning than its parameter has."""
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.alias):
        return (node.asname or node.name.partition(".")[0]) == name
    return name in (getattr(node, "name", None), getattr(node, "rest", None))


def imports_of(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Each name that an import binds, and what it then stands for."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name.partition(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (top, top)
    elif (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and last_name(node.value.func) == "import_module"
    ):
        yield from ((target.id, imported_by(node.value)) for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        yield from ((alias.asname or alias.name, f"{module}.{alias.name}") for alias in node.names if alias.name != "*")


def last_name(node: ast.AST | None) -> str:
    """By which an expression calls something."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def text_of(node: ast.AST | None) -> str:
    """Of a constant; bytes count as the text that they look like."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value.decode("latin-1") if isinstance(value, bytes) else value if isinstance(value, str) else ""


def given_to(call: ast.Call) -> list[ast.expr]:
    """All arguments."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def word_of(call: ast.Call, name: str) -> ast.expr | None:
    """The argument of that name."""
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def written_getattr(call: ast.Call) -> str:
    """The name that `getattr` is given, where it is written out."""
    is_getattr = isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) > 1
    return text_of(call.args[1]) if is_getattr and not any(isinstance(arg, ast.Starred) for arg in call.args) else ""


def imported_by(call: ast.Call) -> str:
    """The module that a call of `import_module` names, nothing where it is made while it runs."""
    given = {keyword.arg: keyword.value for keyword in call.keywords} | dict(
        zip(("name", "package"), call.args, strict=False)
    )
    name, package = text_of(given.get("name")), text_of(given.get("package"))
    return f"{package}.{name.lstrip('.')}" if name.startswith(".") and package else name.lstrip(".")
