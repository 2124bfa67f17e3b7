"""A lab made of plain data, for what needs no VPP."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

from labs.errors import LinkDown

STOPPED: list[FakeLab] = []


@dataclass
class FakeNode:
    role: str
    address: str
    name: str = "memif0/0"
    flags: tuple[str, ...] = ("admin-up", "connected")

    def memifs(self):
        states = [SimpleNamespace(name=self.name, role=self.role, flags=self.flags)] if self.role else []
        return SimpleNamespace(interfaces=states)

    def addresses(self):
        return {self.name: [self.address]} if self.address else {}


@dataclass
class FakeLab:
    """Two nodes with the roles and addresses given; `received` of the pings sent are answered."""

    nodes: dict[str, FakeNode] = field(
        default_factory=lambda: {
            "vpp1": FakeNode("server", "10.10.2.1/24"),
            "vpp2": FakeNode("client", "10.10.2.2/24"),
        }
    )
    connected: bool = True
    received: int = 3
    pings: int = 0

    def __getitem__(self, name):
        return self.nodes[name]

    def wait_link(self, timeout):
        if not self.connected:
            raise LinkDown(f"vpp2's memif0/0 is down after {timeout:g} s.", "set it up.")

    def ping(self, source, target, count):
        self.pings += 1
        return SimpleNamespace(sent=count, received=self.received, source=source, target=target)

    def stop(self):
        STOPPED.append(self)

    def swap(self):
        """Do what the exercise 02-swap-roles asks for."""
        self.nodes["vpp1"].role, self.nodes["vpp2"].role = "client", "server"
        return self
