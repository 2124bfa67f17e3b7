"""What to do about the refusals that learners meet, by VPP's own words."""

from __future__ import annotations

_GENERAL = "type the first words of the command and ? to see what VPP expects."

# Texts from src/plugins/memif, src/plugins/ping, src/plugins/gtpu, src/vnet and src/vlib.
_HINTS: tuple[tuple[str, str], ...] = (
    (
        "Invalid socket id",
        "ids start at 1, since 0 is VPP's memif.sock: write `create memif socket id 1 filename PATH`.",
    ),
    ("Invalid socket filename", "name the socket's file: `create memif socket id 1 filename PATH`."),
    (
        "entry already exists",
        "this socket id has another file already: choose another id, or delete the socket first.",
    ),
    ("unknown socket id", "create the socket first: `create memif socket id N filename PATH`."),
    (
        "cannot be used by both master and slave",
        "one VPP has one role on a socket: use another socket id for the other role.",
    ),
    (
        "interface already exists",
        "the work is done already, or the id is taken: look at `show memif`, then choose another id.",
    ),
    ("Interface already exists", "the work is done already, or the id is taken: look at `show interface`."),
    ("ring size must be power of 2", "use 256, 512, 1024, 2048, 4096, 8192 or 16384."),
    ("maximum ring size", "use at most 16384; the handshake cannot carry more."),
    ("queue must be between", "use 1 to 255 queues."),
    ("is in use", "delete the interfaces that use it first."),
    ("not a memif interface", "only memif interfaces can be deleted so: see their names with `show memif`."),
    ("too long", "a socket path may have 106 characters: use a shorter one."),
    ("Active listener on", "another VPP listens on this file: use another file, or make this end the slave."),
    ("please specify interface name", "add an interface's name, as `show interface` prints it."),
    ("please specify valid interface name", "give an interface's name, as `show interface` prints it."),
    ("unknown interface", "see the names of the interfaces with `show interface`."),
    ("please specify valid rx-mode", "add polling, interrupt or adaptive."),
    ("unknown queue", "the interface has no such queue yet: a memif has queues only while it is connected."),
    ("unable to set rx-mode", "this interface does not support that mode: try polling."),
    ("no sub-commands", "this is only the beginning of a command: type it and ? to see how it goes on."),
    ("no egress interface", "no interface leads there: give one an address in that network, and set it up."),
    ("no source address", "give the interface an address: `set interface ip address IF A.B.C.D/24`."),
    ("no FIB table", "there is no such table: leave table-id out, or see `show ip table`."),
    ("packet allocation", "no packet buffer is free: see `show buffers`."),
    ("Aborted due to a keypress", "the command was stopped before it was done: run it again."),
    ("expecting IP4/IP6 address", "write it as `ping 10.10.2.2 repeat 5`."),
    ("expecting IPv4 address", "write the address as 10.10.2.2."),
    ("expecting IPv6 address", "write the address as 2001:db8::2."),
    (
        "conflicts with an existing",
        "another interface has an address in this network: choose another network, or remove that one.",
    ),
    ("failed to add", "see what is there already with `show interface address`."),
    (
        "tunnel already exists",
        "one pair of hosts needs a teid of its own for each tunnel: choose another teid.",
    ),
    ("tunnel does not exist", "see the tunnels with `show gtpu tunnel`."),
    ("tunnel teid specified", "a teid cannot be 0: choose one from 1."),
    ("src and dst addresses are identical", "a tunnel needs two different addresses."),
    ("dst address must be unicast", "give a unicast destination, or use `group` for multicast."),
    ("qfi max value", "use a QFI from 0 to 31."),
    ("nonexistent encap-vrf-id", "create the table first: `ip table add N`."),
    ("failed to open", "VPP cannot read that file: give the whole path, and check its permissions."),
    ("expecting file name", "give the file's whole path."),
    ("empty file", "write commands into the file first."),
    ("CLI line error", "the last command that ran from the file was refused; the ones after it did not run."),
)


def hint_for(text: str) -> str:
    """Return what to do about VPP's refusal `text`."""
    for words, hint in _HINTS:
        if words in text:
            return hint
    return _GENERAL
