"""What a name stands for, followed through all files of a submission: every meaning of each is looked at with every one of the next."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from types import ModuleType

from assay_zoo.artifacts.code_names import HERE, Meanings, in_python, written_path
from assay_zoo.artifacts.known_modules import HARMLESS, is_elsewhere

MAIN = "__main__"
"""Of the file that is run: any may be."""
MOST_PATHS = 200
"""That one name may stand for; those of allowed packages, which lead nowhere else, count as a tenth."""
_LONGEST = 40
"""Parts of a path through modules of Python that have one another."""
_Key = tuple[str, str]


class NamedFiles:
    """The files of a submission by their dotted names, each with what its names stand for and the files of which it has all names.
    Where one may change the folders in which modules are looked for, they are `mixed`: any has the name of any of its name's last part."""

    def __init__(self) -> None:
        self.hands_on: dict[str, Meanings] = {}
        self.stars: dict[str, Sequence[str]] = {}
        self.by_last: dict[str, list[str]] = {}
        self.givers: dict[str, list[str]] = {}
        self.defines: dict[str, list[frozenset[str]]] = {}
        self.mixed = False

    def add(self, file: str, names: Meanings, stars: Sequence[str], defines: Collection[str]) -> None:
        """A notebook may have the name of a script."""
        if file not in self.hands_on:
            self.by_last.setdefault(file.rpartition(".")[2], []).append(file)
        there = self.hands_on.setdefault(file, {})
        for name, paths in names.items():
            there[name] = list(dict.fromkeys((*there.get(name, ()), *paths)))
        self.stars[file] = (*self.stars.get(file, ()), *stars)
        self.defines.setdefault(file, []).append(frozenset(defines))

    def close(self) -> None:
        """After the last one."""
        for file, names in self.hands_on.items():
            for name in names:
                self.givers.setdefault(name, []).append(file)


