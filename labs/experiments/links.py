"""memif or vhost: the same packets from the same peer over each kind of link, and who sees whose memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from labs.errors import NotAvailable
from labs.experiments import testpmd
from labs.experiments.ending import Begun
from labs.experiments.figures import outliers_of, summary_of
from labs.experiments.homecoming import coming_home, modes_back
from labs.experiments.links_beds import KINDS, Beds, Setting
from labs.experiments.links_summary import FIGURES, Window, answer, judge, judge_privileges
from labs.experiments.method import measure_in_turn, need_two_cores, plan
from labs.experiments.profile import say
from labs.kernel import allowed_cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.experiments.run import Run
    from labs.lab import Lab
    from labs.node import Node

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

    Rings are of one size, the peer is one program, and the kinds take turns.

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
        beds = Beds(lab, launch.rundir.token, inside, how.seconds, (cores[0], cores[1]))
        progress(0.0, f"{len(settings) * how.rounds} windows follow")
        measure_in_turn(run, settings, how.rounds, beds.window, told)
    run.summary = summary_of(run.windows, settings, FIGURES)
    node = next(iter(lab.nodes.values()))
    run.summary["answer"] = answer(run.windows, settings)
    run.summary["not here"] = [why for kind in KINDS if (why := refusal(kind, lab, node))]
    run.summary["capabilities"] = capabilities(node)
    run.verdicts = [*judge(run.windows, settings), judge_privileges(run.summary["capabilities"])]
    return begun.end(
        fewest=30,  # a window counts millions of packets
        outliers=outliers_of(run.windows, settings, FIGURES, "received_mpps"),
    )


def all_settings(lab: Lab) -> list[Setting]:
    """Return what is compared here: to testpmd every kind, to the node those that it can."""
    node = next(iter(lab.nodes.values()))
    able = {"testpmd": tuple(KINDS), "node": tuple(kind for kind in KINDS if not refusal(kind, lab, node))}
    return [Setting(who, kind, size) for who, kinds in able.items() for size in SIZES for kind in kinds]


def refusal(kind: str, lab: Lab, node: Node) -> str:
    """Return why a node cannot be the end of a kind of link with testpmd; empty where it can."""
    if kind == "vhost" and "vhost" not in node.spec.plugins:
        return f"{node.name} has no vhost-user."
    if kind == "memif-zc" and lab.engine == "glassbox":
        return (
            "The glass box maps sealed memory only, which nobody can shrink under its feet, and the memory "
            "that DPDK lends is not sealed."
        )
    return ""


def capabilities(node: Node) -> str:
    """Return the kernel's word on a node's privileges: ``CapEff`` of its process, zeros for none.

    Raises
    ------
    LabError
        The node has ended.
    """
    node.must_run()
    status = Path(f"/proc/{node.handle.pid}/status").read_text(encoding="ascii")
    return next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff"))
