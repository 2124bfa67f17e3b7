"""VPP's own ping, a small burst each second."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from labs import connectivity
from labs.bench.tables import Column
from labs.errors import LabError

if TYPE_CHECKING:
    from labs.bench.notes import Notes
    from labs.bench.recording import Recorder
    from labs.lab import Lab

NAN = math.nan
_COUNT = 5
_INTERVAL = 0.05


class LivePing:
    """Samples pings from the first node of a lab to the last.

    Parameters
    ----------
    lab : Lab
        Of two nodes or more.
    recorder : Recorder
        Gets the track ``ping``.
    notes : Notes
        Hears why nothing is measured.
    """

    def __init__(self, lab: Lab, recorder: Recorder, notes: Notes) -> None:
        self._lab, self._notes = lab, notes
        names = list(lab.nodes)
        self._source, self._target = names[0], names[-1]
        self._address = ""
        self.track = recorder.add_track(
            "ping",
            [
                Column("ping_p50", "VPP's ping, p50", "µs"),
                Column("ping_max", "VPP's ping, max", "µs"),
                Column("ping_lost", "VPP's ping, lost", "%"),
            ],
        )

    def sample(self) -> None:
        """Let the first node ping the last; this takes about 0.4 s."""
        try:
            # asked for anew after a failure only: the CLI is not to be asked more often than it must
            self._address = self._address or self._find()
            ping = self._lab[self._source].ping(self._address, _COUNT, _INTERVAL, target=self._target)
        except LabError as error:
            self._address = ""
            self.track.append(time.monotonic(), [NAN, NAN, NAN])
            self._notes.say("ping", f"VPP's ping cannot measure: {error.message.partition(chr(10))[0]}")
            return
        self._notes.settle("ping")
        lost = 100 * (1 - ping.received / ping.sent) if ping.sent else NAN
        times = [ping.p50 * 1e3, ping.percentile(100) * 1e3] if ping.received else [NAN, NAN]
        self.track.append(time.monotonic(), [*times, lost])

    def _find(self) -> str:
        """Return the address at which the last node is met on the way from the first."""
        has = {name: node.addresses() for name, node in self._lab.nodes.items()}
        return connectivity.address_on_the_way(self._source, self._target, has)
