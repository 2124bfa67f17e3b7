"""The CLI client against a real VPP, which says over its binary API what it thinks of each line."""

from __future__ import annotations

import time

import pytest

from labs.errors import CliError
from labs.vpp.cli import Cli
from labs.vpp.cli_failures import classify
from labs.vpp.parse import parse_memif, parse_ping_line, parse_ping_statistics

pytestmark = pytest.mark.engine("process")

# Run in this order on one VPP: later lines meet what earlier ones made.
CORPUS = """\
show version
show versio
sh ver
show verson
show
s v
foo
unknown input
help
help show memif
show ?
?
show memif ?
show memif
show memif foo
sh int
show int addr
show interface memif9/9
show interface rx-placement
show interface rx-placement foo
show interface 0
show interface 77
show int foo
create memif socket id 0 filename /tmp/x
create memif socket id 1
create memif socket filename x.sock
create memif socket id 1 filename one.sock
create memif socket id 1 filename one.sock
create memif socket id 1 filename two.sock
create memif socket id 3 filename @abstract
delete memif socket id 9
delete memif socket
create interface memif id 0 master
create interface memif id 0 master
create interface memif id 1 slave
create interface memif id 1 socket-id 1 slave
create interface memif id 1 socket-id 1 master
create interface memif id 2 socket-id 55 master
create interface memif id 3 socket-id 1 slave ring-size 1000
create interface memif id 3 socket-id 1 slave ring-size 65536
create interface memif id 3 socket-id 1 slave rx-queues 300
create interface memif id 3 socket-id 1 slave tx-queues 0
create interface memif id 3 socket-id 1 slave mod ip
create interface memif mastr
create interface
create interface foo
create
delete memif socket id 1
delete interface memif memif7/7
delete interface memif local0
set interface state memif0/0 up
set interface state memif0/0
set interface state memif0/0 sideways
set interface state memif8/8 up
set int st memif0/0 up
set interface ip address memif0/0 10.10.2.1/24
set interface ip address memif0/0 10.10.2.1/24
set interface ip address memif0/0 10.10.2.7/24
set interface ip address memif1/1 10.10.2.2/24
set interface ip address memif0/0 10.10.3.300/24
set interface ip address memif0/0 10.10.3.3
set interface ip address memif0/0
set interface ip address foo 10.1.1.1/24
set interface ip address del memif0/0 10.99.0.1/24
set interface rx-mode memif0/0 interrupt
set interface rx-mode memif0/0 queue 0 interrupt
set interface rx-mode memif0/0 fast
set interface rx-mode memif0/0
set interface rx-mode polling
set interface rx-placement memif0/0 worker 3
set interface mtu packet 1500 memif0/0
set interface mtu abc memif0/0
set interface
ip route add 10.4.0.0/24 via 10.10.2.2
ip route add 10.4.0.0/24 via memif9/9
ip route add
ip route add 10.5.0.0/24 via drop
ip route add 10.5.0.0 via drop
ip table add 5
ip
create loopback interface
create loopback interface instance 0
create loopback interface mac zz
show interface loop0 tag
show interface loop0 vtr
show interface loop0 features
set interface tag loop0 a:
show interface loop0 tag
loopback delete-interface intfc loop7
create gtpu tunnel src 1.1.1.1 dst 1.1.1.2 teid 1 decap-next ip4
create gtpu tunnel src 1.1.1.1 dst 1.1.1.2 teid 1 decap-next ip4
create gtpu tunnel src 1.1.1.1 dst 1.1.1.2 teid 0
create gtpu tunnel src 1.1.1.1 dst 1.1.1.1 teid 3
create gtpu tunnel src 1.1.1.1 dst 1.1.1.2 teid 9 del
create gtpu tunnel src 1.1.1.1 dst 1.1.1.2 teid 9 qfi 99
create gtpu tunnel src 1.1.1.1 dst 1.1.1.2 teid 9 encap-vrf-id 77
show gtpu tunnel
create packet-generator interface pg0
packet-generator new { name s1 limit 5 interface pg0 node ip4-input data { UDP: 1.2.3.4 -> 5.6.7.8 } }
packet-generator new { name s2 limit 5 interface pg0 node nowhere data { UDP: 1.2.3.4 -> 5.6.7.8 } }
packet-generator new { name s2 limit 5 interface pg0 data { UDP: 1.2.3.4 -> 5.6.7.8 } }
packet-generator new { name s3 nonsense 7 }
packet-generator enable-stream s1
packet-generator enable-stream s9
packet-generator disable-stream s1
packet-generator delete s9
packet-generator delete s1
packet-generator configure s9 rate 5
packet-generator
show packet-generator
trace add memif-input 10
trace add nonode 10
show trace
clear trace
clear runtime
clear interfaces
clear errors
clear foo
clear
show runtime
show run foo
show errors
show threads
show buffers
show logging
show cpu
show node memif-input
show node nonode
show ip fib
show ip neighbors
show adj
show hardware-interfaces
show hardware-interfaces foo
show event-logger
event-logger trace api cli barrier
show plugins
show physmem
show memory main-heap
show memory foo
show clock
show history
show bridge-domain
show api clients
exec /nonexistent
exec /tmp
exec
comment this is one
set logging class memif level loud
set interface default rx-mode polling
set interface default rx-mode foo
show interface default rx-mode
set interface l2 xconnect memif0/0 foo
tap
create tap
create vhost-user socket /tmp/x server
set ip neighbor memif0/0 10.10.2.9 02:00:00:00:00:01
set ip neighbor memif0/0 10.10.2.9 02
pcap trace foo
show version verbose
show version foo
show version show foo
ping
ping foo
define x 5
echo hello
set terminal pager off
test foo
pipe create
show { version }
{ show version }
set interface state { memif0/0 up }
quitt
create sub-interfaces memif0/0 7
create sub-interfaces foo 7
""".splitlines()

