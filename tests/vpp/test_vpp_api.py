from __future__ import annotations

import socket
import threading
import time

import pytest

from labs.errors import LabError, NodeDied, NotAvailable
from labs.vpp.api import Api
from labs.vpp.api_errors import ApiError
from labs.vpp.sockets import DoorError


class Listener:
    """Accepts API connections and answers nothing: it holds them, or closes them at once."""

    def __init__(self, path, *, closes):
        self.path = path
        self.accepted = 0
        self._closes = closes
        self._held = []
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            self.accepted += 1
            if self._closes:
                client.close()
            else:
                self._held.append(client)

    def close(self):
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for client in self._held:
            client.close()


@pytest.fixture
def path(short_dir):
    return short_dir / "api.sock"


def fault_of(api, deadline):
    with pytest.raises(DoorError) as caught:
        api.connect(deadline)
    return caught.value.fault


def test_no_socket_until_the_deadline(path):
    assert fault_of(Api(path), 0.1) == "absent"


def test_a_dead_vpps_socket(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.close()
    assert fault_of(Api(path), 0.1) == "dead"


def test_a_vpp_that_does_not_answer(path):
    listener = Listener(path, closes=False)
    assert fault_of(Api(path), 0.3) == "timeout"
    listener.close()


def test_a_vpp_that_hangs_up_is_tried_again(path):
    listener = Listener(path, closes=True)
    assert fault_of(Api(path), 0.5) == "vanished"
    assert listener.accepted > 2
    listener.close()


def test_a_forbidden_socket_is_told_at_once(path, as_another_user):
    listener = Listener(path, closes=False)
    path.parent.chmod(0o755)
    path.chmod(0o400)
    with as_another_user():
        assert fault_of(Api(path), 60) == "forbidden"
    listener.close()


def test_a_file_that_is_no_socket_is_told_at_once(path):
    path.write_text("")
    assert fault_of(Api(path), 60) == "not-a-socket"


def test_a_vpp_that_dies_at_start_is_told_at_once(path):
    answers = [True, True, False]
    with pytest.raises(NodeDied):
        Api(path).connect(60, alive=lambda: answers.pop(0))
    assert answers == []


def test_the_callers_own_words_about_a_death_win(path):
    def alive():
        raise NodeDied("vpp1 ended", "look there")

    with pytest.raises(NodeDied, match="vpp1 ended"):
        Api(path).connect(60, alive=alive)


def test_a_vpp_that_comes_late_is_waited_for(path):
    """The socket appears only after some tries; what then answers is no VPP, and that ends the wait."""
    seen = []

    def alive():
        seen.append(1)
        if len(seen) == 5:
            seen.append(Listener(path, closes=False))

    with pytest.raises(DoorError) as caught:
        Api(path).connect(1.0, alive=alive)
    assert caught.value.fault == "timeout"
    seen[5].close()


def test_calls_before_connect_say_so(path):
    with pytest.raises(LabError, match="not connected"):
        Api(path).show_version()
    assert not Api(path).is_connected


def test_no_private_name_is_taken_for_a_message(path):
    with pytest.raises(AttributeError):
        _ = Api(path)._repr_html_
    assert dir(Api(path))


def test_closing_what_was_never_open_is_fine(path):
    Api(path).close()


class StandIn:
    """What `Api` needs of a client, to show it replies that a real VPP seldom gives."""

    VPPApiError = RuntimeError
    messages = {}  # noqa: RUF012 - nobody changes it

    def __init__(self, replies):
        self.replies = replies
        self.asked = []
        self.api = type("Messages", (), {})()
        self.api.ask = self._ask
        self.api.ask_pack = None

    def _ask(self, **kwargs):
        self.asked.append(kwargs)
        return self.replies.pop(0)

    def learn(self):
        pass


def reply(**fields):
    """Return a reply as papi makes them: a tuple with names."""
    return type("reply", (tuple,), fields)()


def asking(path, replies):
    api = Api(path)
    api._client = StandIn(replies)
    return api


def test_a_refusal_gives_vpps_name_and_words(path):
    with pytest.raises(ApiError, match=r"ask: SUBIF_ALREADY_EXISTS \(-68\), Subinterface already") as caught:
        asking(path, [reply(retval=-68)]).call("ask")
    assert (caught.value.call, caught.value.retval) == ("ask", -68)
    assert caught.value.hint


def test_a_refusal_that_is_not_in_the_table_gives_its_number(path):
    with pytest.raises(ApiError, match=r"error \(-9999\)"):
        asking(path, [reply(retval=-9999)]).call("ask")


def test_a_reply_without_a_return_value_is_a_reply(path):
    answer = reply(vpe_pid=7)
    assert asking(path, [answer]).ask() is answer


def test_details_come_as_a_list(path):
    assert asking(path, [["a", "b"]]).ask() == ["a", "b"]
    assert asking(path, [(reply(retval=0), ["a"])]).ask() == ["a"]


def test_details_in_several_parts_are_asked_for_to_the_end(path):
    api = asking(path, [(reply(retval=-165, cursor=9), ["a"]), (reply(retval=0), ["b"])])
    client = api._client
    client.messages = {"ask": type("M", (), {"fields": ["cursor"], "fieldtypes": ["u32"]})}
    assert api.ask() == ["a", "b"]
    assert client.asked == [{}, {"cursor": 9}]


def test_positional_arguments_are_refused(path):
    with pytest.raises(LabError, match="need names"):
        asking(path, []).ask(1)


def test_an_unknown_message_is_no_attribute_and_names_what_is_near(path):
    api = asking(path, [])
    api._client.api.show_version = lambda: reply(version="26.06")
    assert not hasattr(api, "aks")
    with pytest.raises(NotAvailable, match=r"VPP 26\.06 has no API message 'aks'") as caught:
        api.call("aks")
    assert "close to it: ask;" in caught.value.hint


def test_only_one_thread_speaks_at_a_time(path):
    inside, most = [], []

    class Slow(StandIn):
        def _ask(self, **_):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.002)
            inside.pop()
            return reply()

    api = Api(path)
    api._client = Slow([])
    threads = [threading.Thread(target=lambda: [api.ask() for _ in range(10)]) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(most) == 60
