"""How kernels and their steps are compiled, and when they are compiled again.

A *step* is inlined wherever it is used. A *kernel* is called from Python: it runs without the GIL and is kept
in a cache. Neither counts references (``_nrt=False``): a step that takes an array would otherwise cost
two atomic additions at each call, three times what the packet costs. So neither may make an array.

Numba's own cache finds a kernel outdated when the kernel's own file has changed, not when a step's has. Ours
looks at the file and at all of ours that it imports.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from numba import njit
from numba.core.caching import FunctionCache

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

_KERNEL: dict[str, Any] = {"nogil": True, "_nrt": False}
_SELDOM: dict[str, Any] = {"forceinline": False, "_nrt": False, "no_cpython_wrapper": True}
# else a seldom function inherits forceinline from the step that calls it first
_STEP: dict[str, Any] = {"forceinline": True, "_nrt": False}
_ROOT = Path(__file__).parents[2]
_IMPORT = re.compile(r"^from (labs[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


class _Cache(FunctionCache):
    """Numba's cache, with a stamp of all its sources in place of the one file's."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]  # numba is half typed
        self._cache_file._source_stamp = stamp(Path(function.__code__.co_filename))  # noqa: SLF001 - numba has no other way


@cache
def stamp(source: Path) -> str:
    """Return a digest of every source that a kernel in `source` may be made of."""
    digest = hashlib.sha256()
    for file in sorted(sources_of(source)):
        digest.update(_text(file).encode())
    return digest.hexdigest()


def sources_of(source: Path) -> set[Path]:
    """Return a file and the files of our own that it imports, directly or not."""
    found: set[Path] = set()
    left = [source]
    while left:
        file = left.pop()
        if file not in found:
            found.add(file)
            left += _imports(file)
    return found


@cache
def _text(file: Path) -> str:
    return file.read_text()


@cache
def _imports(file: Path) -> list[Path]:
    """Return the files of our own that a file imports."""
    files = []
    for module, names in _IMPORT.findall(_text(file)):
        place = _ROOT.joinpath(*module.split("."))
        files += [place.with_suffix(".py"), place / "__init__.py"]
        files += [place / f"{name.split()[0]}.py" for name in names.strip("()\n ").split(",") if name.split()]
    return [each for each in files if each.is_file()]


def cache_folder(kernel: Any) -> str:  # noqa: ANN401 - numba's dispatcher is untyped
    """Return where a kernel's compiled code is kept."""
    return str(kernel.stats.cache_path)


def cached(function: Callable[..., Any], **options: Any) -> Any:  # noqa: ANN401 - numba's dispatcher is untyped
    """Return numba's dispatcher of a function, with our cache."""
    compiled = njit(**{**_KERNEL, **options})(function)
    compiled._cache = _Cache(function)  # noqa: SLF001 - what `cache=True` does with numba's own
    return compiled


def step(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function to be inlined into kernels."""
    compiled: Callable[P, R] = njit(**_STEP)(function)
    return compiled


def seldom(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that kernels call, not inlined: for what is large and not done for each packet."""
    compiled: Callable[P, R] = njit(**_SELDOM)(function)
    return compiled


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function to be called from Python, cached and without the GIL."""
    compiled: Callable[P, R] = cached(function)
    return compiled
