"""Training steps (forward, backward, update) against PyTorch's fastest, with the same weights, interleaved in one run.

    /usr/bin/python3 main.py QUERN [--threads N] [--rounds N] [--json] [--list] [--batches N,N…] [NAME…]

With `--batches` the rows that take any batch are measured at each of these. Each row's Relay text prints the losses of 50 steps, and then the milliseconds of further ones. The losses of both must agree
to a hundredth of the first. Exit code 1: a row failed, or losses differ.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LOSSES = 50
TOLERANCE = 1e-2


def arguments():
    parser = argparse.ArgumentParser(prog="dev bench training")
    parser.add_argument("quern", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--batches", type=lambda text: [int(n) for n in text.split(",")], metavar="N,N…")
    parser.add_argument("names", nargs="*", metavar="NAME")
    return parser.parse_intermixed_args()


def text_at(name, row):
    """The row's network on another batch than that of its text."""
    def tensor(value):
        shape = ", ".join(str(extent) for extent in value.shape)
        return f"Tensor[({shape},), {str(value.dtype).removeprefix('torch.')}]"
    return (f'import "{HERE}/{name}.relay" as one\nimport "{HERE}/steps.relay" as steps\n\n'
            f"def @main(%net: one.Net, %x: {tensor(row.x)}, %y: {tensor(row.y)}, %steps: int32) {{\n"
            "  @steps.measure(@one.loss, %net, %x, %y, %steps)\n}\n")


def quern(options, text, weights, steps):
    """The losses, and milliseconds a step."""
    command = [options.quern, "run", "--threads", str(options.threads), "--params", weights, "--input", f"steps={steps}",
               text]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = done.stdout.split()
    if done.returncode != 0 or len(lines) != LOSSES + 1:
        raise RuntimeError(done.stderr or f"printed {len(lines)} lines, not {LOSSES + 1}")
    numbers = [float(line) for line in lines]
    return numbers[:LOSSES], numbers[LOSSES]


def measure(options, name, batch, peer, folder):
    import torch
    from safetensors_file import write_safetensors
    torch.manual_seed(0)
    row = peer.ROWS[name](batch) if batch else peer.ROWS[name]()
    text = os.path.join(HERE, f"{name}.relay")
    if batch:
        text = os.path.join(folder, f"{name}.relay")
        with open(text, "w") as file:
            file.write(text_at(name, row))
    weights = os.path.join(folder, f"{name}.safetensors")
    write_safetensors(weights, row.tensors())
    steps, losses = {}, None
    for variant, make in peer.variants(row):
        steps[variant] = make()
        reached = [steps[variant]().item() for _ in range(LOSSES)] if losses is None else [steps[variant]() for _ in range(3)]
        losses = losses or reached
    first = {variant: peer.milliseconds(step, row.steps) for variant, step in steps.items()}
    best = min(first, key=first.get)
    ours, theirs = [], []
    for _ in range(options.rounds):
        found, time = quern(options, text, weights, row.steps)
        ours.append(time)
        theirs.append(peer.milliseconds(steps[best], row.steps))
    difference = max(abs(a - b) for a, b in zip(found, losses)) / abs(losses[0])
    ratios = [b / a for a, b in zip(ours, theirs)]
    low, ratio, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return {"name": f"{name}@{batch}" if batch else name, "quern_ms": statistics.median(ours), "peer_ms": statistics.median(theirs), "peer": best,
            "ratio": ratio, "spread": [low, high], "loss_difference": difference, "threads": options.threads}


def line_of(row):
    low, high = row["spread"]
    return (f"{row['name']:18} {row['quern_ms']:9.3f} {row['peer_ms']:9.3f}  {row['ratio']:5.2f} ({low:.2f} to {high:.2f})"
            f"  {row['loss_difference']:8.1e}  {row['peer']}")


def main():
    options = arguments()
    import torch_training as peer
    rows = peer.SWEPT if options.batches else peer.ROWS
    chosen = [name for name in rows if not options.names or any(name.startswith(n) for n in options.names)]
    if options.list or not chosen:
        print("\n".join(rows))
        return 0 if options.list else 1
    import torch
    torch.set_num_threads(options.threads)
    if not options.json:
        print(f"{'model':18} {'quern ms':>9} {'peer ms':>9}  ratio (quartiles)     losses    peer; {options.threads} threads")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, batch in ((name, batch) for name in chosen for batch in options.batches or [None]):
            try:
                row = measure(options, name, batch, peer, folder)
            except RuntimeError as problem:
                print(f"{name}: {problem}", file=sys.stderr)
                failed = True
                continue
            failed |= row["loss_difference"] > TOLERANCE
            print(json.dumps(row) if options.json else line_of(row), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
