"""What VPP 26.06 printed in the situations that the names tell, with one worker and two memifs."""

# ruff: noqa: E501, W291 - these are VPP's own lines
from __future__ import annotations

MEMIF_BEFORE = """\
sockets
  id  listener    filename
  0   yes (1)     /run/lab/memif.sock
  1   no          /run/lab/one.sock

interface memif0/0
  socket-id 0 id 0 mode ethernet
  flags admin-up
  listener-fd 14 conn-fd 0
  num-s2m-rings 0 num-m2s-rings 0 buffer-size 0 num-regions 0
interface memif1/0
  socket-id 1 id 0 mode ethernet
  flags admin-up slave
  listener-fd 0 conn-fd 0
  num-s2m-rings 0 num-m2s-rings 0 buffer-size 0 num-regions 0
interface memif1/7
  socket-id 1 id 7 mode ip
  flags slave zero-copy
  listener-fd 0 conn-fd 0
  num-s2m-rings 0 num-m2s-rings 0 buffer-size 0 num-regions 0
"""

MEMIF_REFUSED_CLIENT = """\
sockets
  id  listener    filename
  0   yes (1)     /run/lab/memif.sock
  1   no          /run/lab/one.sock

interface memif0/0
  remote-name "VPP 26.06-release"
  remote-interface "memif0/0"
  socket-id 0 id 0 mode ethernet
  flags admin-up connected
  listener-fd 14 conn-fd 15
  num-s2m-rings 1 num-m2s-rings 1 buffer-size 0 num-regions 2
  region 0 size 33024 fd 16
  region 1 size 33554432 fd 17
    master-to-slave ring 0:
      region 0 offset 16512 ring-size 1024 int-fd 19
      head 1024 tail 0 flags 0x0001 interrupts 0
    slave-to-master ring 0:
      region 0 offset 0 ring-size 1024 int-fd 18
      head 0 tail 0 flags 0x0001 interrupts 0
interface memif1/0
  socket-id 1 id 0 mode ethernet
  flags admin-up slave
  listener-fd 0 conn-fd 0
  num-s2m-rings 2 num-m2s-rings 2 buffer-size 2048 num-regions 0
  local-disc-reason "disconnect received"
  remote-disc-reason "incorrect secret"
interface memif1/7
  socket-id 1 id 7 mode ip
  flags slave zero-copy
  listener-fd 0 conn-fd 0
  num-s2m-rings 0 num-m2s-rings 0 buffer-size 0 num-regions 0
"""

MEMIF_REFUSED_SERVER = """\
sockets
  id  listener    filename
  0   no          /run/lab/memif.sock
  1   yes (1)     /run/lab/one.sock

interface memif0/0
  remote-name "VPP 26.06-release"
  remote-interface "memif0/0"
  socket-id 0 id 0 mode ethernet
  flags admin-up slave connected zero-copy
  listener-fd 0 conn-fd 13
  num-s2m-rings 1 num-m2s-rings 1 buffer-size 2048 num-regions 2
  region 0 size 33024 fd 14
  region 1 size 33554432 fd 4
    slave-to-master ring 0:
      region 0 offset 0 ring-size 1024 int-fd 15
      head 0 tail 0 flags 0x0001 interrupts 0
    master-to-slave ring 0:
      region 0 offset 16512 ring-size 1024 int-fd 16
      head 1024 tail 0 flags 0x0001 interrupts 0
interface memif1/0
  socket-id 1 id 0 mode ethernet
  flags admin-up
  listener-fd 12 conn-fd 0
  num-s2m-rings 0 num-m2s-rings 0 buffer-size 0 num-regions 0
  local-disc-reason "incorrect secret#"
"""

MEMIF_CONNECTED = """\
sockets
  id  listener    filename
  0   yes (1)     /run/lab/memif.sock
  1   no          /run/lab/one.sock

interface memif0/0
  remote-name "VPP 26.06-release"
  remote-interface "memif0/0"
  socket-id 0 id 0 mode ethernet
  flags admin-up connected
  listener-fd 14 conn-fd 15
  num-s2m-rings 1 num-m2s-rings 1 buffer-size 0 num-regions 2
  region 0 size 33024 fd 16
  region 1 size 33554432 fd 17
    master-to-slave ring 0:
      region 0 offset 16512 ring-size 1024 int-fd 19
      head 1024 tail 3 flags 0x0001 interrupts 0
    slave-to-master ring 0:
      region 0 offset 0 ring-size 1024 int-fd 18
      head 3 tail 3 flags 0x0001 interrupts 0
interface memif1/0
  remote-name "VPP 26.06-release"
  remote-interface "memif1/0"
  socket-id 1 id 0 mode ethernet
  flags admin-up slave connected
  listener-fd 0 conn-fd 20
  num-s2m-rings 2 num-m2s-rings 2 buffer-size 2048 num-regions 1
  region 0 size 8454656 fd 21
    slave-to-master ring 0:
      region 0 offset 0 ring-size 1024 int-fd 22
      head 0 tail 0 flags 0x0001 interrupts 0
    slave-to-master ring 1:
      region 0 offset 16512 ring-size 1024 int-fd 23
      head 0 tail 0 flags 0x0001 interrupts 0
    master-to-slave ring 0:
      region 0 offset 33024 ring-size 1024 int-fd 24
      head 1024 tail 0 flags 0x0001 interrupts 0
    master-to-slave ring 1:
      region 0 offset 49536 ring-size 1024 int-fd 25
      head 1024 tail 0 flags 0x0001 interrupts 0
interface memif1/7
  socket-id 1 id 7 mode ip
  flags slave zero-copy
  listener-fd 0 conn-fd 0
  num-s2m-rings 0 num-m2s-rings 0 buffer-size 0 num-regions 0
"""

