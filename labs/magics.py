"""``%%vpp NODE``: VPP's own CLI in a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.running import current

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_ONLY_LOOKS = ("show", "ping", "clear", "trace", "help", "?")
"""What a line that changes nothing begins with."""


def vpp(line: str, cell: str | None = None) -> None:
    """Send lines to a node's CLI and print what it answers, as a terminal would show it.

    As a cell magic, ``%%vpp vpp1`` sends the cell's lines in order and stops at the first that VPP refuses.
    As a line magic, ``%vpp vpp1 show memif`` sends one.

    Raises
    ------
    CliError
        VPP refused a line; it is underlined.
    """
    name, _, rest = line.strip().partition(" ")
    if not name:
        raise LabError("Which node is meant?", "name it behind the percent signs: %%vpp vpp1")
    if cell is not None and rest:
        raise LabError(
            f"%%vpp takes one node, and this cell names {line.strip()!r}.",
            "write a cell for each node.",
        )
    lab = current(name)
    node = lab[name]
    changes = []
    try:
        for statement, output in node.cli_steps(cell if cell is not None else rest):
            print(f"{name}# {statement}")
            if not statement.startswith(_ONLY_LOOKS):
                changes.append(f"{node.handle.shell} {statement}")
            if output:
                print(output.rstrip())
    finally:
        if changes:
            lab.tell(f"{name}# {changes[0].removeprefix(node.handle.shell).strip()}", changes)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magic; IPython calls this on ``%load_ext labs.magics``."""
    shell.register_magic_function(  # type: ignore[call-arg]  # traitlets hides its signature
        vpp,  # type: ignore[arg-type]
        magic_kind="line_cell",
        magic_name="vpp",
    )
