from __future__ import annotations

import pytest
from cli_pair import pair_of
from glassbox_cli import all_packets_are_free, send

PORTS = ("pg0", "pg1", "pg2", "pg3")
MACS = {name: f"02:00:00:00:00:0{number}" for number, name in enumerate(PORTS)}


@pytest.fixture(scope="module")
def made():
    with pair_of("a") as pair:
        for name in PORTS:
            pair.do("a", f"create packet-generator interface {name}", f"set interface state {name} up")
        yield pair


@pytest.fixture
def pair(made):
    """Lend a box whose interfaces route, without bridges."""
    made.do("a", *(f"set interface l3 {name}" for name in PORTS), "clear l2fib", "clear interfaces")
    for number in list(made.boxes["a"].bridges.numbers):
        made.do("a", f"create bridge-domain {number} del")
    yield made
    assert all_packets_are_free(made)


def frame(pair, source, target, count=1):
    """Let a frame come in, from the station at `source` to the one at `target`; "" is everyone."""
    to = MACS.get(target, "ff:ff:ff:ff:ff:ff")
    pair.do(
        "a",
        f"packet-generator new {{ name f limit {count} source {source} node ethernet-input "
        f"data {{ 0x88b5: {MACS[source]} -> {to} incrementing 20 }} }}",
    )
    before = {name: sent(pair, name) for name in PORTS}
    send(pair, "f")
    return {name: sent(pair, name) - before[name] for name in PORTS if sent(pair, name) != before[name]}


def sent(pair, name):
    box = pair.boxes["a"]
    return box.counters.of_interface(box.interfaces.named(name).index)["tx packets"]


def test_a_cross_connect_hands_on_whatever_comes(pair):
    pair.do("a", "set interface l2 xconnect pg0 pg1")
    assert frame(pair, "pg0", "pg3", 5) == {"pg1": 5}
    assert frame(pair, "pg1", "pg0") == {}
    assert pair.do("a", "show mode").splitlines()[1:3] == ["l2 xconnect pg0 pg1", "l3 pg1"]


def test_a_bridge_floods_until_it_knows_who_is_where(pair):
    pair.do("a", *(f"set interface l2 bridge {name} 5" for name in ("pg0", "pg1", "pg2")))
    assert frame(pair, "pg0", "pg1") == {"pg1": 1, "pg2": 1}
    assert frame(pair, "pg1", "pg0") == {"pg0": 1}
    assert frame(pair, "pg0", "pg1", 300) == {"pg1": 300}
    assert frame(pair, "pg0", "") == {"pg1": 1, "pg2": 1}


def test_two_bridges_do_not_mix(pair):
    pair.do("a", "set interface l2 bridge pg0 5", "set interface l2 bridge pg1 5")
    pair.do("a", "set interface l2 bridge pg2 6", "set interface l2 bridge pg3 6")
    assert frame(pair, "pg0", "") == {"pg1": 1}
    assert frame(pair, "pg2", "pg0") == {"pg3": 1}


def test_a_port_that_moves_to_another_bridge_is_not_reached_through_the_old_one(pair):
    pair.do("a", *(f"set interface l2 bridge {name} 5" for name in ("pg0", "pg1", "pg2")))
    frame(pair, "pg1", "")
    pair.do("a", "set interface l2 bridge pg1 6")
    assert frame(pair, "pg0", "pg1") == {"pg2": 1}
    assert "02:00:00:00:00:01" not in pair.do("a", "show l2fib verbose")


def test_a_port_that_is_down_gets_nothing(pair):
    pair.do("a", *(f"set interface l2 bridge {name} 5" for name in ("pg0", "pg1", "pg2")))
    pair.do("a", "set interface state pg1 down")
    assert frame(pair, "pg0", "") == {"pg2": 1}
    pair.do("a", "set interface state pg1 up")


