from __future__ import annotations

import socket
import struct
import threading
from ipaddress import IPv4Interface, IPv4Network

import pytest
from doors_loop import DoorLoop, enter, pump, short_directory
from hypothesis import given, settings
from hypothesis import strategies as st
from vpp_papi import MACAddress, VPPApiClient

from labs.errors import LabError
from labs.glassbox.doors import ApiDoor, ApiRefusal
from labs.glassbox.doors.api_codec import Codec
from labs.glassbox.doors.api_messages import CALLS
from labs.glassbox.doors.api_session import OWN
from labs.vpp.api import Api, UnknownMessage
from labs.vpp.api_errors import ApiError

FRAME = struct.Struct(">QII")


class Fake:
    """Answers every message that is defined, and remembers what it was asked."""

    def __init__(self):
        self.asked = []
        self.replies = {
            "show_version": {"program": "glass-box", "version": "glass-box (not VPP)"},
            "create_loopback": {"sw_if_index": 5},
            "cli_inband": {"reply": "é and more"},
            "show_threads": {"thread_data": [{"id": n, "name": f"t{n}", "cpu_id": n} for n in range(3)]},
            "sw_interface_dump": [
                {"sw_if_index": n, "interface_name": f"loop{n}", "l2_address": "02:fe:00:00:00:01"}
                for n in range(300)
            ],
            "ip_address_dump": [{"sw_if_index": 1, "prefix": "10.0.0.1/24"}],
            "ip_route_dump": [
                {"route": {"prefix": "10.1.0.0/16", "paths": [{"sw_if_index": 7}, {"sw_if_index": 8}]}}
            ],
            "ip_neighbor_dump": [
                {
                    "age": 1.5,
                    "neighbor": {
                        "sw_if_index": 1,
                        "mac_address": "02:fe:00:00:00:02",
                        "ip_address": "10.0.0.2",
                    },
                }
            ],
        }

    def handlers(self, *names):
        return {name: self.handler(name) for name in names or sorted(set(CALLS) - set(OWN))}

    def handler(self, name):
        def handle(**fields):
            self.asked.append((name, fields))
            reply = self.replies.get(name)
            if isinstance(reply, Exception):
                raise reply
            return reply

        return handle


@pytest.fixture
def place():
    with short_directory() as path:
        yield path


@pytest.fixture
def fake():
    return Fake()


@pytest.fixture
def door(place, fake):
    with ApiDoor(place / "api.sock", fake.handlers()) as door, DoorLoop(door):
        yield door


@pytest.fixture
def api(door):
    client = Api(door.path)
    client.connect()
    yield client
    client.close()


def test_the_version_is_told(api):
    assert api.version == "glass-box (not VPP)"


def test_the_lab_s_client_learns_all_messages(api):
    assert set(api.messages()) == set(CALLS)


def test_fields_arrive_as_they_were_sent(api, fake):
    sent = {"role": 1, "id": 3, "ring_size": 1024, "secret": "abc", "rx_queues": 2}
    api.memif_create_v2(**sent, hw_addr="02:fe:00:00:00:09")
    name, fields = fake.asked[-1]
    assert name == "memif_create_v2"
    assert {key: fields[key] for key in sent} == sent
    assert fields["mode"] == 0
    assert fields["hw_addr"] == MACAddress("02:fe:00:00:00:09")
    assert not {"_vl_msg_id", "client_index", "context"} & set(fields)


def test_addresses_arrive_as_objects(api, fake):
    api.sw_interface_add_del_address(sw_if_index=1, is_add=True, prefix="10.0.0.1/24")
    assert fake.asked[-1][1]["prefix"] == IPv4Interface("10.0.0.1/24")


def test_a_route_arrives_with_its_paths(api, fake):
    path = {
        "sw_if_index": 1,
        "weight": 1,
        "nh": {"address": {"ip4": socket.inet_aton("10.0.0.2")}},
        "label_stack": [{}] * 16,
    }
    api.ip_route_add_del(route={"prefix": "10.1.0.0/16", "n_paths": 1, "paths": [path]})
    route = fake.asked[-1][1]["route"]
    assert route.prefix == IPv4Network("10.1.0.0/16")
    assert [str(each.nh.address.ip4) for each in route.paths] == ["10.0.0.2"]


