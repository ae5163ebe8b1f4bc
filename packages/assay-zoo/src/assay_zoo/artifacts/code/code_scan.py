"""What code of a submission reaches for: it is read name by name, and followed nowhere. What is not plain, a person looks at."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator

from assay_zoo.allowed_packages import PACKAGES
from assay_zoo.artifacts.code.changed_values import changed_values, derived_class, is_annotation
from assay_zoo.artifacts.code.code_file import (
    CodeFile,
    given_to,
    imported_by,
    last_name,
    text_of,
    word_of,
    written_getattr,
)
from assay_zoo.artifacts.code.code_texts import made_texts, reached_by_text
from assay_zoo.artifacts.code.dangerous_arguments import PICKLED, TIMED, code_by_arguments
from assay_zoo.artifacts.code.environment import environment
from assay_zoo.artifacts.code.known_modules import module_meaning
from assay_zoo.artifacts.code.known_names import BUILTINS, GUARDED, HIDDEN, PLAIN_DUNDERS, reached_by
from assay_zoo.artifacts.code.opened_paths import opened_paths
from assay_zoo.artifacts.code.reached import Reached, Unread, reached
from assay_zoo.artifacts.notebooks.shown_markup import shown_markup

_BY_NAME = ("getattr", "vars", "attrgetter", "methodcaller", "import_module")
_TELLING = ("print", "dir", "help", "reload", "hasattr")
"""They change nothing in a module that they are given."""
_LONE = ("InferenceSession", "ReferenceEvaluator", "ArgumentParser", "load", "timeit", "repeat", "Timer")
"""These are only called, and by their own names: so it can be read what they are given."""
_OF_VALUES = ("__dict__", "__class__", "__file__", "__setattr__", "__delattr__")


def reaches(text: str, packages: Collection[str] = PACKAGES, depth: int = 1) -> list[Reached]:
    """Once for each, sorted. Text that is no Python has none: another check says so."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    scan = _Scan(tree, packages, depth)
    reached_names = {
        reached(getattr(node, "lineno", 0), what) for node in scan.nodes for look in scan.rules for what in look(node)
    }
    certain = {each[:2] for each in reached_names if each.certain}
    return sorted(each for each in reached_names if each.certain or each[:2] not in certain)


