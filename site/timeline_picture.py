"""Draws a timeline of a page that `meldsim ... --timeline FILE.html` has written, as SVG.

The rows are the buses and dies that worked for the slowest command, at most as many as fit. What is not for it is pale.
"""

import base64
import gzip
import html
import re

WIDTH, LEFT, ROW, GAP, HEAD = 860, 120, 15, 4, 24
MOST_ROWS = 9
ELEMENT = re.compile(r'<script type="text/plain" class="timeline-data" data-name="([^"]*)"[^>]*>([^<]*)</script>')
BUS = ["command", "data out", "data in"]
WORK = [
    "sense LSB", "sense CSB", "sense MSB", "sense top page", "melded sense", "program", "erase", "copyback", "suspended",
]  # fmt: skip
# As timeline.js has them.
COLOURS = {
    "command": "#787878", "data out": "#003c6e", "data in": "#d55e00", "sense LSB": "#aad7f5", "sense CSB": "#56b4e9",
    "sense MSB": "#1487cd", "sense top page": "#0064a0", "melded sense": "#009e73", "program": "#e69f00", "erase": "#cc3c3c",
    "copyback": "#a0783c", "suspended": "#cc79a7",
}  # fmt: skip


def records(data):
    """The spans and commands of one device: (row, kind, start, length, commands) and number: (start, length)."""
    data, at = gzip.decompress(base64.b64decode(data)), 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    spans, commands, start = [], {}, 0
    # By kind of record: numbers before the times, whether there is a length, whether there are commands.
    forms = {0: (3, True, True), 1: (5, True, True), 2: (2, True, False), 3: (2, True, False), 4: (4, True, False),
             5: (3, False, False), 6: (21, True, False), 7: (2, None, False)}  # fmt: skip
    while at < len(data):
        record = number()
        count, has_length, has_commands = forms[record]
        values = [number() for _ in range(count)]
        if has_length is None:
            continue
        step = number()
        start += -(step >> 1) if step & 1 else step >> 1
        length = number() if has_length else 0
        numbers = [number() for _ in range(number())] if has_commands else []
        if record == 0:
            spans.append(((values[0], -1), BUS[values[2]], start, length, numbers))
        elif record == 1:
            spans.append(((values[0], values[1]), WORK[values[2]], start, length, numbers))
        elif record == 6:
            commands[values[0]] = (start, length)
    return spans, commands


def draw(page):
    """The picture of all timelines of the page, one above the other on one scale."""
    devices = [(html.unescape(name), *records(data)) for name, data in ELEMENT.findall(page)]
    slowest = [max(commands.items(), key=lambda item: (item[1][1], -item[0])) for _, _, commands in devices]
    longest = max(length for _, (_, length) in slowest)
    scale = (WIDTH - LEFT - 12) / longest
    body, y, kinds = [], 0, []
    for (name, spans, _), (command, (begin, length)) in zip(devices, slowest):
        rows = sorted({row for row, _, _, _, numbers in spans if command in numbers})[:MOST_ROWS]
        body.append(f'<text class="title" x="4" y="{y + 16}">{html.escape(name)}: {length / 1e6:.1f} us</text>')
        y += HEAD
        for row in rows:
            title = f"channel {row[0]} bus" if row[1] < 0 else f"channel {row[0]} die {row[1]}"
            body.append(f'<text x="4" y="{y + ROW - 4}">{title}</text>')
            for _, kind, start, span, numbers in sorted(s for s in spans if s[0] == row):
                left, right = max(start - begin, 0), min(start + span - begin, longest)
                if right <= left or kind == "command":
                    continue
                pale = "" if command in numbers else ' opacity=".3"'
                x, width = LEFT + left * scale, max((right - left) * scale, 0.5)
                body.append(
                    f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 2}" fill="{COLOURS[kind]}"{pale}>'
                    f"<title>{kind}, {span / 1e6:.1f} us</title></rect>"
                )
                if kind not in kinds:
                    kinds.append(kind)
            y += ROW
        y += GAP
    x = 4
    for kind in sorted(kinds, key=list(COLOURS).index):
        body.append(f'<rect x="{x}" y="{y + 6}" width="12" height="10" fill="{COLOURS[kind]}"/>')
        body.append(f'<text x="{x + 16}" y="{y + 15}">{kind}</text>')
        x += 30 + 7 * len(kind)
    style = (
        "<style>svg { background: #fff; font: 12px system-ui, sans-serif; } text { fill: #1b1f24; } .title { font-weight: 600; }"
        " rect { stroke: #fff; stroke-width: .5; } @media (prefers-color-scheme: dark) { svg { background: #0d1117; }"
        " text { fill: #e6edf3; } rect { stroke: #0d1117; } }</style>"
    )
    parts = "\n".join(body)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 24}">{style}\n{parts}\n</svg>\n'
