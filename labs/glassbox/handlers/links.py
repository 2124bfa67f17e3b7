"""Messages about memif interfaces and their sockets."""
# ruff: noqa: A002, ANN401, FBT001 - the messages' fields are as VPP defines them

from __future__ import annotations

from typing import Any

from labs.glassbox.handlers.asking import Handlers, free_number, mac_or_nothing

_ROLES = ("master", "slave")
_MODES = {0: "", 1: " mode ip"}
_UP, _LINKED = 1, 2


class LinkHandlers(Handlers):
    """memif."""

    def memif_create_v2(
        self, role: int, mode: int, id: int, socket_id: int, secret: str, **more: Any
    ) -> dict[str, Any]:
        """Make a memif interface; what is 0 is as usual."""
        line = f"create interface memif id {id} socket-id {socket_id} {_ROLES[int(role)]}"
        line += _MODES.get(int(mode), " mode punt-inject")
        for name in ("ring_size", "buffer_size", "rx_queues", "tx_queues"):
            if more[name]:
                line += f" {name.replace('_', '-')} {more[name]}"
        if more["no_zero_copy"]:
            line += " no-zero-copy"
        if secret:
            line += f" secret {secret}"
        before = set(self._box.memifs.by_index)
        self._do(line + mac_or_nothing(more["hw_addr"], "hw-addr"))
        return {"sw_if_index": (set(self._box.memifs.by_index) - before).pop()}

    def memif_delete(self, sw_if_index: int) -> None:
        """Delete a memif interface."""
        self._do(f"delete interface memif {self._named(sw_if_index)}")

    def memif_dump(self) -> list[dict[str, Any]]:
        """List the memif interfaces."""
        return [
            {
                "sw_if_index": memif.interface.index,
                "hw_addr": memif.interface.mac or bytes(6),
                "id": memif.id,
                "role": _ROLES.index(memif.role),
                "mode": int(memif.is_ip),
                "zero_copy": memif.is_zero_copy,
                "socket_id": memif.socket_id,
                "ring_size": memif.settings["ring_size"],
                "buffer_size": memif.settings["buffer_size"],
                "flags": (_UP if memif.interface.is_up else 0)
                | (_LINKED if memif.interface.is_linked else 0),
                "if_name": memif.interface.name,
            }
            for memif in self._box.memifs.by_index.values()
        ]

    def memif_socket_filename_add_del_v2(
        self,
        is_add: bool,
        socket_id: int,
        socket_filename: str,
    ) -> dict[str, Any]:
        """Give a number, any for `ALL`, to a socket's file, or forget it."""
        if not is_add:
            self._do(f"delete memif socket id {socket_id}")
            return {"socket_id": socket_id}
        number = free_number(socket_id, self._box.memifs.sockets)
        self._do(f"create memif socket id {number} filename {socket_filename}")
        return {"socket_id": number}

    def memif_socket_filename_dump(self) -> list[dict[str, Any]]:
        """List the sockets."""
        return [
            {"socket_id": number, "socket_filename": name}
            for number, name in sorted(self._box.memifs.sockets.items())
        ]