class _Scan(CodeFile):
    """The rules, each for any part of a file."""

    @property
    def rules(self) -> list[Callable[[ast.AST], Iterator[str]]]:
        shared = (reached_by_text, made_texts, opened_paths, environment, changed_values, derived_class, shown_markup)
        of_file: list[Callable[[ast.AST], Iterator[str]]] = [
            lambda node, look=look: look(node, self)  # type: ignore[misc]
            for look in shared
        ]
        return [self._words_of, self._imported, self._attribute, self._name, self._value, self._call, *of_file]

    def _words_of(self, node: ast.AST) -> Iterator[str]:
        """Every name that a part brings or gives, beside those that it asks for."""
        for key in ("id", "name", "arg", "asname", "attr"):
            word = getattr(node, key, None)
            if (
                isinstance(word, str)
                and key != "attr"
                and word.startswith("__")
                and word.endswith("__")
                and word not in PLAIN_DUNDERS
            ):
                yield Unread(f"the insides of Python ({word})")
            if word == "usetex":
                yield Unread("other processes (usetex starts TeX)")
            if word == "fromfile_prefix_chars":
                yield Unread(f"files that are named while it runs ({word})")
        if isinstance(node, ast.MatchClass):
            yield from (what for name in node.kwd_attrs for what in reached_by("", name))

    def _imported(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.ClassDef):
            waiting: list[ast.AST] = list(node.body)
            while waiting:
                part = waiting.pop()
                if isinstance(part, ast.Import | ast.ImportFrom):
                    yield Unread(f"{ast.unparse(part)} in a class")
                waiting += ast.iter_child_nodes(part) if not isinstance(part, ast.FunctionDef | ast.Lambda) else ()
        for alias in node.names if isinstance(node, ast.Import) else ():
            yield from (f"{what} (import of {name})" for name, what in [module_meaning(alias.name)] if what)
            yield from _way_to(alias.name)
            if alias.asname and alias.name in GUARDED and alias.asname != alias.name:
                yield Unread(f"{alias.name} under another name")
        if isinstance(node, ast.ImportFrom) and node.level:
            yield from (what for alias in node.names for what in reached_by("", alias.name))
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            yield from (f"{what} (import of {name})" for name, what in [module_meaning(module)] if what)
            yield from _way_to(module)
            for alias in node.names:
                if alias.name == "*":
                    what = f"more of {module} than can be read"
                    yield from [what if module in GUARDED else Unread(what)] if self.is_shared(module) else ()
                elif f"{module}.{alias.name}" not in ("os.environ", "os.getenv"):
                    yield from reached_by(module, alias.name)
                elif alias.asname:
                    yield "the environment (under another name)"
                if alias.asname and alias.name in (*_BY_NAME, *_LONE):
                    yield Unread(f"{alias.name} under another name")

    def _attribute(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Attribute):
            yield from self._asked(node.value, node.attr)
            is_own = self.is_self(node.value) or self.is_parsed(node.value)
            if node.attr in _OF_VALUES[:3]:
                named = isinstance(self.parent(node), ast.Attribute) and last_name(self.parent(node)) == "__name__"
                if not (is_own and node.attr != "__file__") and not (named and node.attr == "__class__"):
                    yield Unread(f"the insides of Python ({ast.unparse(node)[:60]})")
            if node.attr == "__setattr__" and last_name(getattr(node.value, "func", node.value)) not in (
                "object",
                "super",
            ):
                yield Unread(f"names that are changed while it runs ({ast.unparse(node)[:60]})")

    def _asked(self, base: ast.expr, name: str) -> Iterator[str]:
        for path in self.paths(base) or ("",):
            if f"{path}.{name}" in ("os.environ", "os.getenv") and isinstance(self.parent(base), ast.Attribute):
                continue  # a rule of its own
            if name == "main" and path == "unittest":
                yield from (
                    [Unread("code that is named while it runs (argv beside unittest.main)")]
                    if self._asks_argv()
                    else []
                )
                continue
            yield from reached_by(path, name)
            yield from reached_by("", name) if path and not self.is_shared(path) else ()

    def _asks_argv(self) -> bool:
        return any(last_name(node) == "argv" for node in self.nodes) or "argv" in self.imported

    def _name(self, node: ast.AST) -> Iterator[str]:
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or self.is_argument(node):
            return
        if node.id in BUILTINS and not self.function_of(node):
            what = f"code that is made while it runs ({node.id}"
            yield Unread(f"{what}: give a thing of your own another name)") if node.id in self.own else f"{what})"
        elif node.id in HIDDEN:
            yield f"the insides of Python or IPython ({node.id})"
        elif node.id in ("exit", "quit") and not self.function_of(node):
            if isinstance(self.parent(node), ast.Attribute):
                yield f"the insides of Python or IPython ({node.id})"
            elif not self._is_called(node):
                yield Unread(f"the insides of Python or IPython ({node.id} as a value)")
        elif node.id.startswith("__") and node.id == "__file__":
            yield from self._own_file(node)

    def _own_file(self, node: ast.Name) -> Iterator[str]:
        call = self.parent(node)
        if isinstance(call, ast.Call) and last_name(call.func) == "open":
            yield "code that is made while it runs (it opens its own file)"
        elif isinstance(call, ast.Call) and last_name(call.func) == "Path":
            asked = self.parent(call)
            while isinstance(asked, ast.Attribute | ast.Call) and last_name(asked) in ("resolve", "absolute", ""):
                asked = self.parent(asked)
            if last_name(asked) in ("write_text", "write_bytes", "open", "rename", "replace", "unlink"):
                yield f"code that is made while it runs ({last_name(asked)} of its own file)"
            elif last_name(asked) not in ("parent", "parents", "with_name", "stem", "name"):
                yield Unread("its own file: take the folder (Path(__file__).parent)")
        elif not isinstance(call, ast.Call) or last_name(call.func) not in (
            "abspath",
            "realpath",
            "dirname",
            "basename",
        ):
            yield Unread("its own file: take the folder (Path(__file__).parent)")

    def _is_called(self, node: ast.AST) -> bool:
        return getattr(self.parent(node), "func", None) is node

    def _value(self, node: ast.AST) -> Iterator[str]:
        """Modules, and what gives anything by its name, may be called and asked: handed on they have no name that a reader knows."""
        asked = isinstance(node, ast.Name | ast.Attribute) or (
            isinstance(node, ast.Call) and bool(written_getattr(node))
        )
        if not asked or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return
        above = self.parent(node)
        if isinstance(above, ast.Attribute) or self._is_called(node):
            return
        paths = self.paths(node)
        plain = isinstance(above, ast.Call) and (
            last_name(above.func) in _TELLING or (last_name(above.func) == "getattr" and above.args[0] is node)
        )
        if not plain or (isinstance(above, ast.Call) and last_name(above.func) in self.own):
            for path in filter(self.is_module, paths):
                yield Unread(f"{path} under a name that is made while it runs: call the function of it that is meant")
        names = [path.rpartition(".")[2] for path in paths] or [last_name(node)]
        is_local = isinstance(node, ast.Name) and bool(self.function_of(node))
        for name in names if not is_local else ():
            if name in _BY_NAME or (name in ("format", "format_map") and isinstance(node, ast.Attribute)):
                yield Unread(f"what is named while it runs ({name} as a value)")
            elif name == "type" and isinstance(node, ast.Name) and not self._is_type(node):
                yield Unread("a class that is made while it runs (type as a value)")
        for path in paths:
            if path in PICKLED or path in TIMED or (path == "argparse.ArgumentParser" and isinstance(above, ast.Call)):
                yield Unread(f"code that is stored as data ({path} as a value: call it)")

    def _call(self, node: ast.AST) -> Iterator[str]:
        if not isinstance(node, ast.Call):
            return
        name, paths = last_name(node.func), self.paths(node.func)
        if name in _BY_NAME and not (isinstance(node.func, ast.Name) and self.function_of(node.func)):
            yield from self._by_name(node, name)
        for path in paths or [name]:
            yield from code_by_arguments(node, path, self)
        names = {name, *(path.rpartition(".")[2] for path in paths)}
        if (
            name == "format"
            and isinstance(node.func, ast.Attribute)
            and not paths
            and not self._is_text(node.func.value)
        ):
            yield Unread("what is named while it runs (format of a text that is not written here)")
        if name == "type" and len(node.args) + len(node.keywords) > 1:
            yield Unread("a class that is made while it runs (type of three arguments)")
        if name == "type" and isinstance(self.parent(node), ast.Assign | ast.NamedExpr | ast.Return | ast.Lambda):
            yield Unread("the class of a value under a name (type(x): write the class, or compare with isinstance)")
        if isinstance(node.func, ast.Call) and last_name(node.func.func) == "type":
            yield Unread("what is made by the class of another value (type(x)(...))")
        for most, wrapping in enumerate(("wraps", "update_wrapper"), 1):
            if wrapping in names and len(given_to(node)) > most:
                yield Unread(f"names of one thing under those of another ({wrapping} with more than a function)")
        if "as_strided" in names and getattr(word_of(node, "writeable"), "value", True) is not False:
            yield Unread("memory that is not its own (as_strided: say writeable=False, or take sliding_window_view)")
        if name == "show" and not paths and any("PIL" in path for each in self.imported.values() for path in each):
            yield Unread("other processes (show of a picture starts a program: save it, or show it with display)")
        if name in ("ArgumentParser", "add_parser", "__init__") and "argparse" in self.imported:
            spread = any(isinstance(arg, ast.Starred) for arg in node.args) or any(
                each.arg is None for each in node.keywords
            )
            if spread or len(node.args) > 7:
                yield Unread("files that are named while it runs (a parser of arguments, by a table)")

    def _is_type(self, node: ast.Name) -> bool:
        """Whether `type` is asked for, and not made another name of."""
        above = self.parent(node)
        compared = isinstance(above, ast.Call) and last_name(above.func) in ("isinstance", "issubclass", *_TELLING)
        return compared or isinstance(above, ast.Compare | ast.Subscript) or is_annotation(node, self)

    def _is_text(self, node: ast.expr) -> bool:
        """Whether it is a text that is written out, also under a name."""
        values = self.values(node.id) if isinstance(node, ast.Name) else (node,)
        return bool(values) and all(isinstance(each, ast.Constant | ast.JoinedStr) for each in values)

    def _by_name(self, node: ast.Call, name: str) -> Iterator[str]:
        if name == "import_module":
            module = imported_by(node)
            what = module_meaning(module)[1]
            if not module:
                yield Unread("a module whose name is made while it runs (import_module)")
            elif what or module in GUARDED:
                yield f"{what} (import of {module})" if what else Unread(f"{module} by its name as a text: import it")
        elif name == "vars":
            first = node.args[0] if len(node.args) == 1 else None
            if first is None or not (self.is_self(first) or self.is_parsed(first)):
                certain = not node.args or bool(self.paths(first))
                what = (
                    "the insides of Python or IPython (vars)"
                    if certain
                    else "all names of what is made elsewhere (vars: write the names, or vars(parser.parse_args()))"
                )
                yield what if certain and name not in self.own else Unread(what)
        elif name == "getattr":
            names = self.written_names(node.args[1]) if len(node.args) > 1 else set()
            if not names:
                yield Unread(
                    "what is named while it runs (getattr: write the name of the attribute, or take a dict of functions)"
                )
            for part in (part for name in names for part in name.split(".")):
                yield from self._asked(node.args[0], part)
                paths = self.paths(node.args[0])
                is_module = any(self.is_module(f"{path}.{part}") or not self.is_shared(path) for path in paths)
                if part in _OF_VALUES or (is_module and not isinstance(node.args[1], ast.Constant)):
                    yield Unread(f"what is named while it runs (getattr of {part})")
        else:
            texts = [text_of(arg) for arg in (node.args[:1] if name == "methodcaller" else node.args)]
            if not texts or not all(texts):
                yield Unread(f"what is named while it runs ({name}: write the names)")
            yield from (what for text in texts for part in text.split(".") for what in reached_by("", part))


def _way_to(module: str) -> Iterator[str]:
    """What a module is of each one that it stands in."""
    parts = module.split(".")
    return (what for at in range(1, len(parts)) for what in reached_by(".".join(parts[:at]), parts[at]))
