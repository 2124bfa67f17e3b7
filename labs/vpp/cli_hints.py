"""What to do about the refusals that learners meet, by VPP's own words."""

from __future__ import annotations

import re

_PATH = re.compile(r"([a-z0-9_-]+(?: [a-z0-9_-]+)*): ")
_ADDRESS = "write it as `ping 10.10.2.2 repeat 5`."
_VPP_ITSELF = "to have VPP itself, start the lab with LABS_ENGINE=docker or LABS_ENGINE=process."
_STREAMS = "see the names of the streams: `show packet-generator`."
_ROLES = "one VPP has one role on a socket: use another socket id for the other role."

# Words from src/plugins/memif, src/plugins/ping, src/plugins/gtpu, src/vnet and src/vlib; the first
# that is found counts, so the more particular ones stand first.
_HINTS: tuple[tuple[str, str], ...] = (
    ("Invalid socket id", "write `create memif socket id 1 filename PATH`; id 0 is VPP's own memif.sock."),
    ("Invalid socket filename", "name the socket's file: `create memif socket id 1 filename PATH`."),
    ("both master and slave", _ROLES),
    (
        "entry already exists",
        "this socket id has another file: choose another id, or delete that socket first.",
    ),
    ("unknown socket id", "create the socket first: `create memif socket id N filename PATH`."),
    ("interface already exists", "it is there already, or its id is taken: see `show memif`."),
    ("Interface already exists", "it is there already, or its name is taken: see `show interface`."),
    ("ring size must be power of 2", "use 256, 512, 1024, 2048, 4096, 8192 or 16384."),
    ("maximum ring size", "use at most 16384; the handshake cannot carry more."),
    ("queue must be between", "use 1 to 255 queues."),
    ("is in use", "delete the interfaces that use it first: see `show memif`."),
    ("not a memif interface", "see the names of the memif interfaces: `show memif`."),
    ("too long", "a socket path may have 106 characters: use a shorter one."),
    ("Active listener on", "another VPP listens on this file: use another file, or make this end the slave."),
    ("bind (fd", "the socket's directory is not there, or VPP may not write to it: use another path."),
    ("unknown input `@", "VPP takes no @name: use a file's path, or abstract:NAME."),
    ("please specify interface name", "add an interface's name, as `show interface` prints it."),
    ("please specify valid interface name", "add an interface's name, as `show interface` prints it."),
    ("unknown interface", "see the names of the interfaces: `show interface`."),
    ("please specify valid rx-mode", "add polling, interrupt or adaptive."),
    ("unknown queue", "a memif has queues only while it is connected: see `show memif`."),
    ("unable to set rx-mode", "this interface does not support that mode: try polling."),
    ("valid worker thread", "say main, or a worker's number from 0; see `show threads`."),
    ("unknown flags", "end the line with up or down."),
    ("conflicts with", "that network is taken on this VPP: see `show interface address`."),
    ("IP4/IP6 address/length", "write the address with its prefix length, as 10.10.2.1/24."),
    ("not found for interface", "see what is there: `show interface address`."),
    ("ip4/ip6 destination", "write it as `ip route add 10.4.0.0/24 via 10.10.2.2`."),
    ("Invalid prefix len", "use 0 to 32 with IPv4, and 0 to 128 with IPv6."),
    ("no egress interface", "no interface leads there: give one an address in that network, and set it up."),
    ("no source address", "give the interface an address: `set interface ip address IF 10.10.2.1/24`."),
    ("no FIB table", "there is no such table: leave table-id out, or see `show ip table`."),
    ("could not allocate a new buffer", "no packet buffer is free: see `show buffers`."),
    ("packet allocation", "no packet buffer is free: see `show buffers`."),
    ("Aborted due to a keypress", "the command was stopped before it was done: run it again."),
    ("expecting IP4/IP6 address", _ADDRESS),
    ("expecting IPv4 address", _ADDRESS),
    ("expecting IPv6 address", "write it as `ping ipv6 2001:db8::2`."),
    ("tunnel already exists", "each tunnel of one pair of hosts needs a teid of its own: choose another."),
    ("tunnel does not exist", "see the tunnels: `show gtpu tunnel`."),
    ("tunnel teid specified", "a teid cannot be 0: choose one from 1."),
    ("src and dst addresses are identical", "a tunnel needs two different addresses."),
    ("dst address must be unicast", "give a unicast destination, or use `group` for multicast."),
    ("qfi max value", "use a QFI from 0 to 31."),
    ("nonexistent encap-vrf-id", "create the table first: `ip table add N`."),
    ("output interface or node not given", "say where the packets go in, as `node ip4-input`."),
    ("stream name", _STREAMS),
    ("able-stream: unknown input", _STREAMS),
    ("expected NODE COUNT", "name a node and how many packets, as `trace add memif-input 10`."),
    ("unknown node name", "see the names of the nodes: `show node`."),
    ("unknown log class", "name class and subclass as `show logging configuration` prints them."),
    ("invalid for non-interactive", "this command works only when you type in a terminal."),
    ("failed to open", "VPP cannot read that file: give the whole path, and check its permissions."),
    ("expecting file name", "give the file's whole path."),
    ("not a regular file", "give the whole path of a file with commands in it."),
    ("empty file", "write commands into the file first."),
    ("CLI line error", "a line of the file was refused at these words; the lines after it did not run."),
    ("does not exist", "see what there is with the matching `show` command."),
    ("the glass box does not have this", _VPP_ITSELF),
    ("The glass box knows IPv4 only", _VPP_ITSELF),
)


def hint_for(text: str) -> str:
    """Return what to do about VPP's refusal `text`."""
    for words, hint in _HINTS:
        if words in text:
            return hint
    path = _PATH.match(text)
    if path:
        return f"see what VPP takes there: `{path[1]} ?`."
    return "see VPP's commands: `?`. A plugin's commands are there only when the plugin is loaded."
