"""The blocks of int64 that a kernel and Python share while traffic runs: what is where in them.

Python writes the orders, the kernel everything else; either may read all of it at any time. The kernels
write the counts once a burst.
"""

from __future__ import annotations

SIZE = 32
"""Words in a block."""

# orders, in both blocks
HALT = 0  # 1: return soon
LASTS = 1  # ns after which to end; 0 for no end
SCRATCH = 2  # two words for the clock
# counts, in both blocks
PACKETS, BYTES = 8, 9
BEGAN, NOW = 10, 11  # ns of CLOCK_MONOTONIC: when the kernel first ran, and its last look at the clock

# a generator's
RATE = 4  # packets in 1000 s; 0 for flat out
LIMIT = 5  # packets; 0 for no limit
BUCKET = 6  # packets
PACE, ANCHOR, SINCE = (
    20,
    21,
    22,
)  # the rate kept to, since when in ns, packets due since then that were dealt with
FULL = 12  # times that the ring was full
MISSED = 13  # packets that came too late to be sent
BEHIND = 14  # ns, the furthest that it was behind its schedule
STUCK = 15  # ns, since when the ring is full; 0 if it is not
FLOW, PLACE = 16, 18  # where it goes on
ROUND = 17  # the place in the pattern where this round began

# a sink's
WAITS = 24  # 1: return when the ring is empty
DELAY = 25  # 1: look at the time in the stamps
FIRST, LAST = 12, 13  # ns, when packets first and last came
OTHER = 14  # packets without a stamp
STRANGE = 15  # stamped packets of other streams, or of flows beyond those looked for
EMPTY = 16  # slots that held nothing
STALE = 26  # slots that were filled before it began
DELAY_MIN, DELAY_MAX, DELAY_SUM, DELAY_COUNT = 17, 18, 19, 20  # ns
WINDOW, WINDOWS, EDGE = 21, 22, 23  # ns of a window, how many are over, ns when this one ends

# what a kernel returns when nothing is wrong
HALTED = 0
LINK_STOPPED = 1
IDLE = 2
DONE = 3
GOING = 4

# a plan says what packets are sent
HEADS, BODIES = 0, 1  # addresses
HEAD_BYTES, BODY_BYTES = 2, 3
FLOWS, AT, STREAM = (
    4,
    5,
    6,
)  # AT is -1 for no stamp, a sink's STREAM -1 for any; a sink's block has these three at the same places
PLAN_SIZE = 8

# a row of a sink's flow table
ORIGIN, NEXT, RECENT, UNIQUE, LENGTH = range(
    5
)  # of the stream it follows now; RECENT has a bit for each of 64
LOWEST = 5
EARLIER, LOST, REORDERED, DUPLICATES = 6, 7, 8, 9  # EARLIER and LOST: of the streams before
ROW = 16
