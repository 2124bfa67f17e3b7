"""A look at whether widgets work in this browser, before they are needed."""

from __future__ import annotations

import ipywidgets as widgets
import plotly.graph_objects as go

_AXIS = {"gridcolor": "rgba(128,128,128,0.3)", "zerolinecolor": "rgba(128,128,128,0.3)"}
_HOW = "Press the button: the text must change, and the line must move."


def widget_test() -> widgets.VBox:
    """Return a small panel that shows whether buttons and live figures work here.

    If only text appears instead of it, or pressing changes nothing, the browser and the kernel do not
    understand each other's widgets: see the hint that the page gives.
    """
    figure = go.FigureWidget(
        data=[go.Scatter(y=[1, 3, 2, 4], mode="lines+markers", name="presses")],
        layout={
            "height": 180,
            "width": 420,
            "margin": {"l": 40, "r": 10, "t": 10, "b": 30},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": "#808080"},
            "xaxis": {"title": "press", **_AXIS},
            "yaxis": _AXIS,
        },
    )
    button = widgets.Button(description="Press me", tooltip="changes the text and the line")
    status = widgets.HTML(f'<div role="status" aria-live="polite">{_HOW}</div>')
    presses = 0

    def pressed(_: widgets.Button) -> None:
        nonlocal presses
        presses += 1
        status.value = (
            f'<div role="status" aria-live="polite">✓ Widgets work: {presses} '
            f"press{'es' if presses != 1 else ''} reached Python.</div>"
        )
        with figure.batch_update():
            values = list(figure.data[0].y)
            figure.data[0].y = [*values[1:], values[0]]

    button.on_click(pressed)
    return widgets.VBox([widgets.HBox([button, status]), figure])
