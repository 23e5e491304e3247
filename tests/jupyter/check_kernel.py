"""Drives the Jupyter kernel with Jupyter's own client: check_kernel.py NOTEBOOK [--update]

Runs the notebook and compares what its cells give with what is stored in it, then asks what an editor of notebooks asks.
Prints what is wrong; the exit code says whether anything was.
"""

import base64
import sys
import time

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

problems = []


def expect(what, actual, wanted):
    if actual != wanted:
        problems.append(f"{what}:\n  is     {actual!r}\n  wanted {wanted!r}")


def shown(cell):
    """The outputs of a cell without what differs from run to run: what is printed may come in several messages."""
    outputs = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            before = outputs.pop()[1] if outputs and outputs[-1][0] == output.name else ""
            outputs.append((output.name, before + output.text))
        elif output.output_type == "error":
            outputs.append(("error", output.evalue))
        else:
            outputs.append((output.output_type, {kind: seen(kind, data) for kind, data in output.data.items()}))
    return outputs


def seen(kind, data):
    """Of pixels the beginning of their file, up to width and height: how they are packed is Cairo's own."""
    return base64.b64decode(data)[:24] if kind == "image/png" else data


def check_notebook(path, update):
    notebook = nbformat.read(path, as_version=4)
    stored = [shown(cell) for cell in notebook.cells]
    NotebookClient(notebook, kernel_name="quern", timeout=60, allow_errors=True, record_timing=False).execute()
    if update:
        nbformat.write(notebook, path)
        return
    for cell, wanted in zip(notebook.cells, stored):
        expect(cell.source, shown(cell), wanted)


def check_requests():
    manager = KernelManager(kernel_name="quern")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)

    def reply(message):
        while True:
            answer = client.get_shell_msg(timeout=60)
            if answer["parent_header"]["msg_id"] == message:
                return answer["content"]

    def completions(code):
        found = reply(client.complete(code, len(code)))
        return found["matches"][:1], found["cursor_start"], found["cursor_end"]

    expect("completion", completions("nn.rel"), (["nn.relu"], 0, 6))
    expect("completion behind wide characters", completions('print("日本 👍"); nn.rel'), (["nn.relu"], 15, 21))
    expect("completion of a command", completions("1 + 2\n:typ"), ([":type "], 6, 10))
    found = reply(client.inspect("nn.relu(%x)", 3))
    expect("inspection", found["data"].get("text/plain", "").split("\n")[0],
           "op nn.relu(%data: Tensor[s, t]) -> Tensor[s, t]")
    found = reply(client.inspect("nn.dense(ones((2, 3)), ", 23))
    expect("inspection of the call around", found["data"].get("text/plain", "").split("(")[0], "op nn.dense")
    expect("inspection of nothing", reply(client.inspect("1 + ", 4))["found"], False)
    for code, status in (("def @f(%a", "incomplete"), ("1 + 2", "complete"), ("", "complete")):
        expect(f"completeness of {code!r}", reply(client.is_complete(code))["status"], status)

    reply(client.execute("let %kept = 41"))
    long = client.execute("[i < 4] => sum[j < 100000, k < 100000] sin(cast<float32>(i + j * k))")
    time.sleep(1)
    manager.interrupt_kernel()
    start = time.monotonic()
    expect("an interrupted cell", reply(long)["status"], "error")
    if time.monotonic() - start > 5:
        problems.append("an interrupt takes more than 5 seconds")
    # What is sent at once after an error is dropped.
    time.sleep(1)
    reply(client.execute("let %next = %kept + 1"))
    expect("a cell after an interrupt", reply(client.execute("%next"))["status"], "ok")
    client.stop_channels()
    manager.shutdown_kernel()
    expect("the kernel is alive after its end", manager.is_alive(), False)


check_notebook(sys.argv[1], "--update" in sys.argv)
check_requests()
print("\n".join(problems))
sys.exit(1 if problems else 0)