LINK = """\
create interface memif id 0 {role}
set interface state memif0/0 up
set interface ip address memif0/0 10.10.2.{host}/24
"""


def test_every_line_of_the_corpus_is_judged_as_vpp_judges_it(real_vpp):
    wrong, verdicts = [], set()
    for statement in CORPUS:
        reply = real_vpp.api.reply_to("cli_inband", cmd=statement)
        failure = classify(statement, reply.reply)
        verdicts.add(reply.retval)
        if (failure is not None) != (reply.retval != 0):
            wrong.append((statement, reply.retval, reply.reply))
    assert wrong == []
    assert len(CORPUS) >= 60
    assert verdicts == {0, -1}  # both kinds were there


def test_the_socket_gives_the_same_text_as_the_api(real_vpp):
    for statement in ("show version", "show verson", "show memif", "show interface", "help", "show plugins"):
        assert real_vpp.cli.ask(statement) == real_vpp.api.reply_to("cli_inband", cmd=statement).reply


def test_what_vpp_forgives_but_does_not_do_is_an_error_too(real_vpp):
    statement = "ip route add 10.4.0.0/240 via 10.10.2.2"
    assert real_vpp.api.reply_to("cli_inband", cmd=statement).retval == 0
    with pytest.raises(CliError, match="Invalid prefix len") as caught:
        real_vpp.cli.run(statement)
    assert statement[caught.value.at :].startswith("10.4.0.0/240")


def test_a_ping_that_cannot_be_sent_is_an_error(real_vpp):
    with pytest.raises(CliError, match="no egress interface") as caught:
        real_vpp.cli.run("ping 10.77.0.1 repeat 2 interval 0.01")
    assert "address in that network" in caught.value.hint


def test_a_statement_over_several_lines_is_taken(own_vpp):
    text = """
    create packet-generator interface pg0
    # a stream of five packets
    packet-generator new {
      name s1
      limit 5
      interface pg0
      node ip4-input
      data { UDP: 1.2.3.4 -> 5.6.7.8
             UDP: 1 -> 2 incrementing 8 }
    }
    """
    assert [output for _, output in own_vpp.cli.run_script(text)] == ["", ""]
    assert "s1" in own_vpp.cli.run("show packet-generator")


