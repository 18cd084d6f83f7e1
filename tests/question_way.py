"""The way of a question as a picture: boxes that name real functions, drawn to `docs/pictures/question.svg`.

The structure below is the picture; `tests/test_docs.py` proves that every name in it exists and that the
committed file is what this draws.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.sax.saxutils import escape

FILE = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "question.svg"

Kind = Literal["step", "end"]

LAYERS = ("rekal_site", "holders", "memories")
TITLES = {
    "rekal_site": "rekal_site: how it is reached",
    "holders": "holders: who",
    "memories": "memories: what",
}
COLUMN, ROW, BOX, HEIGHT, TOP, LEFT = 330, 104, 280, 70, 64, 25


@dataclass(frozen=True, slots=True)
class Box:
    """A box: its place, the dotted name it stands for ('' for a way in or an end), and what happens there."""

    key: str
    layer: str
    row: int
    name: str
    text: str
    kind: Kind = "step"


@dataclass(frozen=True, slots=True)
class Arrow:
    """From one box to another; `text` says when."""

    start: str
    end: str
    text: str = ""


BOXES = (
    Box("face", "rekal_site", 0, "", "page, POST /api/ask, MCP, rekal ask"),
    Box("viewer", "holders", 0, "holders.auth.viewer_for", "who asks: session, token or --as"),
    Box("ask", "holders", 1, "holders.ask.ask", "hop 0 first, then holder by holder"),
    Box("recall", "memories", 1, "memories.recall.recall", "names and dates out of the question"),
    Box("visible", "memories", 2, "memories.visibility.AtomQuerySet.visible_to", "nothing below sees more"),
    Box("find", "memories", 3, "memories.search.find", "FTS5 arm and vec0 arm inside that set"),
    Box("score", "memories", 4, "memories.scoring.score", "meaning, words, named, dated"),
    Box("relevance", "memories", 5, "memories.answerability.relevance", "the chance that it answers, 0 to 1"),
    Box("answered", "rekal_site", 5, "", "answered: the memories", "end"),
    Box("who", "holders", 6, "holders.who_knows.rank", "by standing, topics, help given before"),
    Box("hidden", "memories", 6, "memories.hidden.standings", "an ordinal per holder, nothing else"),
    Box("live", "holders", 7, "holders.live.Round.ask", "holders with a server of their own"),
    Box("referred", "rekal_site", 7, "", "referred: whom to ask, and how", "end"),
    Box("nobody", "rekal_site", 8, "", "no_holder_knows: a result", "end"),
)
ARROWS = (
    Arrow("face", "viewer"),
    Arrow("viewer", "ask"),
    Arrow("ask", "recall"),
    Arrow("recall", "visible"),
    Arrow("visible", "find"),
    Arrow("find", "score"),
    Arrow("score", "relevance"),
    Arrow("relevance", "answered", "0.5 and more, among the first five"),
    Arrow("relevance", "who", "less"),
    Arrow("hidden", "who"),
    Arrow("who", "live"),
    Arrow("live", "referred"),
    Arrow("live", "nobody"),
)

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1d2733; }
.layer { font-weight: 600; fill: #52606d; }
.name { font: 600 12px ui-monospace, monospace; }
.when { font-size: 12px; fill: #52606d; }
.step { fill: #f4f7fb; stroke: #7b8ea3; }
.end { fill: #e6f4ea; stroke: #3b8757; }
.lane { stroke: #d5dde6; stroke-dasharray: 3 5; }
.arrow { fill: none; stroke: #52606d; stroke-width: 1.5; marker-end: url(#tip); }
"""


def draw() -> str:
    """The picture as SVG."""
    width = LEFT * 2 + COLUMN * 2 + BOX
    height = TOP + ROW * (max(box.row for box in BOXES) + 1) - (ROW - HEIGHT) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' role="img" aria-labelledby="title">',
        '<title id="title">The way of a question through rekal</title>',
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7"'
        ' orient="auto"><path d="M0 0 8 4 0 8z" fill="#52606d"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *_lanes(height),
        *(_arrow(arrow) for arrow in ARROWS),
        *(_box(box) for box in BOXES),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _corner(box: Box) -> tuple[int, int]:
    return LEFT + LAYERS.index(box.layer) * COLUMN, TOP + box.row * ROW


def _lanes(height: int) -> Iterator[str]:
    for number, layer in enumerate(LAYERS):
        left = LEFT + number * COLUMN
        yield f'<text class="layer" x="{left}" y="36">{escape(TITLES[layer])}</text>'
        if number:
            middle = left - (COLUMN - BOX) // 2
            yield f'<line class="lane" x1="{middle}" y1="20" x2="{middle}" y2="{height - 20}"/>'


def _box(box: Box) -> str:
    left, top = _corner(box)
    lines = [(".".join(box.name.split(".")[1:]), "name")] if box.name else []
    lines.append((box.text, "text"))
    first = top + HEIGHT / 2 + 5 - 10 * (len(lines) - 1)
    return (
        f'<rect class="{box.kind}" x="{left}" y="{top}" width="{BOX}" height="{HEIGHT}" rx="8"/>'
        + "".join(
            f'<text class="{style}" x="{left + 14}" y="{first + 21 * number:g}">{escape(text)}</text>'
            for number, (text, style) in enumerate(lines)
        )
    )


def _arrow(arrow: Arrow) -> str:
    boxes = {box.key: box for box in BOXES}
    (start_x, start_y), (end_x, end_y) = _corner(boxes[arrow.start]), _corner(boxes[arrow.end])
    middle, half = HEIGHT / 2, BOX / 2
    if start_x == end_x:
        path, label = f"M{start_x + half:g} {start_y + HEIGHT} V{end_y}", (start_x + half + 8, end_y - 12)
    else:
        right = end_x > start_x
        out, to = start_x + BOX * right, end_x + BOX * (not right)
        turn = to - 25 if right else to + 25
        path = f"M{out} {start_y + middle:g} H{turn} V{end_y + middle:g} H{to}"
        label = (turn + 10, start_y + middle - 8 if start_y == end_y else start_y + HEIGHT + 22)
    text = f'<text class="when" x="{label[0]:g}" y="{label[1]:g}">{escape(arrow.text)}</text>'
    return f'<path class="arrow" d="{path}"/>' + (text if arrow.text else "")


def main() -> None:
    """Write the file."""
    FILE.write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
