from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs import drawing
from labs.drawing import End, LabView, NodeView
from labs.views import Live, mpps

SVG = "{http://www.w3.org/2000/svg}"
words = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), max_size=12)


def end(role, address="", *, socket="memif.sock", number=0, connected=True, interface="memif0/0"):
    return End(socket, number, interface, role, address, connected)


def two(*, connected=True, cores=((0,), (1,)), pinned=True):
    return LabView(
        "lab: VPP, engine process",
        (
            NodeView("vpp1", cores[0], pinned, (end("server", "10.10.2.1/24", connected=connected),)),
            NodeView("vpp2", cores[1], pinned, (end("client", "10.10.2.2/24", connected=connected),)),
        ),
    )


def parsed(view):
    return ET.fromstring(drawing.svg(view))  # noqa: S314 - our own text


def spoken(view):
    return [each.text for each in parsed(view).iter(f"{SVG}text")]


def test_the_words_name_every_node_and_link():
    assert drawing.text(two()).splitlines() == [
        "lab: VPP, engine process",
        "  vpp1: core 0",
        "  vpp2: core 1",
        "  vpp1 memif0/0 (server, 10.10.2.1/24) ── vpp2 memif0/0 (client, 10.10.2.2/24): connected",
    ]


def test_a_link_with_one_end_up_is_not_connected():
    left, right = two().nodes
    view = LabView("lab", (left, NodeView("vpp2", (1,), pinned=True, ends=(end("client", connected=False),))))
    assert drawing.text(view).endswith(": not connected")
    assert left.ends[0].connected
    assert right.ends[0].connected


def test_ends_meet_on_one_socket_with_one_id_only():
    view = LabView(
        "lab",
        (
            NodeView("a", (0,), pinned=True, ends=(end("server"), end("server", number=1))),
            NodeView("b", (0,), pinned=True, ends=(end("client", number=1), end("client", socket="other"))),
        ),
    )
    assert [(i, a.id, j, b.id) for i, a, j, b in view.links()] == [(0, 1, 1, 1)]


def test_two_ends_of_one_node_are_no_link():
    view = LabView("lab", (NodeView("a", (0,), pinned=True, ends=(end("server"), end("client"))),))
    assert view.links() == []


def test_an_end_that_meets_no_other_is_told_too():
    view = LabView("lab", (NodeView("a", (0,), pinned=True, ends=(end("server", interface="memif4/2"),)),))
    assert drawing.text(view).endswith("  a memif4/2 (server): meets no other end")
    assert "memif4/2: no other end" in spoken(view)


def test_ends_that_meet_a_probe_are_told_whom_they_meet():
    ends = [
        End(f"{k}.sock", 0, f"memif{k}/0", "server", "", connected=k < 3, peer="probe of VPP Labs")
        for k in (1, 2, 3)
    ]
    view = LabView("lab", (NodeView("a", (0,), pinned=True, ends=tuple(ends)),))
    assert "a memif1/0 (server): connected to probe of VPP Labs" in drawing.text(view)
    assert "a memif3/0 (server): meets no other end" in drawing.text(view)
    assert "memif1/0, memif2/0: probe; memif3/0: no other end" in spoken(view)


def test_a_node_that_ended_is_said_to_have():
    view = LabView("lab", (NodeView("vpp1", None, pinned=True),))
    assert "vpp1: ended" in drawing.text(view)
    assert "✕ ended" in spoken(view)


@pytest.mark.parametrize(
    ("cores", "pinned", "expected"),
    [
        ((0,), True, "core 0"),
        ((0, 1), True, "cores 0,1"),
        ((0, 1), False, "free to move on cores 0,1"),
        (None, True, "ended"),
    ],
)
def test_where_a_node_runs_in_words(cores, pinned, expected):
    assert NodeView("a", cores, pinned).placed == expected


def test_the_drawing_has_its_words_as_a_label():
    root = parsed(two())
    assert root.get("role") == "img"
    assert root.get("aria-label").split() == drawing.text(two()).split()


