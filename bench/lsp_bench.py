#!/usr/bin/env python3
"""How soon a language server answers, on a file of 10,000 lines. Prints medians and 99th percentiles in milliseconds.

    lsp_bench.py QUERN [CLANGD]

Each edit gives a function another result type, so that one line far below is wrong or right again. Right behind it, without a
pause, come the requests; an answer is fresh where it has the new type, else it is of the version before.
"""
import json
import os
import select
import statistics
import subprocess
import sys
import time

LINES = 10_000
ROUNDS = 60


class Server:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.buffer = b""
        self.messages = []
        self.next_id = 0

    def send(self, method, params, is_request):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if is_request:
            self.next_id += 1
            message["id"] = self.next_id
        text = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()
        return self.next_id

    def notify(self, method, params):
        self.send(method, params, False)

    def request(self, method, params):
        return self.send(method, params, True)

    def receive(self):
        while True:
            end = self.buffer.find(b"\r\n\r\n")
            if end >= 0:
                header = self.buffer[:end].decode()
                length = next(int(line.split(":")[1]) for line in header.split("\r\n") if line.lower().startswith("content-length"))
                if len(self.buffer) >= end + 4 + length:
                    text = self.buffer[end + 4 : end + 4 + length]
                    self.buffer = self.buffer[end + 4 + length :]
                    return json.loads(text)
            ready, _, _ = select.select([self.process.stdout], [], [], 120)
            assert ready, "the server does not answer"
            received = os.read(self.process.stdout.fileno(), 1 << 20)
            assert received, "the server has ended"
            self.buffer += received

    def wait(self, wanted):
        for i, message in enumerate(self.messages):
            if wanted(message):
                return self.messages.pop(i)
        while True:
            message = self.receive()
            if "id" in message and "method" in message:
                text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": None}).encode()
                self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
                self.process.stdin.flush()
                continue
            if wanted(message):
                return message
            self.messages.append(message)

    def answer(self, request):
        return self.wait(lambda message: message.get("id") == request and "method" not in message)

    def diagnostics(self, uri, version):
        def of_version(message):
            params = message.get("params") or {}
            return (message.get("method") == "textDocument/publishDiagnostics" and params.get("uri") == uri
                    and params.get("version", version) == version)
        return self.wait(of_version)["params"]["diagnostics"]

    def memory(self, kind="VmRSS"):
        """In MB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(kind)) / 1024


def percentile(times, part):
    times = sorted(times)
    return times[min(len(times) - 1, int(part * len(times)))]


def row(what, times, note=""):
    print(f"  {what:34} p50 {statistics.median(times) * 1e3:9.2f}   p99 {percentile(times, 0.99) * 1e3:9.2f}   {note}")


class Language:
    """A text of LINES functions, of which the first may have either of two types, and the last but two uses it."""

    def __init__(self, name, command, suffix, header, function, types, use, uses):
        self.name, self.command, self.suffix = name, command, suffix
        self.header, self.function, self.types, self.use, self.uses = header, function, types, use, uses

    def text(self):
        lines = [self.header(self.types[0])]
        lines += [self.function(i) for i in range(LINES - 2)]
        return "\n".join(lines + [self.use]) + "\n"


def quern(program):
    return Language("quern", [program, "lsp"], ".relay",
                    lambda t: f"def @base(%x: {t}) -> {t} {{ %x }}",
                    lambda i: f"def @f{i}(%x: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] {{ nn.relu(%x * 2.0) }}",
                    ("float32", "int32"), "def @use(%x: float32) -> float32 { @base(%x) }", "@base")


def clangd(program):
    return Language("clangd", [program, "--log=error", "--background-index=false", "-j=2"], ".cpp",
                    lambda t: f"{t} base({t} x) {{ return x; }}",
                    lambda i: f"float f{i}(const float* x, int n) {{ float s = 0; for (int i = 0; i < n; ++i) s += x[i] * 2; return s; }}",
                    ("float*", "int*"), "float* use(float* x) { return base(x); }", "base")


def measure(language):
    server = Server(language.command)
    uri = f"file:///tmp/lsp_bench{language.suffix}"
    server.answer(server.request("initialize", {"processId": None, "rootUri": None, "capabilities": {
        "textDocument": {"publishDiagnostics": {"versionSupport": True}, "semanticTokens": {
            "requests": {"full": {"delta": True}}, "tokenTypes": [], "tokenModifiers": [], "formats": ["relative"]},
            "completion": {"completionItem": {}}, "hover": {"contentFormat": ["plaintext"]}}}}))
    server.notify("initialized", {})
    print(f"{language.name}, {LINES} lines")
    text = language.text()
    start = time.perf_counter()
    server.notify("textDocument/didOpen", {"textDocument": {
        "uri": uri, "languageId": "cpp" if language.suffix == ".cpp" else "quern", "version": 1, "text": text}})
    server.diagnostics(uri, 1)
    row("open to diagnostics", [time.perf_counter() - start])
    document = {"uri": uri}
    last = LINES - 1
    column = language.use.index(language.uses) + 2
    tokens = server.answer(server.request("textDocument/semanticTokens/full", {"textDocument": document}))
    result = (tokens.get("result") or {}).get("resultId", "")
    requests = {
        "hover": ("textDocument/hover", {"position": {"line": last, "character": column}}),
        "completion": ("textDocument/completion", {"position": {"line": last, "character": column + 1}}),
        "signature help": ("textDocument/signatureHelp", {"position": {"line": last, "character": column + 4}}),
        "inlay hints": ("textDocument/inlayHint", {"range": {
            "start": {"line": last - 40, "character": 0}, "end": {"line": last, "character": 200}}}),
        "semantic tokens, delta": ("textDocument/semanticTokens/full/delta", {"previousResultId": result}),
    }
    diagnostics, answers, fresh, old = [], {name: [] for name in requests}, {name: 0 for name in requests}, language.types[0]
    version = 1
    names = list(requests)
    rounds = ROUNDS if language.name == "quern" else ROUNDS // 6
    for turn in range(rounds):
        new = language.types[(turn + 1) % 2]
        version += 1
        before = language.header(old)
        edit = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"range": {
            "start": {"line": 0, "character": 0}, "end": {"line": 0, "character": len(before)}}, "text": language.header(new)}]}
        # The diagnostics of an edit alone, then an edit with a request right behind it.
        name = names[turn % len(names)]
        method, params = requests[name]
        if name == "semantic tokens, delta":
            params = {"previousResultId": result}
        start = time.perf_counter()
        server.notify("textDocument/didChange", edit)
        if turn % 2 == 0:
            server.diagnostics(uri, version)
            diagnostics.append(time.perf_counter() - start)
            old = new
            continue
        request = server.request(method, {"textDocument": document, **params})
        found = server.answer(request)
        answers[name].append(time.perf_counter() - start)
        if name == "semantic tokens, delta":
            result = (found.get("result") or {}).get("resultId", result)
        fresh[name] += new in json.dumps(found.get("result"))
        server.diagnostics(uri, version)
        old = new
    row("edit to its diagnostics", diagnostics)
    for name, times in answers.items():
        if times:
            row(f"edit to {name}", times, f"{fresh[name]} of {len(times)} with the new type" if name == "hover" else "")
    print(f"  memory {server.memory():.0f} MB")
    rename(server, language, uri, version)
    server.answer(server.request("shutdown", {}))
    server.notify("exit", {})
    server.process.wait()


def rename(server, language, uri, version):
    """A name with 1,000 uses."""
    uses = [language.use.replace("use", f"use{i}", 1) for i in range(1000)]
    text = "\n".join([language.header(language.types[0])] + uses) + "\n"
    server.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": version + 1}, "contentChanges": [{"text": text}]})
    server.diagnostics(uri, version + 1)
    times = []
    column = language.header(language.types[0]).index("base") + 1
    for turn in range(10):
        start = time.perf_counter()
        answer = server.answer(server.request("textDocument/rename", {
            "textDocument": {"uri": uri}, "position": {"line": 0, "character": column}, "newName": "other"}))
        times.append(time.perf_counter() - start)
        assert "result" in answer, answer
    row("rename with 1,000 uses", times)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    measure(quern(sys.argv[1]))
    if len(sys.argv) > 2:
        measure(clangd(sys.argv[2]))
