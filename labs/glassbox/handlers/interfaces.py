"""Messages about interfaces, and what they do with frames."""
# ruff: noqa: ANN401, FBT001 - the messages' fields are as VPP defines them

from __future__ import annotations

from typing import Any

from labs.glassbox.doors import ApiRefusal
from labs.glassbox.handlers.asking import (
    ALL,
    INVALID_VALUE,
    UNIMPLEMENTED,
    Handlers,
    free_number,
    mac_or_nothing,
)
from labs.glassbox.memif_queues import MODES

_UP, _LINKED = 1, 2
_RX_MODES = {1: "polling", 2: "interrupt", 3: "adaptive", 4: "polling"}
_CODES = {value: code for code, name in _RX_MODES.items() if code < 4 for value in [MODES[name]]}  # noqa: PLR2004 - 4 is the default
_DEVICES = {"local": "local", "memif": "memif", "pg": "pg", "loop": "Loopback"}


class InterfaceHandlers(Handlers):
    """Loopbacks; state, addresses, queues; cross-connects and bridges."""

    def create_loopback(self, mac_address: Any) -> dict[str, Any]:
        """Make a loopback interface."""
        name = self._do(f"create loopback interface{mac_or_nothing(mac_address, 'mac')}")
        return {"sw_if_index": self._box.interfaces.named(name).index}

    def create_loopback_instance(
        self,
        mac_address: Any,
        is_specified: bool,
        user_instance: int,
    ) -> dict[str, Any]:
        """Make the loopback interface of a number."""
        instance = f" instance {user_instance}" if is_specified else ""
        name = self._do(f"create loopback interface{mac_or_nothing(mac_address, 'mac')}{instance}")
        return {"sw_if_index": self._box.interfaces.named(name).index}

    def delete_loopback(self, sw_if_index: int) -> None:
        """Delete a loopback interface."""
        self._do(f"delete loopback interface intfc {self._named(sw_if_index)}")

    def sw_interface_set_flags(self, sw_if_index: int, flags: int) -> None:
        """Set an interface up or down."""
        state = "up" if flags & _UP else "down"
        self._do(f"set interface state {self._named(sw_if_index)} {state}")

    def sw_interface_dump(
        self,
        sw_if_index: int,
        name_filter_valid: bool,
        name_filter: str,
    ) -> list[dict[str, Any]]:
        """List interfaces: all, one, or those whose names hold a text."""
        return [
            {
                "sw_if_index": each.index,
                "sup_sw_if_index": each.index,
                "l2_address": each.mac or bytes(6),
                "flags": (_UP if each.is_up else 0) | (_LINKED if each.is_linked else 0),
                "link_mtu": each.mtu if each.index else 0,
                "mtu": [each.mtu if each.index else 0, 0, 0, 0],
                "interface_name": each.name,
                "interface_dev_type": _DEVICES[each.kind],
            }
            for each in self._chosen(sw_if_index)
            if not name_filter_valid or name_filter.lower() in each.name.lower()
        ]

    def sw_interface_add_del_address(
        self,
        sw_if_index: int,
        is_add: bool,
        del_all: bool,
        prefix: Any,
    ) -> None:
        """Give an interface an address, or take one away, or all."""
        name = self._named(sw_if_index)
        if del_all:
            self._do(f"set interface ip address del {name} all")
        else:
            self._do(f"set interface ip address {'' if is_add else 'del '}{name} {prefix}")

    def sw_interface_set_rx_mode(
        self,
        sw_if_index: int,
        queue_id_valid: bool,
        queue_id: int,
        mode: int,
    ) -> None:
        """Choose how queues wait for packets."""
        if mode not in _RX_MODES:
            raise ApiRefusal(INVALID_VALUE, f"{mode} is no rx-mode.")
        queue = f" queue {queue_id}" if queue_id_valid else ""
        self._do(f"set interface rx-mode {self._named(sw_if_index)}{queue} {_RX_MODES[int(mode)]}")

    def sw_interface_rx_placement_dump(self, sw_if_index: int) -> list[dict[str, Any]]:
        """List receive queues: which thread looks into each, and how."""
        table = self._box.vm.rx_queues
        return [
            {
                "sw_if_index": index,
                "queue_id": queue,
                "worker_id": int(table[row]["thread"]),
                "mode": _CODES[int(table[row]["mode"])],
            }
            for index, memif in self._box.memifs.by_index.items()
            if sw_if_index in (ALL, index)
            for queue, row in enumerate(memif.rows)
        ]

    def sw_interface_set_rx_placement(
        self,
        sw_if_index: int,
        queue_id: int,
        worker_id: int,
        is_main: bool,
    ) -> None:
        """Give a queue to another thread."""
        where = "main" if is_main else f"worker {worker_id}"
        self._do(f"set interface rx-placement {self._named(sw_if_index)} queue {queue_id} {where}")

    def sw_interface_set_mtu(self, sw_if_index: int, mtu: list[int]) -> None:
        """Set the longest packet that leaves by an interface; the glass box has one for all protocols."""
        self._do(f"set interface mtu packet {mtu[0]} {self._named(sw_if_index)}")

    def sw_interface_set_mac_address(self, sw_if_index: int, mac_address: Any) -> None:
        """Give an interface another Ethernet address."""
        self._do(f"set interface mac address {self._named(sw_if_index)} {mac_address}")

    def sw_interface_get_mac_address(self, sw_if_index: int) -> dict[str, Any]:
        """Tell an interface's Ethernet address; zero where it has none."""
        return {"mac_address": self._interface(sw_if_index).mac or bytes(6)}

    def sw_interface_clear_stats(self, sw_if_index: int) -> None:
        """Set the counters of one interface, or of all, to zero."""
        if sw_if_index == ALL:
            self._do("clear interfaces")
        else:
            self._box.counters.clear_interface(self._interface(sw_if_index).index)

    def sw_interface_set_l2_xconnect(
        self,
        rx_sw_if_index: int,
        tx_sw_if_index: int,
        enable: bool,
    ) -> None:
        """Let what comes in by one interface leave by another, or route again."""
        name = self._named(rx_sw_if_index)
        self._do(
            f"set interface l2 xconnect {name} {self._named(tx_sw_if_index)}"
            if enable
            else f"set interface l3 {name}"
        )

    def sw_interface_set_l2_bridge(
        self,
        rx_sw_if_index: int,
        bd_id: int,
        port_type: int,
        shg: int,
        enable: bool,
    ) -> None:
        """Make an interface a port of a bridge domain, or let it route again."""
        name = self._named(rx_sw_if_index)
        if port_type or shg:
            raise ApiRefusal(UNIMPLEMENTED, "The ports of a bridge are all plain ones here.")
        self._do(f"set interface l2 bridge {name} {bd_id}" if enable else f"set interface l3 {name}")

    def bridge_domain_add_del_v2(self, bd_id: int, is_add: bool, **options: Any) -> dict[str, Any]:
        """Make a bridge domain, of any number for `ALL`, or delete one."""
        if not is_add:
            self._do(f"create bridge-domain {bd_id} del")
            return {"bd_id": bd_id}
        number = free_number(bd_id, self._box.bridges.numbers)
        wanted = " ".join(
            f"{name.replace('_', '-')} {int(options[name])}" for name in _BRIDGE if name in options
        )
        self._do(f"create bridge-domain {number} {wanted}")
        return {"bd_id": number}


_BRIDGE = ("flood", "uu_flood", "forward", "learn", "arp_term", "arp_ufwd", "mac_age")
