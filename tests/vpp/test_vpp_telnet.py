from __future__ import annotations

from fake_cli import GREETING, cut
from hypothesis import given
from hypothesis import strategies as st

from labs.vpp.telnet import NON_INTERACTIVE, TelnetFilter

plain_bytes = st.binary().map(lambda data: data.replace(b"\xff", b""))
places = st.lists(st.integers(0, 10_000))


@given(plain_bytes, plain_bytes, places)
def test_the_greeting_is_taken_out_however_it_is_cut(before, after, where):
    telnet = TelnetFilter()
    pieces = cut(before + GREETING + after, where)
    assert b"".join(telnet.feed(piece) for piece in pieces) == before + after
    assert telnet.asked_terminal_type


@given(st.lists(st.binary()))
def test_any_bytes_give_the_same_text_cut_or_whole(pieces):
    cut_up, whole = TelnetFilter(), TelnetFilter()
    assert b"".join(cut_up.feed(piece) for piece in pieces) == whole.feed(b"".join(pieces))
    assert cut_up.asked_terminal_type == whole.asked_terminal_type


def test_no_question_is_seen_before_it_is_complete():
    telnet = TelnetFilter()
    telnet.feed(GREETING[: GREETING.index(bytes([250, 24, 1])) + 3])
    assert not telnet.asked_terminal_type


def test_two_iac_stand_for_one():
    assert TelnetFilter().feed(b"a\xff\xffb") == b"a\xffb"


def test_the_answer_is_what_vppctl_sends():
    assert bytes([255, 250, 24, 0]) + b"vppctl" + bytes([255, 240]) == NON_INTERACTIVE
