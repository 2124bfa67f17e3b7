"""The real peers: a VPP, and DPDK's testpmd."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from labs.engines.process import find_vpp
from labs.experiments import testpmd
from labs.vpp.cli import Cli
from labs.vpp.startup_conf import StartupConf

STARTS_WITHIN = 30.0
SHM = Path("/dev/shm")  # noqa: S108 - where VPP puts its files


class Vpp:
    """One VPP, single-threaded, with memif and ping."""

    def __init__(self, place, name="vpp1"):
        self.conf = StartupConf(
            runtime_dir=str(place),
            cli_socket=str(place / f"{name}.cli.sock"),
            api_socket=str(place / f"{name}.api.sock"),
            stats_socket=str(place / f"{name}.stats.sock"),
            api_prefix=f"lm-{os.getpid()}-{place.name}-{name}",
            plugins=("memif", "ping"),
            heap_mb=256,
        )
        self.file = place / f"{name}.conf"
        self.file.write_text(self.conf.render())
        self.log = place / f"{name}.log"
        self.child = None
        self.start()

    def start(self):
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(
                [find_vpp(), "-c", self.file], stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        self._cli = Cli(self.conf.cli_socket)
        deadline = time.monotonic() + STARTS_WITHIN
        while not Path(self.conf.api_socket).exists():
            assert self.child.poll() is None, self.log.read_text()[-2000:]
            assert time.monotonic() < deadline, "VPP did not start"
            time.sleep(0.02)

    def cli(self, text):
        return "\n".join(output for _, output in self._cli.run_script(text))

    def kill(self):
        """End it as a crash would."""
        self._cli.close()
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()
        Path(self.conf.api_socket).unlink()  # it tells `start` that VPP is up

    def stop(self):
        self._cli.close()
        self.child.terminate()
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
        for each in SHM.glob(f"{self.conf.api_prefix}-*"):
            each.unlink(missing_ok=True)


def memif_lines(role, mode="", options=""):
    """Return the lines that make memif0/0 of VPP, up, with 10.0.0.1/24."""
    line = f"create interface memif id 0 {role} {options}"
    line += " mode ip" if mode == "ip" else " hw-addr 02:fe:00:00:00:01"
    return f"{line}\nset interface state memif0/0 up\nset interface ip address memif0/0 10.0.0.1/24"


class Testpmd(testpmd.Testpmd):
    """DPDK's testpmd with net_memif ports and queues as it makes them by itself."""

    def __init__(self, place, *ports, forward="rxonly", core=1, name="tp", options=(), pmd_options=()):
        devices = [f"net_memif{number},{port},socket-abstract=no" for number, port in enumerate(ports)]
        super().__init__(place, "", devices, forward, (0, core), name, None, pmd_options, options)
