"""Servers that break the rings and the memory of a zero-copy client: no packet is lost by it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from glassbox_bench import Bench, chance, udp
from hypothesis import given, settings
from hypothesis import strategies as st

from labs import memif
from labs.glassbox.packet import STRIDE
from labs.memif.ring import DESCRIPTOR

A, B = "10.0.0.2", "10.0.1.2"


def slots_of(ring):
    return ring.memory[2 * ring.line :].view(DESCRIPTOR)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_servers_that_write_anything_anywhere_cost_no_packet(seed, hostile):
    """Into rings, and into all of the memory that is lent, before and after the box looks."""
    rng = chance(seed)
    for wire in hostile.wires:
        try:
            connection = wire.link.connection
            for queue in connection.queues:
                memory = queue.ring.memory
                if rng.random() < 0.3:
                    memory[rng.randrange(4, 2 * queue.ring.line + 16 * 64)] = rng.randrange(256)
                if rng.random() < 0.3:
                    slots_of(queue.ring)["length"][:] = rng.choice([0, 1, 2048, 2049, 1 << 31])
                if rng.random() < 0.2:
                    slots_of(queue.ring)["flags"][:] = 1
                if rng.random() < 0.2:
                    slots_of(queue.ring)["offset"][:] = rng.randrange(1 << 32)
            shared = connection.regions[1].memory
            for at in range(0, shared.size - 64, STRIDE // 2):
                shared[at : at + 64] = rng.randrange(256)
            wire.link.send([bytes(wire.frame() / udp(A, B))] * rng.randrange(1, 40), timeout=0)
            hostile.turn()
            wire.link.receive(timeout=0)
        except memif.MemifError:
            pass
    hostile.turn(2)
    hostile.check()


@pytest.fixture(scope="module")
def hostile(folder):
    """Make a box whose servers will do their worst; at the end it must still carry packets."""
    (folder / "hostile").mkdir()
    bench = Bench(folder / "hostile")
    for number in range(2):
        wire = bench.wire(number, f"10.0.{number}.1/24", made={})
        bench.neighbour(wire, f"10.0.{number}.2")
        wire.memif.link.settings = replace(wire.memif.link.settings, retry=0.01)
    yield bench
    for wire in bench.wires:
        wire.link.close()
        bench.until(lambda wire=wire: wire.memif.connection is None)
        wire.link = memif.Server(wire.link.path, wire.number)
        wire.link.start()
        bench.until(lambda wire=wire: wire.memif.connection)
        wire.link.wait_up()
    bench.turn(2)
    one = bench.wires[0]
    assert len(bench.through(one, one.frame() / udp(A, B))[1]) == 1
    bench.check()
    bench.close()
