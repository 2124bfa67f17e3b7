"""Helpers for tests of commands: one box with the packet generator of notebook 01, and no sockets."""

from __future__ import annotations

from labs.glassbox.vm import FREE, PACKETS

SET_UP = (
    "create packet-generator interface pg0 hw-addr 02:00:00:00:00:a0",
    "create packet-generator interface pg1 hw-addr 02:00:00:00:00:b0",
    "set interface state pg0 up",
    "set interface state pg1 up",
    "set interface ip address pg0 10.0.0.1/24",
    "set interface ip address pg1 10.0.1.1/24",
    "set ip neighbor pg1 10.0.1.2 02:00:00:00:00:b2",
)
DATA = (
    "IP4: 02:00:00:00:00:a2 -> 02:00:00:00:00:a0 UDP: 10.0.0.2 -> {to} "
    "UDP: 1234 -> 2345 length 22 checksum 0 incrementing 14"
)


def stream(name, limit, to="10.0.1.2", more=""):
    """Return the line that makes a stream like notebook 01's."""
    return (
        f"packet-generator new {{ name {name} limit {limit} source pg0 node ethernet-input size 64-64 {more} "
        f"data {{ {DATA.format(to=to)} }} }}"
    )


def send(pair, name="three"):
    """Send a stream, and turn until it has been sent."""
    pair.do("a", f"packet-generator enable-stream {name}")
    streams = pair.boxes["a"].streams
    pair.until(lambda: not streams.is_enabled(streams.named(name)))


def all_packets_are_free(pair):
    return all(vm.state[FREE] == PACKETS for vm in pair.boxes["a"].vms)
