"""What an endpoint is told: checked once, in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from labs.memif.errors import MemifError
from labs.memif.messages import MODES, SECRET_SIZE
from labs.memif.ring import LINES, log2_of, stride_of

if TYPE_CHECKING:
    from labs.memif.regions import Lent

MAX_QUEUES = 255
MAX_BUFFER = 65_535
RX_MODES = ("polling", "interrupt")


@dataclass(frozen=True)
class Settings:
    """How to make a link.

    Attributes
    ----------
    id : int
        Which of the interfaces at the socket.
    secret : bytes
        Both sides must have the same; empty for none.
    mode : {"ethernet", "ip"}
        What a packet begins with.
    queues : int
        A client makes so many in each direction; a server takes so many at most.
    ring_size : int
        Slots of each ring, a power of two; a server takes so many at most.
    buffer_size : int
        Bytes of each slot, for a client to say.
    rx_mode : {"polling", "interrupt"}
        Whether the peer is to leave our doorbell alone.
    name, interface : str
        What the peer is told of us.
    timeout : float
        Seconds that a peer may take for each step of the handshake.
    retry : float
        Seconds from one try to connect to the next.
    line_size : int, optional
        Bytes of a cache line in the peer's rings, where it cannot be told.
    trust : bool
        Map a peer's memory even if it could be taken away, which would kill this process.
    lends : Lent, optional
        A client's memory that the slots are to name, instead of buffers of the link's own. Whoever works on
        the queues then has to fill the slots; `Link.send` and `Link.receive` cannot.
    """

    id: int = 0
    secret: bytes = field(default=b"", repr=False)
    mode: str = "ethernet"
    queues: int = 1
    ring_size: int = 1024
    buffer_size: int = 2048
    rx_mode: str = "polling"
    name: str = "VPP Labs"
    interface: str = ""
    timeout: float = 3.0
    retry: float = 0.2
    line_size: int | None = None
    trust: bool = False
    lends: Lent | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        _within("id", self.id, 0, 0xFFFFFFFF)
        _within("queues", self.queues, 1, MAX_QUEUES)
        _within("buffer_size", self.buffer_size, 64, MAX_BUFFER)
        if self.buffer_size % 64:
            raise MemifError(f"buffer_size cannot be {self.buffer_size}.", "use a multiple of 64 bytes.")
        log2_of(self.ring_size)
        if self.ring_size * self.queues * 2 * stride_of(self.buffer_size) > 1 << 32:
            raise MemifError("So many buffers need more than 4 GiB.", "use fewer queues or smaller rings.")
        if len(self.secret) >= SECRET_SIZE or b"\0" in self.secret:
            raise MemifError(
                "The secret is too long.", f"use at most {SECRET_SIZE - 1} bytes, none of them zero."
            )
        _one_of("mode", self.mode, tuple(MODES))
        _one_of("rx_mode", self.rx_mode, RX_MODES)
        if self.line_size is not None:
            _one_of("line_size", self.line_size, LINES)
        if not self.timeout > 0 or not self.retry > 0:
            raise MemifError("timeout and retry must be more than 0 seconds.", "leave them out.")

    @property
    def log2_size(self) -> int:
        """The logarithm of the ring size."""
        return log2_of(self.ring_size)


def secret_of(secret: str | bytes | None) -> bytes:
    """Return a secret as the bytes that are sent."""
    return secret.encode() if isinstance(secret, str) else secret or b""


def _within(name: str, value: int, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise MemifError(f"{name} cannot be {value!r}.", f"use a whole number from {low} to {high}.")


def _one_of(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        raise MemifError(f"{name} cannot be {value!r}.", f"use {' or '.join(map(repr, choices))}.")
