from __future__ import annotations

from types import SimpleNamespace

import pytest

from labs.errors import NodeDied
from labs.experiments.homecoming import coming_home, modes_back


class Node:
    def __init__(self, cores, modes):
        self.spec = SimpleNamespace(cores=cores)
        self.modes = modes
        self.dead = False

    def must_run(self):
        if self.dead:
            raise NodeDied("It is not running.")

    def pin(self, cores):
        self.must_run()
        self.spec = SimpleNamespace(cores=cores)

    def rx_modes(self):
        return dict(self.modes)

    def cli(self, lines):
        self.must_run()
        for line in lines.splitlines():
            *said, interface, mode = line.split()
            assert said == ["set", "interface", "rx-mode"]
            self.modes[interface] = mode


class Lab:
    def __init__(self):
        self.nodes = {
            "a": Node((0,), {"memif0/0": "adaptive"}),
            "b": Node((), {"memif0/0": "interrupt", "memif1/0": "polling"}),
            "c": Node((1,), {}),
        }

    def __getitem__(self, name):
        return self.nodes[name]


@pytest.mark.parametrize("dies", [False, True])
def test_all_is_as_before_and_a_node_that_has_ended_keeps_no_other(dies):
    lab = Lab()

    def measure():
        with coming_home(lab), modes_back(lab):
            for node in lab.nodes.values():
                node.pin((7,))
                node.modes = dict.fromkeys(node.modes, "polling")
            lab["a"].dead = dies
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure()
    assert [lab[name].spec.cores for name in "bc"] == [(), (1,)]
    assert lab["b"].modes == {"memif0/0": "interrupt", "memif1/0": "polling"}
    assert (lab["a"].spec.cores == (0,)) is not dies
    assert (lab["a"].modes == {"memif0/0": "adaptive"}) is not dies
