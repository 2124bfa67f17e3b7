"""One end of a link, as a program: it sends and receives while somebody spoils the rings.

Arguments: role, path, rx_mode. It prints a line when it is ready, ends at the end of its standard input, and
prints what it met as one JSON object then.
"""

from __future__ import annotations

import gc
import json
import sys
import threading
from collections import Counter
from pathlib import Path

from labs import memif
from labs.memif.errors import Down, MemifError

QUEUES = 2
BURST = [bytes(60), bytes(5000), bytes(64), bytes(1500)]


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def repeat(action, stop, met):
    """Do it again and again; count each fault once, however many calls meet it."""
    while not stop.is_set():
        try:
            action()
        except Down:
            stop.wait(0.002)
        except MemifError as error:
            met[error.reason] += 1


def run(role, path, rx_mode):
    memif.warm_up()
    ends = {"server": memif.Server, "client": memif.Client}
    before = open_files()
    link = ends[role](path, queues=QUEUES, ring_size=64, rx_mode=rx_mode, retry=0.01, timeout=5)
    stop, met = threading.Event(), Counter()
    actions = [lambda queue=queue: link.send(BURST, timeout=0.01, queue=queue) for queue in range(QUEUES)]
    actions.append(lambda: link.receive(timeout=0.05))
    moved = Counter()

    def count():
        """Add up what the counters of the connections say, as far as it is seen."""
        connection = link.connection
        for queue in connection.queues:
            moved[id(connection), id(queue)] = queue.counters.packets
        stop.wait(0.005)

    threads = [
        threading.Thread(target=repeat, args=(each, stop, met), daemon=True) for each in (*actions, count)
    ]
    link.start()
    link.wait_up(20)
    for each in threads:
        each.start()
    say("ready")
    sys.stdin.read()
    up = link.times_up
    stop.set()
    for each in threads:
        each.join(10)
    stuck = sum(each.is_alive() for each in threads)
    link.close()
    gc.collect()
    told = {"up": up, "met": met, "packets": sum(moved.values()), "stuck": stuck}
    told |= {"leaked": open_files() - before, "threads": threading.active_count()}
    say(json.dumps(told))


if __name__ == "__main__":
    run(*sys.argv[1:])
