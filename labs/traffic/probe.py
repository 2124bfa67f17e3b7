"""The probe: latency on the wire, by an endpoint of our own.

>>> with memif.Client("/run/vpp/memif.sock") as link:  # doctest: +SKIP
...     Probe(link, source="10.0.0.2", target="10.0.0.1").run(seconds=2).summary()

Requests go out at their own times, whether the last was answered or not (an open loop), thousands a second.
Each carries its number (`labs.traffic.stamp`); whatever brings it back answers it: a node that answers pings,
one that forwards to a link of ours, or one that sends back what it gets.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.traffic import probe_kernels as k
from labs.traffic.probe_measurement import Measurement, Wire
from labs.traffic.probe_plan import INTERVAL, PATIENCE, WAITS, Plan, nanoseconds, one_of
from labs.traffic.probe_request import SMALLEST, Request, resolve

if TYPE_CHECKING:
    from labs.memif.link import Link
    from labs.traffic.probe_run import ProbeRun

OUR_MAC = "02:fe:00:00:00:02"


class Probe:
    """Measures latency through what is at the other end of a link.

    Parameters
    ----------
    link : Link
        A link that is up, and that nobody else receives from meanwhile.
    source, target : str
        Our IPv4 address, and the one to be pinged.
    source_mac : str
        Our Ethernet address.
    target_mac : str, optional
        The other end's; without it, it is asked for by ARP when the first run begins. Of a link in mode ip it
        is not used.
    receive_on : Link, optional
        Where the requests come out again, for the latency of one way. Both ends have one clock.
    size : int
        Bytes of a frame with its Ethernet header, 64 to 2048.
    wait : {"poll", "nap", "sleep"}
        ``poll`` looks all the time, and needs a core of its own. ``nap`` sleeps between requests, and looks
        all the time while a reply is awaited, 100 µs at most: for a core shared with others. ``sleep`` sleeps
        then, too, so the time to be woken is part of every figure, and of the floor: for the core of the very
        node that is measured.
    core : int, optional
        The core for the probe's thread; else the kernel chooses.
    name : str
        What is measured, for tables.

    Raises
    ------
    LabError
        An address, a size, a core or a way to wait that cannot be.
    """

    def __init__(
        self,
        link: Link,
        *,
        source: str,
        target: str,
        source_mac: str = OUR_MAC,
        target_mac: str | None = None,
        receive_on: Link | None = None,
        size: int = SMALLEST,
        wait: str = "poll",
        core: int | None = None,
        name: str = "",
    ) -> None:
        one_of("wait", wait, tuple(WAITS))
        if core is not None and core not in os.sched_getaffinity(0):
            allowed = ", ".join(map(str, sorted(os.sched_getaffinity(0))))
            raise LabError(
                f"The probe cannot run on core {core!r}: this session may use {allowed}.",
                f"leave the core out, or pick one of {allowed}.",
            )
        self.link = link
        self.receive_on = receive_on or link
        self.wait = wait
        self.core = core
        self.name = name or target
        self.last: ProbeRun | None = None
        """The last run, also one that was interrupted."""
        self._ethernet = link.settings.mode == "ethernet"
        self._target_mac = target_mac
        unknown = "00:00:00:00:00:00"
        self._fields = (source, target, source_mac, target_mac or unknown, size, self._ethernet)
        Request(*self._fields)

    def run(
        self,
        seconds: float = 1.0,
        interval: float = INTERVAL,
        *,
        poisson: bool = False,
        outstanding: int | None = None,
        patience: float = PATIENCE,
        floor: bool = True,
    ) -> ProbeRun:
        """Measure, and return what was measured; a run that is interrupted is kept in `last`.

        Parameters
        ----------
        seconds : float
            How long to send.
        interval : float
            Mean seconds from one request to the next.
        poisson : bool
            Send at random times, not at a beat.
        outstanding : int, optional
            Send no more than so many before the first is answered: with 1 it is the closed loop of an
            ordinary ping, whose uncorrected figures leave a stall out.
        patience : float
            Seconds to wait for a reply.
        floor : bool
            Measure the probe's own floor first: 30 ms, or 130 ms for a probe that sleeps.

        Raises
        ------
        Down
            The link is down. When it goes down during the run, what there is is returned.
        MemifError
            Nobody answers ARP for the target, or a frame does not fit the ring.
        LabError
            There is no such duration, interval or number.
        """
        measurement = self.start(
            seconds, interval, poisson=poisson, outstanding=outstanding, patience=patience, floor=floor
        )
        try:
            self.last = measurement.result()
        except KeyboardInterrupt:
            measurement.stop()
            self.last = measurement.result()
            raise
        return self.last

    def start(
        self,
        seconds: float = 1.0,
        interval: float = INTERVAL,
        *,
        poisson: bool = False,
        outstanding: int | None = None,
        patience: float = PATIENCE,
        floor: bool = True,
    ) -> Measurement:
        """Begin to measure and return at once; see `run`."""
        if outstanding is not None and (not isinstance(outstanding, int) or outstanding < 1):
            raise LabError(
                f"There cannot be {outstanding!r} requests outstanding.", "give a whole number from 1 on."
            )
        patience_ns = nanoseconds("wait for", patience)
        request = self._request()
        plan = Plan.make(request, seconds, interval, wait=self.wait, poisson=poisson)
        plan.state[k.PATIENCE] = patience_ns
        wire = Wire(self.link, self.receive_on, request, self.name, self.wait, self.core)
        return Measurement(wire, plan, floor, outstanding)

    def _request(self) -> Request:
        """Return the request, with the other end's Ethernet address."""
        source, target, source_mac, _, size, ethernet = self._fields
        if ethernet and self._target_mac is None:
            self._target_mac = resolve(self.link, source, source_mac, target)
        return Request(source, target, source_mac, self._target_mac or "", size, ethernet)