def test_what_is_left_out_arrives_as_its_default(api, fake):
    api.sw_interface_dump()
    assert fake.asked[-1][1] == {"sw_if_index": 0xFFFFFFFF, "name_filter_valid": False, "name_filter": ""}
    api.sw_interface_dump(name_filter_valid=True, name_filter="loop")
    assert fake.asked[-1][1]["name_filter"] == "loop"


def test_an_empty_text_at_the_end_is_no_fault(api, fake):
    api.memif_socket_filename_add_del_v2(is_add=False, socket_id=3)
    assert fake.asked[-1][1] == {"is_add": False, "socket_id": 3, "socket_filename": ""}


def test_replies_arrive_with_their_fields(api):
    assert api.create_loopback().sw_if_index == 5
    threads = api.show_threads()
    assert threads.count == 3
    assert [(each.id, each.name, each.cpu_id) for each in threads.thread_data] == [
        (0, "t0", 0),
        (1, "t1", 1),
        (2, "t2", 2),
    ]


def test_text_that_the_api_cannot_carry_is_replaced(api):
    assert api.cli_inband(cmd="show").reply == "? and more"


def test_details_arrive_all_and_in_order(api):
    details = api.sw_interface_dump()
    assert [each.interface_name for each in details] == [f"loop{n}" for n in range(300)]
    assert details[0].mtu == [0, 0, 0, 0]
    assert details[0].l2_address == MACAddress("02:fe:00:00:00:01")
    assert api.memif_dump() == []


def test_nested_details_arrive(api):
    assert api.ip_address_dump(sw_if_index=1)[0].prefix == IPv4Interface("10.0.0.1/24")
    (detail,) = api.ip_route_dump()
    assert detail.route.n_paths == 2
    assert [path.sw_if_index for path in detail.route.paths] == [7, 8]
    (neighbor,) = api.ip_neighbor_dump()
    assert (neighbor.age, str(neighbor.neighbor.ip_address)) == (1.5, "10.0.0.2")


def test_a_refusal_has_vpp_s_number(api, fake):
    fake.replies["delete_loopback"] = ApiRefusal(-2)
    with pytest.raises(ApiError, match=r"INVALID_SW_IF_INDEX \(-2\)"):
        api.delete_loopback(sw_if_index=9)


def test_a_refused_dump_is_empty(api, fake):
    fake.replies["memif_dump"] = ApiRefusal(-2)
    assert api.memif_dump() == []


@pytest.mark.parametrize("fault", [RuntimeError("a bug"), LabError("no"), KeyError("x")])
def test_a_handler_that_fails_is_an_unspecified_error(api, fake, fault):
    fake.replies["delete_loopback"] = fault
    with pytest.raises(ApiError, match=r"UNSPECIFIED \(-1\)"):
        api.delete_loopback(sw_if_index=9)
    assert api.create_loopback().sw_if_index == 5


@pytest.mark.parametrize("reply", [{"nonsense": 1}, {"sw_if_index": "x"}, {"sw_if_index": -1}, [1], 7])
def test_a_handler_that_answers_nonsense_is_an_unspecified_error(api, fake, reply):
    fake.replies["create_loopback"] = reply
    with pytest.raises(ApiError, match=r"UNSPECIFIED \(-1\)"):
        api.create_loopback()


def test_a_dump_of_which_one_detail_is_nonsense_sends_none(api, fake):
    fake.replies["memif_dump"] = [{"id": 1}, {"id": "x"}]
    assert api.memif_dump() == []


@pytest.mark.parametrize("prefix", [{"address": {"af": 0}, "len": 99}, {"address": {"af": 7}, "len": 8}])
def test_a_value_that_cannot_be_is_refused_and_not_handed_on(api, fake, prefix):
    with pytest.raises(ApiError, match=r"INVALID_VALUE \(-7\)"):
        api.sw_interface_add_del_address(sw_if_index=1, is_add=True, prefix=prefix)
    assert not fake.asked


