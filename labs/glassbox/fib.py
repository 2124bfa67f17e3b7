"""Longest prefix match: a tree of three levels, over 16, 8 and 8 bits, as in VPP (ip4_mtrie.c).

An entry of the root, or of a *ply* of 256 entries below it, is either an adjacency or, with `PLY` set, the
number of another ply. So an address is found in one, two or three reads, whatever the number of routes.
"""
# ruff: noqa: ANN001, ANN201, ANN202 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.memif.jit import kernel, step

PLY = 1 << 31
_INDEX = PLY - 1


@step
def find(root, plies, address):
    """Return the adjacency behind the longest prefix that fits an address."""
    entry = np.int64(root[address >> 16])
    if entry & PLY:
        entry = np.int64(plies[entry & _INDEX, (address >> 8) & 255])
        if entry & PLY:
            entry = np.int64(plies[entry & _INDEX, address & 255])
    return entry


@kernel
def find_all(root, plies, addresses, found):
    """Look up many addresses."""
    for each in range(addresses.size):
        found[each] = find(root, plies, np.int64(addresses[each]))


@step
def _spread(entries, lengths, first, last, new, old_least, old_most, value, plies, ply_lengths):
    """Write into entries `first` to `last` - 1 and all below, where a length between the bounds stands."""
    for at in range(first, last):
        entry = np.int64(entries[at])
        if entry & PLY:
            ply = entry & _INDEX
            for below in range(256):
                inner = np.int64(plies[ply, below])
                if inner & PLY:
                    leaf = inner & _INDEX
                    for end in range(256):
                        if old_least <= ply_lengths[leaf, end] <= old_most:
                            plies[leaf, end] = value
                            ply_lengths[leaf, end] = new
                elif old_least <= ply_lengths[ply, below] <= old_most:
                    plies[ply, below] = value
                    ply_lengths[ply, below] = new
        elif old_least <= lengths[at] <= old_most:
            entries[at] = value
            lengths[at] = new


@step
def _descend(entries, lengths, at, plies, ply_lengths, used):
    """Return the ply below an entry; make one if there is none, or return -1 if none is left."""
    entry = np.int64(entries[at])
    if entry & PLY:
        return entry & _INDEX
    if used[0] >= plies.shape[0]:
        return -1
    ply = used[0]
    used[0] += 1
    for each in range(256):
        plies[ply, each] = entry
        ply_lengths[ply, each] = lengths[at]
    entries[at] = PLY | ply
    return ply


@kernel
def write(root, root_lengths, plies, ply_lengths, used, prefix, length, new, least, most, value):
    """Let a prefix lead to an adjacency, where nothing longer does.

    Parameters
    ----------
    root, plies : ndarray of uint32
        The tree.
    root_lengths, ply_lengths : ndarray of int8
        The length of the prefix that each entry comes from; -1 where there is none.
    used : ndarray of int64, shape (1,)
        How many plies are in use.
    prefix, length : int
    new : int
        The length to note: `length` for a new route, or that of the route that shows when one is deleted.
    least, most : int
        Only entries that come from a prefix of such a length are written.
    value : int
        The adjacency.

    Returns
    -------
    int
        0, or -1 if there is no room for another ply.
    """
    at = prefix >> 16
    if length <= 16:  # noqa: PLR2004 - the bits of the root
        _spread(
            root, root_lengths, at, at + (1 << (16 - length)), new, least, most, value, plies, ply_lengths
        )
        return 0
    ply = _descend(root, root_lengths, at, plies, ply_lengths, used)
    if ply < 0:
        return -1
    at = (prefix >> 8) & 255
    if length <= 24:  # noqa: PLR2004 - and of the first ply
        last = at + (1 << (24 - length))
        _spread(plies[ply], ply_lengths[ply], at, last, new, least, most, value, plies, ply_lengths)
        return 0
    leaf = _descend(plies[ply], ply_lengths[ply], at, plies, ply_lengths, used)
    if leaf < 0:
        return -1
    at = prefix & 255
    last = at + (1 << (32 - length))
    _spread(plies[leaf], ply_lengths[leaf], at, last, new, least, most, value, plies, ply_lengths)
    return 0
