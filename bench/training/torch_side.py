"""The same training steps in PyTorch; prints milliseconds a step. Usage: torch_side.py mlp|lstm|lstm_loop THREADS"""
import sys, time
import torch
import torch.nn as nn
import torch.nn.functional as F

which, threads = sys.argv[1], int(sys.argv[2])
torch.set_num_threads(threads)
torch.manual_seed(0)

if which == "mlp":
    steps, warm = 50, 5
    net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    x, y = torch.randn(64, 784), torch.randint(0, 10, (64,))
    loss = lambda: F.cross_entropy(net(x), y)
else:
    steps, warm = 20, 3
    xs, zero = torch.randn(20, 16, 300), torch.zeros(16, 512)
    if which == "lstm":  # the fused layer
        net = nn.LSTM(300, 512)
        loss = lambda: net(xs)[0][-1].square().mean()
    else:  # a loop over cells, as the recursive function is
        net = nn.LSTMCell(300, 512)
        def loss():
            h, c = zero, zero
            for t in range(20):
                h, c = net(xs[t], (h, c))
            return h.square().mean()

optimiser = torch.optim.SGD(net.parameters(), lr=0.01)

def step():
    optimiser.zero_grad(set_to_none=True)
    loss().backward()
    optimiser.step()

for _ in range(warm):
    step()
begin = time.perf_counter()
for _ in range(steps):
    step()
print(f"{(time.perf_counter() - begin) / steps * 1000:.4f}")
