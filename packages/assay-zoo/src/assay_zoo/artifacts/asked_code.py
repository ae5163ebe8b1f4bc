"""Code that a static reader cannot follow. A person looks at what is not plainly harmless there."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from assay_zoo.artifacts.code_names import imported_from, last_name
from assay_zoo.artifacts.dangerous_names import OF_FRAMES
from assay_zoo.artifacts.plain_names import PLAIN_DUNDERS, is_package_module, more_than_plain
from assay_zoo.artifacts.reached import Unread
from assay_zoo.artifacts.shown_markup import ShownMarkup
from assay_zoo.artifacts.source_file import NAMESPACES

_DUNDER = re.compile(r"__\w+__")
_CODE = re.compile(r"(?s).*\.(?:py|pyw|pyc|pyd|pth|so|sh|ipynb)", re.IGNORECASE)
_LOOKING = re.compile(
    r"print|open|(?:abs|real|norm)path|(?:base|dir)name|Path|Pure\w*Path|join\w*|exists|is_?file|is_?dir|i?r?glob|fn?match|search|sub|findall|r?split\w*|endswith|startswith|remove\w+|get\w*|"
    r"add_argument|add|append|index|count|len|str|repr|sorted|set|frozenset|list|tuple|stat|format|replace|strip|read_\w+|load\w*|debug|info|"
    r"warning|error|log|exception|with_\w+|relative_to|resolve|fromfile|genfromtxt|imread|\w*Error|\w*Exception|ArgumentParser|write[\w]+|"
    r"unlink|suffix|parse\w*|lower|upper|Field|field"
)
"""Calls that only look at a name of a file; what `open`, `write_text` and their like do with one is read elsewhere."""
_FETCHERS = ("genfromtxt", "loadtxt", "recfromcsv", "recfromtxt", "DataSource", "imread")
_FETCHING = re.compile(r"read_(?:csv|table|json|html|excel|parquet|feather|fwf|xml|pickle|hdf|orc|stata|sas|spss)")
_ADDRESS = re.compile(r"(?:https?|ftps?)://", re.IGNORECASE)
_CHANGING = ("append", "insert", "extend", "__setitem__", "__iadd__")
_FROM_FILES = "fromfile_prefix_chars"
_BEFORE = 7
"""Arguments of a parser that come before that one."""
_LEADING = ("symlink_to", "hardlink_to", "extractall", "unpack_archive", "LowLevelCallable")


class AskedCode(ShownMarkup):
    """The code of one file that a static reader cannot follow."""

    def asked(self, node: ast.AST) -> Iterator[str]:
        for name in _written_names(node):
            if _DUNDER.fullmatch(name) and name not in PLAIN_DUNDERS and id(node) not in self._shown:
                yield Unread(f"the insides of Python ({name})")
            if name == _FROM_FILES:
                yield Unread(f"files that are named while it runs ({name})")
        yield from self._shown_by(node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from self._brought(node)
        elif isinstance(node, ast.Name | ast.Attribute):
            yield from self._used(node)
        elif isinstance(node, ast.Call):
            yield from (
                *self._made_by(node),
                *self._handed_class(node, [*node.args, *(keyword.value for keyword in node.keywords)]),
            )
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            yield from self._handed_class(node, node.elts)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            yield from self._stored(node)
        elif isinstance(node, ast.keyword | ast.Dict):
            yield from _typeset(node)
            yield from self._handed_class(node, node.values if isinstance(node, ast.Dict) else ())
        elif isinstance(node, ast.ClassDef):
            yield from self._derived(node.bases)
            yield from self._handed_class(node, [keyword.value for keyword in node.keywords])
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in self._words | self._compared
        ):
            inside = _DUNDER.fullmatch(node.value) and node.value not in PLAIN_DUNDERS
            if inside or node.value in OF_FRAMES:
                yield Unread(f"the insides of Python ({node.value})")
            if node.value == _FROM_FILES:
                yield Unread(f"files that are named while it runs ({node.value})")

    def _brought(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        base = f"{imported_from(node)}." if isinstance(node, ast.ImportFrom) else ""
        for path in (f"{base}{alias.name}" for alias in node.names):
            if more_than_plain(path):
                yield Unread(f"more than is plainly harmless ({path})")

    def _used(self, node: ast.Name | ast.Attribute) -> Iterator[str]:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield from self._replaced(node.value, node.attr, self._stored_in.get(id(node)))
        if not isinstance(node.ctx, ast.Load) or self._given(node) == 1 or id(node) in self._annotated:
            return
        for path in self._bound.of(node):
            if isinstance(node, ast.Attribute) and path.count(".") == 1 and more_than_plain(path):
                yield Unread(f"more than is plainly harmless ({path})")
            if id(node) not in self._kept | self._only_told and self._is_allowed_module(path):
                yield Unread(f"{path}, a module, as a value: what is asked of it then has no name here")
        if isinstance(node, ast.Attribute):
            if node.attr == "__dict__" and not self._is_own(node.value) and id(node) not in self._shown:
                yield Unread(f"all names of what is made elsewhere ({ast.unparse(node)[:60]})")
            if node.attr == "__setattr__" and last_name(getattr(node.value, "func", node.value)) not in (
                "object",
                "super",
            ):
                yield Unread(f"names that are changed while it runs ({ast.unparse(node)[:60]})")
            if isinstance(node.value, ast.Name) and self._leaves(node.value):
                yield f"the insides of Python or IPython ({node.value.id}.{node.attr})"
        elif self._leaves(node) and id(node) not in self._called | self._asked:
            yield Unread(f"the insides of Python or IPython ({node.id} as a value)")

    def _leaves(self, node: ast.Name) -> bool:
        """Whether it is what ends a session: in a notebook that is an object that leads to IPython."""
        return node.id in ("exit", "quit") and not self._names[0].binds(node.id)

    def _is_allowed_module(self, path: str) -> bool:
        return path.partition(".")[0] in self._packages and (path in self._modules or is_package_module(path))

    def _is_own(self, node: ast.expr, seen: frozenset[int] = frozenset()) -> bool:
        """Whether a value is one of the file's own classes, or a table of names that it made."""
        if isinstance(node, ast.Call):
            return last_name(node.func) in (*NAMESPACES, *self._classes)
        if not isinstance(node, ast.Name) or id(node) in seen:
            return False
        if node.id == "self" or node.id in self._namespaces:
            return True
        scope = self._scopes.around(node)
        named = isinstance(scope, ast.FunctionDef) and self._given(node) == 1
        values = self._given_to(scope, node.id) if named else self._names_in(scope).values_of(node.id)
        return bool(values) and all(self._is_own(value, seen | {id(node)}) for value in values)

    def _made_by(self, node: ast.Call) -> Iterator[str]:
        name, many = last_name(node.func), len(node.args) + len(node.keywords)
        words = {keyword.arg: keyword.value for keyword in node.keywords}
        if name == "vars" and self._is_plain(node, ("vars",)) and node.args and not self._is_own(node.args[0]):
            yield Unread(f"all names of what is made elsewhere ({ast.unparse(node)[:60]})")
        if name in ("setattr", "__setattr__") and len(node.args) > 2:
            named = node.args[1].value if isinstance(node.args[1], ast.Constant) else ""
            yield from self._replaced(node.args[0], str(named), node.args[2])
        if name in ("wraps", "update_wrapper") and (many > (1 if name == "wraps" else 2)):
            yield Unread(f"names of one thing under those of another ({name} with more than a function)")
        of = node.func.func if isinstance(node.func, ast.Call) else node.func
        is_kind = last_name(of) in ("type", "__class__") and (of is not node.func or last_name(of) == "__class__")
        of_nothing = len(node.args) == 3 and isinstance(node.args[1], ast.Tuple) and not node.args[1].elts
        if many == 3 and self._is_plain(node, ("type",)) and not of_nothing:
            yield Unread("a class that is made while it runs (type of three arguments)")
        if many > 1 and is_kind and not _is_of_self(node.func):
            yield Unread("what is made by the class of another value (type(x)(...))")
        yield from (f"the insides of Python or IPython ({word})" for word in words if word in OF_FRAMES)
        fills = (
            name in ("format", "format_map") and isinstance(node.func, ast.Attribute) and not self._bound.of(node.func)
        )
        if fills and (None,) in self._names_in(self._scopes.around(node)).of(getattr(node.func, "value", node)):
            yield Unread(f"what is named while it runs ({name} of a text that is not written here)")
        if name in _LEADING or (name == "extract" and many < 2):
            yield Unread(f"files that are made while it runs ({name})")
        if "inplace" in words and name in ("input", "FileInput"):
            yield Unread("a file that is written over while it is read (inplace)")
        if self._may_parse_files(node, name):
            yield Unread(f"files that are named while it runs (a parser of arguments, {ast.unparse(node)[:60]})")
        kept = words.get("writeable")
        if name == "as_strided" and not (isinstance(kept, ast.Constant) and kept.value is False):
            yield Unread("memory that is not its own (as_strided: say writeable=False, or take sliding_window_view)")
        yield from self._handed(node, name)
        yield from self._fetched(node, name, words)

    def _may_parse_files(self, node: ast.Call, name: str) -> bool:
        """Whether a parser of arguments may be set by position, or by a table, to read arguments from files."""
        if not any(path.startswith("argparse") for path in self._bound.all_paths()):
            return False
        made = [node.func, *node.args]
        is_parser = any("argparse.ArgumentParser" in self._bound.of(each) for each in made) or name in self._parsers
        is_parser = is_parser or name == "add_parser" or (name == "__init__" and bool(self._parsers))
        if not is_parser:  # a name that the file does not say more of may be one
            known = isinstance(node.func, ast.Attribute) or hasattr(builtins, name) or bool(self._bound.of(node.func))
            return not known and name not in self._functions | self._classes and len(node.args) > _BEFORE
        spread = [each.value for each in node.args if isinstance(each, ast.Starred)]
        spread += [keyword.value for keyword in node.keywords if keyword.arg is None]
        return len(node.args) > _BEFORE or any(self._given(each) != 1 for each in spread)

    @cached_property
    def _parsers(self) -> set[str]:
        """Classes of the file that derive from a parser of arguments."""
        names: set[str] = set()
        classes = [node for node in self._nodes if isinstance(node, ast.ClassDef)]
        for _ in classes:
            more = {
                each.name
                for each in classes
                for base in each.bases
                if last_name(base) in names or "argparse.ArgumentParser" in self._bound.of(base)
            }
            if more <= names:
                break
            names |= more
        return names

    def _handed(self, node: ast.Call, name: str) -> Iterator[str]:
        """Names of files of code, given to what may write them; libraries given to a runtime; folders given to the search for modules."""
        place = self._names_in(self._scopes.around(node))
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        for argument in given:
            for text in place.of(argument) if not _LOOKING.fullmatch(name) or isinstance(node.func, ast.Call) else ():
                if _CODE.fullmatch(text[-1] or "") and not (name == "write" and " " in (text[-1] or "")):
                    yield Unread(f"a file of code ({(text[-1] or '')[-40:]!r}, given to {name or 'what a call gives'})")
        if name == "InferenceSession":
            tables = [each for expr in given for each in ast.walk(expr) if isinstance(each, ast.Dict)]
            texts = [text[-1] or "" for table in tables for each in table.values for text in place.of(each)]
            if any(re.search(r"[/\\]|\.\w+$", path) for path in texts):
                yield Unread("native code (an option of a provider that is a file)")
        changed = self._bound.of(node.func.value) if isinstance(node.func, ast.Attribute) and name in _CHANGING else ()
        if "sys.path" in changed and not all(map(self._is_source_folder, node.args[-1:])):
            yield Unread("code from elsewhere (sys.path is changed)")
        pictures = name == "open" and any(path.startswith("PIL") for path in self._bound.of(node.func))
        if pictures and any(re.search(r"(?i)\.e?ps$", text[-1] or "") for expr in given for text in place.of(expr)):
            yield Unread("other processes (a picture in PostScript is drawn by another program)")
        if name in ("write_text", "write_bytes") and isinstance(node.func, ast.Attribute):
            of = node.func.value
            if isinstance(of, ast.Name) and of.id in self._found_names:
                yield Unread(f"a file of any name, that is found while it runs ({of.id}.{name})")

    def _is_source_folder(self, node: ast.expr) -> bool:
        """The folder of the file, or one that holds sources."""
        texts = [
            part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
        known = all(
            text.strip("./") == ""
            or any(file.startswith(f"{text.strip('./').replace('/', '.')}.") for file in self._others.hands_on)
            for text in texts
        )
        names = {last_name(part) for part in ast.walk(node)}
        return known and (bool(texts) or bool(names & {"__file__", "getcwd", "cwd"}))

    def _fetched(self, node: ast.Call, name: str, words: Mapping[str | None, ast.expr]) -> Iterator[str]:
        """Addresses: of what IPython shows, and of a reader that may fetch what is nowhere said to be a file."""
        place = self._names_in(self._scopes.around(node))
        given = [*node.args, *words.values()]
        named = "url" in words or any(_ADDRESS.match(text[0] or "") for expr in given for text in place.of(expr))
        if named and any(path.startswith("IPython.display") for path in self._bound.of(node.func)):
            yield f"the network ({name} of an address)"
        fetches = name in _FETCHERS or _FETCHING.fullmatch(name)
        if fetches and self._addresses and any((None,) in place.of(arg) for arg in node.args[:1]):
            yield Unread(f"the network ({name} may be given {self._addresses[0][:60]!r})")
        shows = name == "show" and isinstance(node.func, ast.Attribute) and not self._bound.of(node.func)
        if shows and any(path.startswith("PIL") for path in self._bound.all_paths()):
            yield Unread("other processes (show of a picture starts a program)")

    def _stored(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> Iterator[str]:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        place = self._names_in(self._scopes.around(node))
        texts = [text[-1] or "" for text in place.of(node.value)] if node.value is not None else []
        for target in targets:
            if isinstance(target, ast.Attribute) and any(map(_CODE.fullmatch, texts)):
                yield Unread(f"a file of code (given as {target.attr})")
            base = target.value if isinstance(target, ast.Subscript) else target
            key = target.slice if isinstance(target, ast.Subscript) and node.value is not None else None
            yield from _typeset(ast.Dict([key], [node.value])) if key is not None and node.value is not None else ()
            if "sys.path" in self._bound.of(base):
                yield Unread("code from elsewhere (sys.path is changed)")


def _written_names(node: ast.AST) -> Iterator[str]:
    """Every name that a node brings, asks or gives."""
    words = (getattr(node, key, None) for key in ("id", "attr", "name", "arg", "asname"))
    yield from (word for word in words if isinstance(word, str))
    yield from node.kwd_attrs if isinstance(node, ast.MatchClass) else ()


def _typeset(node: ast.keyword | ast.Dict) -> Iterator[str]:
    """By which matplotlib starts TeX, which runs what it is given."""
    pairs = (
        [(ast.Constant(node.arg), node.value)]
        if isinstance(node, ast.keyword)
        else zip(node.keys, node.values, strict=True)
    )
    for key, value in pairs:
        if isinstance(key, ast.Constant) and str(key.value).endswith("usetex"):
            off = isinstance(value, ast.Constant) and not value.value
            yield from () if off else (Unread("other processes (usetex starts TeX)"),)


def _is_of_self(node: ast.expr) -> bool:
    of = node.args[0] if isinstance(node, ast.Call) and node.args else getattr(node, "value", None)
    return isinstance(of, ast.Name) and of.id == "self"
