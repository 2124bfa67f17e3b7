"""What tests of a learner's own nodes need: some nodes, a way to load them, and a graph that is as before."""

from __future__ import annotations

import contextlib

from glassbox_cli import all_packets_are_free, send

HEAD = "from labs.glassbox.graph import node\nfrom labs.glassbox.packet import length\n"
DECLARED = '@node("mine", to=("error-drop", "ip4-input"))\n'
TAKES = "def mine(vm, me, frame, nexts, count):\n"
ALL_ON = (
    HEAD
    + DECLARED
    + TAKES
    + '    """Let all pass."""\n    for each in range(count):\n        nexts[each] = 1\n'
)
ALL_DROPPED = ALL_ON.replace("= 1\n", "= 0\n")


@contextlib.contextmanager
def unchanged(pair):
    """Lend a box in whose graph no loaded node has a place, and see that it works as before afterwards."""
    pair.do("a", "clear errors", "clear runtime", "clear trace")
    yield
    for name in ("mine", "ip4-lookup"):
        pair.ask("a", f"remove node {name}")
    pair.do("a", "packet-generator disable-stream")
    assert arrived(pair) == 3
    assert all_packets_are_free(pair)


def arrived(pair):
    """Send three packets and return how many leave by pg1."""
    box = pair.boxes["a"]
    index = box.interfaces.named("pg1").index
    before = box.counters.of_interface(index)["tx packets"]
    send(pair)
    return box.counters.of_interface(index)["tx packets"] - before


def load(pair, folder, source, name="mine.py"):
    file = folder / name
    file.write_text(source)
    return pair.do("a", f"load node {file}")


def refused(pair, folder, source):
    file = folder / "mine.py"
    file.write_text(source)
    return pair.refusal("a", f"load node {file}")