RX_PLACEMENT = """\
Thread 1 (vpp_wk_0):
 node memif-input:
    memif0/0 queue 0 (adaptive)
    memif1/0 queue 0 (interrupt)
    memif1/0 queue 1 (interrupt)
"""

INTERFACES = """\
              Name               Idx    State  MTU (L3/IP4/IP6/MPLS)     Counter          Count     
local0                            0     down          0/0/0/0       drops                          1
loop0                             3     down         9000/0/0/0     
memif0/0                          1      up          9000/0/0/0     rx packets                     3
                                                                    rx bytes                     262
                                                                    tx packets                     3
                                                                    tx bytes                     262
                                                                    drops                          2
                                                                    ip4                            2
memif1/0                          2      up          9000/0/0/0     tx-error                       1
memif1/7                          4     down          0/0/0/0       
"""

ADDRESSES = """\
local0 (dn):
loop0 (dn):
memif0/0 (up):
  L3 10.10.2.1/24
memif1/0 (up):
  L3 10.10.3.1/24
  L3 2001:db8::1/64
memif1/7 (dn):
"""

THREADS = """\
ID     Name                Type        LWP     Sched Policy (Priority)  lcore  Core   Socket State     
0      vpp_main                        7568    other (0)                0      0      0                
1      vpp_wk_0            workers     7569    other (0)                1      1      0                
"""

PING = """\
116 bytes from 10.10.2.2: icmp_seq=2 ttl=64 time=7.7562 ms
116 bytes from 10.10.2.2: icmp_seq=3 ttl=64 time=24.0035 ms

Statistics: 3 sent, 2 received, 33% packet loss
"""

PING_NOWHERE = """\
Failed: no egress interface
Failed: no egress interface

Statistics: 0 sent, 0 received, 0% packet loss
"""

RUNTIME = """\
Thread 0 vpp_main (lcore 0)
Time 8.3, .500000 sec internal node vector rate 0.00 loops/sec 838055.59
  vector rates in 0.0000e0, out 3.6063e-1, drop 2.4044e-1, punt 0.0000e0
             Name                 State         Calls          Vectors        Suspends      Packet-Clocks   Vectors/Call  
api-rx-from-ring               "any wait"                0               0               5          1.10e6            0.00
deleted-399                   "not started               1               0               0          2.81e4            0.00
drop                             active                  2               2               0          5.25e3            1.00
fib-walk                       "any wait"                0               0               5          2.14e4            0.00
ip4-drop                         active                  1               1               0          5.17e3            1.00
ip4-full-reassembly-expire-wal "any wait"                0               0             159          7.72e3            0.00
ip4-glean                        active                  1               1               0          2.64e4            1.00
ip4-lookup                       active                  3               3               0          1.13e7            1.00
ip4-rewrite                      active                  2               2               0          7.35e3            1.00
ip4-sv-reassembly-expire-walk  "any wait"                0               0               1          6.10e3            0.00
memif-process                  "any wait"                0               0               6          8.48e4            0.00
memif0/0-output                  active                  3               3               0          1.05e4            1.00
memif0/0-tx                      active                  3               3               0          3.31e4            1.00
startup-config-process        "not started               1               0               1          2.34e4            0.00
statseg-collector-process      "suspended"               0               0              17          2.48e6            0.00
unix-cli-new-session          "event wait"               0               0               4          7.85e3            0.00
unix-cli-process-0              "running"                0               0              34          1.11e7            0.00
---------------
Thread 1 vpp_wk_0 (lcore 1)
Time 8.3, .500000 sec internal node vector rate 0.00 loops/sec 9115360.87
  vector rates in 3.6063e-1, out 0.0000e0, drop 1.2024e-1, punt 0.0000e0
             Name                 State         Calls          Vectors        Suspends      Packet-Clocks   Vectors/Call  
arp-input                        active                  1               1               0          9.65e3            1.00
arp-reply                        active                  1               1               0          4.14e4            1.00
drop                             active                  1               1               0          3.57e3            1.00
ethernet-input                   active                  3               3               0          2.06e4            1.00
ip4-icmp-echo-reply              active                  2               2               0          1.57e4            1.00
ip4-icmp-input                   active                  2               2               0          8.02e3            1.00
ip4-input                        active                  2               2               0          6.70e3            1.00
ip4-lookup                       active                  2               2               0          5.36e3            1.00
ip4-receive                      active                  2               2               0          3.64e3            1.00
memif-input                   interrupt wa        33352584               3               0          1.99e9            0.00
"""
