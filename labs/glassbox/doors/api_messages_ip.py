"""The messages about addresses, routes and neighbours, as VPP 26.06 defines them."""

from __future__ import annotations

from labs.glassbox.doors.api_language import Module, call, dump

IP = Module(
    "ip",
    "3.2.0",
    0xC55AEC44,
    enums={
        "fib_path_type": (
            "u32",
            {
                "FIB_API_PATH_TYPE_NORMAL": 0,
                "FIB_API_PATH_TYPE_LOCAL": 1,
                "FIB_API_PATH_TYPE_DROP": 2,
                "FIB_API_PATH_TYPE_UDP_ENCAP": 3,
                "FIB_API_PATH_TYPE_BIER_IMP": 4,
                "FIB_API_PATH_TYPE_ICMP_UNREACH": 5,
                "FIB_API_PATH_TYPE_ICMP_PROHIBIT": 6,
                "FIB_API_PATH_TYPE_SOURCE_LOOKUP": 7,
                "FIB_API_PATH_TYPE_DVR": 8,
                "FIB_API_PATH_TYPE_INTERFACE_RX": 9,
                "FIB_API_PATH_TYPE_CLASSIFY": 10,
            },
        ),
        "fib_path_flags": (
            "u32",
            {
                "FIB_API_PATH_FLAG_NONE": 0,
                "FIB_API_PATH_FLAG_RESOLVE_VIA_ATTACHED": 1,
                "FIB_API_PATH_FLAG_RESOLVE_VIA_HOST": 2,
                "FIB_API_PATH_FLAG_POP_PW_CW": 4,
            },
        ),
        "fib_path_nh_proto": (
            "u32",
            {
                "FIB_API_PATH_NH_PROTO_IP4": 0,
                "FIB_API_PATH_NH_PROTO_IP6": 1,
                "FIB_API_PATH_NH_PROTO_MPLS": 2,
                "FIB_API_PATH_NH_PROTO_ETHERNET": 3,
                "FIB_API_PATH_NH_PROTO_BIER": 4,
            },
        ),
    },
    types={
        "fib_path_nh": "address_union address, u32 via_label, u32 obj_id, u32 classify_table_index",
        "fib_mpls_label": "u8 is_uniform, u32 label, u8 ttl, u8 exp",
        "fib_path": "u32 sw_if_index, u32 table_id, u32 rpf_id, u8 weight, u8 preference, "
        "fib_path_type type, fib_path_flags flags, fib_path_nh_proto proto, fib_path_nh nh, u8 n_labels, "
        "fib_mpls_label label_stack[16]",
        "ip_route": "u32 table_id, u32 stats_index, prefix prefix, u8 n_paths, fib_path paths[n_paths]",
        "ip_table": "u32 table_id, bool is_ip6, string name[64]",
    },
    calls=(
        dump(
            "ip_address_dump",
            0x2D033DE4,
            "interface_index sw_if_index, bool is_ipv6",
            "ip_address_details",
            0xEE29B797,
            "interface_index sw_if_index, address_with_prefix prefix",
        ),
        call(
            "ip_route_add_del",
            0xB8ECFE0D,
            "bool is_add = true, bool is_multipath, ip_route route",
            "u32 stats_index",
            0x1992DEAB,
        ),
        dump("ip_route_dump", 0xB9D2E09E, "ip_table table", "ip_route_details", 0xBDA8F315, "ip_route route"),
    ),
)

IP_NEIGHBOR = Module(
    "ip_neighbor",
    "1.0.1",
    0x36DB39BD,
    enums={
        "ip_neighbor_flags": (
            "u8",
            {
                "IP_API_NEIGHBOR_FLAG_NONE": 0,
                "IP_API_NEIGHBOR_FLAG_STATIC": 1,
                "IP_API_NEIGHBOR_FLAG_NO_FIB_ENTRY": 2,
            },
        ),
    },
    types={
        "ip_neighbor": "interface_index sw_if_index, ip_neighbor_flags flags, mac_address mac_address, "
        "address ip_address",
    },
    calls=(
        call(
            "ip_neighbor_add_del",
            0x0607C257,
            "bool is_add, ip_neighbor neighbor",
            "u32 stats_index",
            0x1992DEAB,
        ),
        dump(
            "ip_neighbor_dump",
            0xD817A484,
            "interface_index sw_if_index = 0xffffffff, address_family af",
            "ip_neighbor_details",
            0xE29D79F0,
            "f64 age, ip_neighbor neighbor",
        ),
    ),
)
