from __future__ import annotations

import pytest
from cli_pair import pair_of
from hypothesis import given
from hypothesis import strategies as st

from labs.errors import LabError
from labs.glassbox.commands import Cli, Words, command
from labs.glassbox.commands import words as kinds
from labs.glassbox.commands.beyond import _BEYOND
from labs.glassbox.commands.columns import centred
from labs.glassbox.commands.command import COMMANDS
from labs.vpp.cli_failures import classify
from labs.vpp.cli_hints import hint_for


@pytest.fixture
def tree(monkeypatch):
    """Have only a few commands, which say what they were given."""
    kept = dict(COMMANDS)
    COMMANDS.clear()

    def declare(path, **more):
        @command(path, **more)
        def say(box, words):
            return f"{path}<{words.line()}>"

    for path in ("show interface", "show interface address", "show ip fib", "show ip table", "trace add"):
        declare(path, help=f"help of {path}")
    declare("show version")

    @command("take one")
    def take_one(box, words):
        return words.word()

    @command("refuse")
    def refuse(box, words):
        raise LabError("no such thing", "never shown with VPP's words")

    @command("explain")
    def explain(box, words):
        raise LabError("This cannot be.", "do that.")

    yield Cli(None)
    COMMANDS.clear()
    COMMANDS.update(kept)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("show interface", "show interface<>\n"),
        ("sh int", "show interface<>\n"),
        ("s i memif0/0", "show: unknown input `i memif0/0'\n"),  # interface, or ip?
        ("sh int memif0/0 x", "show interface<memif0/0 x>\n"),
        ("sh int addr", "show interface address<>\n"),
        ("sh int a", "show interface address<>\n"),
        ("sh int address foo", "show interface address<foo>\n"),
        ("sh ip f 10.0.0.1", "show ip fib<10.0.0.1>\n"),
        ("\tshow   version\t", "show version<>\n"),
        ("", ""),
        ("   ", ""),
    ],
)
def test_every_word_may_be_short_as_long_as_it_is_clear(tree, line, answer):
    assert tree.run(line) == answer


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("show interfce", "show: unknown input `interfce'"),
        ("shwo interface", "unknown input `shwo interface'"),
        ("show", "show: unknown input `'"),
        ("show ip", "show ip: unknown input `'"),
        ("sh ip bogus", "show ip: unknown input `bogus'"),
        ("show " + "x" * 40, f"show: unknown input `{'x' * 30}...'"),
        ("SHOW version", "unknown input `SHOW version'"),
        ("memif0/0", "unknown input `memif0/0'"),
        ("{", "unknown input `{'"),
        ("show \x00", "show: unknown input `\x00'"),
    ],
)
def test_what_is_no_command_is_answered_in_vpps_words(tree, line, answer):
    assert tree.run(line) == answer + "\n"
    assert classify(line, tree.run(line)).text == answer


def test_the_unknown_part_is_underlined_where_it_stands(tree):
    assert classify("show interfce", tree.run("show interfce")).at == 5


def test_what_a_command_leaves_is_the_next_command(tree):
    assert tree.run("take one x show version") == "x\nshow version<>\n"
    assert tree.run("take one x bogus") == "x\nunknown input `bogus'\n"
    assert classify("take one x bogus", tree.run("take one x bogus")).before == "x"


def test_an_error_is_told_with_the_whole_path_of_the_command(tree):
    assert tree.run("ref") == "refuse: no such thing\n"
    assert classify("ref", tree.run("ref")).text == "refuse: no such thing"


def test_our_own_sentences_come_with_their_hint(tree):
    assert tree.run("explain") == "explain: This cannot be; do that.\n"


def test_a_question_mark_lists_what_may_follow(tree):
    assert tree.run("show ip ?") == (
        f"  {'show ip fib':40} help of show ip fib\n  {'show ip table':40} help of show ip table\n"
    )
    assert tree.run("show interface ?").splitlines()[0].split() == [
        *["show", "interface"],
        *["help", "of", "show", "interface"],
    ]
    assert tree.run("show version ?") == f"  {'show version':40} show version commands\n"
    assert len(tree.run("?").splitlines()) == len(COMMANDS)


def test_help_lists_words_and_explains_a_command(tree):
    assert tree.run("help show").strip() == "show commands"
    assert tree.run("help sh ip fib") == "help of show ip fib\n"
    assert [line.split()[0] for line in tree.run("help").splitlines()] == sorted(
        {path[0] for path in COMMANDS}
    )
    assert tree.run("help bogus") == "unknown input `bogus'\n"


