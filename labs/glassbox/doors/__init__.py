"""The three doors that a VPP has, for a data plane that is not VPP: CLI, binary API, statistics.

They speak VPP's own protocols, so that VPP's own clients come in unchanged. None of them has a thread or
ever waits: each is one file descriptor to watch and one call to make when it is readable.
"""

from labs.glassbox.doors.api_door import ApiDoor, ApiRefusal
from labs.glassbox.doors.cli_door import CliDoor
from labs.glassbox.doors.running import Running
from labs.glassbox.doors.stats_door import StatsDoor
from labs.glassbox.doors.stats_layout import Counters
from labs.glassbox.doors.stats_segment import StatsSegment

__all__ = ["ApiDoor", "ApiRefusal", "CliDoor", "Counters", "Running", "StatsDoor", "StatsSegment"]
