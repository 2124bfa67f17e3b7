"""The messages about interfaces, as VPP 26.06 defines them."""

from __future__ import annotations

from labs.glassbox.doors.api_language import Call, Message, Module, call, dump

INTERFACE = Module(
    "interface",
    "3.2.4",
    0xCF7004CC,
    aliases={
        "interface_index": "u32",
        "mac_address": "u8[6]",
        "ip4_address": "u8[4]",
        "ip6_address": "u8[16]",
        "address_with_prefix": "prefix",
    },
    enums={
        "if_status_flags": ("u32", {"IF_STATUS_API_FLAG_ADMIN_UP": 1, "IF_STATUS_API_FLAG_LINK_UP": 2}),
        "if_type": (
            "u32",
            {"IF_API_TYPE_HARDWARE": 0, "IF_API_TYPE_SUB": 1, "IF_API_TYPE_P2P": 2, "IF_API_TYPE_PIPE": 3},
        ),
        "link_duplex": (
            "u32",
            {"LINK_DUPLEX_API_UNKNOWN": 0, "LINK_DUPLEX_API_HALF": 1, "LINK_DUPLEX_API_FULL": 2},
        ),
        "sub_if_flags": (
            "u32",
            {
                "SUB_IF_API_FLAG_NO_TAGS": 1,
                "SUB_IF_API_FLAG_ONE_TAG": 2,
                "SUB_IF_API_FLAG_TWO_TAGS": 4,
                "SUB_IF_API_FLAG_DOT1AD": 8,
                "SUB_IF_API_FLAG_EXACT_MATCH": 16,
                "SUB_IF_API_FLAG_DEFAULT": 32,
                "SUB_IF_API_FLAG_OUTER_VLAN_ID_ANY": 64,
                "SUB_IF_API_FLAG_INNER_VLAN_ID_ANY": 128,
                "SUB_IF_API_FLAG_MASK_VNET": 254,
                "SUB_IF_API_FLAG_DOT1AH": 256,
            },
        ),
        "rx_mode": (
            "u32",
            {
                "RX_MODE_API_UNKNOWN": 0,
                "RX_MODE_API_POLLING": 1,
                "RX_MODE_API_INTERRUPT": 2,
                "RX_MODE_API_ADAPTIVE": 3,
                "RX_MODE_API_DEFAULT": 4,
            },
        ),
        "address_family": ("u8", {"ADDRESS_IP4": 0, "ADDRESS_IP6": 1}),
    },
    unions={"address_union": "ip4_address ip4, ip6_address ip6"},
    types={
        "address": "address_family af, address_union un",
        "prefix": "address address, u8 len",
    },
    calls=(
        call(
            "create_loopback",
            0x42BB5D22,
            "mac_address mac_address",
            "interface_index sw_if_index",
            0x5383D31F,
        ),
        call(
            "create_loopback_instance",
            0xD36A3EE2,
            "mac_address mac_address, bool is_specified, u32 user_instance",
            "interface_index sw_if_index",
            0x5383D31F,
        ),
        call("delete_loopback", 0xF9E6675E, "interface_index sw_if_index"),
        call("sw_interface_set_flags", 0xF5AEC1B8, "interface_index sw_if_index, if_status_flags flags"),
        dump(
            "sw_interface_dump",
            0xAA610C27,
            "interface_index sw_if_index = 0xffffffff, bool name_filter_valid, string name_filter[]",
            "sw_interface_details",
            0x6C221FC7,
            "interface_index sw_if_index, u32 sup_sw_if_index, mac_address l2_address, "
            "if_status_flags flags, if_type type, link_duplex link_duplex, u32 link_speed, u16 link_mtu, "
            "u32 mtu[4], u32 sub_id, u8 sub_number_of_tags, u16 sub_outer_vlan_id, u16 sub_inner_vlan_id, "
            "sub_if_flags sub_if_flags, u32 vtr_op, u32 vtr_push_dot1q, u32 vtr_tag1, u32 vtr_tag2, "
            "u16 outer_tag, mac_address b_dmac, mac_address b_smac, u16 b_vlanid, u32 i_sid, "
            "string interface_name[64], string interface_dev_type[64], string tag[64]",
        ),
        call(
            "sw_interface_add_del_address",
            0x5463D73B,
            "interface_index sw_if_index, bool is_add, bool del_all, address_with_prefix prefix",
        ),
        call(
            "sw_interface_set_rx_mode",
            0xB04D1CFE,
            "interface_index sw_if_index, bool queue_id_valid, u32 queue_id, rx_mode mode",
        ),
        Call(
            Message(
                "sw_interface_rx_placement_dump",
                0xF9E6675E,
                "u16 _vl_msg_id, u32 client_index, u32 context, interface_index sw_if_index",
            ),
            Message(
                "sw_interface_rx_placement_details",
                0x9E44A7CE,
                "u16 _vl_msg_id, u32 client_index, u32 context, interface_index sw_if_index, u32 queue_id, "
                "u32 worker_id, rx_mode mode",
            ),
            is_stream=True,
        ),
        call(
            "sw_interface_set_rx_placement",
            0xDB65F3C9,
            "interface_index sw_if_index, u32 queue_id, u32 worker_id, bool is_main",
        ),
        call("sw_interface_set_mtu", 0x5CBE85E5, "interface_index sw_if_index, u32 mtu[4]"),
        call(
            "sw_interface_set_mac_address", 0xC536E7EB, "interface_index sw_if_index, mac_address mac_address"
        ),
        call(
            "sw_interface_get_mac_address",
            0xF9E6675E,
            "interface_index sw_if_index",
            "mac_address mac_address",
            0x40EF2C08,
        ),
        call("sw_interface_clear_stats", 0xF9E6675E, "interface_index sw_if_index"),
        Call(
            Message(
                "want_interface_events",
                0x476F5A08,
                "u16 _vl_msg_id, u32 client_index, u32 context, u32 enable_disable, u32 pid",
            ),
            Message("want_interface_events_reply", 0xE8D4E804, "u16 _vl_msg_id, u32 context, i32 retval"),
            events=(
                Message(
                    "sw_interface_event",
                    0x2D3D95A7,
                    "u16 _vl_msg_id, u32 client_index, u32 pid, interface_index sw_if_index, "
                    "if_status_flags flags, bool deleted",
                ),
            ),
        ),
    ),
)

L2 = Module(
    "l2",
    "3.3.0",
    0x1A53D6CC,
    enums={
        "l2_port_type": (
            "u32",
            {"L2_API_PORT_TYPE_NORMAL": 0, "L2_API_PORT_TYPE_BVI": 1, "L2_API_PORT_TYPE_UU_FWD": 2},
        ),
    },
    calls=(
        call(
            "sw_interface_set_l2_xconnect",
            0x4FA28A85,
            "interface_index rx_sw_if_index, interface_index tx_sw_if_index, bool enable = true",
        ),
        call(
            "sw_interface_set_l2_bridge",
            0xD0678B13,
            "interface_index rx_sw_if_index, u32 bd_id, l2_port_type port_type, u8 shg, bool enable = true",
        ),
        call(
            "bridge_domain_add_del_v2",
            0x600B7170,
            "u32 bd_id, bool flood, bool uu_flood, bool forward, bool learn, bool arp_term, bool arp_ufwd, "
            "u8 mac_age, string bd_tag[64], bool is_add = true",
            "u32 bd_id",
            0xFCB1E980,
        ),
    ),
)
