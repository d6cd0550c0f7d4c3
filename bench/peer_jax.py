"""JAX's side of the comparison: the same rows as bench_cpu.cpp, by the same protocol (which that file describes).

Inputs are made by the same hash, so that results can be compared. Every call waits for its result.
"""
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

SAMPLE_SECONDS, ROUND_SECONDS = 5e-3, 0.3
sync = jax.block_until_ready


def filled(seed, shape, scale=1.0, dtype=np.float32):
    i = np.arange(np.prod(shape), dtype=np.uint32)
    h = i * np.uint32(0x9E3779B1) + np.uint32(seed * 0x85EBCA77 & 0xFFFFFFFF)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
    h ^= h >> np.uint32(13)
    v = ((h >> np.uint32(8)).astype(np.float32) * np.float32(2**-23) - np.float32(1)) * np.float32(scale)
    return jnp.asarray(v.reshape(shape).astype(dtype))


class Work:
    """call() does the row once and waits; results() are the arrays of a first call; single: each call is a sample."""

    def __init__(self, call, results=None, single=False):
        self.call, self.results, self.single = call, results or call, single


def jitted(f, *args):
    g = jax.jit(f)
    return Work(lambda: sync(g(*args)))


def elementwise(x):
    return jnp.tanh(2.0 * x + 1.0) * jnp.exp(-x * x) + jnp.where(x > 0, x, 0.3)


def normalised(x, gain, shift):
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean(centred * centred, axis=-1, keepdims=True)
    return centred * lax.rsqrt(variance + 1e-5) * gain + shift


def layer_norm_inputs():
    return filled(5, (512, 1024), 2), filled(6, (1024,)), filled(7, (1024,))


def layer_norm_grad():
    def loss(*args):
        return jnp.sum(normalised(*args) ** 2)
    return jitted(jax.grad(loss, argnums=(0, 1, 2)), *layer_norm_inputs())


# The network 784-512-512-10.
def mlp_loss(layers, x, y):
    for i, (w, b) in enumerate(layers):
        x = x @ w + b
        if i + 1 < len(layers):
            x = jax.nn.relu(x)
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(x) * y, axis=-1))


def mlp_step(rate, layers, x, y):
    loss, grad = jax.value_and_grad(mlp_loss)(layers, x, y)
    return jax.tree.map(lambda v, d: v - rate * d, layers, grad), loss


def mlp_state():
    sizes = [784, 512, 512, 10]
    return [(filled(20 + i, (sizes[i], sizes[i + 1]), 0.08), jnp.zeros(sizes[i + 1], jnp.float32)) for i in range(3)]


def mlp_data():
    return filled(30, (128, 784)), jax.nn.one_hot(jnp.arange(128) % 10, 10, dtype=jnp.float32)


def training():
    step = jax.jit(lambda p, x, y: mlp_step(0.01, p, x, y), donate_argnums=0)
    data, state = mlp_data(), [mlp_state()]

    def call():
        state[0], loss = step(state[0], *data)
        sync((state[0], loss))
    return Work(call, lambda: step(mlp_state(), *data))


def reflection(n):
    v = np.array([1 + i * 7 % 4 for i in range(n)], np.float64)
    return jnp.asarray((np.eye(n) - 2 * np.outer(v, v) / (v @ v)).astype(np.float32))


def recur(h, w):
    return lax.scan(lambda now, _: (jnp.tanh(w @ now), None), h, None, length=1000)[0]


# The training step of examples/train_digits.cpp: an ensemble of 8 networks, Adam.
def digits_loss(net, x, y):
    w1, b1, w2, b2 = net
    logits = jax.nn.relu(x @ w1 + b1) @ w2 + b2
    one_hot = jax.nn.one_hot(y, 10, dtype=jnp.float32)
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(logits) * one_hot, axis=-1))


def digits_step(scale, net, mean, square, now, x, y, rows, rate):
    rate = scale * rate
    total = lambda n, *data: jnp.sum(jax.vmap(digits_loss)(n, *data))
    loss, g = jax.value_and_grad(total)(net, x[rows], y[rows])
    now = now + 1
    mean = jax.tree.map(lambda m, d: 0.9 * m + 0.1 * d, mean, g)
    square = jax.tree.map(lambda s, d: 0.999 * s + 0.001 * d * d, square, g)
    c1, c2 = 1 - 0.9**now, 1 - 0.999**now
    net = jax.tree.map(lambda p, m, s: p - rate * (m / c1) / (jnp.sqrt(s / c2) + 1e-8), net, mean, square)
    return net, mean, square, now, loss / 8


