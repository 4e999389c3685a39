"""Ten lines of MLX: a line is fitted by gradient descent, on the GPU if there is one."""

import mlx.core as mx


def loss(w, x, y):
    return mx.mean(mx.square(x @ w - y))


x = mx.random.normal((64, 3))
y = x @ mx.array([1.0, -2.0, 0.5])
w = mx.zeros((3,))
step = mx.compile(lambda w: w - 0.1 * mx.grad(loss)(w, x, y))
for _ in range(100):
    w = step(w)
print(mx.default_device(), w)
