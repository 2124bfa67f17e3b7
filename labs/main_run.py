"""The commands ``labs run NAME``: an experiment on a lab of its own, its table and its verdicts."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.experiments import Run

run_app = typer.Typer(
    no_args_is_help=True, help="Run an experiment, print its table and verdicts, and save it."
)

err = Console(stderr=True)
"""Standard output is for results."""

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Html = Annotated[
    Path | None,
    typer.Option(dir_okay=False, help="Write a report there; it opens in a browser without a network."),
]
Engine = Annotated[
    str | None, typer.Option(help="docker, process or glassbox; else LABS_ENGINE, else what is here.")
]


@run_app.command("pinning")
def run_pinning(
    *,
    engine: Engine = None,
    seconds: Annotated[float | None, typer.Option(min=0.1, help="Length of one measured window.")] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Windows of each placement.")] = None,
    as_json: Json = False,
    html: Html = None,
) -> None:
    """Ping with both nodes on one core, on a core each, and free to move."""
    from labs.experiments.pinning import pinning  # noqa: PLC0415

    _run("pinning", pinning, engine, seconds, rounds, as_json=as_json, html=html)


@run_app.command("rx_mode")
def run_rx_mode(
    *,
    engine: Engine = None,
    seconds: Annotated[float | None, typer.Option(min=0.15, help="Length of one measured window.")] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Windows of each setting.")] = None,
    as_json: Json = False,
    html: Html = None,
) -> None:
    """Poll, sleep or adapt: latency, processor time and doorbells, idle and under load."""
    from labs.experiments.rx_mode import rx_mode  # noqa: PLC0415

    _run("rx_mode", rx_mode, engine, seconds, rounds, as_json=as_json, html=html)


@run_app.command("throughput")
def run_throughput(
    *,
    engine: Engine = None,
    seconds: Annotated[float | None, typer.Option(min=1.0, help="Length of one measured window.")] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Windows of each point.")] = None,
    nodes: Annotated[int, typer.Option(min=2, max=8, help="VPPs in a row; a core for each.")] = 2,
    as_json: Json = False,
    html: Html = None,
) -> None:
    """Send packets flat out: sizes, rings, vectors, cycles, and how much goes through without loss."""
    from labs.experiments.throughput import throughput  # noqa: PLC0415

    _run("throughput", throughput, engine, seconds, rounds, nodes=nodes, as_json=as_json, html=html)


@run_app.command("reconnect")
def run_reconnect(
    *,
    engine: Engine = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Windows of each end.")] = None,
    as_json: Json = False,
    html: Html = None,
) -> None:
    """Kill either end of a link under traffic: time to recover, packets lost, what each end says."""
    from labs.experiments.reconnect import reconnect  # noqa: PLC0415

    _run("reconnect", reconnect, engine, None, rounds, as_json=as_json, html=html)


@run_app.command("links")
def run_links(
    *,
    engine: Engine = None,
    seconds: Annotated[float | None, typer.Option(min=1.0, help="Length of one measured window.")] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Windows of each link.")] = None,
    as_json: Json = False,
    html: Html = None,
) -> None:
    """Compare memif with vhost-user: rates, cycles, and who sees whose memory; needs DPDK's testpmd."""
    from labs.experiments.links import links  # noqa: PLC0415

    _run("links", links, engine, seconds, rounds, as_json=as_json, html=html)


def _run(
    name: str,
    experiment: Callable[..., Run],
    engine: str | None,
    seconds: float | None,
    rounds: int | None,
    *,
    nodes: int = 2,
    as_json: bool,
    html: Path | None,
) -> None:
    """Run an experiment on a lab of its own, and tell what it shows."""
    from labs.stock import chain, one_with_vhost  # noqa: PLC0415

    called = f"run-{name.replace('_', '-')}"
    lab = one_with_vhost(called, engine=engine) if name == "links" else chain(nodes, called, engine=engine)
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(), console=err, transient=True
    )
    with contextlib.redirect_stdout(sys.stderr):  # standard output is for the result
        lab.start()
    try:
        with bar:
            task = bar.add_task(name, total=1.0)
            run = experiment(
                lab, seconds, rounds, lambda done, what: bar.update(task, completed=done, description=what)
            )
    finally:
        lab.stop()
    if as_json:
        print(json.dumps(run.to_dict(), indent=1))
    else:
        _show(run)
    if html is not None:
        _report(run, html)
    if not run.passed:
        raise typer.Exit(1)


def _report(run: Run, path: Path) -> None:
    """Write a run's report, and say where."""
    from labs.bench.report import to_html  # noqa: PLC0415

    err.print(f"Report written to {to_html(run, path)}", soft_wrap=True, highlight=False)


def _show(run: Run) -> None:
    """Print a run's table, its quality and its verdicts."""
    out = Console()
    frame = run.table()
    table = Table(
        "", *(str(column) for column in frame.columns), title=f"{run.name}, {run.versions['data plane']}"
    )
    for name, row in frame.iterrows():
        table.add_row(str(name), *row)
    out.print(table)
    for line in (run.quality, *run.verdicts):
        out.print(str(line), highlight=False, soft_wrap=True)
    out.print(f"Saved in {run.path}", soft_wrap=True, highlight=False)
