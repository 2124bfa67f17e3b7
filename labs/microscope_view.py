"""A microscope on a live memif link: its memory as it moves, in a page or as text. It can only look."""

from __future__ import annotations

import contextvars
import threading
import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from labs.errors import LabError
from labs.memif.link import Link
from labs.memif.pace import Pace
from labs.microscope_drawing import Sheet, legend_of, rings_of, tables_of
from labs.microscope_page import SCRIPT, STYLE
from labs.microscope_source import BetweenNodes, OurLink, Over

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labs.lab import Lab
    from labs.memif.ring import Ring
    from labs.microscope_source import Source

PERIOD = 0.25
"""Seconds from one look to the next."""
_KEPT = 40  # looks; a Freeze may be heard late, while a cell runs
_UNSEEN = 600.0  # seconds that a view goes on which no page has shown yet
_LIVE = "Live: read 4 times a second. The memory is mapped for reading only."


class Microscope(anywidget.AnyWidget):
    """A view of a link that keeps itself fresh while a page shows it; make one with `microscope`.

    Parameters
    ----------
    source : Source
        What to look at.
    """

    _esm = SCRIPT
    _css = STYLE
    sheet = traitlets.Dict().tag(sync=True)

    def __init__(self, source: Source) -> None:
        self._source = source
        self._pace: Pace | None = None
        self._rings: Sequence[Ring] = ()
        self._kept: deque[Sheet] = deque([Sheet(0, "down", source.title, "Nothing was seen yet.")], _KEPT)
        self._frozen: Sheet | None = None
        self._pages: int | None = None
        self._began = time.monotonic()
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._look()
        super().__init__(sheet=self.shown.to_dict())
        self.on_msg(self._hear)

    @property
    def shown(self) -> Sheet:
        """What it shows now."""
        return self._frozen or self._kept[-1]

    def text(self) -> str:
        """Return what it shows now as text; while it is not shown in a page, it looks first."""
        if self._frozen is None and not self._runs:
            self._look()
        return self.shown.text()

    def freeze(self) -> None:
        """Hold what is shown now."""
        self._freeze(self._kept[-1].tick)

    def go_on(self) -> None:
        """Look again after a freeze."""
        self._freeze(-1)

    def close(self) -> None:
        """Look no more, and take the view away."""
        self._stop.set()
        super().close()

    @property
    def _runs(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _freeze(self, tick: int) -> None:
        with self._lock:
            found = next((each for each in self._kept if each.tick == tick), self._kept[-1])
            clock = time.strftime("%H:%M:%S")
            note = f"Frozen at {clock}. The link goes on."
            self._frozen = replace(found, state="frozen", note=note) if tick >= 0 else None
            self.sheet = self.shown.to_dict()

    def _hear(self, _: object, message: dict[str, Any], _buffers: object) -> None:
        """Take a message of a page's: it came, it went, or its button was pressed."""
        if "freeze" in message:
            self._freeze(int(message["freeze"]))
        if "looking" in message:
            self._pages = max((self._pages or 0) + int(message["looking"]), 0)
            if self._pages:
                self._run()
            else:
                self._stop.set()

    def _run(self) -> None:
        """Begin to look again and again, unless it does so already."""
        if self._runs and not self._stop.is_set():
            return
        self._stop = threading.Event()
        # The context tells ipykernel which cell the thread's messages belong to.
        work = contextvars.copy_context().run
        self._thread = threading.Thread(
            target=work, args=(self._watch, self._stop), name="microscope", daemon=True
        )
        self._thread.start()

    def _watch(self, stop: threading.Event) -> None:
        while not stop.wait(PERIOD):
            if self._pages is None and time.monotonic() - self._began > _UNSEEN:
                return
            self._look()
            with self._lock:
                if not stop.is_set() and self._frozen is None:
                    self.sheet = self.shown.to_dict()
            if self._kept[-1].state == "over":
                return

    def _look(self) -> None:
        """Take a look, and keep what it shows."""
        last = self._kept[-1]
        if last.state == "over":
            return
        try:
            view, rings = self._source.look()
            if rings is not self._rings or self._pace is None:
                self._rings, self._pace = rings, Pace(rings)
            rates = self._pace.measure().tolist()
        except LabError as error:
            state = "over" if isinstance(error, Over) else "down"
            note = f"{error.message} This is the last look." if last.rings else error.message
            sheet = replace(last, tick=last.tick + 1, state=state, title=self._source.title, note=note)
        else:
            shown = rings_of(view, rates, self._source), tables_of(view, self._source), legend_of(view)
            sheet = Sheet(last.tick + 1, "live", self._source.title, _LIVE, *shown)
        with self._lock:
            self._kept.append(sheet)

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, **options: Any) -> Any:  # noqa: ANN401 - as anywidget has it
        self._run()
        shown = super()._repr_mimebundle_(**options)
        parts = shown[0] if isinstance(shown, tuple) else shown
        if parts is not None:  # as it is where there are no widgets
            parts["text/plain"] = self.shown.text()
        return shown


def microscope(what: Link | Lab, first: str = "", second: str = "", interface: str = "") -> Microscope:
    """Look into a live link: handshake, regions, rings, descriptors, as they are now.

    Parameters
    ----------
    what : Link or Lab
        A link of ours, `memif.Client` or `memif.Server`; or a lab, with the names of two of its nodes.
    first, second : str
        Two nodes of the lab; they may be left out where it has no more than two.
    interface : str
        The first node's interface, where the two have several links.

    Raises
    ------
    LabError
        It is neither a link nor a lab, or the lab is not started or has no such nodes.

    Notes
    -----
    The memory is mapped for reading only, and VPP is not asked: neither sees that we look. Where the link
    of two nodes has to be found, ``show memif`` is asked once.
    """
    if isinstance(what, Link):
        return Microscope(OurLink(what))
    if not hasattr(type(what), "wait_link"):
        raise LabError(
            f"A microscope needs a link or a lab, and was given a {type(what).__name__}.",
            'microscope(link), or microscope(lab, "vpp1", "vpp2").',
        )
    names = list(what)
    if not first and not second and len(names) == 2:  # noqa: PLR2004 - a link has two ends
        first, second = names
    if not (first and second):
        raise LabError("Which link?", f"name two nodes of {', '.join(names)}: microscope(lab, ...).")
    return Microscope(BetweenNodes(what, first, second, interface))
