"""A stand-in for VPP's CLI socket that speaks the real protocol, in whatever pieces a test wants."""

from __future__ import annotations

import fcntl
import itertools
import socket
import struct
import termios
import threading
import time

# What unix_cli_listen_read_ready sends (src/vlib/unix/cli.c)
GREETING = bytes.fromhex("fffc22 fffe22 fffb03 fffd03 fffb01 fffe01 fffd18 fffa1801fff0 fffd1f fffa1f01fff0")
TERMINAL_TYPE = bytes([255, 250, 24, 0]) + b"vppctl" + bytes([255, 240])


class Hangup(Exception):  # noqa: N818 - it is what the server does
    """An answer raises it to close the connection at this point."""


class FakeCli:
    """Listens at `path`; `answers` maps a line to pieces to send, or to what yields them.

    Every piece arrives at the client by itself: the next is sent when the one before has been read.
    """

    def __init__(self, path, answers, greeting=(GREETING,)):
        self.path = path
        self.answers = answers
        self.greeting = greeting
        self.lines = []
        self.connections = 0
        self.faults = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        self._open = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()
        for connection in self._open:
            connection.close()
        self.path.unlink(missing_ok=True)

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            self._send(connection, self.greeting)
            received = b""
            while len(received) < len(TERMINAL_TYPE):
                received += connection.recv(4096)
            if not received.startswith(TERMINAL_TYPE):
                self.faults.append(received)
            received = received[len(TERMINAL_TYPE) :]
            while True:
                while b"\n" in received:
                    line, _, received = received.partition(b"\n")
                    self.lines.append(line.decode())
                    self._answer(connection, line.decode())
                more = connection.recv(4096)
                if not more:
                    return
                received += more
        except Hangup:
            connection.close()
        except (OSError, ValueError):
            pass  # the test is over

    def _answer(self, connection, line):
        pieces = self.answers.get(line, (b"unknown input `" + line.encode() + b"'\r\n\0",))
        self._send(connection, pieces(connection) if callable(pieces) else pieces)

    @staticmethod
    def _send(connection, pieces):
        for piece in pieces:
            if piece is Hangup:
                raise Hangup
            connection.sendall(piece)
            while _unread(connection):
                time.sleep(0.0002)


def _unread(connection):
    return struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, b"\0" * 4))[0]


def cut(data, places):
    """Return `data` cut into pieces at the given places."""
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges) if a < b]
