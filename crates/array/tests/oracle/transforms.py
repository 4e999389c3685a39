"""Writes transforms.txt: derivatives of small functions as the MLX wheel gives them.

Run with a Python that has the wheel (`pip install "mlx[cpu]"`): python transforms.py > transforms.txt

Each line is `NAME TYPE SHAPE: VALUES`; the functions stand under the same names in transforms.rs. Complex values are two numbers.
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)

X = mx.array([0.5, -1.25, 2.0, 0.75, -0.5, 1.5]).reshape(2, 3)
Y = mx.array([1.0, 0.25, -0.75])
B = mx.array([[0.5], [2.0]])
I = mx.array([1, -2, 3])
Z = mx.array([1 + 2j, -0.5 + 0.25j])
W = mx.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6]).reshape(3, 2)


def show(name, arrays):
    for i, a in enumerate(arrays):
        flat = a.flatten()
        values = flat.tolist()
        if a.dtype == mx.complex64:
            values = [part for z in values for part in (z.real, z.imag)]
        shape = "x".join(map(str, a.shape)) or "scalar"
        print(f"{name}.{i} {str(a.dtype)[9:].removeprefix('.')} {shape}:", *(repr(v) for v in values))


def tanh_layer(x, w):
    return mx.tanh(x[:, :, None] * w[None]).sum(axis=1).square().mean()


def cross_entropy(x, y):
    return ((mx.log(mx.exp(x).sum(axis=1, keepdims=True)) - x) * y).sum()


def ties(x):
    return (mx.maximum(x, mx.abs(x)) + mx.minimum(x, 0.5)).sum()


def chosen(x, y):
    return (mx.where(x > y, x * y, mx.sin(x)) + mx.clip(x, -1, 1)).sum()


def stopped(x):
    return (x * mx.stop_gradient(mx.exp(x))).sum()


def cube(x):
    return (x * x * x).sum()


show("tanh_layer", mx.grad(tanh_layer, argnums=[0, 1])(X, W))
show("cross_entropy", mx.grad(cross_entropy, argnums=[0, 1])(X, Y))
show("outer", mx.grad(lambda a, b: mx.exp(a * b).sum(), argnums=[0, 1])(B, Y))
show("ties", [mx.grad(ties)(mx.array([0.0, 0.5, 1.0, -1.0]))])
show("chosen", mx.grad(chosen, argnums=[0, 1])(X, Y))
show("stopped", [mx.grad(stopped)(Y)])
show("integers", [mx.grad(cube)(I)])
show("halves", [mx.grad(cube)(X.astype(mx.float16)), mx.grad(cube)(X.astype(mx.bfloat16))])
show("complex", [mx.grad(lambda z: mx.abs(z * z).sum())(Z), mx.grad(lambda z: mx.real(mx.exp(z)).sum())(Z)])
show("complex_forward", mx.jvp(lambda z: mx.exp(z) * z, [Z], [Z])[1])
show("per_row", [mx.vmap(mx.grad(lambda x: cross_entropy(x[None], Y)))(X)])
show("per_column", mx.vmap(mx.grad(lambda a, b: mx.exp(a * b).sum(), argnums=[0, 1]), in_axes=(1, None))(X, B[:, 0]))
hessian = lambda f: lambda x: mx.vmap(lambda v: mx.jvp(mx.grad(f), [x], [v])[1][0])(mx.eye(x.size))
show("hessian", [hessian(lambda x: (mx.sin(x) * x.sum()).sum())(Y)])
show("forward_over_vmap", mx.jvp(mx.vmap(lambda x: x.square().sum()), [X], [X])[1])
show("cast", mx.vjp(lambda x: [x.astype(mx.float16)], [Y], [Y])[1])
