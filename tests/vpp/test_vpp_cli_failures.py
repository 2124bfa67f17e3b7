from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.vpp.cli_failures import classify
from labs.vpp.cli_hints import hint_for

# (statement, VPP's answer, the part of the statement that is refused)
REFUSED = [
    ("sow version", "unknown input `sow version'", "sow version"),
    ("show versio foo", "vpp v26.06\nunknown input `foo'", "foo"),
    ("show", "show: unknown input `'", ""),
    ("show int memif9/9", "show interface: unknown input `memif9/9'", "memif9/9"),
    ("sh memif memif9/9", "show memif: unknown input `memif9/9'", "memif9/9"),
    ("create interface memif id 0 master", "create interface memif: interface already exists", "id 0 master"),
    (
        "create interface memif id 1 slave ring-size 1000",
        "create interface memif: ring size must be power of 2",
        "ring-size 1000",
    ),
    (
        "ip route add 10.4.0.0/240 via 10.10.2.2",
        "Invalid prefix len: 240",
        "10.4.0.0/240 via 10.10.2.2",
    ),
    ("cr int memif id 0 mastr", "create interface memif: unknown input `'", "id 0 mastr"),
    ("create memif socket id 0 filename /x", "create memif socket: Invalid socket id", "id 0 filename /x"),
    ("set interface rx-mode memif0/0 fast", "set interface rx-mode: parse error: 'fast'", "fast"),
    ("set int state memif0/0 up", "set interface state: unknown interface `memif0/0 up'", "memif0/0 up"),
    ("ping 10.10.2.9", "Failed: no egress interface", "10.10.2.9"),
    (
        "ping nowhere",
        "ping: expecting IP4/IP6 address `nowhere'. Usage: ping <addr> [source <intf>]",
        "nowhere",
    ),
    ("exec /no/file", "exec: failed to open `/no/file': No such file or directory (errno 2)", "/no/file"),
    ("exec f", "exec: CLI line error: memiff", "f"),
    (
        "packet-generator new { name x limit 5 nonsense 7 and so on and so on for long }",
        "packet-generator new: unknown input `nonsense 7 and so on and so on...'",
        "nonsense 7 and so on and so on for long }",
    ),
]

TAKEN = [
    ("show version", "vpp v26.06-release built by root on host at 2026-11-30T12:00:00\n"),
    ("set interface state memif0/0 up", ""),
    ("create loopback interface", "loop0\n"),
    ("show interface loop0 tag", "loop0: (none)\n"),
    ("show interface address", "loop0 (dn):\nlocal0 (dn):\n"),
    ("show interface loop0 vtr", "loop0:  VTR none\n"),
    (
        "ping 10.10.2.2 repeat 1",
        "116 bytes from 10.10.2.2: icmp_seq=1 ttl=64 time=.0910 ms\n\nStatistics: 1 sent\n",
    ),
    ("show logging", "2026/11/30 18:00:00:000 notice plugin/load  Loaded plugin: ping_plugin.so\n"),
    (
        "show threads",
        "ID     Name                Type        LWP\n0      vpp_main                        12\n",
    ),
    ("create gtpu tunnel src 1.1.1.1 dst 1.1.1.2 teid 1", "gtpu_tunnel0\n"),
]


@pytest.mark.parametrize(("statement", "output", "part"), REFUSED)
def test_a_refusal_is_seen_with_its_place(statement, output, part):
    failure = classify(statement, output + "\n")
    assert failure is not None
    assert statement[failure.at :] == part


@pytest.mark.parametrize(("statement", "output"), TAKEN)
def test_an_answer_is_no_refusal(statement, output):
    assert classify(statement, output) is None


def test_what_was_printed_before_the_refusal_is_kept_apart():
    failure = classify("show version foo", "vpp v26.06\nunknown input `foo'\n")
    assert (failure.before, failure.text) == ("vpp v26.06", "unknown input `foo'")


def test_a_refusal_of_several_lines_is_seen():
    failure = classify("ip route add x", "ip route: bad route\n  because of this\n  and that\n")
    assert failure.text == "ip route: bad route\n  because of this\n  and that"


@given(st.text(), st.text())
def test_any_text_is_looked_at_without_trouble(statement, output):
    failure = classify(statement, output)
    if failure:
        assert 0 <= failure.at <= len(statement)
        assert failure.text


names = st.text("abcdefghijklmnop-", min_size=2, max_size=8).filter(lambda name: name.strip("-"))


@given(st.lists(names, min_size=1, max_size=4), st.data())
def test_an_abbreviated_command_is_known_by_its_full_path(path, data):
    typed = [word[: data.draw(st.integers(1, len(word)))] for word in path]
    arguments = data.draw(st.lists(st.text("0123456789./", min_size=1, max_size=6), min_size=1, max_size=3))
    statement = " ".join(typed + arguments)
    failure = classify(statement, " ".join(path) + ": nothing of the kind\n")
    assert statement[failure.at :] == " ".join(arguments)


@given(st.lists(names, min_size=1, max_size=3), st.lists(names, min_size=1, max_size=4))
def test_another_commands_path_is_no_refusal(path, typed):
    statement = " ".join(typed)
    starts = [typed[at : at + len(path)] for at in range(len(typed))]
    abbreviates = any(
        len(start) == len(path) and all(full.startswith(word) for full, word in zip(path, start, strict=True))
        for start in starts
    )
    if not abbreviates:
        assert classify(statement, " ".join(path) + ": a word\n") is None


@pytest.mark.parametrize(("statement", "output", "_part"), REFUSED)
def test_every_refusal_gets_a_hint(statement, output, _part):
    hint = hint_for(classify(statement, output).text)
    assert hint.endswith(".")


def test_the_hints_are_told_apart():
    texts = [
        "interface already exists",
        "ring size must be power of 2",
        "no egress interface",
        "show: x",
        "?",
    ]
    assert len({hint_for(text) for text in texts}) == len(texts)


def test_a_refusal_without_a_hint_of_its_own_points_to_the_command():
    assert "`create interface memif ?`" in hint_for("create interface memif: unknown input `'")
