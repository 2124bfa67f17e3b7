"""All messages that the API's door knows: what a learner needs, of the thousand that a VPP has."""

from __future__ import annotations

from labs.glassbox.doors.api_messages_core import MEMCLNT, VLIB, VPE
from labs.glassbox.doors.api_messages_interface import INTERFACE, L2
from labs.glassbox.doors.api_messages_ip import IP, IP_NEIGHBOR
from labs.glassbox.doors.api_messages_memif import MEMIF

MODULES = (MEMCLNT, VPE, VLIB, INTERFACE, L2, IP, IP_NEIGHBOR, MEMIF)
"""In an order in which each uses only types of those before it."""

CALLS = {call.request.name: call for module in MODULES for call in module.calls}
"""Request -> call."""
