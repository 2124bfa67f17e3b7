from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.errors import LabError
from labs.vpp.startup_conf import StartupConf

PLAIN = StartupConf(
    "/run/lab", "/run/lab/v.cli", "/run/lab/v.api", "/run/lab/v.stats", "v", plugins=("memif", "ping")
)


def as_vpp_reads(text):
    """Return what is left after VPP's own treatment of comments and blanks (src/vpp/vnet/main.c)."""
    kept, skip = [], False
    for character in text:
        if skip:
            if character not in "\r\n":
                continue
            skip = False
        elif character == "#":
            skip = True
            continue
        blank = character in "\r\n\t "
        if blank and (not kept or kept[-1] == " "):
            continue
        kept.append(" " if blank else character)
    return "".join(kept).strip()


def sections(text):
    """Return the top-level sections VPP sees: name -> what stands between the braces."""
    found, depth, name, body = {}, 0, "", ""
    for word in as_vpp_reads(text).split(" "):
        depth -= word == "}"
        if word == "}" and depth == 0:
            found[name.strip()] = body.strip()
            name = body = ""
        elif depth:
            body += word + " "
        elif word != "{":
            name += word
        depth += word == "{"
    assert depth == 0
    assert name == ""
    return found


def test_vpp_reads_exactly_this():
    assert sections(PLAIN.render()) == {
        "unix": "nodaemon nosyslog nobanner nocolor cli-no-pager coredump-size 0 "
        "runtime-dir /run/lab cli-listen /run/lab/v.cli",
        "api-segment": "prefix v",
        "socksvr": "socket-name /run/lab/v.api",
        "statseg": "socket-name /run/lab/v.stats size 32M page-size 4k per-node-counters on "
        "update-interval 0.5",
        "memory": "main-heap-size 1024M",
        "buffers": "buffers-per-numa 8192 page-size 4k",
        "physmem": "max-size 64M",
        "plugins": "vat-name-filter none plugin default { disable } "
        "plugin memif_plugin.so { enable } plugin ping_plugin.so { enable }",
    }


def test_every_section_has_one_comment_above_it():
    lines = PLAIN.render().splitlines()
    heads = [number for number, line in enumerate(lines) if re.fullmatch(r"[a-z-]+ \{", line)]
    assert len(heads) == 8
    assert all(lines[number - 1].startswith("# ") for number in heads)
    assert sum("#" in line for line in lines) == len(heads)


def test_cores_are_written_as_asked():
    text = replace(PLAIN, main_core=0, worker_cores=(2, 3)).render()
    assert sections(text)["cpu"] == "main-core 0 corelist-workers 2,3"


def test_without_a_main_core_there_is_no_cpu_section():
    assert "cpu" not in sections(PLAIN.render())


def test_a_sleep_of_zero_is_not_written():
    assert "poll-sleep" not in PLAIN.render()
    assert "poll-sleep-usec 100" in sections(replace(PLAIN, poll_sleep_usec=100).render())["unix"]


def test_the_event_log_is_written_when_asked():
    assert sections(replace(PLAIN, elog_events=1 << 20).render())["vlib"] == "elog-events 1048576"


@pytest.mark.parametrize(
    "changes",
    [
        {"runtime_dir": "run/lab"},
        {"runtime_dir": "/run/my lab"},
        {"runtime_dir": "/run/lab}"},
        {"cli_socket": "/run/lab/#v"},
        {"cli_socket": "@v.cli"},
        {"api_socket": "/run/" + "x" * 102},
        {"stats_socket": "/run/lab/v.api"},
        {"stats_socket": ""},
        {"api_prefix": ""},
        {"api_prefix": "a/b"},
        {"api_prefix": "a b"},
        {"main_core": -1},
        {"main_core": "0"},
        {"main_core": True},
        {"worker_cores": (1,)},
        {"main_core": 0, "worker_cores": (0,)},
        {"main_core": 0, "worker_cores": (1, 1)},
        {"main_core": 0, "worker_cores": tuple(range(1, 64))},
        {"heap_mb": 0},
        {"heap_mb": 127},
        {"heap_mb": 1.5},
        {"stats_mb": 0},
        {"buffers": 0},
        {"buffers": 16385},
        {"physmem_mb": 31},
        {"stats_interval": 0},
        {"stats_interval": float("nan")},
        {"stats_interval": "1"},
        {"plugins": ("memif_plugin.so",)},
        {"plugins": ("memif_plugin",)},
        {"plugins": ("memif", "memif")},
        {"plugins": ("memif { enable } plugin dpdk",)},
        {"poll_sleep_usec": -1},
        {"elog_events": 0},
    ],
)
def test_a_value_vpp_would_not_take_is_refused_with_a_hint(changes):
    with pytest.raises(LabError) as caught:
        replace(PLAIN, **changes)
    assert caught.value.hint


def test_a_path_of_106_characters_is_still_taken():
    path = "/" + "x" * 105
    assert f"cli-listen {path}" in replace(PLAIN, cli_socket=path).render()
    with pytest.raises(LabError, match="107"):
        replace(PLAIN, cli_socket=path + "x")


def test_buffers_fit_the_room_for_them():
    assert replace(PLAIN, buffers=16384, physmem_mb=64).render()
    assert replace(PLAIN, buffers=16385, physmem_mb=66).render()


@given(st.text())
def test_no_path_gets_into_the_file_but_as_one_word(path):
    try:
        conf = replace(PLAIN, cli_socket=path)
    except LabError:
        return
    assert sections(conf.render())["unix"].endswith(f" cli-listen {path}")


@given(st.floats(0.01, 3600))
def test_intervals_are_written_without_an_exponent(interval):
    text = sections(replace(PLAIN, stats_interval=interval).render())["statseg"]
    assert re.fullmatch(r"\d+(\.\d+)?", text.split()[-1])