def test_the_drawing_shows_names_roles_and_addresses():
    assert {"vpp1", "vpp2", "server", "client", "10.10.2.1/24", "10.10.2.2/24"} <= set(spoken(two()))


def test_nodes_on_one_core_stand_in_one_band():
    assert spoken(two(cores=((0,), (0,)))).count("core 0") == 1
    assert {"core 0", "core 1"} <= set(spoken(two()))


def test_a_link_that_is_down_looks_and_reads_otherwise():
    def line(view):
        return next(parsed(view).iter(f"{SVG}line"))

    assert line(two()).get("stroke-dasharray") is None
    assert line(two(connected=False)).get("stroke-dasharray")
    assert "memif, not connected" in spoken(two(connected=False))


def test_everything_lies_inside_the_picture():
    root = parsed(LabView("lab", tuple(NodeView(f"n{k}", (k,), pinned=True) for k in range(8))))
    _, _, width, height = (float(each) for each in root.get("viewBox").split())
    for box in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(box.get(name)) for name in ("x", "y", "width", "height"))
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= height


def test_a_stopped_lab_is_a_title():
    view = LabView("two-vpps: stopped (nodes vpp1, vpp2)", ())
    assert drawing.text(view) == view.title
    assert spoken(view) == [view.title]


def live_words(view, live):
    root = ET.fromstring(drawing.svg(view, live))  # noqa: S314 - our own text
    return [each.text for each in root.iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("pair", "rates"), [(("vpp1", "vpp2"), (12.0, 0.5)), (("vpp2", "vpp1"), (0.5, 12.0))]
)
def test_rates_are_drawn_in_their_directions(pair, rates):
    live = Live({pair: rates}, {"vpp1": "interrupt"})
    assert {"12.0 Mpps →", "← 0.50 Mpps", "rx-mode: interrupt"} <= set(live_words(two(), live))
    assert drawing.text(two(), live).endswith("connected, 12.0 Mpps forth, 0.50 Mpps back")


def test_a_rate_that_is_unknown_is_no_zero():
    assert {"— Mpps →", "← — Mpps"} <= set(live_words(two(), Live()))
    assert "Mpps" not in drawing.text(two(), Live())
    unknown = Live({("vpp1", "vpp2"): (1.0, 1.0)}, running=False)
    assert {"— Mpps →", "← — Mpps"} <= set(live_words(two(), unknown))


@pytest.mark.parametrize(("rate", "words"), [(0, "0.00 Mpps"), (9.994, "9.99 Mpps"), (28.25, "28.2 Mpps")])
def test_a_rate_in_words(rate, words):
    assert mpps(rate) == words


def test_a_node_that_ended_is_crossed_out_and_has_no_mode():
    view = LabView("lab", (NodeView("vpp1", None, pinned=True), NodeView("vpp2", (1,), pinned=True)))
    root = ET.fromstring(drawing.svg(view, Live(modes={"vpp1": "polling"})))  # noqa: S314 - our own text
    assert len(list(root.iter(f"{SVG}path"))) == 2
    assert "rx-mode: polling" not in [each.text for each in root.iter(f"{SVG}text")]


def test_two_links_between_two_nodes_do_not_lie_on_each_other():
    ends = [[end(role, number=number) for number in range(3)] for role in ("server", "client")]
    view = LabView(
        "lab", tuple(NodeView(name, (0,), pinned=True, ends=tuple(ends[at])) for at, name in enumerate("ab"))
    )
    heights = [float(line.get("y1")) for line in parsed(view).iter(f"{SVG}line")]
    assert len(heights) == 3
    assert min(high - low for low, high in pairwise(heights)) > 30


@given(words, words, words)
def test_any_text_is_escaped(title, name, address):
    view = LabView(
        title,
        (
            NodeView(name, (0,), pinned=True, ends=(end("server", address),)),
            NodeView("b", (0,), pinned=True, ends=(end("client"),)),
        ),
    )
    root = parsed(view)
    assert root.get("aria-label").split() == drawing.text(view).split()
    assert name in [each.text or "" for each in root.iter(f"{SVG}text")]
