"""The API client against a real VPP."""

from __future__ import annotations

import logging
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from labs.errors import LabError, NotAvailable
from labs.vpp.api import Api
from labs.vpp.api_errors import ApiError
from labs.vpp.sockets import DoorError

pytestmark = pytest.mark.engine("process")


def test_it_tells_vpps_version(real_vpp):
    assert real_vpp.api.version == real_vpp.api.show_version().version != ""


def test_a_dump_is_a_list(real_vpp):
    names = [details.interface_name for details in real_vpp.api.sw_interface_dump()]
    assert "local0" in names


def test_an_empty_dump_is_an_empty_list(real_vpp):
    assert real_vpp.api.gtpu_tunnel_dump(sw_if_index=0xFFFFFFFF) == []


def test_messages_can_be_listed_and_completed(real_vpp):
    assert "memif_create_v2" in real_vpp.api.messages()
    assert "memif_create_v2" in dir(real_vpp.api)
    assert not [name for name in real_vpp.api.messages() if name.endswith("_pack")]


def test_a_method_tells_its_arguments(real_vpp):
    assert "ring_size" in real_vpp.api.memif_create_v2.__doc__


def test_a_message_of_a_plugin_that_is_not_loaded(real_vpp):
    with pytest.raises(NotAvailable, match=r"VPP 26\.\d+\S* has no API message 'tap_create_v3'") as caught:
        real_vpp.api.tap_create_v3()
    assert "plugin" in caught.value.hint


def test_a_misspelt_message_names_what_is_near(real_vpp):
    with pytest.raises(NotAvailable) as caught:
        real_vpp.api.show_versoin()
    assert "show_version" in caught.value.hint


def test_a_wrong_argument_names_the_right_ones(real_vpp):
    with pytest.raises(LabError, match="memif_create_v2 has no argument ringsize") as caught:
        real_vpp.api.memif_create_v2(ringsize=1024)
    assert "ring_size (u32)" in caught.value.hint
    assert "context" not in caught.value.hint


@pytest.mark.parametrize("value", ["many", object(), -1, 1 << 40])
def test_a_value_of_a_wrong_kind_names_the_right_kinds(real_vpp, value):
    with pytest.raises(LabError, match="sw_interface_set_flags has a value VPP cannot take") as caught:
        real_vpp.api.sw_interface_set_flags(sw_if_index=value, flags=1)
    assert "sw_if_index (vl_api_interface_index_t)" in caught.value.hint
    assert real_vpp.api.show_version()


def test_a_refusal_is_told_in_vpps_words(real_vpp):
    with pytest.raises(ApiError, match=r"INVALID_SW_IF_INDEX \(-2\)") as caught:
        real_vpp.api.sw_interface_set_flags(sw_if_index=9999, flags=1)
    assert "sw_interface_dump" in caught.value.hint


def test_a_memif_made_twice(real_vpp):
    real_vpp.api.memif_create_v2(id=5, role=0)
    with pytest.raises(ApiError, match="SUBIF_ALREADY_EXISTS"):
        real_vpp.api.memif_create_v2(id=5, role=0)


def test_many_threads_share_one_client(real_vpp):
    calls = ["show_version", "show_threads", "sw_interface_dump", "memif_dump"] * 25
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda name: getattr(real_vpp.api, name)(), calls))
    for name, reply in zip(calls, replies, strict=True):
        kind = type(reply[0] if isinstance(reply, list) else reply).__name__
        assert kind.rpartition("_")[0] == name.removesuffix("_dump")


def test_two_clients_may_connect_at_once(real_vpp):
    clients = [Api(real_vpp.conf.api_socket, f"test{number}") for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda client: client.connect(20), clients))
        assert all(pool.map(lambda client: client.show_version().version, clients))
    for client in clients:
        client.close()


def test_it_connects_again_after_close(own_vpp):
    own_vpp.api.close()
    with pytest.raises(LabError, match="not connected"):
        own_vpp.api.show_version()
    own_vpp.api.connect()
    assert own_vpp.api.show_version()


def test_a_stopped_vpp_is_a_timeout_and_later_answers_again(own_vpp):
    own_vpp.api.show_version()
    os.kill(own_vpp.pid, signal.SIGSTOP)
    with pytest.raises(DoorError, match="did not answer in time"):
        own_vpp.api.show_version(_timeout=0.3)
    os.kill(own_vpp.pid, signal.SIGCONT)
    threads = own_vpp.api.show_threads()
    assert threads.count == 1  # and not the version's late answer


def test_a_killed_vpp_is_told_and_nothing_is_printed(own_vpp, capfd, caplog):
    own_vpp.api.show_version()
    with caplog.at_level(logging.ERROR):
        own_vpp.process.kill()
        own_vpp.process.wait()
        for _ in range(2):
            with pytest.raises(DoorError, match="died") as caught:
                own_vpp.api.show_version()
            assert caught.value.fault == "vanished"
        own_vpp.api.close()
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


def test_closing_leaves_no_thread_that_waits_for_vpp(real_vpp, eventually):
    before = set(threading.enumerate())
    client = Api(real_vpp.conf.api_socket, "brief")
    client.connect()
    client.show_version()
    started = [thread for thread in set(threading.enumerate()) - before if "Feeder" not in thread.name]
    assert started
    client.close()
    eventually(lambda: not any(thread.is_alive() for thread in started))


def test_a_vpp_that_dies_at_start_is_reported_with_its_words(vpp_program, short_dir):
    """A configuration that VPP refuses: the process ends, and connect does not wait for its deadline."""
    import subprocess  # noqa: PLC0415 - only here

    conf = short_dir / "bad.conf"
    conf.write_text(f"unix {{ nodaemon nosyslog runtime-dir {short_dir} }}\nnonsense {{ x }}\n")
    process = subprocess.Popen([vpp_program, "-c", conf], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    api = Api(short_dir / "api.sock")
    with pytest.raises(LabError, match="ended before it answered"):
        api.connect(60, alive=lambda: process.poll() is None)
    assert b"nonsense" in process.communicate()[1]
