"""A trend as a picture: PNG, or an HTML page that holds the same as SVG."""

from __future__ import annotations

import html
import io
from pathlib import Path
from typing import Any

from assay.core.trend import Trend
from assay.errors import UsageError
from assay.reports.trend_text import as_text

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>:root{{color-scheme:light dark}}body{{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}}
div{{overflow-x:auto}}svg{{width:100%;min-width:44rem;height:auto;background:#fff}}pre{{white-space:pre-wrap}}</style>
<h1>{title}</h1><div>{picture}</div><pre>{text}</pre></html>
"""


def write_png(trend: Trend, path: Path) -> None:
    """Raises UsageError where matplotlib is not installed."""
    _plot(trend).savefig(path, format="png", dpi=120)


def as_html(trend: Trend) -> str:
    """One self-contained page, nothing from the network."""
    written = io.StringIO()
    _plot(trend).savefig(written, format="svg")
    picture = written.getvalue()
    title = html.escape(f"{trend.metric} of {trend.case} on {trend.flow}")
    return _PAGE.format(title=title, picture=picture[picture.index("<svg") :], text=html.escape(as_text(trend)))


def _plot(trend: Trend) -> Any:
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise UsageError("plots need matplotlib: run pip install 'assay[trend]'") from None
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    axes = figure.add_subplot()
    values = [point.value for point in trend.points]
    axes.plot(range(len(values)), values, ".", color="#3b6ea5", markersize=5, label="runs")
    edges = [0, *(change.place for change in trend.changes), len(values)]
    levels = [trend.changes[0].before, *(change.after for change in trend.changes)] if trend.changes else []
    for left, right, level in zip(edges, edges[1:], levels, strict=False):
        axes.plot([left, right - 1], [level, level], "-", color="#444444", linewidth=1.5)
    # Labels stand below all points, where the margin leaves room for them.
    axes.margins(y=0.2)
    for change in trend.changes:
        axes.axvline(change.place - 0.5, color="#888888", linewidth=0.8, linestyle=":")
        text = f"{change.percent:+.1f} %\n{change.first_commit[:9]}"
        axes.text(change.place, 0.02, text, transform=axes.get_xaxis_transform(), fontsize=8)
    if trend.alarms:
        at = list(trend.alarms)
        axes.plot(at, [values[place] for place in at], "v", color="#b3261e", markersize=9, label="alarm")
    axes.set_title(f"{trend.case} on {trend.flow}, {trend.machine}", fontsize=10)
    axes.set_ylabel(f"{trend.metric} ({trend.unit})" if trend.unit else trend.metric)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    days = dict.fromkeys((trend.points[0].started_at[:10], trend.points[-1].started_at[:10]))
    axes.set_xlabel(f"runs, {' to '.join(days)}")
    axes.grid(alpha=0.25)
    axes.legend(loc="upper left", fontsize=8)
    return figure
