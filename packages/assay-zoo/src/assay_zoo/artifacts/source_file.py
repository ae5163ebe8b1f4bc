"""One file of a submission, with what its names stand for."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from types import ModuleType

from assay_zoo.artifacts.code_names import given_names, imported_by, in_python, last_name, names_of_star
from assay_zoo.artifacts.dangerous_arguments import LOADERS, mapped
from assay_zoo.artifacts.environment import CAPTURING, asked_names, only_counted, only_printed, set_names
from assay_zoo.artifacts.followed_names import FollowedNames
from assay_zoo.artifacts.known_modules import HARMLESS, is_elsewhere
from assay_zoo.artifacts.origins import Origins
from assay_zoo.artifacts.other_files import FileNames, OtherFiles
from assay_zoo.artifacts.partial_texts import Name, pattern_of
from assay_zoo.artifacts.scopes import Scopes, parameters
from assay_zoo.artifacts.written_names import WrittenNames

_ONLY_TOLD = ("print", "repr", "str", "type", "dir", "help", "id", "hasattr", "isinstance")
"""Of Python: they change nothing in a module that they are given."""

_SHOWING = ("print", "repr", "str", "id")
"""Of these what only shows it."""
_TAKING = (
    "replace", "split", "rsplit", "partition", "rpartition", "startswith", "endswith", "count", "strip", "lstrip", "rstrip",
)  # fmt: skip
NAMESPACES = ("Namespace", "SimpleNamespace", "parse_args")
"""What these give has no more in it than what the file put there."""
FINDING = ("glob", "rglob", "iglob", "iterdir", "listdir", "scandir", "walk")
"""Calls that give files by what is there while it runs."""
_HOW = ("verbosity", "exit", "failfast", "buffer")
"""What `unittest.main` is told of how it runs."""
_PLAINLY = ("functools",)
"""What is asked of these modules counts by its name."""


class SourceFile:
    """What of it is asked, called, told or changed, by its nodes."""

    def __init__(self, tree: ast.AST, own: FileNames, packages: Collection[str], others: OtherFiles) -> None:
        self._packages, self._others, self._path = packages, others.files, others.path
        self._asks, self._stars = frozenset(own.asks), own.stars
        self._bound = FollowedNames(own.hands_on, own.stars, others.files, packages)
        self._nodes = list(ast.walk(tree))
        self._names = {0: WrittenNames(tree, names_of_star, kept=others.kept, elsewhere=self._elsewhere)}
        self._scopes = Scopes(tree)
        self._functions = {node.name for node in self._nodes if isinstance(node, ast.FunctionDef)}
        self._words = {id(node.value) for node in self._nodes if isinstance(node, ast.Expr)}  # a docstring
        self._written = {id(table): names for node in self._nodes for table, names in set_names(node, self._words)}
        self._variables = {id(table): asked for node in self._nodes for table, asked in asked_names(node)}
        self._counted = {id(each) for node in self._nodes for each in only_counted(node, self._is_plain)}
        captures = not self._others.changed.isdisjoint(CAPTURING)
        self._printed = {
            id(each) for node in self._nodes if not captures for each in only_printed(node, self._is_plain)
        }
        assigned = [
            node for node in self._nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        ]
        self._set_to_constants = {id(target) for node in assigned for target in node.targets}
        calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        self._called = {id(call.func) for call in calls}
        self._tests = {id(call.func) for call in calls if _tests_itself(call) and "argv" not in self._others.asks}
        self._modules = {each.name for node in self._nodes if isinstance(node, ast.Import) for each in node.names}
        self._modules |= {imported_by(call) for call in calls if "importlib.import_module" in self._bound.of(call.func)}
        self._asked = {id(node.value) for node in self._nodes if isinstance(node, ast.Attribute)}
        self._only_told: set[int] = set()
        self._added: set[int] = set()
        for call in calls:
            if self._is_plain(call, ("getattr",)):  # what is asked of a module there is read by its names
                self._asked |= set(map(id, call.args[:1]))
            elif self._is_plain(call, _ONLY_TOLD) or (
                id(call) in self._words and self._bound.of(call.func) == ("importlib.reload",)
            ):
                self._only_told |= set(map(id, call.args))
            elif self._is_plain(call, ("map",)) and set(self._bound.of(mapped(call))) & set(LOADERS):
                self._called.add(id(call.args[0]))
        shown = [call.args for call in calls if self._is_plain(call, _SHOWING)]
        shown += [_levels(call) for call in calls if self._bound.of(call.func) == ("logging.basicConfig",)]
        self._shown = {id(expr) for each in shown for expr in each}
        self._kept = self._asked | self._words | self._called | set(map(id, given_names(self._nodes)))
        self._read_more()
        self._profiles = any(path.startswith("cProfile") for path in self._bound.all_paths())

    def _read_more(self) -> None:
        """Annotations, classes, addresses, tables of options, and files that are found while it runs."""
        hints = [node.annotation for node in self._nodes if isinstance(node, ast.arg | ast.AnnAssign)]
        hints += [node.returns for node in self._nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        self._annotated = {id(each) for hint in hints if hint is not None for each in ast.walk(hint)}
        self._classes = {node.name for node in self._nodes if isinstance(node, ast.ClassDef)}
        args = [node for node in self._nodes if isinstance(node, ast.arg) and node.annotation is not None]
        self._namespaces = {arg.arg for arg in args if last_name(arg.annotation or arg).endswith("Namespace")}
        self._compared = {id(expr) for node in self._nodes for expr in _only_compared(node)}
        self._listed = {id(expr) for node in self._nodes for expr in _listed(node)}
        self._stored_in = {id(target): value for node in self._nodes for target, value in _stored(node)}
        self._origins = Origins(
            self._nodes, self._scopes, self._bound.of, self._is_shared, self._is_namespace, self._makes_own, self._others.unbound
        )  # fmt: skip
        texts = [node for node in self._nodes if isinstance(node, ast.Constant) and id(node) not in self._words]
        self._addresses = [text.value for text in texts if isinstance(text.value, str) and "://" in text.value]
        loops = [node for node in self._nodes if isinstance(node, ast.For | ast.comprehension)]
        trees = [loop.target for loop in loops if any(last_name(each) in FINDING for each in ast.walk(loop.iter))]
        self._found_names = {each.id for expr in trees for each in ast.walk(expr) if isinstance(each, ast.Name)}

    def _makes_own(self, path: str) -> bool:
        """Whether a call of a name of another file gives a value of a class of the submission."""
        file, _, name = path.rpartition(".")
        files = self._bound.files(file) if file.strip(".") else []
        return all(self._others.is_class(other, name) for other in files)

    def _is_namespace(self, node: ast.expr) -> bool:
        """Whether it has no more in it than what the file put there, or is `object`."""
        if isinstance(node, ast.Name) and node.id == "object" and not self._names[0].binds("object"):
            return True
        made = isinstance(node, ast.Call) and last_name(node.func) in NAMESPACES
        return made or (isinstance(node, ast.Name) and node.id in self._namespaces)

    def _given(self, node: ast.AST) -> int:
        """How often the function that has this name as a parameter binds it, the parameter counted; 0 for any other name."""
        scope = self._scopes.around(node)
        while isinstance(node, ast.Name) and scope is not None:
            if node.id in parameters(scope) and not self._names[0].is_shared(node.id):
                return self._names_in(scope).times_bound(node.id)
            scope = self._scopes.around(scope)
        return 0

    def _is_plain(self, call: ast.Call, names: Collection[str]) -> bool:
        """Whether the call is to one of these names, and the file leaves it to Python."""
        return isinstance(call.func, ast.Name) and call.func.id in names and not self._names[0].binds(call.func.id)

    def _is_asked_plainly(self, base: str) -> bool:
        return getattr(in_python(base, HARMLESS), "__name__", "") in _PLAINLY

    def _gives_module(self, base: str, name: Name) -> bool:
        """Whether one of such names of a module is another one, or of a file a table of it."""
        there = in_python(base, HARMLESS)
        names: Collection[str] = ()
        if self._is_other_file(base):
            spoken = len(name) == 1 and name[0] in self._others.changed  # no table of that name is believed
            names = [*([] if spoken else self._others.tables), *self._bound.names_of(base)]
        elif isinstance(there, ModuleType):
            names = [attribute for attribute in dir(there) if self._is_module(f"{base}.{attribute}")]
        return any(map(pattern_of(name).fullmatch, names))

    def _elsewhere(self, node: ast.expr) -> list[ast.expr]:
        """What `WrittenNames` asks of other files."""
        trees: list[ast.expr] = []
        for path in self._bound.of(node) if self._names[0].is_imported(root_of(node)) else ():
            if self._is_unread(path):
                return []
            file, _, name = path.rpartition(".")
            named = self._bound.files(file) if file.strip(".") and is_elsewhere(file, self._packages) else []
            texts = [self._others.written_in(other, name) for other in named]
            if not texts or None in texts:
                return []
            trees += [each for text in texts for each in text or ()]
        return trees

    def _is_unread(self, path: str) -> bool:
        """Whether one of the names on the way to what it names may be something else than the file that is followed."""
        parts = path.split(".")
        way = (
            (self._bound.files(".".join(parts[:at])), parts[at]) for at in range(1, len(parts) - 1) if any(parts[:at])
        )
        return any(self._others.is_unread(file, name) for files, name in way for file in files)

    def _names_in(self, function: ast.AST | None) -> WrittenNames:
        """As they are there, or in the file."""
        if function is None:
            return self._names[0]
        if id(function) not in self._names:
            outer = self._names_in(self._scopes.around(function))
            self._names[id(function)] = WrittenNames(function, names_of_star, outer)
        return self._names[id(function)]

    def _is_other_file(self, path: str) -> bool:
        """Such a file as a whole: a value in it may well be handed on and changed."""
        parts = path.lstrip(".").split(".")
        ends = (".".join(parts[at:]) for at in range(len(parts) - 1))
        whole = len(parts) == 1 or path in self._modules or any(end in self._others.modules for end in ends)
        return whole and is_elsewhere(path, self._packages) and not self._bound.is_defined(path)

    def _is_shared(self, path: str) -> bool:
        """Of Python or of a package: every file of a submission has the same one."""
        return bool(path) and not is_elsewhere(path, self._packages)

    def _is_module(self, path: str) -> bool:
        return isinstance(in_python(path, HARMLESS), ModuleType) or self._is_other_file(path)

    def _is_function(self, node: ast.expr) -> bool:
        partial = isinstance(node, ast.Call) and self._bound.of(node.func) == ("functools.partial",)
        known = isinstance(node, ast.Name) and (node.id in self._functions or bool(self._bound.of(node)))
        return partial or known or isinstance(node, ast.Lambda)


def _tests_itself(call: ast.Call) -> bool:
    """As in `unittest.main()`: no other names of tests than those of the command line."""
    plain = all(keyword.arg in _HOW and isinstance(keyword.value, ast.Constant) for keyword in call.keywords)
    return last_name(call.func) == "main" and not call.args and plain


def root_of(node: ast.AST) -> str:
    """The name with which a dotted one begins."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _only_compared(node: ast.AST) -> Iterator[ast.expr]:
    """Texts that are only compared with another text, or looked for in it."""
    if isinstance(node, ast.Compare):
        yield from (each for expr in (node.left, *node.comparators) for each in (expr, *_parts(expr)))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TAKING:
        plain = not isinstance(node.func.value, ast.Name) or node.func.value.id not in ("os", "shutil")
        yield from node.args[:1] if plain else ()


def _listed(node: ast.AST) -> Iterator[ast.expr]:
    """What a name of a table or list has that is written out: until a call is given it, it opens nothing."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        waiting = _parts(node.value)
        while waiting:
            part = waiting.pop()
            yield part
            waiting += _parts(part)


def _stored(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target with the value, or one of the values, that it is given."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    if isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        pairs = [(node.target, node.value)]
    elif isinstance(node, ast.For):
        pairs = [(node.target, value) for value in _parts(node.iter)]
    for target, value in pairs:
        yield target, value
        yield from zip(_parts(target), _parts(value), strict=False)


def _parts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Dict):
        return [expr for expr in (*node.keys, *node.values) if expr is not None]
    return list(node.elts) if isinstance(node, ast.List | ast.Tuple | ast.Set) else []


def _levels(call: ast.Call) -> list[ast.expr]:
    return [keyword.value for keyword in call.keywords if keyword.arg == "level"]
