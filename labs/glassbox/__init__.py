"""The glass box: a vector packet processor that is written to be read.

It speaks memif, answers VPP's command lines, and is not VPP.
"""
