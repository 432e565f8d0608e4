# What a matplotlib figure shows, as data beside its picture. run.py and a context's kernel.py execute this once pyplot is loaded.
import io
import json
import math
import os
import struct
import sys
from itertools import islice

# The host takes no more; further figures are named on stderr.
MAX_CHARTS = 20
MAX_PNG_BYTES = 8 << 20
MAX_JSON_BYTES = 500_000
# Of all series of one figure; a longer series is thinned out evenly.
MAX_POINTS = 5_000
MAX_SERIES = 100
MAX_OUTLIERS = 200
MAX_TEXT_CHARS = 300
# Of each axis; a context's kernel shows some.
MAX_TICKS = 0

process = os.getpid()
sent = 0


def install(pyplot):
    from matplotlib.axes import Axes

    def show(*args, **kwargs):
        """As a window that is closed at once: the figures are shown, and gone."""
        for number in pyplot.get_fignums():
            send(pyplot.figure(number))
        pyplot.close("all")

    def finish():
        for number in pyplot.get_fignums():
            try:
                send(pyplot.figure(number))
            except Exception as error:
                print(f"A figure could not be drawn: {error!r}", file=sys.stderr)

    def bxp(self, bxpstats, *args, **kwargs):
        self._sandhaven_boxes = getattr(self, "_sandhaven_boxes", []) + list(bxpstats)
        return draw_boxes(self, bxpstats, *args, **kwargs)

    draw_boxes = Axes.bxp
    Axes.bxp = bxp
    pyplot.show = show
    pyplot._sandhaven_finish = finish


def send(figure):
    """Nothing for a figure without content, nor in a process that the code forked."""
    global sent
    if os.getpid() != process or len(figure.get_children()) < 2:
        return
    picture = draw(figure)
    sent += 1
    if sent > MAX_CHARTS:
        print(f"Only the first {MAX_CHARTS} charts are returned.", file=sys.stderr)
        return
    try:
        text = encode(describe(figure))
    except Exception:
        text = encode(chart("unknown", figure_title(figure)))
    emit(text, picture)


def draw(figure):
    """A picture over the bound is drawn again with fewer dots."""
    dots = figure.dpi
    while True:
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", bbox_inches="tight", dpi=dots)
        picture = buffer.getvalue()
        if len(picture) <= MAX_PNG_BYTES or dots < 10:
            return picture
        dots *= 0.9 * math.sqrt(MAX_PNG_BYTES / len(picture))


def emit(text, picture):
    view = memoryview(struct.pack("<I", len(text)) + text + struct.pack("<I", len(picture)) + picture)
    try:
        while view:
            view = view[os.write(CHARTS_FD, view) :]
    except OSError:
        pass


