"""A stand-in for VPP's statistics segment: the same layout in memory, handed out in the same way."""

from __future__ import annotations

import array
import mmap
import os
import socket
import struct
import threading

BASE = 0x7F0000000000  # where the fake VPP has mapped the memory; readers see it elsewhere
SCALAR, SIMPLE, COMBINED, NAMES, EMPTY, SYMLINK, GAUGE = 1, 2, 3, 4, 5, 6, 9
_HEADER = struct.Struct("<QQQQQ")
_ENTRY = struct.Struct("<IIQ128s")


class FakeSegment:
    """Memory laid out as src/vlib/stats/shared.h says, with the counters a test wants."""

    def __init__(self, size=1 << 20, version=2):
        self.fd = os.memfd_create("fake-stats")
        os.ftruncate(self.fd, size)
        self.memory = mmap.mmap(self.fd, size)
        self.size = size
        self.version = version
        self.epoch = 1
        self.in_progress = 0
        self._free = 64
        self.entries = []
        self.directory = 0
        self.write_header()

    def write_header(self):
        self.memory[:40] = _HEADER.pack(self.version, BASE, self.epoch, self.in_progress, self.directory)

    def vector(self, data, count):
        """Store a vector of `count` elements; return its address."""
        start = self._free + 8
        self.memory[start - 8 : start - 4] = count.to_bytes(4, "little")
        self.memory[start : start + len(data)] = data
        self._free = (start + len(data) + 15) // 8 * 8
        return BASE + start

    def simple(self, rows):
        pointers = [self.vector(struct.pack(f"<{len(row)}Q", *row), len(row)) for row in rows]
        return self.vector(struct.pack(f"<{len(rows)}Q", *pointers), len(rows))

    def combined(self, rows):
        pointers = [
            self.vector(b"".join(struct.pack("<QQ", *pair) for pair in row), len(row)) for row in rows
        ]
        return self.vector(struct.pack(f"<{len(rows)}Q", *pointers), len(rows))

    def strings(self, texts):
        pointers = [self.vector(text.encode() + b"\0", len(text) + 1) if text else 0 for text in texts]
        return self.vector(struct.pack(f"<{len(texts)}Q", *pointers), len(texts))

    def set_entries(self, entries):
        """Replace the directory: a list of (type, value, name), where a name may be followed by garbage."""
        self.entries = list(entries)
        raw = b"".join(
            _ENTRY.pack(kind, 0, value, name if isinstance(name, bytes) else name.encode() + b"\0\xfe\x01")
            for kind, value, name in self.entries
        )
        self.directory = self.vector(raw, len(self.entries))
        self.epoch += 1
        self.write_header()

    def set_value(self, name, value):
        """Change a scalar in place, as VPP does without a new epoch."""
        for slot, (kind, _, known) in enumerate(self.entries):
            if known == name:
                self.entries[slot] = (kind, value, known)
                at = self.directory - BASE + slot * _ENTRY.size + 8
                self.memory[at : at + 8] = value.to_bytes(8, "little")

    def close(self):
        self.memory.close()
        os.close(self.fd)


def usual_entries(segment, names=("local0", "memif0/0"), packets=((1, 2), (10, 20)), beat=1):
    """Return the entries that every reader needs: two interfaces on two threads, an error, and the beat."""
    zeros = segment.simple([[0] * len(names)] * 2)
    rx = segment.combined([[(n, 64 * n) for n in row] for row in packets])
    tx = segment.combined([[(0, 0)] * len(names)] * 2)
    return [
        (SCALAR, beat, "/sys/heartbeat"),
        (SCALAR, 1700000000, "/sys/boottime"),
        (GAUGE, 7, "/sys/vector_rate"),
        (NAMES, segment.strings(names), "/if/names"),
        (COMBINED, rx, "/if/rx"),
        (COMBINED, tx, "/if/tx"),
        *[(SIMPLE, zeros, f"/if/{name}") for name in ("drops", "punt", "rx-no-buf", "rx-miss", "rx-error")],
        (SIMPLE, segment.simple([[0, 3], [0, 4]]), "/if/tx-error"),
        (SIMPLE, segment.simple([[0, 5, 0], [0, 6, 0]]), "/node/errors"),
        (SYMLINK, (1 << 32) | 12, "/err/memif0/0-tx/no_free_slots"),
        (SYMLINK, (2 << 32) | 12, "/err/ip4-input/bad_length"),
        (EMPTY, 9, ""),
    ]


class StatsServer:
    """Hands out a segment's descriptor on a seqpacket socket, as VPP does."""

    def __init__(self, path, segment):
        self.path = path
        self.segment = segment
        self.accepted = 0
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(str(path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with client:
                self.accepted += 1
                rights = array.array("i", [self.segment.fd] if self.segment else [])
                level = (socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)
                client.sendmsg([b""], [level] if rights else [])

    def die(self):
        """Stop as a killed VPP does: the socket file stays."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def end(self):
        """Stop as a VPP does that ends cleanly."""
        self.die()
        self.path.unlink()
