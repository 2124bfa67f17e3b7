from __future__ import annotations

import ipaddress
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs import LabError, LinkSpec, NodeSpec, Topology, launch, placement
from labs.engines.rundir import Owner, RunDir
from labs.launch import configuration
from labs.link_lines import hardware_address, link_script
from labs.topology import chain

MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
WORD = "!some~word-with.signs"
PLACE = RunDir(Path("/run/user/7/labs/lab"), "0123abcd", "process", Owner(1, "x"))

interfaces = st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)).map(str)


@pytest.fixture
def cores(monkeypatch):
    """Return a function that says which cores this session may use; none share a physical core."""

    def allow(*numbers):
        monkeypatch.setattr(placement, "allowed_cores", lambda: numbers)
        monkeypatch.setattr(placement, "separate_cores", lambda count: numbers[:count])

    return allow


def one_link(**changes):
    link = LinkSpec("a", "b", "10.0.0.1/24", "10.0.0.2/24", **changes)
    return Topology("lab", (NodeSpec("a"), NodeSpec("b")), (link,))


def creation(topology, node, number=0):
    """Return the words of the line that makes a node's memif of that number."""
    lines = [line for line in link_script(topology, node).splitlines() if line.startswith("create interface")]
    return lines[number].split()


def conf(spec, inside="/run/vpp"):
    return configuration(spec, PLACE, inside)


def section(text, name):
    """Return a section's lines without their indent."""
    body = re.search(rf"^{name} {{\n(.*?)^}}", text, re.MULTILINE | re.DOTALL)
    return [line.strip() for line in body[1].splitlines()] if body else []


# The links


def test_the_first_link_uses_vpps_default_socket_and_each_end_its_address():
    assert link_script(chain("lab", 2), "vpp1").splitlines() == [
        "create interface memif id 0 hw-addr 02:fe:0a:0a:02:01 master",
        "set interface state memif0/0 up",
        "set interface ip address memif0/0 10.10.2.1/24",
    ]
    assert link_script(chain("lab", 2), "vpp2").splitlines() == [
        "create interface memif id 0 hw-addr 02:fe:0a:0a:02:02 slave",
        "set interface state memif0/0 up",
        "set interface ip address memif0/0 10.10.2.2/24",
    ]


def test_only_the_clients_end_says_that_it_copies():
    lines = _lines_of(zero_copy=False)
    assert [line.endswith(" no-zero-copy") for line in lines] == [False, True]


def test_packets_without_an_ethernet_header_come_from_no_hardware_address():
    assert _lines_of(mode="ip") == [
        "create interface memif id 0 mode ip master",
        "create interface memif id 0 mode ip slave",
    ]


def _lines_of(**changes):
    """Return the line that makes each end of a link."""
    topology = chain("lab", 2)
    links = tuple(replace(link, **changes) for link in topology.links)
    topology = replace(topology, links=links)
    return [link_script(topology, node).splitlines()[0] for node in ("vpp1", "vpp2")]


def test_further_links_have_a_socket_of_their_own_with_the_same_name_on_both_ends():
    topology = chain("lab", 4)
    for node in ("vpp2", "vpp3"):
        assert "create memif socket id 1 filename link1.sock" in link_script(topology, node).splitlines()
    assert "link1.sock" not in link_script(topology, "vpp1")
    assert "link2.sock" not in link_script(topology, "vpp2")


@given(st.integers(2, 9))
def test_no_node_has_two_roles_on_one_socket(count):
    topology = chain("lab", count)
    for spec in topology.nodes:
        roles = {}
        for line in link_script(topology, spec.name).splitlines():
            if line.startswith("create interface"):
                words = line.split()
                socket = words[words.index("socket-id") + 1] if "socket-id" in words else "0"
                role = next(word for word in words if word in {"master", "slave"})
                assert roles.setdefault(socket, role) == role


@given(st.integers(2, 9))
def test_every_socket_joins_one_master_and_one_slave(count):
    topology = chain("lab", count)
    ends = [
        (line.partition("socket-id ")[2].split(" ")[0], "master" in line)
        for spec in topology.nodes
        for line in link_script(topology, spec.name).splitlines()
        if line.startswith("create interface")
    ]
    assert len(ends) == len(set(ends)) == 2 * (count - 1)


@given(st.integers(2, 9))
def test_a_socket_is_made_before_it_is_used(count):
    topology = chain("lab", count)
    for spec in topology.nodes:
        made = {"0"}
        for line in link_script(topology, spec.name).splitlines():
            if found := re.match(r"create memif socket id (\d+) ", line):
                made.add(found[1])
            elif found := re.search(r"socket-id (\d+)", line):
                assert found[1] in made


