"""The command ``labs``."""

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

from labs.errors import LabError

if TYPE_CHECKING:
    from labs.experiments import Run

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Hands-on labs on fast user-space networking with FD.io VPP.",
)
run_app = typer.Typer(
    no_args_is_help=True, help="Run an experiment, print its table and verdicts, and save it."
)
app.add_typer(run_app, name="run")

_err = Console(stderr=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Html = Annotated[
    Path | None,
    typer.Option(dir_okay=False, help="Write a report there; it opens in a browser without a network."),
]
Engine = Annotated[str | None, typer.Option(help="docker or process; else LABS_ENGINE, else what is here.")]


def main() -> None:
    """Run the command; an error is a sentence and a hint, never a traceback."""
    try:
        app()
    except LabError as error:
        _err.print(str(error), style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)


@app.command()
def doctor(*, as_json: Json = False) -> None:
    """Say what this machine can run, and what is missing; status 1 if no lab can run."""
    from labs.checkup import doctor as examine  # noqa: PLC0415 - each command imports what it needs

    report = examine()
    print(json.dumps(report.to_dict(), indent=1) if as_json else report)
    if not report.ready:
        raise typer.Exit(1)


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
    from labs.stock import two_vpps  # noqa: PLC0415

    lab = two_vpps("run-pinning", engine=engine)
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(), console=_err, transient=True
    )
    with contextlib.redirect_stdout(sys.stderr):  # standard output is for the result
        lab.start()
    try:
        with bar:
            task = bar.add_task("pinning", total=1.0)
            run = pinning(
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


@app.command()
def up(
    *,
    nodes: Annotated[int, typer.Option(min=1, max=8, help="VPPs in a row, each linked to the next.")] = 2,
    name: Annotated[str, typer.Option(help="The lab's name.")] = "up",
    engine: Engine = None,
) -> None:
    """Start a lab that stays until `labs down`."""
    from labs.keeper import start  # noqa: PLC0415

    print(start(name, nodes, engine))


@app.command()
def cli(
    line: Annotated[list[str] | None, typer.Argument(help="A command; else those of standard input.")] = None,
    *,
    socket: Annotated[Path, typer.Option("-s", help="The node's CLI socket.")],
) -> None:
    """Send lines to a node's CLI, as vppctl does, where there is no vppctl."""
    from labs.vpp.cli import Cli  # noqa: PLC0415

    door = Cli(socket)
    for text in [" ".join(line)] if line else sys.stdin:
        for _, answer in door.run_script(text):
            print(answer)


@app.command()
def down(name: Annotated[str, typer.Argument(help="The lab's name.")] = "up") -> None:
    """Stop a lab of yours, whoever started it."""
    from labs.keeper import stop  # noqa: PLC0415

    stop(name)
    print(f"The lab {name!r} is stopped, and nothing of it is left.")


@app.command()
def gc() -> None:
    """Remove what labs have left whose owner has ended; never anything else."""
    from labs.engines import reaper  # noqa: PLC0415

    swept = reaper.gc()
    print(f"Removed: {', '.join(swept)}." if swept else "Nothing was left behind.")


@app.command()
def check(
    files: Annotated[list[Path] | None, typer.Argument(help="Notebooks; else all in notebooks/.")] = None,
    *,
    fix: Annotated[bool, typer.Option("--fix", help="Strip the outputs that must not be kept.")] = False,
) -> None:
    """Check that notebooks keep the course's rules; status 1 if one does not."""
    from labs import notebook_rules  # noqa: PLC0415

    paths = files or sorted(Path("notebooks").glob("*.ipynb"))
    if not paths:
        raise LabError(
            "There are no notebooks here.", "run it in the course's directory, or name some files."
        )
    if fix:
        notebook_rules.fix(paths)
    findings = notebook_rules.check(paths)
    for finding in findings:
        print(finding)
    if findings:
        raise typer.Exit(1)
    print(f"{len(paths)} notebooks keep the rules.")


def _report(run: Run, path: Path) -> None:
    """Write a run's report, and say where."""
    from labs.bench.report import to_html  # noqa: PLC0415

    _err.print(f"Report written to {to_html(run, path)}", soft_wrap=True, highlight=False)


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


if __name__ == "__main__":
    main()
