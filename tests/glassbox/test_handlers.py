from __future__ import annotations

from ipaddress import IPv4Interface

import pytest
from cli_pair import pair_of
from handlers_api import ALL, door_of

from labs.glassbox.commands.columns import thread_name
from labs.glassbox.doors.api_messages import CALLS
from labs.glassbox.doors.api_session import OWN
from labs.glassbox.handlers import handlers

MAC = "02:00:00:00:00:0a"


@pytest.fixture
def pair():
    with pair_of("a") as made:
        yield made


@pytest.fixture
def api(pair):
    with door_of(pair) as made:
        yield made


def test_every_message_that_is_defined_has_a_handler(pair):
    assert set(handlers(pair.boxes["a"], pair.clis["a"])) == set(CALLS) - set(OWN)


def test_it_says_that_it_is_not_vpp(api):
    reply = api.must("show_version")
    assert reply.program == "glass-box"
    assert "not VPP" in reply.version


def test_the_command_line_is_the_same_as_at_its_own_door(pair, api):
    assert api.must("cli_inband", cmd="show interface").reply == pair.ask("a", "show interface")
    assert api.refused("cli_inband", cmd="show interfce") == -1


def test_a_command_that_goes_on_is_refused(pair, api):
    assert api.refused("cli_inband", cmd="ping 127.0.0.1") == -1
    assert not pair.boxes["a"].pings


def test_threads_are_listed(pair, api):
    (thread,) = api.must("show_threads").thread_data
    assert (thread.id, thread.name) == (0, thread_name(0))


def test_loopbacks_come_and_go(pair, api):
    first = api.must("create_loopback").sw_if_index
    second = api.must(
        "create_loopback_instance", mac_address=MAC, is_specified=True, user_instance=7
    ).sw_if_index
    rows = {each.sw_if_index: each for each in api.sw_interface_dump()}
    assert [rows[each].interface_name for each in (0, first, second)] == ["local0", "loop0", "loop7"]
    assert str(rows[second].l2_address) == MAC
    api.must("delete_loopback", sw_if_index=first)
    assert first not in {each.sw_if_index for each in api.sw_interface_dump()}
    assert api.refused("delete_loopback", sw_if_index=0) == -2


def test_an_interface_is_set_up_and_down(pair, api):
    index = api.must("create_loopback").sw_if_index
    for flags in (1, 0):
        api.must("sw_interface_set_flags", sw_if_index=index, flags=flags)
        assert pair.boxes["a"].interfaces[index].is_up == bool(flags)
        (row,) = api.sw_interface_dump(sw_if_index=index)
        assert int(row.flags) & 1 == flags


def test_interfaces_are_found_by_a_part_of_their_name(api):
    api.must("create_loopback")
    found = api.sw_interface_dump(name_filter_valid=True, name_filter="OOP")
    assert [each.interface_name for each in found] == ["loop0"]
    assert api.sw_interface_dump(sw_if_index=55) == []


def test_addresses_are_given_listed_and_taken(api):
    index = api.must("create_loopback").sw_if_index
    about = {"sw_if_index": index, "prefix": "10.0.0.1/24"}
    api.must("sw_interface_add_del_address", is_add=True, **about)
    assert [each.prefix for each in api.ip_address_dump(sw_if_index=index, is_ipv6=False)] == [
        IPv4Interface("10.0.0.1/24")
    ]
    assert api.refused("sw_interface_add_del_address", is_add=True, **about) == -105
    api.must("sw_interface_add_del_address", is_add=False, **about)
    assert api.refused("sw_interface_add_del_address", is_add=False, **about) == -60
    assert (
        api.refused("sw_interface_add_del_address", sw_if_index=index, is_add=True, prefix="2001:db8::1/64")
        == -97
    )
    assert api.ip_address_dump(sw_if_index=index, is_ipv6=False) == []


def test_all_addresses_are_taken_at_once(api):
    index = api.must("create_loopback").sw_if_index
    for each in ("10.0.0.1/24", "10.0.1.1/24"):
        api.must("sw_interface_add_del_address", sw_if_index=index, is_add=True, prefix=each)
    api.must(
        "sw_interface_add_del_address", sw_if_index=index, is_add=False, del_all=True, prefix="0.0.0.0/0"
    )
    assert api.ip_address_dump(sw_if_index=index, is_ipv6=False) == []


def test_memifs_are_made_listed_and_deleted(api):
    made = api.must(
        "memif_create_v2", role=1, mode=1, id=3, ring_size=256, rx_queues=2, tx_queues=2
    ).sw_if_index
    (row,) = api.memif_dump()
    assert (row.sw_if_index, row.id, int(row.role), int(row.mode), row.ring_size) == (made, 3, 1, 1, 256)
    assert row.if_name == "memif0/3"
    assert api.refused("memif_create_v2", role=1, id=3) == -68
    assert api.refused("memif_create_v2", role=0, id=4) == -68
    assert api.refused("memif_create_v2", role=1, id=4, socket_id=9) == -73
    assert api.refused("memif_create_v2", role=1, id=4, ring_size=1000) == -73
    api.must("memif_delete", sw_if_index=made)
    assert api.memif_dump() == []
    assert api.refused("memif_delete", sw_if_index=0) == -2