def test_a_node_without_a_link_gets_no_line():
    topology = Topology("lab", (NodeSpec("a"), NodeSpec("b"), NodeSpec("c")), one_link().links)
    assert link_script(topology, "c") == ""


def test_two_links_between_the_same_nodes_keep_apart():
    back = LinkSpec("b", "a", "10.0.1.1/24", "10.0.1.2/24")
    topology = Topology("lab", one_link().nodes, (*one_link().links, back))
    assert creation(topology, "a", 0)[-1] == "master"
    assert creation(topology, "a", 1)[-1] == "slave"
    assert "memif1/0 10.0.1.2/24" in link_script(topology, "a")


@pytest.mark.parametrize("node", ["a", "b"])
def test_ring_size_queues_and_secret_go_to_both_ends(node):
    words = " ".join(creation(one_link(ring_size=256, queues=3, secret=WORD), node))
    assert " ring-size 256" in words
    assert " rx-queues 3 tx-queues 3" in words
    assert words.endswith(f" secret {WORD}")


def test_what_is_vpps_default_is_not_said():
    words = creation(one_link(ring_size=1024, queues=1, secret=""), "a")
    assert not {"ring-size", "rx-queues", "tx-queues", "secret"} & set(words)


# Hardware addresses


@given(interfaces, st.integers(0, 32))
def test_a_hardware_address_is_local_and_of_one_station(address, prefix):
    made = hardware_address(f"{address}/{prefix}")
    assert MAC.fullmatch(made)
    assert int(made[:2], 16) & 0b11 == 0b10


@given(st.lists(st.ip_addresses(v=4), min_size=2, max_size=20, unique=True))
def test_different_addresses_get_different_hardware_addresses(addresses):
    made = [hardware_address(f"{address}/24") for address in addresses]
    assert len(set(made)) == len(made)


@given(st.ip_addresses(v=6), st.integers(1, 255), st.integers(0, 120))
def test_ipv6_addresses_that_differ_anywhere_get_different_hardware_addresses(address, change, place):
    other = ipaddress.IPv6Address(int(address) ^ change << place)
    assert hardware_address(f"{address}/64") != hardware_address(f"{other}/64")


@given(interfaces)
def test_a_hardware_address_depends_on_the_address_alone(address):
    assert hardware_address(f"{address}/24") == hardware_address(f"{address}/30")


def test_all_ends_of_a_chain_differ():
    topology = chain("lab", 9)
    made = [
        hardware_address(link.address_of(node))
        for link in topology.links
        for node in (link.server, link.client)
    ]
    assert len(set(made)) == len(made) == 16


# The configuration


def test_a_nodes_doors_are_where_it_sees_the_run_directory():
    text = conf(NodeSpec("vpp1"), "/run/vpp")
    assert "cli-listen /run/vpp/vpp1.cli.sock" in section(text, "unix")
    assert section(text, "socksvr") == ["socket-name /run/vpp/vpp1.api.sock"]
    assert "socket-name /run/vpp/vpp1.stats.sock" in section(text, "statseg")
    assert "/run/user" not in text


def test_shared_memory_bears_the_labs_token_and_the_nodes_name():
    assert section(conf(NodeSpec("vpp1")), "api-segment") == [f"prefix {PLACE.shm_prefix}-vpp1"]
    assert "0123abcd" in PLACE.shm_prefix


def test_memory_buffers_and_plugins_are_those_asked_for():
    text = conf(NodeSpec("a", heap_mb=512, stats_mb=64, buffers=4096, plugins=("memif", "gtpu")))
    assert section(text, "memory") == ["main-heap-size 512M"]
    assert "size 64M" in section(text, "statseg")
    assert "buffers-per-numa 4096" in section(text, "buffers")
    assert "plugin gtpu_plugin.so { enable }" in section(text, "plugins")
    assert "ping" not in text


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (NodeSpec("a"), []),
        (NodeSpec("a", cores=(5,)), ["main-core 5"]),
        (NodeSpec("a", cores=(5, 3)), ["main-core 5"]),
        (NodeSpec("a", workers=1), ["main-core 3", "corelist-workers 5"]),
        (NodeSpec("a", cores=(5, 3), workers=1), ["main-core 5", "corelist-workers 3"]),
        (NodeSpec("a", cores=(7, 3, 5), workers=2), ["main-core 7", "corelist-workers 3,5"]),
        # VPP puts no two threads on one core: it starts on others, and is moved afterwards
        (NodeSpec("a", cores=(5,), workers=1), ["main-core 5", "corelist-workers 3"]),
        (NodeSpec("a", cores=(5, 5), workers=1), ["main-core 5", "corelist-workers 3"]),
        (NodeSpec("a", cores=(7,), workers=2), ["main-core 7", "corelist-workers 3,5"]),
    ],
)
def test_each_thread_starts_on_a_core_of_its_own(cores, spec, expected):
    cores(3, 5, 7)
    assert section(conf(spec), "cpu") == expected


