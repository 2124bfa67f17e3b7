"""A glass box on a bench: driven turn by turn in this process, with our own memif ends as its neighbours."""

from __future__ import annotations

import contextlib
import ipaddress
import itertools
import random
import time

import numpy as np
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Ether

from labs import memif
from labs.glassbox import clock
from labs.glassbox.box import Box
from labs.glassbox.drops import COUNTED
from labs.glassbox.turns import run
from labs.glassbox.vm import ATTENTION, BARRIER, FREE, NEXT_TIMER, PACKETS, PENDING

NOBODY = "0.0.0.0"  # noqa: S104 - the address of nobody; nothing is bound to it
WAIT = 10.0  # seconds for what takes a moment: a handshake, a thread that ends
BROADCAST = "ff:ff:ff:ff:ff:ff"


def chance(seed):
    """Return what makes the same choices each time."""
    return random.Random(seed)  # noqa: S311 - nothing is secret here


def noise(size):
    """Return so many bytes, the same each time."""
    return chance(size).randbytes(size)


def mac_of(number, side="a"):
    """Return an Ethernet address: a box's interface is on side a, its neighbour on side b."""
    return f"02:00:00:00:{number:02x}:0{side}"


def raw_mac(text):
    return bytes.fromhex(text.replace(":", ""))


class Wire:
    """A memif interface of the box, and our end of it."""

    def __init__(self, memif_, link, number):
        self.memif, self.link, self.number = memif_, link, number
        self.ours, self.theirs = mac_of(number, "b"), mac_of(number, "a")

    @property
    def interface(self):
        return self.memif.interface

    @property
    def index(self):
        return self.memif.interface.index

    def frame(self, **fields):
        """Return an Ethernet header from us to the box."""
        return Ether(**{"src": self.ours, "dst": self.theirs} | fields)

    def send(self, *packets):
        """Put packets into the ring; the box has yet to turn."""
        sent = self.link.send([bytes(each) for each in packets], timeout=0)
        assert sent == len(packets)

    def received(self):
        """Return all that the box has sent us."""
        packets = []
        while fresh := self.link.receive(timeout=0):
            packets += fresh
        return packets


class Bench:
    """A box and its wires.

    Parameters
    ----------
    folder : Path
        Where its sockets go.
    """

    def __init__(self, folder, workers=0):
        self.box = Box(folder, workers)
        self.wires = []
        self._numbers = {name: self.box.graph.number(name) for name in ("memif-input", "pg-input")}

    def wire(self, number=None, address="", *, is_ip=False, queues=1, is_up=True, made=None, **settings):
        """Make a memif interface with a neighbour, and wait until the link is up.

        With `made`, what is said of a client, the box is the client, and the neighbour the server.
        """
        number = len(self.wires) if number is None else number
        mac = None if is_ip else raw_mac(mac_of(number))
        ends = {"mode": "ip" if is_ip else "ethernet", **settings}
        if made is None:
            path = self.box.folder / "memif.sock"
            made = self.box.add_memif(number, role="master", is_ip=is_ip, mac=mac)
            link = memif.Client(path, number, queues=queues, **ends)
        else:
            path = self.box.folder / f"server{number}.sock"
            self.box.memifs.add_socket(100 + number, str(path))
            link = memif.Server(path, number, **ends)
            link.start()
            made = self.box.add_memif(
                number,
                role="slave",
                socket_id=100 + number,
                is_ip=is_ip,
                mac=mac,
                rx_queues=queues,
                tx_queues=queues,
                **made,
            )
        if address:
            self.box.routes.add_address(made.interface, ipaddress.ip_interface(address))
        self.box.set_up(made.interface, is_up=is_up)
        link.start()
        link.wait_up()
        wire = Wire(made, link, number)
        if is_up:
            self.until(lambda: made.connection)
        self.wires.append(wire)
        return wire

    def cut(self, wire):
        """Take a wire away, and the box's interface with it."""
        wire.link.close()
        self.box.remove_interface(wire.interface)
        self.wires.remove(wire)

    def neighbour(self, wire, address, mac=None):
        """Let the box know a neighbour for good."""
        self.box.routes.learn(
            wire.index, ipaddress.ip_address(address), raw_mac(mac or wire.ours), static=True
        )

    def turn(self, times=1):
        """Let the main loop turn, with what Python does between two turns."""
        box = self.box
        for _ in range(times):
            state = box.vm.state
            state[BARRIER], state[ATTENTION], state[NEXT_TIMER] = 1, 0, 0
            run(box.vm, *self._numbers.values(), box.memifs.last_row, box.streams.rows)
            state[BARRIER] = 0
            box.hear()
            box.memifs.settle()
            for ping in list(box.pings.values()):
                ping.run(clock.now())

    def until(self, condition, timeout=WAIT):
        """Turn until something is so."""
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, "it did not come about"
            self.turn()
            time.sleep(0.001)

    def through(self, wire, *packets):
        """Send packets by one wire and return what comes out of each of the wires."""
        wire.send(*packets)
        self.turn(2)
        return [each.received() for each in self.wires]

    def counts(self):
        """Return all counters of drops and the like that are not zero."""
        totals = np.sum([vm.errors for vm in self.box.vms], axis=0)
        return {COUNTED[each]: int(totals[each]) for each in np.flatnonzero(totals)}

    def why(self, wire, *packets):
        """Return what came out anywhere, and which counters have moved by how much."""
        before = self.counts()
        out = list(itertools.chain(*self.through(wire, *packets)))
        after = self.counts()
        return out, {
            name[1]: after[name] - before.get(name, 0) for name in after if after[name] != before.get(name, 0)
        }

    def check(self):
        """See that every packet is free again, or lent, once; and that it is its own thread's."""
        self.box.pool.settle()
        lent = self.box.pool.lent_packets()
        packets = lent.tolist()
        for vm in self.box.vms:
            assert vm.state[PENDING] == 0
            assert not vm.queued.any()
            packets += vm.free[: vm.state[FREE]].tolist()
        assert len(packets) == PACKETS * len(self.box.vms)
        assert len(set(packets)) == len(packets)
        if len(lent) == 0:
            assert all(vm.state[FREE] == PACKETS for vm in self.box.vms)

    def close(self):
        for each in self.wires:
            with contextlib.suppress(memif.MemifError):
                each.link.close()
        self.box.close()


def udp(source, target, size=18, ttl=64, **fields):
    """Return an IPv4 packet with UDP in it."""
    return IP(src=source, dst=target, ttl=ttl, **fields) / UDP(sport=1, dport=2) / bytes(size)


def many(wire, source, target, count, size=18):
    """Return frames that differ in their identification only; scapy would take seconds to make thousands."""
    head, ip = bytes(wire.frame(type=0x800)), bytearray(bytes(udp(source, target, size=size, id=0)))
    rest = ~int.from_bytes(ip[10:12]) & 0xFFFF
    frames = []
    for number in range(count):
        ip[4:6] = number.to_bytes(2)
        total = rest + number
        ip[10:12] = (~((total & 0xFFFF) + (total >> 16)) & 0xFFFF).to_bytes(2)
        frames.append(head + bytes(ip))
    return frames


def asks(source, target, wire, **fields):
    """Return a question for a hardware address."""
    fields = {"op": 1, "hwsrc": wire.ours, "psrc": source, "pdst": target} | fields
    return Ether(src=wire.ours, dst=BROADCAST) / ARP(**fields)


def echo(source, target, data=b"0123456789", number=7, sequence=1, **fields):
    """Return an IPv4 packet that asks for an echo."""
    return IP(src=source, dst=target, **fields) / ICMP(type=8, id=number, seq=sequence) / data
