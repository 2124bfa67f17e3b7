"""The messages about memif, as VPP 26.06 defines them."""

from __future__ import annotations

from labs.glassbox.doors.api_language import Module, call, dump

MEMIF = Module(
    "memif",
    "3.1.0",
    0xD48AC702,
    enums={
        "memif_role": ("u32", {"MEMIF_ROLE_API_MASTER": 0, "MEMIF_ROLE_API_SLAVE": 1}),
        "memif_mode": (
            "u32",
            {"MEMIF_MODE_API_ETHERNET": 0, "MEMIF_MODE_API_IP": 1, "MEMIF_MODE_API_PUNT_INJECT": 2},
        ),
    },
    calls=(
        call(
            "memif_create_v2",
            0x8C7DE5F7,
            "memif_role role, memif_mode mode, u8 rx_queues, u8 tx_queues, u32 id, u32 socket_id, "
            "u32 ring_size, u16 buffer_size, bool no_zero_copy, bool use_dma, mac_address hw_addr, "
            "string secret[24]",
            "interface_index sw_if_index",
            0x5383D31F,
        ),
        call("memif_delete", 0xF9E6675E, "interface_index sw_if_index"),
        dump(
            "memif_dump",
            0x51077D14,
            "",
            "memif_details",
            0xDA34FEB9,
            "interface_index sw_if_index, mac_address hw_addr, u32 id, memif_role role, memif_mode mode, "
            "bool zero_copy, u32 socket_id, u32 ring_size, u16 buffer_size, if_status_flags flags, "
            "string if_name[64]",
        ),
        call(
            "memif_socket_filename_add_del_v2",
            0x34223BDF,
            "bool is_add, u32 socket_id = 0xffffffff, string socket_filename[]",
            "u32 socket_id",
            0x9F29BDB9,
        ),
        dump(
            "memif_socket_filename_dump",
            0x51077D14,
            "",
            "memif_socket_filename_details",
            0x7FF326F7,
            "u32 socket_id, string socket_filename[108]",
        ),
    ),
)
