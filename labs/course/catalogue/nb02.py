"""Notebook 02, A link of shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.course.checks import ends_down, first_fault, no_echo, unconnected, wrong_addresses, wrong_roles
from labs.course.model import Chapter, Exercise, Option, Question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs.lab import Lab


def _swapped(lab: Lab) -> Iterator[str]:
    yield from wrong_roles(lab, vpp1="client", vpp2="server")
    yield from ends_down(lab, "vpp1", "vpp2")
    yield from wrong_addresses(lab, vpp1="10.10.2.1/24", vpp2="10.10.2.2/24")
    yield from unconnected(lab)
    yield from no_echo(lab, "vpp1", "vpp2")


def _second(lab: Lab) -> Iterator[str]:
    for node, address in (("vpp1", "10.10.3.1/24"), ("vpp2", "10.10.3.2/24")):
        if lab[node].memifs().interface("memif1/0") is None:
            yield f"{node} has no interface memif1/0; that is socket 1, id 0."
        elif address not in lab[node].addresses().get("memif1/0", []):
            yield f"memif1/0 of {node} should have the address {address}."
    yield from unconnected(lab)
    if not lab["vpp1"].ping("10.10.3.2", count=3).received:
        yield "10.10.3.2 does not answer vpp1; look at `show interface` on both."


EXERCISES = (
    Exercise(
        id="02-swap-roles",
        title="Swap the roles",
        minutes=5,
        task="""\
In the lab, `vpp1` is the server of the link (VPP says *master*) and `vpp2` is the client (*slave*).

Make `vpp1` the client and `vpp2` the server. Keep the interface name `memif0/0`, the addresses
`10.10.2.1/24` on `vpp1` and `10.10.2.2/24` on `vpp2`, and let them answer a ping.

Write VPP's lines into the two cells that begin with `%%vpp`, run both, and press **Check**.""",
        stub="""\
%%vpp vpp1
show memif

# %%
%%vpp vpp2
show memif
""",
        hints=(
            "A memif keeps the role it was created with. To give it another, delete it and create it again.",
            "Only one VPP can listen on a socket file. `vpp1` must let go of it before `vpp2` can listen.",
            """\
A new memif is down and has no address. On each side, after `create interface memif id 0 …`:

    set interface state memif0/0 up
    set interface ip address memif0/0 …""",
        ),
        solution="""\
%%vpp vpp1
delete interface memif memif0/0
create interface memif id 0 slave
set interface state memif0/0 up
set interface ip address memif0/0 10.10.2.1/24

# %%
%%vpp vpp2
delete interface memif memif0/0
create interface memif id 0 master
set interface state memif0/0 up
set interface ip address memif0/0 10.10.2.2/24
""",
        setup="""\
from labs import two_vpps

lab = two_vpps()
lab.start()
""",
        check=first_fault(
            _swapped, "vpp1 is the client, vpp2 is the server, the link is connected, and a ping is answered."
        ),
    ),
    Exercise(
        id="02-second-link",
        title="A second link",
        minutes=6,
        task="""\
Add a second memif between the two, with a socket of its own: socket number 1, file `second.sock`. Its name
becomes `memif1/0`. Give it the addresses `10.10.3.1/24` on `vpp1` and `10.10.3.2/24` on `vpp2`.

The first link stays as it is.""",
        stub="""\
%%vpp vpp1
show memif

# %%
%%vpp vpp2
show memif
""",
        hints=(
            "Both sides first need to know the socket: `create memif socket id 1 filename second.sock`.",
            (
                "Then as before, but with `socket-id 1`: `create interface memif id 0 socket-id 1 master`. "
                "The role is `slave` on the other side."
            ),
            "Set both ends up, and give each its address. A client without a server tries again after 3 s.",
        ),
        solution="""\
%%vpp vpp1
create memif socket id 1 filename second.sock
create interface memif id 0 socket-id 1 master
set interface state memif1/0 up
set interface ip address memif1/0 10.10.3.1/24

# %%
%%vpp vpp2
create memif socket id 1 filename second.sock
create interface memif id 0 socket-id 1 slave
set interface state memif1/0 up
set interface ip address memif1/0 10.10.3.2/24
""",
        setup="""\
from labs import two_vpps

lab = two_vpps()
lab.start()
""",
        check=first_fault(_second, "both links are connected, and the second one answers."),
    ),
)

QUIZ = (
    Question(
        "02-who-allocates",
        "Which side of a memif allocates the memory that both share?",
        (
            Option("The server.", "the server listens on the socket and maps what it is given."),
            Option(
                "The client.",
                "the client makes the memory, and passes its file descriptor to the server over the socket.",
                right=True,
            ),
            Option(
                "The kernel, when the socket is made.",
                "the socket carries messages only; packets never use it.",
            ),
        ),
    ),
    Question(
        "02-two-clients",
        "Both sides were created with the role `slave`. What happens?",
        (
            Option(
                "Nothing connects: nobody listens on the socket.",
                "two clients both wait for a server. `show memif` shows `slave` on both sides.",
                right=True,
            ),
            Option(
                "They connect at the next try, within 3 s.",
                "they do try again, but there is nobody to answer.",
            ),
            Option("The one that started first becomes the server.", "roles are given, never negotiated."),
        ),
    ),
    Question(
        "02-client-returns",
        "`vpp2`, the client, dies, is started again, and gets its lines again. What must you do on `vpp1`?",
        (
            Option("Restart `vpp1`.", "`vpp1` saw the socket close, marked the link down, and went on."),
            Option(
                "Delete `memif0/0` and create it again.",
                "the interface is still there, with its address; only its peer was gone.",
            ),
            Option(
                "Nothing: the server still listens, and the client connects.",
                "the link comes back by itself. Only the rx-mode starts from its default again.",
                right=True,
            ),
        ),
    ),
)

CHAPTER = Chapter("02", "A link of shared memory", 30, EXERCISES, QUIZ)