def digits_inputs():
    net = (filled(40, (8, 64, 128), 0.3), jnp.zeros((8, 128), jnp.float32),
           filled(41, (8, 128, 10), 0.2), jnp.zeros((8, 10), jnp.float32))
    zero = jax.tree.map(jnp.zeros_like, net)
    rows = jnp.asarray([(i * 37 + 11) % 1198 for i in range(8 * 128)], jnp.int32).reshape(8, 128)
    return (net, zero, zero, jnp.float32(0), filled(42, (1198, 64)), jnp.arange(1198, dtype=jnp.int32) % 10, rows,
            jnp.float32(0.004))


def compiling(f, *args):
    """A function with a constant that no earlier call had."""
    count = [0]

    def fresh(c):
        return sync(jax.jit(lambda *a: f(c, *a))(*args))

    def call():
        count[0] += 1
        fresh(1 + 2**-20 * count[0])
    return Work(call, lambda: fresh(1.0), single=True)


def product(name):
    _, dtype, size = name.split("_")
    m, n, k = map(int, size.split("x"))
    jax.config.update("jax_enable_x64", dtype == "f64")
    dtype = np.float64 if dtype == "f64" else np.float32
    return jitted(jnp.matmul, filled(8, (m, k), 1, dtype), filled(9, (k, n), 1, dtype))


def eager_add():
    x, y = filled(1, (8,)), filled(2, (8,))
    return Work(lambda: sync(x + y))


ROWS = {
    "jit_call": lambda: jitted(lambda x: (x + 1.0) * 2.0, filled(1, (8,))),
    "eager_add": eager_add,
    "softmax": lambda: jitted(jax.nn.softmax, filled(4, (1024, 1024), 4)),
    "layernorm": lambda: jitted(normalised, *layer_norm_inputs()),
    "layernorm_grad": layer_norm_grad,
    "mlp_step": training,
    "scan": lambda: jitted(recur, filled(10, (16,)), reflection(16)),
    "scan_grad": lambda: jitted(jax.grad(lambda h, w: jnp.sum(recur(h, w))), filled(10, (16,)), reflection(16)),
    "compile_elementwise": lambda: compiling(lambda c, x: elementwise(c * x), filled(3, (1 << 16,), 3)),
    "compile_mlp": lambda: compiling(lambda c, p, x, y: mlp_step(0.01 * c, p, x, y), mlp_state(), *mlp_data()),
    "compile_digits": lambda: compiling(digits_step, *digits_inputs()),
}


def make(name):
    jax.config.update("jax_enable_x64", False)
    if name.startswith("matmul_"):
        return product(name)
    if name.startswith("elementwise_"):
        return jitted(elementwise, filled(3, (int(name.split("_")[1]),), 3))
    return ROWS[name]()


def timed(work, calls):
    start = time.perf_counter()
    for _ in range(calls):
        work.call()
    return time.perf_counter() - start


def calls_for(work):
    n = 1
    if work.single:
        return n
    timed(work, 2)
    while (t := timed(work, n)) < SAMPLE_SECONDS:
        n = 10 * n if t < SAMPLE_SECONDS / 100 else int(n * 1.2 * SAMPLE_SECONDS / t) + 1
    return n


def values(array):
    v = np.asarray(array, np.float64).ravel()
    some = [v[k * (len(v) - 1) // 4] for k in range(5)]
    return " ".join(f"{x:.12g}" for x in [len(v), v.sum(), np.abs(v).sum(), *some])


class Server:
    def __init__(self):
        self.name, self.work, self.calls = "", None, 0

    def answer(self, what, name, samples="1"):
        if name != self.name:
            self.work, self.calls = None, 0
            self.work, self.name = make(name), name
        if what == "check":
            return " ; ".join(map(values, jax.tree.leaves(self.work.results())))
        self.calls = self.calls or calls_for(self.work)
        times, start = [], time.perf_counter()
        while not times or (len(times) < int(samples) and time.perf_counter() - start < ROUND_SECONDS):
            times.append(timed(self.work, self.calls) / self.calls)
        return f"{statistics.median(times):.9g}"


def main():
    server = Server()
    print("ok", "JAX", jax.__version__, flush=True)
    for line in sys.stdin:
        try:
            print("ok", server.answer(*line.split()), flush=True)
        except Exception as e:  # the driver shows it in the row
            print("error", repr(e).replace("\n", " ")[:300], flush=True)


main()
