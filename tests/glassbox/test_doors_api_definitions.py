from __future__ import annotations

import json

import pytest
from doors_loop import definitions_of_vpp

from labs.glassbox.doors.api_language import Call, Message, Module, call, dump
from labs.glassbox.doors.api_messages import CALLS, MODULES

OURS = [module.definition({call.request.name for call in module.calls}) for module in MODULES]
KINDS = ("types", "enums", "unions")


@pytest.fixture(scope="module")
def vpp():
    """Everything that an installed VPP defines, of all its files."""
    place = definitions_of_vpp()
    if place is None:
        pytest.skip("no API definitions of VPP found: install VPP, or set LABS_VPP")
    found = {kind: {} for kind in (*KINDS, "messages", "services", "aliases", "modules")}
    for path in place.rglob("*.api.json"):
        file = json.loads(path.read_text(encoding="utf-8"))
        for kind in (*KINDS, "messages"):
            found[kind] |= {each[0]: each for each in file[kind]}
        found["services"] |= file["services"]
        found["aliases"] |= file["aliases"]
        found["modules"][path.name.partition(".")[0]] = file["options"]["version"], file["vl_api_version"]
    return found


def fields_of(definition):
    """Return what of a definition decides about the bytes."""
    fields = [
        [part for part in field if not (isinstance(part, dict) and {"case", "discriminator"} & set(part))]
        for field in definition[1:]
        if isinstance(field, list)
    ]
    return fields, [part["enumtype"] for part in definition if isinstance(part, dict) and "enumtype" in part]


@pytest.mark.parametrize("ours", OURS, ids=lambda ours: ours["module"])
def test_messages_are_vpp_s_own(vpp, ours):
    for message in ours["messages"]:
        theirs = vpp["messages"][message[0]]
        assert message[-1]["crc"] == theirs[-1]["crc"], message[0]
        assert fields_of(message) == fields_of(theirs)


@pytest.mark.parametrize("ours", OURS, ids=lambda ours: ours["module"])
def test_types_are_vpp_s_own(vpp, ours):
    for kind in KINDS:
        for each in ours[kind]:
            assert fields_of(each) == fields_of(vpp[kind][each[0]]), each[0]
    for name, alias in ours["aliases"].items():
        assert alias == vpp["aliases"][name], name


@pytest.mark.parametrize("ours", OURS, ids=lambda ours: ours["module"])
def test_services_and_versions_are_vpp_s_own(vpp, ours):
    for name, service in ours["services"].items():
        assert service == vpp["services"][name]
    assert (ours["options"]["version"], ours["vl_api_version"]) == vpp["modules"][ours["module"]]


def test_no_message_is_defined_twice():
    names = [message.name for each in CALLS.values() for message in each.messages]
    assert len(names) == len(set(names))


def test_a_call_is_written_out_in_full():
    made = call("do_it", 0x12, "bool is_on = true, u8 tail[]", "u32 count, thing things[count]", 0x34)
    assert made.request.definition() == [
        "do_it",
        ["u16", "_vl_msg_id"],
        ["u32", "client_index"],
        ["u32", "context"],
        ["bool", "is_on", {"default": "true"}],
        ["u8", "tail", 0],
        {"crc": "0x00000012"},
    ]
    assert made.reply.definition()[3:] == [
        ["i32", "retval"],
        ["u32", "count"],
        ["vl_api_thing_t", "things", 0, "count"],
        {"crc": "0x00000034"},
    ]
    assert made.request.key == "do_it_00000012"


def test_a_dump_is_a_stream_of_details():
    made = dump("it_dump", 1, "", "it_details", 2, "string name[64], u32 id = 0xff")
    assert made.service() == {"reply": "it_details", "stream": True}
    assert made.reply.definition()[2:] == [
        ["u32", "context"],
        ["string", "name", 64],
        ["u32", "id", {"default": 255}],
        {"crc": "0x00000002"},
    ]


def test_a_module_tells_only_of_what_is_served():
    one, two = call("one", 1), call("two", 2)
    told = Module("m", "1.0.0", 3, calls=(one, two)).definition({"two"})
    assert [message[0] for message in told["messages"]] == ["two", "two_reply"]
    assert told["services"] == {"two": {"reply": "two_reply"}}


@pytest.mark.parametrize("text", ["u32", "u32 a b", "u32 a[1", "u32 a = ", "u32  a"])
def test_a_slip_of_the_pen_is_found(text):
    with pytest.raises(ValueError, match="not a field"):
        Message("m", 1, text).definition()


def test_events_belong_to_their_call():
    event = Message("it_event", 3, "u16 _vl_msg_id")
    made = Call(Message("want_it", 1, ""), Message("want_it_reply", 2, ""), events=(event,))
    assert made.service()["events"] == ["it_event"]
    assert event in made.messages
