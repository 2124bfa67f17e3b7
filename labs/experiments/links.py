"""memif or vhost: the same packets from the same peer over each kind of link, and who sees whose memory."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from labs.errors import LabError, NotAvailable
from labs.experiments import testpmd
from labs.experiments.figures import outliers_in, windows_of
from labs.experiments.homecoming import coming_home, modes_back
from labs.experiments.links_beds import KINDS, Beds, Setting
from labs.experiments.links_summary import Window, answer, figures, judge, judge_privileges
from labs.experiments.method import judge_quality, measure_in_turn, new_run, plan
from labs.experiments.profile import by_profile, say
from labs.kernel import allowed_cores
from labs.quality import StealMeter

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.experiments.run import Run
    from labs.lab import Lab
    from labs.node import Node

_SHORTEST = 1.0
_MILLION = 1e6


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
    if len(cores) < 2:  # noqa: PLR2004
        raise LabError(
            f"This experiment needs two cores, and this session may use one ({cores[0]}).",
            "give the machine or the container a second core.",
        )
    settings = all_settings(lab)
    run, steal, began = new_run("links", lab), StealMeter(), time.perf_counter()
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
    run.summary = {
        str(each): {name: found.to_dict() for name, found in figures(run.windows, each).items()}
        for each in settings
    }
    run.quality = judge_quality(
        run,
        seconds=time.perf_counter() - began,
        stolen=steal.read(),
        fewest=30,  # a window counts millions of packets
        nodes=2,
        outliers=outliers_in(
            (
                windows_of(run.windows, lambda window: window["setting"], str(each)),
                figures(run.windows, each)["received_mpps"],
            )
            for each in settings
        ),
    )
    node = next(iter(lab.nodes.values()))
    run.summary["answer"] = answer(run.windows, settings)
    run.summary["not here"] = [why for kind in KINDS if (why := refusal(kind, lab, node))]
    run.summary["capabilities"] = capabilities(node)
    run.verdicts = [*judge(run.windows, settings), judge_privileges(run.summary["capabilities"])]
    run.complete = True
    run.save()
    return run


def all_settings(lab: Lab) -> list[Setting]:
    """Return what is compared here: to testpmd every kind, to the node those that it can."""
    sizes = by_profile(full=(64, 1500), ci=(64, 1500))
    node = next(iter(lab.nodes.values()))
    able = {"testpmd": tuple(KINDS), "node": tuple(kind for kind in KINDS if not refusal(kind, lab, node))}
    return [Setting(who, kind, size) for who, kinds in able.items() for size in sizes for kind in kinds]


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