def test_a_message_without_handler_does_not_exist(place, fake):
    with DoorLoop(ApiDoor(place / "s", fake.handlers("show_version", "create_loopback"))):
        api = Api(place / "s")
        api.connect()
        assert set(api.messages()) == {"show_version", "create_loopback", *OWN}
        with pytest.raises(UnknownMessage, match="has no API message 'memif_create_v2'"):
            api.memif_create_v2(id=1)
        api.close()


def test_a_handler_for_an_undefined_message_is_a_mistake(place):
    with pytest.raises(ValueError, match="show_frob"):
        ApiDoor(place / "s", {"show_frob": dict})
    assert not (place / "s").exists()


def test_what_every_server_of_the_api_answers(api):
    assert api.control_ping().vpe_pid > 0
    assert api.memclnt_keepalive().retval == 0
    versions = {each.name: (each.major, each.minor) for each in api.api_versions().api_versions}
    assert versions["memif.api"] == (3, 1)
    papi = api._client.api
    assert papi.get_first_msg_id(name="memif_d48ac702").first_msg_id > 0
    assert papi.get_first_msg_id(name="memif_00000000").retval < 0


def test_leaving_is_answered_and_the_client_forgotten(door, api):
    api.close()
    client = Api(door.path)
    client.connect()
    assert client._client.transport.socket_index == 2
    client.close()


