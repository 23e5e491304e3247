"""Lines of two times in milliseconds, ours and theirs, as medians and the quartiles of their ratio."""
import statistics
import sys

rounds = [tuple(map(float, line.split())) for line in sys.stdin]
ours, theirs = (statistics.median(times) for times in zip(*rounds))
low, ratio, high = statistics.quantiles([a / b for a, b in rounds], n=4, method="inclusive")
print(f"{sys.argv[1]:24} Quern {ours:8.3f} ms   PyTorch {theirs:8.3f} ms   ratio {ratio:.2f} ({low:.2f} to {high:.2f}) of {len(rounds)} rounds")
