"""Notebook 01, One VPP."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from labs.course.checks import first_fault
from labs.course.model import Chapter, Exercise, Option, Question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs.lab import Lab

_SETUP = """\
from labs import one_vpp

lab = one_vpp()
lab.start()

# %%
%%vpp vpp1
create packet-generator interface pg0 hw-addr 02:00:00:00:00:a0
create packet-generator interface pg1
set interface state pg0 up
set interface state pg1 up
set interface ip address pg0 10.0.0.1/24
set interface ip address pg1 10.0.1.1/24
set ip neighbor pg1 10.0.1.2 02:00:00:00:00:b2

# %%
%%vpp vpp1
packet-generator new {
  name lost
  limit 2
  source pg0
  node ethernet-input
  size 64-64
  data {
    IP4: 02:00:00:00:00:a2 -> 02:00:00:00:00:a0
    UDP: 10.0.0.2 -> 203.0.113.9
    UDP: 1234 -> 2345
    length 22 checksum 0 incrementing 14
  }
}
"""

_LOST = 2
_SMALL, _LARGE, _MANY = 64, 500, 1000


def _routed(lab: Lab) -> Iterator[str]:
    node = lab["vpp1"]
    if "lost" not in node.cli("show packet-generator"):
        yield "the stream `lost` is gone; run the cells of section 7 again."
        return
    before = node.counters()["pg1"].tx_packets
    node.cli("packet-generator enable-stream lost")
    time.sleep(0.2)
    went = node.counters()["pg1"].tx_packets - before
    if went != _LOST:
        yield f"the stream `lost` was sent once more, and {went} of its {_LOST} packets left through pg1."


def _thousand(lab: Lab) -> Iterator[str]:
    sent = lab["vpp1"].counters()["pg1"]
    # the notebook's own streams have 64 bytes a packet, so what is over tells how many had 500
    large, odd = divmod(sent.tx_bytes - _SMALL * sent.tx_packets, _LARGE - _SMALL)
    if odd or large < 0:
        yield "packets of other sizes than 64 and 500 bytes have left through pg1; begin with `lab.reset()`."
    elif large != _MANY:
        yield f"{large} packets of {_LARGE} bytes have left through pg1; it should be {_MANY}."


EXERCISES = (
    Exercise(
        id="01-route",
        title="A way for the lost",
        minutes=4,
        task="""\
The stream `lost` goes to 203.0.113.9, and no route leads there. Add one: the network `203.0.113.0/24`
lies behind the host 10.0.1.2 on `pg1`.

**Check** sends the stream once more and counts what leaves through `pg1`.""",
        stub="""\
%%vpp vpp1
show ip fib 203.0.113.9
""",
        hints=(
            "A route says: this network, via that host, through this interface.",
            "Ask VPP how it wants it: `ip route add ?`, or `show ip fib` for the routes it has.",
            "`ip route add NETWORK/LENGTH via HOST INTERFACE`",
        ),
        solution="""\
%%vpp vpp1
ip route add 203.0.113.0/24 via 10.0.1.2 pg1
show ip fib 203.0.113.9
""",
        setup=_SETUP,
        check=first_fault(_routed, "both packets found their way out through pg1."),
    ),
    Exercise(
        id="01-thousand",
        title="Exactly a thousand",
        minutes=6,
        task="""\
Describe a stream of your own, named `thousand`: exactly 1000 packets of 500 bytes each, from `pg0` to the
host 10.0.1.2 behind `pg1`. Send it, once.""",
        stub="""\
%%vpp vpp1
show packet-generator
""",
        hints=(
            "Begin with the stream `three` from section 5. What has to change?",
            (
                "`limit` is the number of packets, `size` their length. The payload may stay short: VPP "
                "fills up to the size."
            ),
            (
                "A stream sends nothing until `packet-generator enable-stream thousand`, and each time it "
                "sends all. If too many went: `lab.reset()`, and run the cells of section 5 again."
            ),
        ),
        solution="""\
%%vpp vpp1
packet-generator new {
  name thousand
  limit 1000
  source pg0
  node ethernet-input
  size 500-500
  data {
    IP4: 02:00:00:00:00:a2 -> 02:00:00:00:00:a0
    UDP: 10.0.0.2 -> 10.0.1.2
    UDP: 1234 -> 2345
    length 22 checksum 0 incrementing 14
  }
}
packet-generator enable-stream thousand

# %%
%vpp vpp1 show packet-generator
""",
        setup=_SETUP,
        check=first_fault(_thousand, "exactly 1000 packets of 500 bytes have left through pg1."),
    ),
)

QUIZ = (
    Question(
        "01-which-door",
        "Through which of its three doors can you watch VPP without holding up its packets?",
        (
            Option("The CLI.", "most CLI commands stop the workers at a barrier while they run."),
            Option("The binary API.", "most API calls stop the workers at a barrier too."),
            Option(
                "The stats segment.",
                "it is shared memory that VPP writes anyway; a reader costs VPP nothing.",
                right=True,
            ),
        ),
    ),
    Question(
        "01-silent-interface",
        "A new interface has an address, and no packet passes. What do you look at first?",
        (
            Option(
                "Whether the interface is up.",
                "VPP creates interfaces down. `set interface state … up` is the step most often forgotten.",
                right=True,
            ),
            Option("How many buffers there are.", "buffers run out under load, not on the first packet."),
            Option("Its rx-mode.", "every rx-mode passes packets; it changes how long they wait."),
        ),
    ),
    Question(
        "01-read-a-trace",
        "A trace shows a packet in `ip4-lookup` and then in `ip4-local`. What became of it?",
        (
            Option(
                "It was sent out through another interface.", "then `ip4-rewrite` would follow the lookup."
            ),
            Option(
                "It was for an address of this VPP, and was taken in.",
                "`ip4-local` is where packets go whose destination is VPP itself, such as a ping.",
                right=True,
            ),
            Option(
                "It was dropped, for want of a route.",
                "then the trace would end in `ip4-drop` and `error-drop`.",
            ),
        ),
    ),
)

CHAPTER = Chapter("01", "One VPP", 25, EXERCISES, QUIZ)
