"""The messages by which clients come, go and ask who is there, as VPP 26.06 defines them."""

from __future__ import annotations

from labs.glassbox.doors.api_language import Call, Message, Module, call

SOCKCLNT_CREATE, SOCKCLNT_CREATE_REPLY = 15, 16
"""The numbers that clients know before they have been told any."""

MEMCLNT = Module(
    "memclnt",
    "2.1.0",
    0xB197C551,
    types={
        "message_table_entry": "u16 index, string name[64]",
        "module_version": "u32 major, u32 minor, u32 patch, string name[64]",
    },
    calls=(
        Call(
            Message("sockclnt_create", 0x455FB9C4, "u16 _vl_msg_id, u32 context, string name[64]"),
            Message(
                "sockclnt_create_reply",
                0x35166268,
                "u16 _vl_msg_id, u32 client_index, u32 context, i32 response, u32 index, u16 count, "
                "message_table_entry message_table[count]",
            ),
        ),
        Call(
            Message(
                "sockclnt_delete", 0x8AC76DB6, "u16 _vl_msg_id, u32 client_index, u32 context, u32 index"
            ),
            Message("sockclnt_delete_reply", 0x8F38B1EE, "u16 _vl_msg_id, u32 context, i32 response"),
        ),
        call("control_ping", 0x51077D14, "", "u32 client_index, u32 vpe_pid", 0xF6B0B8CA),
        call("get_first_msg_id", 0xEBF79A66, "string name[64]", "u16 first_msg_id", 0x7D337472),
        call("get_api_json", 0x51077D14, "", "string json[]", 0xEA715B59),
        call("api_versions", 0x51077D14, "", "u32 count, module_version api_versions[count]", 0x5F0D99D6),
        call("memclnt_keepalive", 0x51077D14),
    ),
)

VPE = Module(
    "vpe",
    "1.7.0",
    0xBBFA7484,
    aliases={"timestamp": "f64"},
    calls=(
        call(
            "show_version",
            0x51077D14,
            "",
            "string program[32], string version[32], string build_date[32], string build_directory[256]",
            0xC919BDE1,
        ),
        call("show_vpe_system_time", 0x51077D14, "", "timestamp vpe_system_time", 0x7FFD8193),
    ),
)

VLIB = Module(
    "vlib",
    "1.0.0",
    0x9A9E84E4,
    types={
        "thread_data": "u32 id, string name[64], string type[64], u32 pid, u32 cpu_id, u32 core, "
        "u32 cpu_socket",
    },
    calls=(
        call("show_threads", 0x51077D14, "", "u32 count, thread_data thread_data[count]", 0xEFD78E83),
        call("cli_inband", 0xF8377302, "string cmd[]", "string reply[]", 0x05879051),
    ),
)
