"""The command ``labs``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from labs.errors import LabError
from labs.main_run import Engine, Json, err, run_app

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Hands-on labs on fast user-space networking with FD.io VPP.",
)
app.add_typer(run_app, name="run")


def main() -> None:
    """Run the command; an error is a sentence and a hint, never a traceback."""
    try:
        app()
    except LabError as error:
        err.print(str(error), style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)


@app.command()
def doctor(*, as_json: Json = False) -> None:
    """Say what this machine can run, and what is missing; status 1 if no lab can run."""
    from labs.checkup import doctor as examine  # noqa: PLC0415 - each command imports what it needs

    report = examine()
    print(json.dumps(report.to_dict(), indent=1) if as_json else report)
    if not report.ready:
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


if __name__ == "__main__":
    main()