def test_several_clients_at_once_get_each_their_own(door, fake):
    results = []

    def use(number):
        client = Api(door.path, f"client {number}")
        client.connect()
        results.append([len(client.sw_interface_dump()) for _ in range(3)])
        client.close()

    threads = [threading.Thread(target=use, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[300] * 3] * 5


def test_events_reach_those_who_want_them(place):
    told = []

    def set_flags(sw_if_index, flags):
        door.publish("sw_interface_event", sw_if_index=sw_if_index, flags=flags)

    def hear(name, event):
        told.append((name, event.sw_if_index, event.flags, event.deleted, event.pid))

    door = ApiDoor(place / "s", {"sw_interface_set_flags": set_flags})
    with DoorLoop(door):
        api, other = Api(place / "s"), Api(place / "s")
        api.connect()
        other.connect()
        api.messages()
        api._client.register_event_callback(hear)
        api.sw_interface_set_flags(sw_if_index=1, flags=1)
        api.want_interface_events(enable_disable=1, pid=42)
        api.sw_interface_set_flags(sw_if_index=2, flags=1)
        other.sw_interface_set_flags(sw_if_index=3, flags=0)
        api.want_interface_events(enable_disable=0, pid=42)
        api.sw_interface_set_flags(sw_if_index=4, flags=0)
        other.close()
        api.close()
    assert told == [("sw_interface_event", 2, 1, False, 42), ("sw_interface_event", 3, 0, False, 42)]


def test_an_unknown_event_is_refused(door):
    with pytest.raises(LabError, match="no event 'frob'"):
        door.publish("frob")


def test_papi_by_itself_finds_its_way(door):
    client = VPPApiClient(bootstrapapi=True, server_address=str(door.path))
    client.connect("papi")
    assert client.api.show_version().program == "glass-box"
    assert len(client.api.sw_interface_dump()) == 300
    client.disconnect()


# Strangers


CODEC = Codec({*CALLS})
NAMES = sorted(CALLS)


def framed(message):
    return FRAME.pack(0, len(message), 0) + message


def introduce(client):
    client.sendall(framed(CODEC.pack("sockclnt_create", {"name": "test", "context": 1})))


def ping(client, context):
    client.sendall(framed(CODEC.pack("control_ping", {"context": context})))


def is_alive(door, client):
    """Return whether a client that has introduced itself is still answered."""
    ping(client, 77)
    pump(door)
    data = client.recv(1 << 20)
    return CODEC.name_of(data[-FRAME.size + 2 :]) == "control_ping_reply"


@pytest.mark.parametrize("pieces", [1, 3, 16, 17])
def test_messages_may_come_in_pieces_and_in_crowds(place, pieces):
    with ApiDoor(place / "s", Fake().handlers()) as door:
        client = enter(place / "s")
        introduce(client)
        pump(door)
        client.recv(1 << 20)
        data = b"".join(framed(CODEC.pack("control_ping", {"context": n})) for n in range(20))
        for at in range(0, len(data), pieces):
            client.sendall(data[at : at + pieces])
            pump(door)
        answers = client.recv(1 << 20)
        size = FRAME.size + len(CODEC.pack("control_ping_reply", {}))
        contexts = [int.from_bytes(answers[at + 18 : at + 22], "big") for at in range(0, len(answers), size)]
        assert contexts == list(range(20))
        client.close()


@pytest.mark.parametrize(
    "data",
    [
        framed(b""),
        framed(b"\0"),
        framed(b"\xff\xff" + bytes(8)),
        framed((100).to_bytes(2, "big") + bytes(8)),
        FRAME.pack(0, 1 << 31, 0),
        framed(CODEC.pack("control_ping_reply", {})),
        framed(CODEC.pack("create_loopback", {})[:-1]),
        framed(CODEC.pack("create_loopback", {}) + b"x"),
        framed(CODEC.pack("cli_inband", {"cmd": "x"})[:-5] + (1 << 31).to_bytes(4, "big") + b"x"),
    ],
)
def test_what_is_no_message_ends_the_connection(place, data):
    with ApiDoor(place / "s", Fake().handlers()) as door:
        good, bad = enter(place / "s"), enter(place / "s")
        introduce(good)
        introduce(bad)
        pump(door)
        bad.recv(1 << 20)
        bad.sendall(data)
        pump(door)
        assert bad.recv(4096) == b""
        good.recv(1 << 20)
        ping(good, 1)
        pump(door)
        assert len(good.recv(4096)) == FRAME.size + len(CODEC.pack("control_ping_reply", {}))
        bad.close()
        good.close()


def test_a_stranger_who_does_not_introduce_himself_is_not_served(place):
    fake = Fake()
    with ApiDoor(place / "s", fake.handlers()) as door:
        client = enter(place / "s")
        client.sendall(framed(CODEC.pack("create_loopback", {})))
        pump(door)
        assert client.recv(4096) == b""
        assert not fake.asked
        client.close()


def spoiled(name, at, value, cut, tail):
    whole = bytearray(CODEC.pack(name, {"context": 5}))
    whole[at % len(whole)] = value
    return bytes(whole[: len(whole) - cut]) + tail


def a_message():
    """Return a strategy for messages that are nearly right: a byte or a tail is not."""
    return st.builds(
        spoiled,
        st.sampled_from(NAMES),
        st.integers(0, 400),
        st.integers(0, 255),
        st.integers(0, 3),
        st.binary(max_size=40),
    )


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=200),
            st.binary(max_size=200).map(framed),
            a_message().map(framed),
            st.builds(
                lambda name, body: framed(CODEC.numbers[name].to_bytes(2, "big") + body),
                st.sampled_from(sorted(CODEC.numbers)),
                st.binary(max_size=300),
            ),
        ),
        max_size=5,
    )
)
def test_garbage_harms_nobody_else(pieces):
    with short_directory() as place, ApiDoor(place / "s", HANDLERS) as door:
        good, bad = enter(place / "s"), enter(place / "s")
        introduce(good)
        introduce(bad)
        pump(door)
        good.recv(1 << 20)
        for piece in pieces:
            try:
                bad.sendall(piece)
            except OSError:
                break
            pump(door)
        ping(good, 77)
        pump(door)
        answer = good.recv(4096)
        assert answer[FRAME.size :][2:6] == (77).to_bytes(4, "big")
        bad.close()
        good.close()
        pump(door)
        assert not door._connections


HANDLERS = Fake().handlers()


@settings(deadline=None)
@given(st.sampled_from(NAMES), st.binary(max_size=300))
def test_bytes_are_a_message_a_refused_one_or_none(name, body):
    from labs.glassbox.doors.api_codec import MalformedError, ValueRefusedError  # noqa: PLC0415

    try:
        fields = CODEC.unpack(name, CODEC.numbers[name].to_bytes(2, "big") + body)
    except (MalformedError, ValueRefusedError):
        return
    assert isinstance(fields, dict)