def encode(description):
    encoded = json.dumps(description, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    if len(encoded) <= MAX_JSON_BYTES:
        return encoded
    return encode({**description, "elements": [], "total_elements": len(description["elements"])})


def chart(kind, title=None, **rest):
    fields = {"x_label": None, "y_label": None, "x_scale": None, "y_scale": None, "elements": []}
    return {"type": kind, "title": title, **fields, **rest}


def describe(figure):
    shown = [axes for axes in figure.axes if axes.get_label() != "<colorbar>" and axes.has_data()]
    if not shown:
        return chart("unknown", figure_title(figure))
    budget = MAX_POINTS // len(shown)
    charts = [describe_axes(axes, budget) for axes in shown]
    if len(charts) == 1:
        return {**charts[0], "title": charts[0]["title"] or figure_title(figure)}
    return chart("composite", figure_title(figure), elements=charts)


def describe_axes(axes, budget):
    kind, elements, total = contents(axes, budget)
    cut = {"total_elements": total} if total > len(elements) else {}
    return chart(
        kind,
        text_or_none(axes.get_title() or axes.get_title(loc="left") or axes.get_title(loc="right")),
        x_label=text_or_none(axes.get_xlabel()),
        y_label=text_or_none(axes.get_ylabel()),
        x_scale=scale(axes.xaxis),
        y_scale=scale(axes.yaxis),
        elements=elements,
        **cut,
        **(ticks(axes) if MAX_TICKS and kind in ("line", "scatter") else {}),
    )


def ticks(axes):
    shown = {}
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        to_value = converter(axis)
        shown[f"{name}_ticks"] = [to_value(at) for at in axis.get_ticklocs()[:MAX_TICKS]]
        shown[f"{name}_tick_labels"] = [clip(tick.get_text()) for tick in axis.get_ticklabels()[:MAX_TICKS]]
    return shown


def contents(axes, budget):
    """The kind, the first elements, and how many there are in all."""
    from matplotlib.collections import PathCollection
    from matplotlib.container import BarContainer
    from matplotlib.patches import Wedge

    if axes.name != "rectilinear":
        return "unknown", [], 0
    boxes = getattr(axes, "_sandhaven_boxes", [])
    if boxes:
        return "box", [box(stats) for stats in boxes[:MAX_SERIES]], len(boxes)
    wedges = [patch for patch in axes.patches if isinstance(patch, Wedge)]
    if wedges:
        return "pie", [wedge(patch) for patch in wedges[:budget]], len(wedges)
    bars = [container for container in axes.containers if isinstance(container, BarContainer)]
    if bars:
        shown = islice((bar for container in bars for bar in bar_group(axes, container)), budget)
        return "bar", list(shown), sum(len(container.patches) for container in bars)
    lines = [line for line in axes.get_lines() if line.get_transform() == axes.transData]
    drawn = [line for line in lines if line.get_linestyle() not in ("None", " ", "")]
    dots = [line for line in lines if line not in drawn]
    clouds = [cloud for cloud in axes.collections if isinstance(cloud, PathCollection)]
    series = [(line, line.get_xydata()) for line in drawn + dots]
    series += [(cloud, cloud.get_offsets()) for cloud in clouds]
    if not series:
        return "unknown", [], 0
    budget //= len(series[:MAX_SERIES])
    elements = [points(axes, artist, pairs, budget) for artist, pairs in series[:MAX_SERIES]]
    return ("line" if drawn else "scatter"), elements, len(series)


def points(axes, artist, pairs, budget):
    import numpy

    element = {"label": label(artist)}
    pairs = numpy.ma.filled(numpy.ma.asarray(pairs, dtype=float), numpy.nan)
    if len(pairs) > max(budget, 2):
        element["total_points"] = len(pairs)
        pairs = pairs[numpy.linspace(0, len(pairs) - 1, max(budget, 2)).astype(int)]
    to_x, to_y = converter(axes.xaxis), converter(axes.yaxis)
    return {**element, "points": [[to_x(x), to_y(y)] for x, y in pairs.tolist()]}


def bar_group(axes, container):
    horizontal = getattr(container, "orientation", "vertical") == "horizontal"
    axis = axes.yaxis if horizontal else axes.xaxis
    group = label(container)
    bars = []
    for patch in container.patches:
        start, size = patch.get_x(), patch.get_width()
        value = patch.get_height()
        if horizontal:
            value, start, size = size, patch.get_y(), value
        bars.append((start, size, value))
    adjacent = len(bars) > 1 and all(
        math.isclose(start + size, following[0], rel_tol=1e-6, abs_tol=1e-12)
        for (start, size, _), following in zip(bars, bars[1:])
    )
    names = tick_names(axis)
    for start, size, value in bars:
        if not names and adjacent and scale(axis) == "linear":
            name = f"{start:g} – {start + size:g}"
        else:
            name = nearest(names, start + size / 2) or str(converter(axis)(start + size / 2))
        yield {"label": clip(name), "value": number(value), **({"group": group} if group else {})}


def tick_names(axis):
    """Names of positions, where they are names and not just the positions' numbers."""
    from matplotlib.ticker import FixedFormatter, FuncFormatter

    mapping = getattr(axis.units, "_mapping", None)
    if mapping:
        return {float(position): str(name) for name, position in mapping.items()}
    if not isinstance(axis.get_major_formatter(), (FixedFormatter, FuncFormatter)):
        return {}
    names = [tick.get_text() for tick in axis.get_ticklabels()]
    return {float(at): name for at, name in zip(axis.get_ticklocs(), names) if name}


def nearest(names, position):
    """Grouped bars stand beside the tick that names them."""
    if not names:
        return None
    closest = min(names, key=lambda at: abs(at - position))
    return names[closest] if abs(closest - position) <= 0.5 else None


def wedge(patch):
    # Of single precision, in which matplotlib computes them.
    angle = round(abs(float(patch.theta2) - float(patch.theta1)), 6)
    return {"label": label(patch), "angle": number(angle), "radius": number(patch.r)}


def box(stats):
    outliers = [number(value) for value in list(stats.get("fliers", []))[:MAX_OUTLIERS]]
    return {
        "label": clip(str(stats.get("label", ""))) or None,
        "min": number(stats.get("whislo")),
        "q1": number(stats.get("q1")),
        "median": number(stats.get("med")),
        "q3": number(stats.get("q3")),
        "max": number(stats.get("whishi")),
        "outliers": outliers,
    }


def is_date(axis):
    if getattr(axis, "freq", None):
        return True
    known = getattr(axis, "_converter", None) or getattr(axis, "converter", None)
    return "date" in type(known).__name__.lower()


def scale(axis):
    if getattr(axis.units, "_mapping", None):
        return "categorical"
    return "datetime" if is_date(axis) else axis.get_scale()


def converter(axis):
    """From a position on the axis to what the code plotted there."""
    mapping = getattr(axis.units, "_mapping", None)
    if mapping:
        names = {float(position): clip(str(name)) for name, position in mapping.items()}
        return lambda value: names.get(value, number(value))
    frequency = getattr(axis, "freq", None)
    if frequency:
        # pandas counts periods of this length.
        from pandas import Period

        return lambda value: Period(ordinal=int(value), freq=frequency).start_time.isoformat()
    if is_date(axis):
        from matplotlib.dates import num2date

        return lambda value: num2date(value).isoformat() if math.isfinite(value) else None
    return number


def number(value):
    """null for what JSON cannot hold."""
    if value is None:
        return None
    value = float(value)
    return value if math.isfinite(value) else None


def label(artist):
    text = str(artist.get_label() or "")
    return None if not text or text.startswith("_") else clip(text)


def figure_title(figure):
    return text_or_none(getattr(getattr(figure, "_suptitle", None), "get_text", str)())


def text_or_none(text):
    return clip(text) if text else None


def clip(text):
    return text if len(text) <= MAX_TEXT_CHARS else text[: MAX_TEXT_CHARS - 1] + "…"
