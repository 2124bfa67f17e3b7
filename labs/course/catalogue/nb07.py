"""Notebook 07, memif or vhost."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from labs.course.checks import ends_down, first_fault, unconnected, wrong_roles
from labs.course.model import Chapter, Exercise, Option, Question
from labs.experiments.leak import spy, whisper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs.lab import Lab

_TWO_LINKS = """\
from labs import Lab, LinkSpec, NodeSpec, Topology, spy, whisper

nodes = (NodeSpec("vpp1"), NodeSpec("vpp2"))
link0 = LinkSpec("vpp1", "vpp2", "10.10.2.1/24", "10.10.2.2/24", zero_copy=False)
link1 = LinkSpec("vpp1", "vpp2", "10.10.3.1/24", "10.10.3.2/24")
lab = Lab(Topology("two-links", nodes, (link0, link1)))
lab.start()
"""

_TURNED = """\
from labs import Lab, LinkSpec, NodeSpec, Topology, spy, whisper

nodes = (NodeSpec("vpp1"), NodeSpec("vpp2"))
link = LinkSpec("vpp2", "vpp1", "10.10.2.2/24", "10.10.2.1/24")
lab = Lab(Topology("customer", nodes, (link,)))
lab.start()
"""


def _leaks(lab: Lab, reader: str, owner: str) -> Iterator[str]:
    """Yield a sentence if a node can read words that only another has been told."""
    words = f"only {owner} knows {secrets.token_hex(8)}"
    whisper(lab, owner, words)
    if spy(lab, reader, owner, words).found:
        yield f"{reader} can still read what only {owner} has been told."


def _answers(lab: Lab) -> Iterator[str]:
    if not lab.ping("vpp1", "vpp2", count=3, interval=0.05).received:
        yield "vpp2 does not answer vpp1's ping."


def _one_is_left(lab: Lab) -> Iterator[str]:
    left = [memif.name for memif in lab["vpp1"].memifs().interfaces]
    if not left:
        yield "vpp1 has no memif left; one of the two is to stay. Run the exercise's first cell again."
    yield from _leaks(lab, "vpp1", "vpp2")
    if len(left) > 1:
        yield f"vpp1 still has {' and '.join(left)}; delete the one that leaks at both ends."
    yield from unconnected(lab)
    yield from _answers(lab)


def _customer_kept_out(lab: Lab) -> Iterator[str]:
    yield from wrong_roles(lab, vpp1="server", vpp2="client")
    yield from ends_down(lab, "vpp1", "vpp2")
    yield from unconnected(lab)
    for memif in lab["vpp2"].memifs().interfaces:
        if "zero-copy" not in memif.flags:
            yield f"vpp2's {memif.name} copies; make it without the word `no-zero-copy`."
    yield from _leaks(lab, "vpp2", "vpp1")
    yield from _answers(lab)


EXERCISES = (
    Exercise(
        id="07-leak",
        title="Which one leaks?",
        minutes=6,
        task="""\
vpp1 and vpp2 have two links, `memif0/0` and `memif1/0`. Both carry packets. Over one of them vpp1 can read
whatever is in vpp2's packet memory; over the other it cannot.

Find out which, and delete it at both ends. The other is to stay, and to answer a ping. Press **Check**: it
tells vpp2 something new, and looks whether vpp1 can read it.""",
        stub="""\
whisper(lab, "vpp2", "the combination is 8-15")
print(spy(lab, "vpp1", "vpp2", "the combination"))
# Which link is it? Delete that one at both ends.
""",
        hints=(
            "`%vpp vpp1 show memif` lists the regions of each link. How many are there, and how large?",
            'A region of many megabytes is packet memory: `lab["vpp1"].cli("delete interface memif ...")`.',
        ),
        solution="""\
for name in ("vpp1", "vpp2"):
    lab[name].cli("delete interface memif memif1/0")
""",
        setup=_TWO_LINKS,
        check=first_fault(_one_is_left, "the link that leaked is gone, and the other still carries packets."),
    ),
    Exercise(
        id="07-roles",
        title="A customer you do not trust",
        minutes=8,
        task="""\
vpp1 is your router. vpp2 belongs to a customer whom you do not trust. Their link was made in a hurry:
vpp1 is its client, so vpp1 lends its packet memory, and the customer can read every packet of every other
customer.

The link is to stay zero-copy, and vpp2 is not to see vpp1's memory. Only one thing has to change. Delete
the link at both ends, and make it anew: the same addresses, 10.10.2.1/24 on vpp1 and 10.10.2.2/24 on vpp2,
and both ends up.""",
        stub="""\
whisper(lab, "vpp1", "another customer's packet")
print(spy(lab, "vpp2", "vpp1", "another customer"))
# Make the link anew, so that vpp2 cannot read it.
""",
        hints=(
            "Who lends its memory is decided by the role: it is always the client, whom VPP calls slave.",
            "Delete both ends first. On vpp1: `create interface memif id 0 master`, on vpp2: `slave`.",
        ),
        solution="""\
for name in ("vpp1", "vpp2"):
    lab[name].cli("delete interface memif memif0/0")
for name, role, address in (("vpp1", "master", "10.10.2.1/24"), ("vpp2", "slave", "10.10.2.2/24")):
    lab[name].cli(f"create interface memif id 0 {role}")
    lab[name].cli("set interface state memif0/0 up")
    lab[name].cli(f"set interface ip address memif0/0 {address}")
""",
        setup=_TURNED,
        check=first_fault(
            _customer_kept_out,
            "the customer lends the memory now, and cannot see yours; nothing is copied twice.",
        ),
    ),
)

QUIZ = (
    Question(
        "07-who-brings",
        "Who brings the shared memory of a memif?",
        (
            Option("The server.", "the server listens; it maps what it is handed."),
            Option(
                "The client.", "it makes the memory and passes the descriptor over the socket.", right=True
            ),
            Option("The kernel.", "the kernel makes it when asked, and the client asks."),
        ),
    ),
    Question(
        "07-what-lends",
        "vpp2 is the client of a zero-copy memif. What can its server read?",
        (
            Option(
                "Only the packets that vpp2 sends it.", "the region that is lent is the whole packet pool."
            ),
            Option(
                "All of vpp2's memory, routes and keys included.", "the pool holds packets and nothing else."
            ),
            Option(
                "Every packet in vpp2's pool, also those of other links.",
                "one pool serves all of a VPP's interfaces.",
                right=True,
            ),
        ),
    ),
    Question(
        "07-equal-rings",
        "One tester finds vhost-user twice as slow as memif. With rings of 256 against 1024. What now?",
        (
            Option(
                "The result stands; rings hold packets, not speed.",
                "a short ring fills, and packets are lost.",
            ),
            Option(
                "Measure again with rings of one size, in turn and several times.",
                "else the ring, or the hour, may be what was measured.",
                right=True,
            ),
            Option("Divide the rate by four.", "a ring four times as short does not move a quarter."),
        ),
    ),
)

CHAPTER = Chapter("07", "memif or vhost", 35, EXERCISES, QUIZ)
