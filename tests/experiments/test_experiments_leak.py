from __future__ import annotations

import pytest
from long_tests import not_in_docker

from labs import spy, two_vpps, whisper
from labs.errors import LabError
from labs.experiments.leak import Spied

WORDS = "the combination of the safe is 17-4-23"


def test_what_a_client_lends_its_server_can_read_and_copied_it_cannot(engine):
    not_in_docker(engine)
    lab = two_vpps("leak", engine=engine)
    lab.start()
    try:
        before = lab["vpp2"].cli("show interface")
        whisper(lab, "vpp2", WORDS)
        assert lab["vpp2"].cli("show interface").split()[:9] == before.split()[:9]
        assert "word-vpp2" not in lab["vpp2"].cli("show memif")
        found = spy(lab, "vpp1", "vpp2", "the combination")
        assert found.found
        assert found.text.startswith(WORDS)  # also what was not looked for
        assert found.size > 30 << 20
        whisper(lab, "vpp1", "what only the server knows")
        assert not spy(lab, "vpp2", "vpp1", "what only the server").found

        lab.rebuild_links(zero_copy=False)
        whisper(lab, "vpp2", "said once it is copied")
        found = spy(lab, "vpp1", "vpp2", "said once it is")
        assert not found.found
        assert 0 < found.size < 8 << 20
        lab["vpp1"].kill()
        with pytest.raises(LabError, match="vpp1"):
            spy(lab, "vpp1", "vpp2", "anything")
        with pytest.raises(LabError, match="vpp1"):
            whisper(lab, "vpp1", "anything")
    finally:
        lab.stop()


@pytest.mark.parametrize("words", ["", "x" * 1401, "\u00e9" * 701, 17, None, b"bytes"])
def test_only_a_line_can_be_whispered(words):
    with pytest.raises(LabError, match="Nothing can be whispered but a line of text"):
        whisper(None, "vpp2", words)


def test_it_says_in_a_sentence_what_was_found():
    assert str(Spied("vpp1", "vpp2", 4096)) == (
        "vpp1 and vpp2 both have 4,096 bytes of memory. The words are not among them: vpp1 cannot read them."
    )
    assert str(Spied("vpp1", "vpp2", 4096, "pool", 17, "the words")).endswith(
        "At byte 17 of pool stands: the words"
    )