def test_a_comment_does_nothing(tree):
    assert tree.run("comment hello") == ""
    assert tree.run("comment { show version } show version") == "show version<>\n"


def test_a_command_of_vpps_that_is_not_here_is_refused_as_such(tree):
    text = tree.run("sh ip6 fib")
    failure = classify("sh ip6 fib", text)
    assert failure.text == "show ip6: the glass box does not have this command of VPP's"
    assert failure.at == len("sh ip6 ")
    assert "LABS_ENGINE" in hint_for(failure.text)


def test_no_command_of_ours_is_said_to_be_missing():
    for path in COMMANDS:
        for depth in range(len(path)):
            assert path[depth] not in _BEYOND.get(path[:depth], ()), path


def test_a_short_word_that_may_be_ours_is_not_taken_for_vpps(tree):
    assert "does not have" not in tree.run("show i")


@given(st.text(max_size=60))
def test_any_line_is_answered_and_never_fails(line):
    with_commands = Cli(None)
    words = Words(line, with_commands)
    assert words.rest == line[words.at :].rstrip()
    first = words.peek()
    if first and not any(path[0].startswith(first) for path in COMMANDS) and first not in ("help", "comment"):
        answer = with_commands.run(line)
        assert isinstance(answer, str)


@given(st.integers(0, 2**32 - 1))
def test_numbers_are_read_as_vpp_prints_them(value):
    assert kinds.number(str(value)) == kinds.number(hex(value)) == value


@pytest.mark.parametrize("text", ["-1", "1.5", "x", "0x", "4294967296", "1_0", "\u0661", ""])
def test_what_is_no_number_is_not_read(text):
    assert kinds.number(text) is None


@pytest.mark.parametrize(
    ("text", "value"), [("0.5", 0.5), (".5", 0.5), ("2", 2.0), ("1e-3", 0.001), ("5.", 5.0)]
)
def test_amounts_have_fractions(text, value):
    assert kinds.amount(text) == value


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "1,5", "", "."])
def test_what_is_no_amount_is_not_read(text):
    assert kinds.amount(text) is None


@given(st.ip_addresses(v=4))
def test_addresses_are_read(value):
    assert kinds.address(str(value)) == value


@pytest.mark.parametrize("text", ["10.0.0", "10.0.0.256", "10.0.0.1/24", "::1", "1", "01.2.3.4"])
def test_what_is_no_address_is_not_read(text):
    assert kinds.address(text) is None


@pytest.mark.parametrize("text", ["10.0.0.1", "10.0.0.1/33", "10.0.0/24", "10.0.0.1/255.0.0.0", "::1/64"])
def test_what_is_no_prefix_is_not_read(text):
    assert kinds.prefix(text) is None


@given(st.binary(min_size=6, max_size=6))
def test_hardware_addresses_are_read_in_both_notations(raw):
    dotted = ".".join(raw.hex()[each : each + 4] for each in (0, 4, 8))
    assert kinds.mac(raw.hex(":")) == kinds.mac(raw.hex(":").upper()) == kinds.mac(dotted) == raw


@pytest.mark.parametrize("text", ["02:00:00:00:00", "02:00:00:00:00:zz", "020000000001", "0200.0000"])
def test_what_is_no_hardware_address_is_not_read(text):
    assert kinds.mac(text) is None


def test_a_value_that_does_not_fit_is_left_unread():
    words = Words("queue x")
    assert words.read(kinds.number, "queue") is None
    assert words.rest == "queue x"


def test_blocks_hold_braces():
    words = Words("new { name a data { b { c } } } show")
    assert words.block("new") == "name a data { b { c } }"
    assert words.rest == "show"
    assert Words("new { open").block("new") is None


@given(st.text("ab:", max_size=12), st.integers(0, 20))
def test_centring_keeps_the_text_and_the_width(text, width):
    placed = centred(text, width)
    assert placed.strip() == text
    assert len(placed) == max(width, len(text))
    left, right = len(placed) - len(placed.lstrip()), len(placed) - len(placed.rstrip())
    assert not text or 0 <= left - right <= 1


def test_every_command_says_how_it_is_written():
    with pair_of("a") as pair:
        for path, found in COMMANDS.items():
            assert found.help, path
            assert " ".join(path) in pair.ask("a", f"{' '.join(path)} ?")
