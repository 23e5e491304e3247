#!/usr/bin/env python3
"""Whether a language server keeps what it computed for texts that are gone. Prints its resident memory over random edits of a
text with `?` dims and dims that have names, each followed by requests.

    lsp_memory.py QUERN [--edits 10000] [--ask METHOD]... [--seed 1] [--again]

`--ask` names the requests (hover, completion, …; `none` for edits alone); without it three of all but `rename` follow each
edit. Types and dims are interned for good, so texts that are new each time add to the memory; with `--again` the edits and
requests of the warm-up come again and again, and nothing of that kind is new. (A rename is tried in a session of its own,
whose dims are new each time.) What is printed is the growth from 100 edits behind the warm-up on.
"""
import argparse
import random

from lsp_bench import Server

URI = "file:///tmp/lsp_memory.relay"
WARM_UP, FIRST = 2000, 100
EDITS_TO_A_TEXT = 40
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
        if self.again and self.edits % WARM_UP == 0:
            self.random.seed(self.seed)
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

    def memory(self):
        """Of the server at rest, with the text of the beginning."""
        self.restore()
        self.server.diagnostics(URI, self.version)
        self.server.messages.clear()
        return self.server.memory()


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
    editor.run(FIRST, kinds)
    first = editor.memory()
    print(f"  {FIRST:6} edits  {first:7.1f} MB", flush=True)
    steps = 10
    for step in range(1, steps + 1):
        editor.run((options.edits - FIRST) // steps, kinds)
        edits, now = FIRST + step * ((options.edits - FIRST) // steps), editor.memory()
        per_edit = (now - first) * 2**20 / (edits - FIRST)
        print(f"  {edits:6} edits  {now:7.1f} MB  {(now / first - 1) * 100:+5.1f} %  {per_edit:5.0f} bytes/edit", flush=True)


if __name__ == "__main__":
    main()
