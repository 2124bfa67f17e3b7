"""How experiments measure: settings in turn and again, disturbances noted, every window saved at once."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Self, TypeVar

from labs.errors import LabError
from labs.evidence import Watch
from labs.experiments.profile import by_profile
from labs.experiments.run import Run
from labs.machine import busy_seconds, machine, stolen_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from labs.evidence import Share
    from labs.experiments.recorded import Recorded
    from labs.lab import Lab

S = TypeVar("S")


@dataclass(frozen=True)
class Plan:
    """How long a window is, in seconds, and how often each setting is measured."""

    seconds: float
    rounds: int


def plan(
    seconds: float | None,
    rounds: int | None,
    *,
    full: tuple[float, int],
    ci: tuple[float, int],
    shortest: float,
) -> Plan:
    """Return what was asked for, else what the profile has.

    Parameters
    ----------
    seconds : float or None
    rounds : int or None
    full, ci : tuple of float and int
        The seconds and rounds of either profile.
    shortest : float
        Seconds of the shortest window in which something can be measured.

    Raises
    ------
    LabError
        Nothing can be measured so.
    """
    usual = by_profile(full=full, ci=ci)
    length = usual[0] if seconds is None else seconds
    turns = usual[1] if rounds is None else rounds
    if not (shortest <= length < float("inf") and isinstance(turns, int) and turns >= 1):
        raise LabError(
            f"Nothing can be measured in {turns!r} windows of {length!r} s.",
            f"try seconds={full[0]:g}, rounds={full[1]}.",
        )
    return Plan(length, turns)


def need_a_link(lab: Lab) -> None:
    """Do nothing where a lab has two nodes or more.

    Raises
    ------
    LabError
        It has one.
    """
    if len(lab.nodes) < 2:  # noqa: PLR2004
        raise LabError("Packets need a link, and this lab has one node.", "use two_vpps().")


def need_two_cores(cores: Sequence[int]) -> None:
    """Do nothing where this session may use two cores or more.

    Raises
    ------
    LabError
        It may use one.
    """
    if len(cores) < 2:  # noqa: PLR2004
        raise LabError(
            f"This experiment needs two cores, and this session may use one ({cores[0]}).",
            "give the machine or the container a second core.",
        )


def new_run(name: str, lab: Lab) -> Run:
    """Return a run of an experiment on a lab, with what it is measured on."""
    versions = {"data plane": lab.version, "labs": version("vpp-labs")}
    return Run(name, lab.engine, versions, machine().to_dict())


def in_turn(settings: Iterable[S], rounds: int) -> list[S]:
    """Return the settings, each as often as there are rounds, forwards and backwards.

    So a drift of the machine falls on all of them, and none is always first.
    """
    order = list(settings)
    return [each for turn in range(rounds) for each in (order[::-1] if turn % 2 else order)]


def measure_in_turn(
    run: Run,
    settings: Iterable[S],
    rounds: int,
    window: Callable[[S], dict[str, Any]],
    told: Callable[[float, dict[str, Any]], None],
    *,
    recorded: Recorded | None = None,
    warm_up: Callable[[], object] | None = None,
) -> None:
    """Measure each setting again and again, and save each window as soon as it is measured.

    Parameters
    ----------
    run : Run
        Gets the windows; also where this is cut short.
    settings : iterable
    rounds : int
        How often each is measured.
    window : callable
        Sets the lab to a setting, measures once, and returns what it has found.
    told : callable
        Hears the part that is done, and the window just measured.
    recorded : Recorded, optional
        What is recorded meanwhile, and saved with the run.
    warm_up : callable, optional
        Called first; what it measures is not kept.

    Raises
    ------
    LabError
        A window could not be measured or saved, or it was interrupted; the hint says what is kept.
    """
    order = in_turn(settings, rounds)
    with run.keeping():
        if warm_up is not None:
            warm_up()
        for number, setting in enumerate(order, start=1):
            found = window(setting)
            if recorded is not None:
                run.recording = recorded.so_far()
            run.add(found)
            told(number / len(order), found)


class Span:
    """What the scheduler did with a lab's nodes in a ``with`` block, and how busy the machine was otherwise.

    Parameters
    ----------
    lab : Lab
    also : mapping of str to int, optional
        Other processes that take part, by name.

    Attributes
    ----------
    shares : tuple of Share
        One for each node, then one for each of the others that take part.
    others : float or None
        Cores' worth of time that neither the nodes nor this process used; None where the kernel is silent.
    stolen : float
        Seconds that the hypervisor took, over all cores.
    """

    def __init__(self, lab: Lab, also: Mapping[str, int] | None = None) -> None:
        nodes = {name: node.handle.pid for name, node in lab.nodes.items()}
        self._watch = Watch({**nodes, **(also or {})})
        self.shares: tuple[Share, ...] = ()
        self.others: float | None = None
        self.stolen = 0.0

    def __enter__(self) -> Self:
        self._busy, self._stolen, self._own = busy_seconds(), stolen_seconds(), time.process_time()
        self._watch.__enter__()
        return self

    def __exit__(self, *details: object) -> None:
        self._watch.__exit__(*details)
        self.shares = self._watch.evidence.shares
        self.stolen = stolen_seconds() - self._stolen
        ran = [share.running * share.seconds for share in self.shares if share.running is not None]
        if len(ran) == len(self.shares):
            ours = sum(ran) + time.process_time() - self._own
            self.others = max((busy_seconds() - self._busy - ours) / self.shares[0].seconds, 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return it as a window keeps it."""
        return {
            "scheduler": [{**vars(share), "cores": list(share.cores)} for share in self.shares],
            "others": self.others,
            "stolen": self.stolen,
        }