@given(st.lists(st.integers(0, 7), max_size=6), st.integers(0, 6))
def test_vpp_is_never_told_to_put_two_threads_on_one_core(chosen, workers):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placement, "allowed_cores", lambda: tuple(range(8)))
        patch.setattr(placement, "separate_cores", lambda count: tuple(range(8))[:count])
        lines = " ".join(section(conf(NodeSpec("a", cores=tuple(chosen), workers=workers)), "cpu"))
        numbers = re.findall(r"\d+", lines)
    assert len(numbers) == len(set(numbers)) == (1 + workers if workers or chosen else 0)


def test_more_threads_than_cores_are_refused_with_both_numbers(cores):
    cores(3, 5)
    with pytest.raises(LabError, match=r"a has 3 threads, .* this session may use 2 \(3,5\)") as refused:
        conf(NodeSpec("a", workers=2))
    assert "fewer workers" in refused.value.hint


@pytest.mark.parametrize("workers", [-1, "1", 1.0, None, True])
def test_a_number_of_workers_that_is_none_is_refused(workers):
    with pytest.raises(LabError, match=r"cannot have .* workers"):
        conf(NodeSpec("a", workers=workers))


# On real VPPs


def pair(engine, name="pair", *, links=(), **options):
    """Return a lab of two nodes, the first of which is made with `options`."""
    from labs import Lab  # noqa: PLC0415 - it imports the engines, which the tests above do without

    return Lab(Topology(name, (NodeSpec("a", **options), NodeSpec("b")), links), engine)


@pytest.mark.vpp
@pytest.mark.parametrize("first", [{"workers": 1}, {"workers": 1, "cores": (0,)}])
def test_a_worker_starts_even_where_it_shares_a_core(engine, first):
    allowed = placement.allowed_cores()
    if len(allowed) < 2:
        pytest.skip("this session may use one core only")
    first = {**first, **({"cores": tuple(allowed[k] for k in first["cores"])} if "cores" in first else {})}
    lab = pair(engine, **first)
    lab.start()
    try:
        main, worker = lab["a"].threads()
        assert (main.name, worker.name) == ("vpp_main", "vpp_wk_0")
        wanted = first.get("cores", allowed)[: len(allowed)]
        assert main.cores == worker.cores == tuple(sorted(set(wanted)))
    finally:
        lab.stop()


@pytest.mark.vpp
def test_a_link_with_every_option_carries_packets(engine):
    link = LinkSpec("a", "b", "fd00:2::1/64", "fd00:2::2/64", ring_size=256, queues=2, secret=WORD)
    lab = pair(engine, links=(link,))
    lab.start()
    try:
        (end,) = lab["a"].memifs().interfaces
        assert {ring.size for ring in end.rings} == {256}
        assert len(end.rings) == 4
        assert lab.ping("a", "b", 4, 0.2).received > 0
    finally:
        lab.stop()


def test_a_chain_of_three_answers_on_each_link(engine):
    from labs.stock import chain as chain_lab  # noqa: PLC0415 - likewise

    lab = chain_lab(3, engine=engine)
    lab.start()
    try:
        lab.rx_mode("interrupt")
        for source, target in (("vpp1", "vpp2"), ("vpp2", "vpp1"), ("vpp2", "vpp3"), ("vpp3", "vpp2")):
            assert lab.ping(source, target, 3, 0.1).received > 0
        with pytest.raises(LabError, match="vpp1 and vpp3 share no network"):
            lab.ping("vpp1", "vpp3")
        lab.restart("vpp2")
        lab.wait_link(20)
        assert lab.ping("vpp3", "vpp2", 3, 0.2).received > 0
        assert lab.ping("vpp1", "vpp2", 3, 0.2).received > 0
        assert "connected" in repr(lab)
    finally:
        lab.stop()


def test_the_configuration_a_learner_sees_is_the_one_vpp_has_read(engine):
    lab = pair(engine)
    lab.start()
    try:
        shown = lab["a"].startup_conf
        assert (lab["a"]._rundir.file("a", "conf")).read_text() == shown
        assert (
            launch.configuration(
                lab["a"].spec, lab["a"]._rundir, lab._launch.engine.inside(str(lab["a"]._rundir.path))
            )
            == shown
        )
    finally:
        lab.stop()
