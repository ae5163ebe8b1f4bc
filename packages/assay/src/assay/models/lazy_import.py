"""A package without what only some of its users need: that is imported when one of them comes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


@contextmanager
def lazy_import(package: str, modules: Sequence[str]) -> Iterator[None]:
    """Inside, the package can be imported without these modules of it. Whichever module of the package is imported first
    afterwards, has them imported before it. Where the package is imported already, nothing changes."""
    if package in sys.modules:
        yield
        return
    empty = {name: ModuleType(name) for name in modules}
    sys.modules.update(empty)
    try:
        yield
    finally:
        for name, module in empty.items():
            _leave(name, module)
        if package in sys.modules:
            sys.meta_path.insert(0, _Late(package, modules))


def _leave(name: str, module: ModuleType) -> None:
    """As if nobody had imported it."""
    if sys.modules.get(name) is module:
        del sys.modules[name]
    above, _, last = name.rpartition(".")
    if vars(sys.modules.get(above, module)).get(last) is module:
        delattr(sys.modules[above], last)


class _Late(MetaPathFinder):
    """Finds nothing itself: it hears that a module is wanted that is not there yet."""

    def __init__(self, package: str, modules: Sequence[str]) -> None:
        self._package, self._modules = package, tuple(modules)

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        if not self._modules or not name.startswith(f"{self._package}."):
            return None
        modules, self._modules = self._modules, ()
        for module in modules:
            import_module(module)
        module_there = sys.modules.get(name)
        return None if module_there is None else _spec_of(module_there)


def _spec_of(module: ModuleType) -> ModuleSpec:
    """The module that was wanted came along with the others: with this specification it is not made twice."""
    spec = ModuleSpec(module.__name__, _Found(module))
    # The import system asks a module that has come meanwhile for its specification, and would load it again by that.
    module.__spec__ = spec
    return spec


class _Found(Loader):
    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec
