#!/usr/bin/env python3
"""Whether a language server keeps what it computed for texts that are gone. Prints its memory over random edits of a text with
`?` dims and dims that have names, each followed by requests.

    lsp_memory.py QUERN [--edits 10000] [--ask METHOD]... [--seed 1] [--again]

`--ask` names the requests (hover, completion, …; `none` for edits alone); without it three of all but `rename` follow each
edit. Types and dims are interned for good, so texts that are new each time add to the memory, some 18 bytes
an edit. Syntax trees and uses of names grow until each declaration of the library has been named once. With `--again` the edits and
requests of the warm-up come again and again, and nothing of that kind is new. (A rename is tried in a session of its own,
whose dims are new each time.)

Three kinds of memory are measured every 80 edits, always with the text of the beginning: what the session keeps (the request
`quern/memory`), the memory that the process has for itself, and that with the pages of the program's file which it has run.
One measurement says little: tables with bounds hold more or less by the moment they were last emptied, and the kernel gives
pages of 2 MiB. So the growth is that of the line through all of them (least squares) over the edits, with its standard error.
"""
import argparse
import math
import random

from lsp_bench import Server

URI = "file:///tmp/lsp_memory.relay"
EDITS_TO_A_TEXT = 40
# After as many edits as a text has, so that a measurement changes nothing of what follows.
WARM_UP, BETWEEN = 2000, 2 * EDITS_TO_A_TEXT
TEXT = """\
// A text with dims of every kind.
type Layer[T] { Layer(weight: T, bias: T) }
op twice(%a: Tensor[s, t]) -> Tensor[s, t] { [..i] => %a[..i] * 2 }
def @rows(%a: Tensor[(?, 4), float32]) { let %b = nn.relu(%a); concatenate((%b, %b), axis=0) }
def @dense[n, i, o](%x: Tensor[(n, i), float32], %w: Tensor[(o, i), float32]) -> Tensor[(n, o), float32] {
  let %y = nn.dense(%x, %w);
  nn.relu(%y) + 1f
}
def @flat[n](%x: Tensor[(n, 2, 3), float32]) { let %y = reshape(%x, newshape=(n * 6,)); sum(%y * %y) }
def @pool[n](%x: Tensor[(1, 3, n, n), float32]) { nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2]) }
def @either(%c: bool, %a: Tensor[(2, ?), float32]) { if (%c) { %a } else { exp(%a) } }
def @any(%v) { let (%p, %q) = (%v, %v); %p + %q }
let %x = ones(shape=[2, 3]);
let %w = ones(shape=[5, 3]);
let %y = @dense(%x, twice(%w));
@rows(ones(shape=[7, 4]));
test "dense" { assert_equal(@flat(ones(shape=[1, 2, 3])), 6f) }
"""
FRAGMENTS = ["\n", " ", ";", "(", ")", "{", "}", "[", "]", '"', "/*", "*/", "//", "%x", "%y", "%b", "@dense", "@rows(%x)", "1", "2f",
             ", ", "?", "n", "n * 2", "(n, 3)", "let %z = ", "let %x = 1;\n", "def @g(%b) { %b }\n", "nn.relu(%x)", "twice(%x)",
             "Tensor[(n, ?), float32]", "Tensor[(?, m), float32]", "if (True) { %x } else { %y }", "fn [k](%a: Tensor[(k,), float32]) { %a }",
             "[..i] => %a[..i]", "reshape(%x, newshape=(n, 3))"]
POSITION, RANGE, DOCUMENT = range(3)
REQUESTS = {
    "hover": POSITION, "completion": POSITION, "signatureHelp": POSITION, "definition": POSITION, "references": POSITION,
    "rename": POSITION, "selectionRange": POSITION, "documentSymbol": DOCUMENT, "foldingRange": DOCUMENT, "codeLens": DOCUMENT,
    "formatting": DOCUMENT, "semanticTokens/full": DOCUMENT, "semanticTokens/range": RANGE, "inlayHint": RANGE, "codeAction": RANGE,
}


def place(text, offset):
    line = text.count("\n", 0, offset)
    return {"line": line, "character": offset - (text.rfind("\n", 0, offset) + 1)}