class FollowedNames:
    """What names stand for in one file, which has `own` ones, among the files of its submission."""

    def __init__(
        self, own: Meanings, stars: Sequence[str] = (), files: NamedFiles | None = None, packages: Collection[str] = ()
    ) -> None:
        self._names: dict[str, Meanings] = {HERE: own}
        self._stars: dict[str, Sequence[str]] = {HERE: stars}
        self._files, self._packages = files or NamedFiles(), packages
        self._names.update(self._files.hands_on)
        self._stars.update(self._files.stars)
        self._values: dict[_Key, dict[str, None]] = {}
        self._readers: dict[_Key, set[_Key]] = {}
        self._waiting: list[_Key] = []
        self._matched: dict[str, list[str]] = {}
        self._brought: dict[str, list[str]] = {}
        self._of_nodes: dict[int, tuple[ast.AST, tuple[str, ...]]] = {}
        self.too_many: set[str] = set()

    def files(self, path: str) -> list[str]:
        """The files that a dotted name may be of: from another folder it may have more parts or fewer."""
        if path not in self._matched:
            self._matched[path] = self._match(path)
        return self._matched[path]

    def _match(self, path: str) -> list[str]:
        name = path.lstrip(".")
        alike = self._files.by_last.get(name.rpartition(".")[2], [])
        if self._files.mixed:
            return alike
        from_folder = [candidate for candidate in alike if f".{candidate}".endswith(f".{name}")]
        if not is_elsewhere(path, self._packages) or (path.startswith(".") and from_folder):
            return from_folder
        return from_folder + [candidate for candidate in alike if name.endswith(f".{candidate}")] or alike

    def is_defined(self, path: str) -> bool:
        """By the file that has this name, as a function may be called as the file in which it is."""
        file, _, name = path.rpartition(".")
        files = self.files(file) if file.strip(".") else []
        return bool(files) and all(name in names for other in files for names in self._files.defines[other])

    def names_of(self, path: str) -> Iterator[str]:
        """All that the files hand on that a dotted name may be of."""
        for file in self.files(path):
            for other in (file, *self._star_files(file)):
                yield from self._names[other]

    def all_paths(self) -> Iterator[str]:
        for names in self._names.values():
            for paths in names.values():
                yield from paths

    def of(self, node: ast.AST | None) -> tuple[str, ...]:
        """Where the value of an expression may come from, each as `module.name`; nothing where it is no name of a module."""
        if node is None:
            return ()
        if id(node) not in self._of_nodes:
            path = written_path(node)
            self._of_nodes[id(node)] = (node, self._followed(path) if path else ())
        return self._of_nodes[id(node)][1]

    def _followed(self, path: str) -> tuple[str, ...]:
        asking: _Key = ("", path)
        while True:
            paths = self._path(HERE, path, asking)
            if not self._waiting:
                return tuple(paths)
            while self._waiting:
                self._work(self._waiting.pop())

    def _work(self, key: _Key) -> None:
        file, name = key
        if not file:
            return  # it is asked again by whoever asked
        there = self._values[key]
        before = len(there)
        for assigned in self._names[file].get(name, ()):
            there.update(self._path(file, assigned, key))
        for other in self._star_files(file):
            if name in self._names[other]:
                there.update(dict.fromkeys(self._read((other, name), key)))
        if len(there) > MOST_PATHS:
            elsewhere = sum(reached_path.partition(".")[0] not in self._packages for reached_path in there)
            if elsewhere + (len(there) - elsewhere) / 10 > MOST_PATHS:
                self.too_many.add(name)
                self._values[key] = there = dict(list(there.items())[:before])
        if len(there) > before:
            self._waiting += self._readers.get(key, ())

    def _read(self, key: _Key, asking: _Key) -> list[str]:
        if key not in self._values:
            self._values[key] = {}
            self._waiting.append(key)
        self._readers.setdefault(key, set()).add(asking)
        return list(self._values[key])

    def _path(self, file: str, path: str, asking: _Key) -> dict[str, None]:
        """What it is now known to stand for; more may be found while others are worked at."""
        first, *rest = path.removeprefix(HERE).split(".")
        paths = dict.fromkeys(self._read((file, first), asking) if path.startswith(HERE) else [first])
        for name in rest:
            paths = {next_path: None for value in paths for next_path in self._asked(value, name, asking)}
        return paths

    def _asked(self, value: str, name: str, asking: _Key) -> Iterator[str]:
        path = f"{value}.{name}"
        if name not in value.split(".")[2:] or self._may_have_again(path):
            yield path
        if value in ("", MAIN):
            for file in self._files.givers.get(name, ()):
                yield from self._read((file, name), asking)
            return
        for file in self.files(value):
            if name in self._names[file] or any(name in self._names[starred] for starred in self._star_files(file)):
                yield from self._read((file, name), asking)

    def _may_have_again(self, path: str) -> bool:
        """Whether its last name stands in it twice, and not because it is made of itself: by `node = node.next`."""
        module = isinstance(in_python(path, HARMLESS), ModuleType) and path.count(".") < _LONGEST
        name = path.lstrip(".")
        ends = (f".{name}", f".{name.partition('.')[2]}")  # the folder of the submission may be a package, too
        return module or any(
            f".{candidate}".endswith(ends) for candidate in self._files.by_last.get(name.rpartition(".")[2], ())
        )

    def _star_files(self, file: str) -> list[str]:
        """All files of which it has all names, through others as well."""
        if file not in self._brought:
            seen: dict[str, None] = {}
            waiting = [file]
            while waiting:
                for star in self._stars[waiting.pop()]:
                    every = (
                        [other for other in self._names if other != HERE]
                        if star in ("", ".", MAIN)
                        else self.files(star)
                    )
                    new = [other for other in every if other not in seen]
                    seen.update(dict.fromkeys(new))
                    waiting += new
            self._brought[file] = list(seen)
        return self._brought[file]
