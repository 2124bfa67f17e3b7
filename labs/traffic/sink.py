"""The sink: packets in, counted by flow, and checked for gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from labs.errors import LabError
from labs.memif import Down
from labs.memif.doorbell import sleep_until_any
from labs.traffic import blocks, stamp
from labs.traffic.absorb import absorb
from labs.traffic.headers import ETHERNET, IPV4, UDP, one_of, within
from labs.traffic.packets import MAX_FLOWS, MAX_FRAME, Packets
from labs.traffic.reports import FLOW, Delay, SinkReport
from labs.traffic.worker import Worker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labs.memif.link import Link
    from labs.memif.queue import Queue

MODES = ("polling", "interrupt")
_WINDOWS = 4096
_SLEEP = 0.05  # seconds at most, so that it notices when it is to stop
_LONGEST = (1 << 62) - 1


class Sink(Worker):
    """Takes packets from a link, counts them, and follows the numbers in their stamps.

    >>> with memif.Client(path) as link, Sink(link, flows=100) as sink:  # doctest: +SKIP
    ...     Generator(other, udp(flows=100)).run(seconds=2)
    ...     print(sink.report())

    Parameters
    ----------
    link : Client or Server
    flows : int or Packets
        How many flows to look for, or the packets that the generator sends: then `at` is known too.
    at : int, optional
        Where the stamp begins; 42 with an Ethernet header, 28 without (IPv4 and UDP).
    queue : int
        Which of the link's queues.
    stream : int, optional
        Whose stamps to follow (`Generator.stream`). Without it, the stamps of whoever sends in a flow: when
        another generator takes over, its numbers begin anew. For generators that send the same flows at the
        same time, say which.
    mode : {"polling", "interrupt"}
        Whether it looks for packets all the time, or sleeps until the sender rings. Either way packets are
        let gather a little, up to some 50 µs, since larger bursts are cheaper for both sides.
    delay : bool
        Also measure how long the packets took; then they are not let gather. The sender has to be on this
        machine.
    window : float
        Seconds over which packets are counted for `SinkReport.windows`; the last 4096 are kept.
    core : int, optional
        The processor to run on.

    Raises
    ------
    LabError
        A value that cannot be.
    """

    def __init__(
        self,
        link: Link,
        flows: int | Packets = 1,
        at: int | None = None,
        *,
        queue: int = 0,
        stream: int | None = None,
        mode: str = "polling",
        delay: bool = False,
        window: float = 0.05,
        core: int | None = None,
    ) -> None:
        super().__init__(link, "rx", queue, core)
        place = (ETHERNET if link.settings.mode == "ethernet" else 0) + IPV4 + UDP
        if isinstance(flows, Packets):
            place, flows = (flows.at if flows.at >= 0 else place), flows.flows
        self.at = place if at is None else at
        within("flows", flows, 1, MAX_FLOWS)
        within("at", self.at, 0, MAX_FRAME)
        within("stream", stream or 0, 0, stamp.MAX_STREAM)
        self.mode = one_of("mode", mode, MODES)
        if not 1e-3 <= window <= 1e3:  # noqa: PLR2004 - said in the message
            raise LabError(f"window cannot be {window!r} s.", "use 0.001 to 1000 s.")
        self.flows, self.stream, self.delay, self.window = flows, stream, delay, window
        self._table = np.zeros((flows, blocks.ROW), np.int64)
        self._windows = np.zeros((_WINDOWS, 3), np.int64)

    def start(self, seconds: float = 0.0) -> Self:
        """Begin to receive, with all counts at zero, and return at once.

        What was sent before and waits in the ring is thrown away.

        Parameters
        ----------
        seconds : float
            When to stop; 0 for not before `stop`.

        Raises
        ------
        LabError
            It runs already.
        Down, MemifError
            The link is down, or has no such queue.
        """
        self._begin(seconds)
        return self

    def stop(self) -> SinkReport:
        """Stop receiving and return what came. Packets that wait in the ring stay there."""
        self._end()
        return self.report()

    def run(self, seconds: float) -> SinkReport:
        """Receive for so many seconds and return what came.

        Raises
        ------
        LabError, Down, MemifError
            As for `start`.
        """
        self.start(seconds)
        self._wait()
        return self.report()

    def report(self) -> SinkReport:
        """Return what came so far."""
        run, rows = self._run.copy(), self._table.copy()
        return SinkReport(
            packets=int(run[blocks.PACKETS]),
            bytes=int(run[blocks.BYTES]),
            seconds=float(run[blocks.LAST] - run[blocks.FIRST]) / 1e9,
            per_flow=_flows(rows),
            other=int(run[blocks.OTHER]),
            strange=int(run[blocks.STRANGE]),
            empty=int(run[blocks.EMPTY]),
            stale=int(run[blocks.STALE]),
            delay=_delay(run),
            windows=self._rates(run),
            ended=self.ended,
        )

    def _prepare(self, run: NDArray[np.int64]) -> None:
        run[blocks.FLOWS], run[blocks.AT], run[blocks.STREAM] = (
            self.flows, self.at, -1 if self.stream is None else self.stream,
        )  # fmt: skip
        run[blocks.WAITS], run[blocks.DELAY] = self.mode == "interrupt", self.delay
        run[blocks.DELAY_MIN] = _LONGEST
        run[blocks.WINDOW] = int(self.window * 1e9)
        self._table = np.zeros((self.flows, blocks.ROW), np.int64)
        self._windows = np.zeros((_WINDOWS, 3), np.int64)

    def _work(self, queue: Queue, run: NDArray[np.int64]) -> int:
        while True:
            try:
                with queue.in_use() as block:
                    why: int = absorb(block, run, self._table, self._windows)
                if why != blocks.IDLE:
                    return why
                channel = self.link.connection.channel.fileno()
            except Down:
                return blocks.LINK_STOPPED
            sleep_until_any([queue], channel, _SLEEP)

    def _rates(self, run: NDArray[np.int64]) -> NDArray[np.float64]:
        count = int(run[blocks.WINDOWS])
        kept = min(count, _WINDOWS - 1)
        numbers = np.arange(count - kept - (1 if count > kept else 0), count) % _WINDOWS
        rows = self._windows[numbers].astype(np.float64)
        if count <= kept:
            rows = np.concatenate((np.array([[run[blocks.BEGAN], 0.0, 0.0]]), rows))
        windows = np.diff(rows, axis=0)
        windows[:, 0] = (rows[1:, 0] - run[blocks.BEGAN]) / 1e9
        return windows


def _flows(rows: NDArray[np.int64]) -> NDArray[np.void]:
    flows = np.zeros(rows.shape[0], FLOW)
    unique = rows[:, blocks.UNIQUE]
    flows["duplicates"], flows["reordered"] = rows[:, blocks.DUPLICATES], rows[:, blocks.REORDERED]
    flows["packets"] = rows[:, blocks.EARLIER] + unique + flows["duplicates"]
    flows["bytes"] = rows[:, blocks.LENGTH]
    gone = np.maximum(rows[:, blocks.NEXT] - rows[:, blocks.LOWEST] - unique, 0)
    flows["lost"] = rows[:, blocks.LOST] + gone
    return flows


def _delay(run: NDArray[np.int64]) -> Delay | None:
    count = int(run[blocks.DELAY_COUNT])
    if not count:
        return None
    mean = float(run[blocks.DELAY_SUM]) / count / 1e9
    return Delay(float(run[blocks.DELAY_MIN]) / 1e9, mean, float(run[blocks.DELAY_MAX]) / 1e9, count)
