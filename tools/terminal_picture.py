#!/usr/bin/env python3
"""Makes an SVG of a terminal's screen.

    tmux capture-pane -e -p -t SESSION | tools/terminal_picture.py > docs/pictures/NAME.svg

Reads lines with the colours of terminals (ECMA-48 SGR), as tmux writes them, from standard input; empty lines at the end are
left out. Widths are those of Python's unicodedata: wide characters take two columns.
"""

import re
import sys
import unicodedata
from xml.sax.saxutils import escape

CELL_WIDTH, CELL_HEIGHT, MARGIN, FONT_SIZE = 8.4, 18, 10, 14
PAPER, INK = "#1c1f26", "#d7dae0"
SIXTEEN = ["#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4",
           "#7f8694", "#ff7b86", "#b5e08f", "#ffd68a", "#84c5ff", "#dd93f2", "#7ad3de", "#ffffff"]


def indexed(number):
    if number < 16:
        return SIXTEEN[number]
    if number < 232:
        level = [0, 95, 135, 175, 215, 255]
        number -= 16
        return "#%02x%02x%02x" % (level[number // 36], level[number // 6 % 6], level[number % 6])
    return "#%02x%02x%02x" % ((8 + 10 * (number - 232),) * 3)


class Style:
    def __init__(self):
        self.reset()

    def reset(self):
        self.front = self.behind = None
        self.bold = self.dim = self.italic = self.underline = self.reverse = False

    def take(self, numbers):
        """The numbers of one `ESC [ … m`."""
        numbers = iter(numbers or [0])
        for n in numbers:
            if n == 0:
                self.reset()
            elif n in (1, 2, 3, 4, 7):
                setattr(self, {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse"}[n], True)
            elif n == 22:
                self.bold = self.dim = False
            elif n in (23, 24, 27):
                setattr(self, {23: "italic", 24: "underline", 27: "reverse"}[n], False)
            elif 30 <= n <= 37 or 90 <= n <= 97:
                self.front = SIXTEEN[n - 30 if n < 90 else n - 82]
            elif 40 <= n <= 47 or 100 <= n <= 107:
                self.behind = SIXTEEN[n - 40 if n < 100 else n - 92]
            elif n in (38, 48):
                kind = next(numbers)
                colour = (indexed(next(numbers)) if kind == 5 else
                          "#%02x%02x%02x" % (next(numbers), next(numbers), next(numbers)))
                setattr(self, "front" if n == 38 else "behind", colour)
            elif n == 39:
                self.front = None
            elif n == 49:
                self.behind = None

    def now(self):
        front, behind = self.front or INK, self.behind
        if self.reverse:
            front, behind = behind or PAPER, self.front or INK
        return front, behind, self.bold, self.dim, self.italic, self.underline


def width_of(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def runs_of(line, style):
    """Pieces of a line that look the same: their column, their text and their look."""
    column = 0
    for part in re.split(r"(\x1b\[[0-9;:]*m)", line):
        if part.startswith("\x1b["):
            style.take([int(n or 0) for n in re.split("[;:]", part[2:-1])] if part != "\x1b[m" else [])
        elif part:
            yield column, part, style.now()
            column += width_of(part)


def shapes_of(row, column, text, look):
    front, behind, bold, dim, italic, underline = look
    x, top, width = MARGIN + column * CELL_WIDTH, MARGIN + row * CELL_HEIGHT, width_of(text) * CELL_WIDTH
    if behind:
        yield f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="{CELL_HEIGHT}" fill="{behind}"/>'
    more = ' font-weight="bold"' if bold else ""
    more += ' opacity="0.6"' if dim else ""
    more += ' font-style="italic"' if italic else ""
    more += ' text-decoration="underline"' if underline else ""
    # Each piece between wider gaps has a place of its own, so that columns stay columns in any font.
    for piece in re.finditer(r"\S+(?: \S+)*", text):
        at, length = x + width_of(text[:piece.start()]) * CELL_WIDTH, width_of(piece[0]) * CELL_WIDTH
        yield (f'<text x="{at:.1f}" y="{top + 13}" fill="{front}" textLength="{length:.1f}"{more}>'
               f"{escape(piece[0])}</text>")


def picture_of(lines):
    style, shapes, columns = Style(), [], 0
    for row, line in enumerate(lines):
        for column, text, look in runs_of(line, style):
            shapes += shapes_of(row, column, text, look)
            columns = max(columns, column + width_of(text.rstrip()))
    width, height = round(2 * MARGIN + columns * CELL_WIDTH), 2 * MARGIN + len(lines) * CELL_HEIGHT
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{FONT_SIZE}">\n'
            f'<rect width="100%" height="100%" rx="6" fill="{PAPER}"/>\n' + "\n".join(shapes) + "\n</svg>\n")


def main():
    lines = sys.stdin.read().split("\n")
    while lines and not re.sub(r"\x1b\[[0-9;:]*m", "", lines[-1]).strip():
        lines.pop()
    sys.stdout.write(picture_of(lines))


if __name__ == "__main__":
    main()
