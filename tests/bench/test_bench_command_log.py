from __future__ import annotations

import re
import threading
import time

from labs.bench.command_log import MOST, CommandLog, clock_of


def test_the_newest_comes_first():
    log = CommandLog(clock=str)
    log.add("pinning: same core", ["taskset -a -cp 0 1"], t=1.0)
    log.add("rate: 1 Mpps", ["vppctl a", "vppctl b"], t=2.0)
    assert log.widget.entries == [
        {"id": 2, "clock": "2.0", "label": "rate: 1 Mpps", "lines": ["vppctl a", "vppctl b"]},
        {"id": 1, "clock": "1.0", "label": "pinning: same core", "lines": ["taskset -a -cp 0 1"]},
    ]


def test_as_text_it_is_a_script_in_the_order_of_doing():
    log = CommandLog(clock=lambda _: "12:00:00")
    log.add("one", ["a", "b"])
    log.add("nothing to type", [])
    log.add("two", ["c"])
    assert log.text().splitlines() == [
        "# 12:00:00 one",
        "a",
        "b",
        "# 12:00:00 nothing to type",
        "# 12:00:00 two",
        "c",
    ]


def test_it_is_bounded_and_keeps_the_newest():
    log = CommandLog()
    for number in range(MOST + 5):
        log.add(str(number), [])
    assert len(log.widget.entries) == MOST
    assert [log.widget.entries[at]["label"] for at in (0, -1)] == [str(MOST + 4), "5"]


def test_many_threads_lose_no_entry():
    log = CommandLog()
    threads = [
        threading.Thread(target=lambda: [log.add("x", ["y"]) for _ in range(20)], daemon=True)
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(entry["id"] for entry in log.widget.entries) == list(range(1, 101))


def test_cleared_it_is_empty_and_numbers_go_on():
    log = CommandLog()
    log.add("one", [])
    log.clear()
    assert log.widget.entries == []
    log.add("two", [])
    assert log.widget.entries[0]["id"] == 2


def test_a_moment_is_told_as_the_time_of_day():
    told = clock_of(time.monotonic())
    assert re.fullmatch(r"\d\d:\d\d:\d\d", told)
    assert clock_of(time.monotonic() - 3600) != told
