"""Notebook 06, Speak memif."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from labs.course.checks import first_fault
from labs.course.echoes import echoes
from labs.course.model import Chapter, Exercise, Option, Question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs.lab import Lab

_VAULT = "memif6/3"
_PATIENCE = 2.0
"""Seconds for a client that has just been started to connect."""

_LEAST = 10
_LIVED = 64


def _let_in(lab: Lab) -> Iterator[str]:
    node = lab["vpp1"]
    deadline = time.monotonic() + _PATIENCE
    while (found := node.memifs().interface(_VAULT)) and not found.connected:
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    if found is None:
        yield f"vpp1 has no {_VAULT}; run the first cell of the exercise again."
    elif not found.admin_up:
        yield f"vpp1's {_VAULT} is down; on vpp1: `set interface state {_VAULT} up`."
    elif not found.connected:
        yield f"vpp1's {_VAULT} has no client. What does `vault.wait_up()` say?"
    counted = node.counters()[_VAULT]
    if not counted.rx_packets:
        yield f"the link is up, and no packet has come through it: {_VAULT} has received none yet."
    node.ping("10.10.6.2", count=1, interval=0.01)  # if only to ask who that is
    again = node.memifs().interface(_VAULT)
    if again is None or not again.connected:
        yield "the link was up, and is down again. Leave it up: no `close()`, and no `with`."
    if node.counters()[_VAULT].tx_packets == counted.tx_packets:
        yield f"vpp1 sent a packet, and it did not leave through {_VAULT}; look at `show errors`."


def _guarded(lab: Lab) -> Iterator[str]:
    if lab.engine != "glassbox":
        yield f"this lab runs on {lab.engine}; the exercise is about the glass box, so give it `box`."
    answered = echoes(lab, (2, _LEAST - 1, _LEAST, _LIVED))
    if not answered:
        yield "no ping is answered at all, whatever its time to live; look at `show errors`."
    for ttl in (2, _LEAST - 1):
        if ttl in answered:
            yield f"a ping with a time to live of {ttl} still gets through."
    for ttl in (_LEAST, _LIVED):
        if ttl not in answered:
            yield f"a ping with a time to live of {ttl} does not get through, and should."


EXERCISES = (
    Exercise(
        id="06-own-node",
        title="A node of your own",
        minutes=6,
        task="""\
Packets that have wandered for too long are to be turned away. Write a node that drops every IPv4 packet
whose time to live is below 10, load it into the running box, and put it before `ip4-lookup`.

**Check** pings the box with times to live of 2, 9, 10 and 64. Only the last two may be answered.""",
        stub="""\
%%writefile {box.folder}/guard.py
# Write a node that turns away IPv4 packets whose time to live is below 10.

# %%
%%vpp vpp1
show node ip4-lookup
""",
        hints=(
            "Begin with `doorman.py`. Which byte does it look at, and which one do you need?",
            (
                "`labs.glassbox.headers` says where things are in a header: `TTL` is the place of the time "
                "to live, one byte. `get8(ip + TTL)` reads it."
            ),
            (
                "A file is not a node yet: `load node guard.py`, then `insert node NAME before ip4-lookup`. "
                "After a change, load it again."
            ),
        ),
        solution="""\
%%writefile {box.folder}/guard.py
from labs.glassbox.graph import node
from labs.glassbox.headers import TTL
from labs.glassbox.memory import get8
from labs.glassbox.packet import start


@node("guard", to=("ip4-drop", "ip4-lookup"))
def guard(vm, me, frame, nexts, count):
    for each in range(count):
        ip = start(frame[each])
        nexts[each] = 0 if get8(ip + TTL) < 10 else 1

# %%
%%vpp vpp1
load node guard.py
insert node guard before ip4-lookup
""",
        setup="""\
from labs import one_vpp

box = lab = one_vpp("open", engine="glassbox")
lab.start()
""",
        check=first_fault(_guarded, "below 10 nothing gets through, and from 10 on everything does."),
    ),
    Exercise(
        id="06-secret",
        title="Open sesame",
        minutes=4,
        task="""\
The first cell below gives vpp1 a memif with a secret. The second one calls there, and is refused.

Find out why, connect, and **leave the link up**. Then send a packet through it: any packet will do.""",
        stub="""\
%%vpp vpp1
create memif socket id 6 filename vault.sock
create interface memif id 3 socket-id 6 secret sesame master
set interface state memif6/3 up
set interface ip address memif6/3 10.10.6.1/24

# %%
from labs import memif

vault = memif.Client(lab.folder / "vault.sock", id=3)
vault.start()
# The link does not come up. Make it do so, and send a packet.
""",
        hints=(
            "`vault.wait_up()` says why the link is down, in vpp1's own words.",
            "`memif.Client` takes the secret as `secret=…`. `vault.close()` ends the first try.",
            "`vault.send(…)` takes bytes, or a packet of scapy's. 64 bytes of zeros are a packet, too.",
        ),
        solution="""\
%%vpp vpp1
create memif socket id 6 filename vault.sock
create interface memif id 3 socket-id 6 secret sesame master
set interface state memif6/3 up
set interface ip address memif6/3 10.10.6.1/24

# %%
from labs import memif

vault = memif.Client(lab.folder / "vault.sock", id=3, secret="sesame")
vault.start()
vault.wait_up()
vault.send(bytes(64))
""",
        setup="""\
from labs import one_vpp

lab = one_vpp()
lab.start()
""",
        check=first_fault(_let_in, "vpp1 let you in, and packets go both ways."),
    ),
)

QUIZ = (
    Question(
        "06-why-descriptor",
        "Why does ADD_REGION bring a file descriptor, and not the address of the memory?",
        (
            Option(
                "An address is only valid in one process.",
                "the server maps the file wherever it likes; offsets in the rings count from its beginning.",
                right=True,
            ),
            Option(
                "An address of 64 bits does not fit into the message.",
                "it would: the message has 128 bytes, and most of them are unused.",
            ),
            Option(
                "The packets are then sent through the descriptor.",
                "no packet goes through the kernel. The descriptor is needed once, to map the memory.",
            ),
        ),
    ),
    Question(
        "06-who-sleeps",
        "Both nodes sleep on doorbells. VPP's ping says 5 ms, the probe 0.1 ms. Where are the 5 ms?",
        (
            Option("In the doorbell of vpp2.", "the probe rings the same kind of bell, and sees 0.1 ms."),
            Option(
                "In vpp2, which sleeps up to 10 ms before it answers.",
                "its doorbell wakes it at once, and the probe would see the 5 ms, too.",
            ),
            Option(
                "In vpp1, where ping's packet waits until the sleep is over.",
                "it is made at the end of a turn of the main loop, and the next turn begins with a sleep.",
                right=True,
            ),
        ),
    ),
    Question(
        "06-less-load",
        "The load on a node falls from full to a hundredth. What becomes of the clock cycles for one packet?",
        (
            Option("They stay the same.", "the work for a packet does, but a call has a price of its own."),
            Option(
                "They rise.",
                "fewer packets come with each call, and share its price among them.",
                right=True,
            ),
            Option("They fall.", "the core has more time then, but each packet takes more of it."),
        ),
    ),
)

CHAPTER = Chapter("06", "Speak memif", 35, EXERCISES, QUIZ)
