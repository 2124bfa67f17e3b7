"""show logging: what the program has noted, in VPP's layout (src/vlib/log.c)."""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import TYPE_CHECKING

from labs.glassbox.commands.command import command

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words

_LEVELS = {
    logging.CRITICAL: "crit",
    logging.ERROR: "error",
    logging.WARNING: "warn",
    logging.INFO: "notice",
    logging.DEBUG: "debug",
}
_KEPT = 512


class Kept(logging.Handler):
    """Keeps the last records, written as VPP writes its own."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: deque[str] = deque(maxlen=_KEPT)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        at = time.strftime("%Y/%m/%d %H:%M:%S", time.localtime(record.created))
        level = _LEVELS.get(record.levelno, record.levelname.lower())
        where = record.name.removeprefix("labs.").replace(".", "/")
        self.lines.append(f"{at}:{int(record.msecs):03} {level:<10} {where:<14} {record.getMessage()}")
        if not logging.getLogger().handlers and logging.lastResort and record.levelno >= logging.WARNING:
            logging.lastResort.handle(record)  # this handler must not keep it from the program's own log


KEPT = Kept()
logging.getLogger("labs").addHandler(KEPT)


@command("show logging", help="show logging")
def show_logging(box: Box, words: Words) -> str:
    """Print what was noted, the oldest first."""
    del box
    words.end()
    return "".join(f"{line}\n" for line in KEPT.lines)


@command("clear logging", help="clear logging")
def clear_logging(box: Box, words: Words) -> str:
    """Forget what was noted."""
    del box
    words.end()
    KEPT.lines.clear()
    return ""
