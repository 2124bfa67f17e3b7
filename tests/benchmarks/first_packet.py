"""Import the library, set up a link, and move one packet; print how long it took, as JSON."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

began = time.perf_counter()

from labs import memif  # noqa: E402 - the import is what is measured

with tempfile.TemporaryDirectory(dir="/tmp") as place:
    path = Path(place) / "s"
    with memif.Server(path) as server, memif.Client(path) as client:
        server.wait_up()
        client.send([bytes(64)])
        assert server.receive() == [bytes(64)]
        took = time.perf_counter() - began

fields = Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()
born = int(fields[19]) / 100
age = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0]) - born
sys.stdout.write(json.dumps({"packet_s": took, "age_s": age}))
