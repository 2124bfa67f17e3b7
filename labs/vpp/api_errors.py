"""VPP's return values in words (src/vnet/error.h), as far as the course meets them."""

from __future__ import annotations

from labs.errors import LabError

_VALUES: dict[int, tuple[str, str]] = {
    -1: ("UNSPECIFIED", "Unspecified Error"),
    -2: ("INVALID_SW_IF_INDEX", "Invalid sw_if_index"),
    -3: ("NO_SUCH_FIB", "No such FIB / VRF"),
    -4: ("NO_SUCH_INNER_FIB", "No such inner FIB / VRF"),
    -6: ("NO_SUCH_ENTRY", "No such entry"),
    -7: ("INVALID_VALUE", "Invalid value"),
    -8: ("INVALID_VALUE_2", "Invalid value #2"),
    -9: ("UNIMPLEMENTED", "Unimplemented"),
    -10: ("INVALID_SW_IF_INDEX_2", "Invalid sw_if_index #2"),
    -11: ("SYSCALL_ERROR_1", "System call error #1"),
    -12: ("SYSCALL_ERROR_2", "System call error #2"),
    -13: ("SYSCALL_ERROR_3", "System call error #3"),
    -14: ("SYSCALL_ERROR_4", "System call error #4"),
    -15: ("SYSCALL_ERROR_5", "System call error #5"),
    -30: ("FEATURE_DISABLED", "Feature disabled by configuration"),
    -31: ("INVALID_REGISTRATION", "Invalid registration"),
    -50: ("NEXT_HOP_NOT_IN_FIB", "Next hop not in FIB"),
    -51: ("UNKNOWN_DESTINATION", "Unknown destination"),
    -52: ("NO_PATHS_IN_ROUTE", "No paths specified in route"),
    -54: ("NO_MATCHING_INTERFACE", "No matching interface for probe"),
    -57: ("INVALID_SRC_ADDRESS", "Invalid src address"),
    -58: ("INVALID_DST_ADDRESS", "Invalid dst address"),
    -59: ("ADDRESS_LENGTH_MISMATCH", "Address length mismatch"),
    -60: ("ADDRESS_NOT_FOUND_FOR_INTERFACE", "Address not found for interface"),
    -61: ("ADDRESS_NOT_DELETABLE", "Address not deletable"),
    -62: ("IP6_NOT_ENABLED", "ip6 not enabled"),
    -63: ("NO_SUCH_NODE", "No such graph node"),
    -65: ("NO_SUCH_TABLE", "No such table"),
    -68: ("SUBIF_ALREADY_EXISTS", "Subinterface already exists"),
    -69: ("SUBIF_CREATE_FAILED", "Subinterface creation failed"),
    -70: ("INVALID_MEMORY_SIZE", "Invalid memory size requested"),
    -71: ("INVALID_INTERFACE", "Invalid interface"),
    -73: ("INVALID_ARGUMENT", "Invalid argument"),
    -74: ("UNEXPECTED_INTF_STATE", "Unexpected interface state"),
    -75: ("TUNNEL_EXIST", "Tunnel already exists"),
    -76: ("INVALID_DECAP_NEXT", "Invalid decap-next"),
    -78: ("NOT_CONNECTED", "Not connected to the data plane"),
    -79: ("IF_ALREADY_EXISTS", "Interface already exists"),
    -81: ("VALUE_EXIST", "Value already exists"),
    -82: ("SAME_SRC_DST", "Source and destination are the same"),
    -88: ("IP_PREFIX_INVALID", "IP prefix invalid (masked bits set in address"),
    -89: ("INVALID_WORKER", "Invalid worker thread"),
    -93: ("CANNOT_CREATE_PCAP_FILE", "Cannot create pcap file"),
    -97: ("INVALID_ADDRESS_FAMILY", "Invalid address family"),
    -100: ("CANNOT_ENABLE_DISABLE_FEATURE", "Cannot enable/disable feature"),
    -105: ("ADDRESS_IN_USE", "Address in use"),
    -106: ("ADDRESS_NOT_IN_USE", "Address not in use"),
    -107: ("QUEUE_FULL", "Queue full"),
    -114: ("ADDRESS_FOUND_FOR_INTERFACE", "Address found for interface"),
    -116: ("ENTRY_ALREADY_EXISTS", "Entry already exists"),
    -119: ("BD_ALREADY_EXISTS", "Bridge domain already exists"),
    -125: ("INVALID_QUEUE", "Invalid queue"),
    -126: ("UNSUPPORTED", "Unsupported"),
    -127: ("DUPLICATE_IF_ADDRESS", "Address already present on another interface"),
    -144: ("INIT_FAILED", "Initialization Failed"),
    -147: ("INSTANCE_IN_USE", "Instance in use"),
    -150: ("INVALID_VALUE_3", "Invalid value #3"),
    -151: ("NON_ETHERNET", "Interface is not an Ethernet interface"),
    -153: ("INVALID_PROTOCOL", "Invalid Protocol"),
    -155: ("RSRC_IN_USE", "Resource In Use"),
    -160: ("NO_CHANGE", "No change in table"),
    -162: ("LIMIT_EXCEEDED", "limit exceeded"),
    -164: ("UDP_PORT_TAKEN", "UDP port already taken"),
    -165: ("EAGAIN", "Retry stream call with cursor"),
    -166: ("INVALID_VALUE_4", "Invalid value #4"),
    -167: ("BUSY", "Busy"),
    -168: ("BUG", "Bug"),
    -169: ("FEATURE_ALREADY_DISABLED", "Feature already disabled"),
    -170: ("FEATURE_ALREADY_ENABLED", "Feature already enabled"),
    -171: ("INVALID_PREFIX_LENGTH", "Invalid prefix length"),
}

EAGAIN = -165

_HINTS: dict[int, str] = {
    -2: "see the numbers of the interfaces with sw_interface_dump().",
    -14: "the socket cannot be listened on: see that its directory exists and no other VPP listens there.",
    -68: "the interface exists already: look at it, or choose another id.",
    -73: "compare the arguments with VPP's .api file for this message.",
    -79: "the interface exists already: look at it, or choose another id.",
    -116: "the entry exists already: look at it, or choose another id.",
}


class ApiError(LabError):
    """VPP answered an API call with a negative return value.

    Attributes
    ----------
    call : str
        The message's name.
    retval : int
        VPP's return value.
    name : str
        Its name in VPP's source, or empty if it is not in our table.
    """

    def __init__(self, call: str, retval: int) -> None:
        self.call = call
        self.retval = retval
        self.name, text = _VALUES.get(retval, ("", "see src/vnet/error.h of this VPP's source"))
        hint = _HINTS.get(retval, "check the arguments, and look at the node's log.")
        super().__init__(f"VPP refused {call}: {self.name or 'error'} ({retval}), {text}.", hint)
