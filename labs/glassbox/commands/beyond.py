"""The commands that VPP 26.06 has and the glass box has not: a learner hears that, not that they mistyped.

The names are what VPP itself lists for ``?``, with the plugins of its package loaded.
"""

from __future__ import annotations

_NAMES = {
    "": (
        "adjacency api app bfd bier binary-api bond bvi classify define device disable enable "
        "event-logger flow history interface ip6 ipfix ipsec kill l2 l2fib memory-trace monitor mpls "
        "nat nat44 acl-plugin nsim p2p_ethernet pcap perfmon pipe punt qos renumber restart save "
        "session sfdp sr suspend tcp test udp undefine wait vxlan wireguard ikev2 lb http"
    ),
    "clear": "api fib interface ioam ipsec session sr tcp",
    "create": (
        "6rd bond gre gtpu host-interface ipip rdma sub-interfaces tap teib vhost-user vmxnet3 vxlan "
        "vxlan-gpe"
    ),
    "create interface": "virtio rdma vmxnet3 af_xdp avf",
    "delete": "6rd bond host-interface ipip sub-interface tap teib vhost-user",
    "delete interface": "virtio",
    "ip": "container mroute neighbor punt syn table virtual",
    "packet-generator": "capture mac-filter",
    "set": (
        "acl-plugin arp clock crypto fib flow flow-offload host-interface ioam ip6 ipfix ipsec l2fib "
        "logging nat node nsim pcap policer punt sfdp sr syslog terminal trace virtio"
    ),
    "set interface": (
        "bond default feature handoff hw-class input ip6 ip6-nd ipsec mpls name output promiscuous "
        "proxy-arp reassembly rss secondary-mac-address span tag tx-hash tx-queue unnumbered"
    ),
    "set interface ip": "directed-broadcast gtpu-bypass source-and-port-range-check table",
    "set interface l2": (
        "efp-filter flood forward input learn output pbb-tag-rewrite rewrite tag-rewrite xcrw"
    ),
    "set ip": "classify flow-hash neighbor-config reassembly source-and-port-range-check",
    "show": (
        "acl-plugin adj api app arp bfd bier bihash bond classify cli cli-sessions crypto device dma "
        "dpdk dpo event-logger features fib files flow frame-queue gdb gre gtpu hash http inacl "
        "init-function ioam ip4-full-reassembly ip4-sv-reassembly ip6 ip6-full-reassembly ip6-ll "
        "ip6-sv-reassembly ipip ipsec l2 l2patch l2xcrw lb load-balance load-balance-map lookup-dpo "
        "macro mfib mpls nat44 nsim outacl pcap pci perfmon physmem punt qos replicate segment-manager "
        "session sfdp sr statistics syslog tap tcp teib terminal tun udp unix vhost-user virtio vxlan "
        "wireguard"
    ),
    "show interface": "default features secondary-mac-address span tag transceiver tx-hash vtr",
    "show ip": (
        "container local mfib neighbor-config neighbor-stats neighbor-watcher pmtu punt "
        "source-and-port-range-check"
    ),
    "show ip4": "neighbor-sorted",
    "show logging": "configuration",
    "show packet-generator": "interface",
    "show trace": "filter timestamp-format",
    "show vlib": "frame-allocation graphviz",
    "trace": "filter frame-queue",
}

_BEYOND = {tuple(parent.split()): tuple(names.split()) for parent, names in _NAMES.items()}


def beyond(parent: tuple[str, ...], typed: str) -> str:
    """Return the whole command of VPP's that a word means, as far as it is clear; empty if none is meant.

    Parameters
    ----------
    parent : tuple of str
        The words before it.
    typed : str
        The word, perhaps shortened.
    """
    names = _BEYOND.get(parent, ())
    fits = [name for name in names if typed and name.startswith(typed)]
    found = typed if typed in names else fits[0] if len(fits) == 1 else ""
    return " ".join((*parent, found)) if found else ""
