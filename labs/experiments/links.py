"""memif or vhost: the same packets from the same peer over each kind of link, and who sees whose memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.errors import NotAvailable
from labs.experiments import kernel_link, testpmd
from labs.experiments.ending import Begun
from labs.experiments.figures import outliers_of, summary_of
from labs.experiments.homecoming import coming_home, modes_back
from labs.experiments.links_beds import Beds, Setting
from labs.experiments.links_kinds import KINDS, refusal
from labs.experiments.links_summary import FIGURES, Window, answer, judge
from labs.experiments.links_table import in_a_table
from labs.experiments.method import measure_in_turn, need_two_cores, plan
from labs.experiments.profile import say
from labs.kernel import allowed_cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.experiments.run import Run
    from labs.lab import Lab

_SHORTEST = 1.0
_MILLION = 1e6
SIZES = (64, 1500)
"""Bytes of the frames that are sent: small ones, and as large as Ethernet has them."""


def links(
    lab: Lab,
    seconds: float | None = None,
    rounds: int | None = None,
    progress: Callable[[float, str], None] = say,
) -> Run:
    """Send DPDK's packets over each kind of link, to another testpmd and to the lab's first node.

    Rings are of one size, the peer is one program, and the kinds take turns. Latency has one instrument, the
    node's own ping to the peer. Both poll a core of their own, and there notebook 04 has found it right.

    Parameters
    ----------
    lab : Lab
        Started. A VPP receives over vhost-user only with its plugin: ``NodeSpec("vpp1", plugins=("memif",
        "ping", "vhost"))``.
    seconds : float, optional
        Length of one window; 2 s, or 1 s in the ``ci`` profile.
    rounds : int, optional
        Windows of each setting; 3, or 2 in the ``ci`` profile.
    progress : callable
        Told the fraction done and what was just measured; prints it by default.

    Raises
    ------
    NotAvailable
        testpmd is not installed.
    LabError
        This session has but one core, or a link does not come up.
    """
    how = plan(seconds, rounds, full=(2.0, 3), ci=(1.0, 2), shortest=_SHORTEST)
    if why := testpmd.missing():
        raise NotAvailable(why, testpmd.INSTALL)
    cores = allowed_cores()
    need_two_cores(cores)
    settings = all_settings(lab)
    begun = Begun("links", lab, ends=2)
    run = begun.run
    launch = lab._running()  # noqa: SLF001 - the peer belongs to the lab, as its nodes do
    inside = launch.engine.inside(str(launch.rundir.path))

    def told(done: float, window: Window) -> None:
        rate = f"{window['received'] / _MILLION:.3g} Mpps, {window['gbit_per_s']:.3g} Gbit/s"
        progress(done, f"{window['setting']}: {rate}")

    with coming_home(lab), modes_back(lab):
        for node in lab.nodes.values():
            node.pin((cores[1],))
            if node.rx_modes():
                node.rx_mode("interrupt")  # a node that only stands by gives its core away
        progress(0.0, f"{len(settings) * how.rounds} windows follow")
        with Beds(lab, launch.rundir.token, inside, how.seconds, (cores[0], cores[1])) as beds:
            measure_in_turn(run, settings, how.rounds, beds.window, told)
    run.summary = summary_of(run.windows, settings, FIGURES)
    run.summary["answer"] = answer(run.windows, settings)
    run.summary["links"] = in_a_table(run.windows, settings)
    run.summary["not here"] = not_here(lab)
    run.verdicts = judge(run.windows, settings)
    return begun.end(
        fewest=30,  # a window counts millions of packets
        outliers=outliers_of(run.windows, settings, FIGURES, "received_mpps"),
    )


def all_settings(lab: Lab) -> list[Setting]:
    """Return what is compared here: each kind that testpmd, and that the node, can be an end of.

    What is measured over one link stands side by side, so that the link is made once for it.
    """
    node = next(iter(lab.nodes.values()))
    to_testpmd = [kind for kind in KINDS if not _kernel_refuses(kind)]
    to_node = [kind for kind in KINDS if not refusal(kind, lab, node)]
    pairs = [("testpmd", kind) for kind in to_testpmd] + [("node", kind) for kind in to_node]
    return [Setting(who, kind, size) for who, kind in pairs for size in SIZES]


def not_here(lab: Lab) -> list[str]:
    """Return why kinds of link are missing from the comparison."""
    node = next(iter(lab.nodes.values()))
    told = [why for kind in KINDS for why in (refusal(kind, lab, node), _kernel_refuses(kind)) if why]
    return list(dict.fromkeys(told))


def _kernel_refuses(kind: str) -> str:
    """Return why the kernel gives no link of this kind; empty where it does, or has no say."""
    return kernel_link.missing(KINDS[kind].host) if KINDS[kind].is_kernel else ""
