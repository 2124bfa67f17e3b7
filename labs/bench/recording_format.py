"""How a recording is written down: as JSON's lists, and as one long table of text."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labs.bench.tables import Column, Mark, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_BIG = 1 << 20
_ACTIVE = re.compile(
    r"<\s*(script|iframe|object|embed|foreignobject|img|image|link|meta|base|form)\b|[\s/\"']on\w+\s*=|javascript:",
    re.IGNORECASE,
)
_GZIP = b"\x1f\x8b"


def packed(record: Mapping[str, Any], path: Path) -> tuple[Path, bytes]:
    """Return a record as the bytes of a file, and its path; a big one is compressed and ends in ``.gz``."""
    content = json.dumps(record, allow_nan=False).encode()
    if path.suffix != ".gz" and len(content) <= _BIG:
        return path, content
    return path if path.suffix == ".gz" else Path(f"{path}.gz"), gzip.compress(content, mtime=0)


def utc(seconds: float | None = None) -> str:
    """Return a time, now by default, as recordings tell when they began."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def read(path: Path) -> bytes:
    """Return a file's content; also where it was compressed on being saved, and its name is longer.

    Raises
    ------
    OSError
        It cannot be read.
    """
    longer = Path(f"{path}.gz")
    return (longer if longer.exists() and not path.exists() else path).read_bytes()


def unpacked(content: bytes) -> Any:  # noqa: ANN401 - what JSON holds
    """Return what `packed` has written.

    Raises
    ------
    ValueError, EOFError, OSError, zlib.error, RecursionError
        It is no JSON, or compressed badly.
    """
    return json.loads(gzip.decompress(content) if content.startswith(_GZIP) else content)


def plain(fact: Any) -> Any:  # noqa: ANN401 - facts are whatever someone noted
    """Return a fact as JSON takes it: what JSON does not know becomes text, and NaN nothing."""
    if isinstance(fact, dict):
        return {str(name): plain(value) for name, value in fact.items()}
    if isinstance(fact, list | tuple | set | frozenset):
        return [plain(value) for value in fact]
    if isinstance(fact, np.generic):
        fact = fact.item()
    if isinstance(fact, float) and not math.isfinite(fact):
        return None
    return fact if fact is None or isinstance(fact, str | int | float) else str(fact)


def harmless(picture: str) -> str:
    """Return an SVG element that may be shown in a page; empty where it could do more than be looked at."""
    return "" if _ACTIVE.search(picture) else picture


def table_to_dict(table: Table) -> dict[str, Any]:
    """Return a table as JSON takes it: a list for each column, null where there is no sample."""
    return {
        "columns": [vars(column) for column in table.columns],
        "times": table.times.tolist(),
        "values": [_numbers(table.values[:, number]) for number in range(len(table.columns))],
    }


def table_from_dict(name: str, record: Mapping[str, Any]) -> Table:
    """Return what `table_to_dict` has written.

    Raises
    ------
    ValueError, KeyError, TypeError
        It is no table.
    """
    columns = tuple(Column(str(c["name"]), str(c["label"]), str(c["unit"])) for c in record["columns"])
    times = np.array(record["times"], np.float64).reshape(-1)
    lists = [np.array(values, np.float32) for values in record["values"]]  # None becomes NaN
    values = np.stack(lists, axis=1) if lists else np.zeros((len(times), 0), np.float32)
    if values.shape != (len(times), len(columns)) or not np.all(np.isfinite(times)):
        raise ValueError(name)
    if np.any(np.diff(times) < 0):
        raise ValueError(name)
    return Table(name, columns, times, values)


def mark_from_dict(record: Mapping[str, Any]) -> Mark:
    """Return a mark.

    Raises
    ------
    ValueError, KeyError, TypeError
        It is none.
    """
    if not math.isfinite(t := float(record["t"])):
        raise ValueError(t)
    return Mark(t, str(record["label"]), tuple(map(str, record["commands"])))


def csv_text(facts: Mapping[str, Any], tables: Iterable[Table], marks: Sequence[Mark]) -> str:
    """Return samples as one long table with a row for each; see `Recording.to_csv`."""
    text = io.StringIO()
    for name, fact in facts.items():
        line = f"# {name}: {fact if isinstance(fact, str) else json.dumps(plain(fact))}"
        text.write(" ".join(line.split()) + "\n")
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(["time_s", "track", "column", "label", "unit", "value"])
    for table in tables:
        for number, column in enumerate(table.columns):
            about = (table.name, column.name, column.label, column.unit)
            values = _numbers(table.values[:, number])
            for t, value in zip(table.times.tolist(), values, strict=True):
                writer.writerow((t, *about, value))
    writer.writerows((mark.t, "mark", "", mark.label, "", None) for mark in marks)
    return text.getvalue()


def _numbers(values: Any) -> list[float | None]:  # noqa: ANN401 - arrays of either width
    """Return numbers in their shortest form; None for NaN, and an infinite one is the greatest there is."""
    limits = np.finfo(values.dtype)
    held = np.nan_to_num(values, nan=np.nan, posinf=limits.max, neginf=limits.min)
    return [None if math.isnan(number) else number for number in map(float, held.astype(str))]
