"""VPP's configuration file, its three doors (CLI, binary API, statistics) and its texts.

The package knows nothing of labs, widgets or notebooks.
"""

from __future__ import annotations