class Editor:
    """A client with one document, which edits it and asks about it."""

    def __init__(self, program, seed, again):
        self.server = Server([program, "lsp"])
        self.random, self.seed, self.again, self.edits = random.Random(seed), seed, again, 0
        self.version, self.text = 1, TEXT
        self.server.answer(self.server.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}}))
        self.server.notify("initialized", {})
        document = {"uri": URI, "languageId": "quern", "version": 1, "text": TEXT}
        self.server.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, change):
        self.version += 1
        self.server.notify("textDocument/didChange", {"textDocument": {"uri": URI, "version": self.version},
                                                      "contentChanges": [change]})

    def somewhere(self):
        return self.random.randrange(len(self.text) + 1)

    def edit(self):
        """An edit at random, now and then back to the text of the beginning."""
        self.edits += 1
        if self.edits % EDITS_TO_A_TEXT == 0:
            return self.restore()
        begin = self.somewhere()
        end = min(len(self.text), begin + self.random.randrange(6))
        text = self.random.choice(FRAGMENTS) if self.random.random() < 0.75 else ""
        self.change({"range": {"start": place(self.text, begin), "end": place(self.text, end)}, "text": text})
        self.text = self.text[:begin] + text + self.text[end:]

    def restore(self):
        self.text = TEXT
        self.change({"text": TEXT})

    def ask(self, kind):
        begin = self.somewhere()
        end = min(len(self.text), begin + self.random.randrange(80))
        at, last = place(self.text, begin), place(self.text, end)
        params = {"textDocument": {"uri": URI}, "positions": [at], "newName": "%other",
                  "context": {"includeDeclaration": True, "diagnostics": []}, "options": {"tabSize": 2, "insertSpaces": True}}
        if REQUESTS[kind] == POSITION:
            params["position"] = at
        if REQUESTS[kind] == RANGE:
            params["range"] = {"start": at, "end": last}
        self.server.answer(self.server.request("textDocument/" + kind, params))

    def run(self, edits, kinds):
        for _ in range(edits):
            self.edit()
            for kind in self.random.sample(kinds, min(3, len(kinds))):
                self.ask(kind)
            # The server checks a text when it has nothing else to do: no version is to be left out.
            self.server.diagnostics(URI, self.version)
            self.server.messages.clear()
            if self.again and self.edits % WARM_UP == 0:
                self.random.seed(self.seed)

    def memory(self):
        """In MB, by kind, of the server at rest."""
        assert self.text == TEXT
        kept = self.server.answer(self.server.request("quern/memory", {}))["result"]
        own, resident = self.server.memory("RssAnon"), self.server.memory("VmRSS")
        return {"kept": sum(row["bytes"] for row in kept) / 2**20, "of its own": own, "resident": resident}


def line_through(xs, ys):
    """The line's values at the first and the last x, and the standard error of their difference."""
    n, middle_x, middle_y = len(xs), sum(xs) / len(xs), sum(ys) / len(ys)
    square = sum((x - middle_x) ** 2 for x in xs)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys)) / square
    left = sum((y - middle_y - slope * (x - middle_x)) ** 2 for x, y in zip(xs, ys))
    error = math.sqrt(left / (n - 2) / square) * (xs[-1] - xs[0])
    return middle_y + slope * (xs[0] - middle_x), middle_y + slope * (xs[-1] - middle_x), error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--ask", action="append", choices=[*REQUESTS, "none"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    kinds = [kind for kind in options.ask or set(REQUESTS) - {"rename"} if kind != "none"]
    kinds.sort()
    editor = Editor(options.program, options.seed, options.again)
    editor.run(WARM_UP, kinds)
    edits = range(BETWEEN, options.edits + 1, BETWEEN)
    measured = []
    for _ in edits:
        editor.run(BETWEEN, kinds)
        measured.append(editor.memory())
    for kind in measured[0]:
        first, last, error = line_through(edits, [one[kind] for one in measured])
        growth = f"{(last / first - 1) * 100:+5.1f} % (± {error / first * 100:.1f})"
        per_edit = (last - first) * 2**20 / (edits[-1] - edits[0])
        print(f"  {kind:10}  {first:6.2f} MB after {edits[0]} edits, {last:6.2f} after {edits[-1]}  {growth}  {per_edit:4.0f} bytes/edit")


if __name__ == "__main__":
    main()