def test_what_a_bridge_has_learned_is_listed_and_forgotten(pair):
    assert pair.do("a", "show l2fib verbose").strip() == "no l2fib entries"
    pair.do("a", "set interface l2 bridge pg0 5", "set interface l2 bridge pg1 5")
    frame(pair, "pg0", "")
    lines = pair.do("a", "show l2fib verbose").splitlines()
    assert lines[1].split()[:3] == ["02:00:00:00:00:00", "5", "1"]
    assert lines[1].split()[-1] == "pg0"
    assert lines[2] == "L2FIB total/learned entries: 1/1"
    assert pair.do("a", "show l2fib bd_id 6").strip() == "no l2fib entries"
    pair.do("a", "clear l2fib")
    assert pair.do("a", "show l2fib all").strip() == "no l2fib entries"


def test_bridges_are_made_listed_and_deleted(pair):
    assert pair.do("a", "show bridge-domain").strip() == "no bridge-domains in use"
    assert pair.do("a", "create bridge-domain 7").strip() == "bridge-domain 7"
    pair.do("a", "set interface l2 bridge pg0 5")
    lines = pair.do("a", "show bridge-domain").splitlines()
    assert lines[0].split()[:3] == ["BD-ID", "Index", "BSN"]
    assert [line.split()[0] for line in lines[1:]] == ["5", "7"]
    pair.do("a", "create bridge-domain 7 del")
    assert len(pair.do("a", "show bridge-domain").splitlines()) == 2


def test_the_ports_of_a_bridge_are_listed(pair):
    pair.do("a", "set interface l2 bridge pg0 5", "set interface l2 bridge pg2 5")
    lines = pair.do("a", "show bridge-domain 5 detail").splitlines()
    assert [line.split()[0] for line in lines[3:] if line] == ["Interface", "pg0", "pg2"]
    assert pair.do("a", "show mode pg0 pg1").splitlines() == ["l2 bridge pg0 bd_id 5 shg 0", "l3 pg1"]


def test_an_interface_that_was_deleted_is_nobodys_peer_or_port(pair):
    pair.do("a", "create packet-generator interface pg7", "set interface state pg7 up")
    pair.do("a", "set interface l2 xconnect pg0 pg7", "set interface l2 bridge pg7 5")
    pair.do("a", "delete packet-generator interface pg7")
    assert pair.do("a", "show mode pg0").strip() == "l3 pg0"
    pair.do("a", "create bridge-domain 5 del")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("set interface l2 xconnect no pg1", "unknown interface `no pg1'"),
        ("set interface l2 xconnect pg0", "unknown peer interface `'"),
        ("set interface l2 bridge pg0", "expected bridge domain ID `'"),
        ("set interface l2 bridge no 5", "unknown interface `no 5'"),
        ("set interface l3 no", "unknown interface `no'"),
        ("set interface l2 foo", "unknown input `foo'"),
        ("show bridge-domain 6", "No such bridge domain 6"),
        ("create bridge-domain 0", "bridge domain 0 can not be modified"),
        ("create bridge-domain 9 del", "bridge domain ID does not exist"),
        ("create bridge-domain 16777216", "bridge domain ID exceed 16M limit"),
        ("create bridge-domain 9 frob 1", "unknown input `frob 1'"),
        ("set interface l2 bridge pg0 5 bvi", "has no bvi"),
        ("set interface l2 bridge pg0 0", "bridge domain 0 can not be modified"),
        ("create bridge-domain 9 learn 0", "cannot do learn 0"),
        ("create bridge-domain 9 arp-term 1", "cannot do arp-term 1"),
        ("show l2fib wrong", "unknown input `wrong'"),
    ],
)
def test_refusals(pair, line, words):
    assert words in pair.refusal("a", line)
    assert not pair.boxes["a"].bridges.numbers


def test_a_bridge_in_use_and_a_number_in_use_are_refused_in_vpps_words(pair):
    pair.do("a", "set interface l2 bridge pg0 5")
    assert "bridge domain in use - remove members" in pair.refusal("a", "create bridge-domain 5 del")
    assert "bd_add_del returned -119" in pair.refusal("a", "create bridge-domain 5")