def test_sockets_get_numbers_and_lose_them(api):
    api.must("memif_socket_filename_add_del_v2", is_add=True, socket_id=5, socket_filename="x.sock")
    any_number = api.must("memif_socket_filename_add_del_v2", is_add=True, socket_filename="y.sock").socket_id
    names = {each.socket_id: each.socket_filename for each in api.memif_socket_filename_dump()}
    assert names[5].endswith("/x.sock")
    assert names[any_number].endswith("/y.sock")
    again = {"is_add": True, "socket_id": 5, "socket_filename": "z.sock"}
    assert api.refused("memif_socket_filename_add_del_v2", **again) == -116
    api.must("memif_socket_filename_add_del_v2", is_add=False, socket_id=5)
    assert api.refused("memif_socket_filename_add_del_v2", is_add=False, socket_id=5) == -73


def test_bridges_and_cross_connects(pair, api):
    one, two = (api.must("create_loopback").sw_if_index for _ in range(2))
    api.must("sw_interface_set_l2_xconnect", rx_sw_if_index=one, tx_sw_if_index=two)
    assert "l2 xconnect loop0 loop1" in pair.do("a", "show mode")
    api.must("sw_interface_set_l2_xconnect", rx_sw_if_index=one, tx_sw_if_index=two, enable=False)
    flags = {"flood": True, "uu_flood": True, "forward": True, "learn": True}
    assert api.must("bridge_domain_add_del_v2", bd_id=7, **flags).bd_id == 7
    assert api.refused("bridge_domain_add_del_v2", bd_id=7, **flags) == -119
    assert api.must("bridge_domain_add_del_v2", bd_id=ALL, **flags).bd_id == 1
    assert api.refused("bridge_domain_add_del_v2", bd_id=8, **flags | {"learn": False}) == -9
    api.must("sw_interface_set_l2_bridge", rx_sw_if_index=one, bd_id=7)
    assert api.refused("bridge_domain_add_del_v2", bd_id=7, is_add=False) == -120
    assert api.refused("sw_interface_set_l2_bridge", rx_sw_if_index=one, bd_id=7, port_type=1) == -9
    api.must("sw_interface_set_l2_bridge", rx_sw_if_index=one, bd_id=7, enable=False)
    api.must("bridge_domain_add_del_v2", bd_id=7, is_add=False)
    assert api.refused("bridge_domain_add_del_v2", bd_id=7, is_add=False) == -6
    assert api.refused("sw_interface_set_l2_xconnect", rx_sw_if_index=one, tx_sw_if_index=99) == -2


def test_mtu_and_hardware_address(pair, api):
    index = api.must("create_loopback").sw_if_index
    api.must("sw_interface_set_mtu", sw_if_index=index, mtu=[1500, 0, 0, 0])
    assert pair.boxes["a"].interfaces[index].mtu == 1500
    api.must("sw_interface_set_mac_address", sw_if_index=index, mac_address=MAC)
    assert str(api.must("sw_interface_get_mac_address", sw_if_index=index).mac_address) == MAC
    assert str(api.must("sw_interface_get_mac_address", sw_if_index=0).mac_address) == "00:00:00:00:00:00"


def test_counters_are_cleared_one_by_one_or_all(pair, api):
    one, two = (api.must("create_loopback").sw_if_index for _ in range(2))
    box = pair.boxes["a"]
    for index in (one, two):
        box.vm.rx[index] = (5, 500)
    api.must("sw_interface_clear_stats", sw_if_index=one)
    assert [box.counters.of_interface(each)["rx packets"] for each in (one, two)] == [0, 5]
    api.must("sw_interface_clear_stats", sw_if_index=ALL)
    assert box.counters.of_interface(two)["rx packets"] == 0


def test_queues_are_listed_and_change_their_mode():
    with pair_of() as pair:
        pair.link()
        with door_of(pair) as api:
            index = pair.boxes["a"].interfaces.named("memif0/0").index
            for code in (2, 3, 1):
                api.must("sw_interface_set_rx_mode", sw_if_index=index, mode=code)
                (row,) = api.sw_interface_rx_placement_dump(sw_if_index=ALL)
                assert (row.sw_if_index, row.queue_id, row.worker_id, int(row.mode)) == (index, 0, 0, code)
            api.must("sw_interface_set_rx_placement", sw_if_index=index, queue_id=0, is_main=True)
            assert api.refused("sw_interface_set_rx_mode", sw_if_index=index, mode=0) == -7
            wrong = {"sw_if_index": index, "queue_id_valid": True, "queue_id": 9, "mode": 1}
            assert api.refused("sw_interface_set_rx_mode", **wrong) == -125
            assert api.sw_interface_rx_placement_dump(sw_if_index=0) == []


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("sw_interface_set_flags", {"flags": 1}),
        ("sw_interface_set_mtu", {"mtu": [1500, 0, 0, 0]}),
        ("sw_interface_set_mac_address", {"mac_address": MAC}),
        ("sw_interface_get_mac_address", {}),
        ("sw_interface_clear_stats", {}),
        ("sw_interface_set_rx_mode", {"mode": 1}),
        ("sw_interface_add_del_address", {"is_add": True, "prefix": "10.0.0.1/24"}),
        ("memif_delete", {}),
        ("delete_loopback", {}),
    ],
)
def test_an_interface_that_is_not_there_is_refused_as_by_vpp(api, name, fields):
    assert api.refused(name, sw_if_index=77, **fields) == -2