def test_two_servers_on_one_socket(start_vpp):
    one, two = start_vpp("a"), start_vpp("b")
    one.cli.run("create interface memif id 0 master")
    with pytest.raises(CliError, match="Active listener") as caught:
        two.cli.run("create interface memif id 0 master")
    assert "make this end the slave" in caught.value.hint
    assert [row.listener for row in parse_memif(one.cli.run("show memif")).sockets] == [True]
    assert [row.listener for row in parse_memif(two.cli.run("show memif")).sockets] == [False]


def test_a_file_whose_line_is_refused(own_vpp):
    file = own_vpp.log.with_name("commands")
    file.write_text("show version\nshow memiff\nshow clock\n")
    with pytest.raises(CliError, match="CLI line error: memiff") as caught:
        own_vpp.cli.run(f"exec {file}")
    assert caught.value.at == len("exec ")


def test_a_long_answer_arrives_whole(real_vpp):
    text = real_vpp.cli.run("show runtime verbose")
    assert len(text) > 50_000
    assert "\r" not in text
    assert "\0" not in text


def test_a_line_of_the_greatest_length_is_not_cut(real_vpp):
    line = "show memif " + "x" * (32 * 1024 - 11)
    assert classify(line, real_vpp.cli.ask(line)).at == 11


def test_quit_closes_and_the_next_command_connects_again(real_vpp):
    real_vpp.cli.run("quit")
    for _ in range(20):
        assert real_vpp.cli.run("show version").startswith("vpp v")
        real_vpp.cli.run("quit")


@pytest.fixture
def linked(start_vpp, eventually):
    """Two VPPs with a memif between them; they are free to share a core."""
    one, two = start_vpp("a"), start_vpp("b")
    for vpp, role, host in ((one, "master", 1), (two, "slave", 2)):
        list(vpp.cli.run_script(LINK.format(role=role, host=host)))
    eventually(lambda: " connected" in one.cli.run("show memif"))
    return one, two


def test_a_ping_arrives_line_by_line(linked):
    lines = list(linked[0].cli.stream("ping 10.10.2.2 repeat 10 interval 0.05"))
    replies = [reply for line in lines if (reply := parse_ping_line(line))]
    assert len(replies) >= 8
    assert all(reply.address == "10.10.2.2" and reply.time_ms > 0 for reply in replies)
    assert parse_ping_statistics(lines[-1]).sent == 10


def test_a_ping_left_early_ends_in_vpp(linked, eventually):
    pinger = Cli(linked[0].conf.cli_socket)
    lines = pinger.stream("ping 10.10.2.2 repeat 100000 interval 0.01")
    for line in lines:
        if parse_ping_line(line):
            break
    lines.close()
    eventually(lambda: sent(linked[0]) == sent_after_a_while(linked[0]))
    assert pinger.run("show version").startswith("vpp v")
    pinger.close()


def sent(vpp):
    return vpp.stats.counters()["memif0/0"].tx_packets


def sent_after_a_while(vpp):
    time.sleep(0.2)
    return sent(vpp)


def test_other_commands_run_while_a_ping_runs(linked):
    cli = linked[0].cli
    lines = cli.stream("ping 10.10.2.2 repeat 1000 interval 0.01")
    next(lines)
    for _ in range(10):
        assert cli.run("show version").startswith("vpp v")
        next(lines)
    lines.close()


def test_sessions_leave_nothing_open_in_vpp(real_vpp, eventually):
    def open_sessions():
        return real_vpp.cli.run("show files").count("unix-cli")

    before = open_sessions()
    for _ in range(10):
        client = Cli(real_vpp.conf.cli_socket)
        client.run("show version")
        list(client.stream("show version"))
        client.close()
    eventually(lambda: open_sessions() <= before)
