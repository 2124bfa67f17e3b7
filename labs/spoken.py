"""What is said to a node, and what is read back from it: the words of `labs.node.Node`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs import health
from labs.errors import LabError, LinkDown
from labs.vpp.cli import TIMEOUT, Cli
from labs.vpp.parse import parse_addresses, parse_memif, parse_rx_placement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs.engines.base import NodeHandle
    from labs.vpp.parse import MemifTable
    from labs.vpp.stats import InterfaceCounters, Stats

RX_MODES = ("polling", "interrupt", "adaptive")


class Spoken:
    """The part of a node that speaks; `labs.node.Node` has all of this."""

    handle: NodeHandle
    _cli: Cli

    @property
    def name(self) -> str:
        """The node's name."""
        raise NotImplementedError

    @property
    def stats(self) -> Stats:
        """Its stats segment."""
        raise NotImplementedError

    def cli(self, text: str, timeout: float = TIMEOUT) -> str:
        """Send lines to VPP's CLI and return VPP's own text.

        Parameters
        ----------
        text : str
            The lines.
        timeout : float
            Seconds for the answer to each.

        Raises
        ------
        CliError
            VPP refused a line; later lines are not sent.
        NodeDied
            The node has ended.
        """
        return "\n".join(output for _, output in self.cli_steps(text, timeout) if output)

    def cli_steps(self, text: str, timeout: float = TIMEOUT) -> Iterator[tuple[str, str]]:
        """Send lines to VPP's CLI one by one; yield each with VPP's answer."""
        with health.blame(self.handle):
            yield from self._cli.run_script(text, timeout)

    def say(self, lines: list[str]) -> list[str]:
        """Send lines to its CLI, and return them as a shell takes them."""
        if lines:
            self.cli("\n".join(lines))
        return self.in_shell(lines)

    def in_shell(self, lines: list[str]) -> list[str]:
        """Return lines of its CLI as a shell takes them."""
        return [f"{self.handle.shell} {line}" for line in lines]

    def counters(self, *, brief: bool = False) -> dict[str, InterfaceCounters]:
        """Return what each interface has counted, from the stats segment; see `Stats.counters`."""
        with health.blame(self.handle):
            return self.stats.counters(brief=brief)

    def memifs(self, timeout: float = TIMEOUT) -> MemifTable:
        """Return what ``show memif`` says, parsed."""
        return parse_memif(self.cli("show memif", timeout))

    def addresses(self, timeout: float = TIMEOUT) -> dict[str, list[str]]:
        """Return the addresses of each interface, with prefix length."""
        return parse_addresses(self.cli("show interface address", timeout))

    def rx_mode(self, mode: str) -> list[str]:
        """Set how its connected memifs wait for packets. Return the equal CLI lines.

        Raises
        ------
        LabError
            There is no such mode.
        LinkDown
            No memif is connected; VPP would forget the mode when one connects.
        """
        if mode not in RX_MODES:
            raise LabError(f"There is no rx-mode {mode!r}.", f"choose one of {', '.join(RX_MODES)}.")
        connected = [state.name for state in self.memifs().interfaces if state.connected]
        if not connected:
            raise LinkDown(
                f"{self.name} has no connected memif, so there is no queue to set to {mode}.",
                "connect one first; lab.wait_link() says what is missing.",
            )
        lines = [f"set interface rx-mode {name} {mode}" for name in connected]
        self.cli("\n".join(lines))
        return lines

    def rx_modes(self) -> dict[str, str]:
        """Return the rx-mode of each interface that has a queue, read back from VPP."""
        return {
            entry.interface: entry.mode
            for entry in parse_rx_placement(self.cli("show interface rx-placement"))
        }
