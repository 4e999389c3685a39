"""Functions over trees: lists, tuples and dictionaries, nested, with anything else as leaves."""

from collections import defaultdict
from itertools import zip_longest
from typing import Any, Callable, Dict, List, Optional, Tuple, Union


def _rebuilt(tree, items):
    """A sequence like `tree` of other items; named tuples are made from their fields one by one."""
    return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)


def _is_end(tree, is_leaf) -> bool:
    if is_leaf is not None and is_leaf(tree):
        return True
    return not isinstance(tree, (list, tuple, dict))


def tree_map(fn: Callable, tree: Any, *rest: Any, is_leaf: Optional[Callable] = None) -> Any:
    """The tree with `fn(leaf, *leaves of the rest)` in the place of each leaf."""
    if _is_end(tree, is_leaf):
        return fn(tree, *rest)
    if isinstance(tree, dict):
        return {key: tree_map(fn, item, *(r[key] for r in rest), is_leaf=is_leaf) for key, item in tree.items()}
    return _rebuilt(tree, (tree_map(fn, item, *(r[i] for r in rest), is_leaf=is_leaf) for i, item in enumerate(tree)))


def tree_map_with_path(
    fn: Callable, tree: Any, *rest: Any, is_leaf: Optional[Callable] = None, path: Optional[Any] = None
) -> Any:
    """Like `tree_map`, with the leaf's path (`a.0.b`) as the first argument of `fn`."""
    if _is_end(tree, is_leaf):
        return fn(path, tree, *rest)
    prefix = f"{path}." if path else ""

    def below(key, item):
        others = (r[key] for r in rest)
        return tree_map_with_path(fn, item, *others, is_leaf=is_leaf, path=f"{prefix}{key}")

    if isinstance(tree, dict):
        return {key: below(key, item) for key, item in tree.items()}
    return _rebuilt(tree, (below(i, item) for i, item in enumerate(tree)))


def tree_flatten(
    tree: Any,
    prefix: str = "",
    is_leaf: Optional[Callable] = None,
    destination: Optional[Union[List[Tuple[str, Any]], Dict[str, Any]]] = None,
) -> Union[List[Tuple[str, Any]], Dict[str, Any]]:
    """The leaves with their paths (`a.0.b`), as a list of pairs or in the given list or dictionary."""
    if destination is None:
        destination = []
    if not isinstance(destination, (list, dict)):
        raise ValueError(f"[tree_flatten] destination must be a list, a dict or None but is {type(destination)}.")
    if _is_end(tree, is_leaf):
        path = prefix[1:]
        if isinstance(destination, dict):
            destination[path] = tree
        else:
            destination.append((path, tree))
        return destination
    for key, item in tree.items() if isinstance(tree, dict) else enumerate(tree):
        tree_flatten(item, f"{prefix}.{key}", is_leaf, destination)
    return destination


def tree_unflatten(tree: Union[List[Tuple[str, Any]], Dict[str, Any]]) -> Any:
    """The tree whose leaves have the given paths: what `tree_flatten` takes apart."""
    items = list(tree.items() if isinstance(tree, dict) else tree)
    if len(items) == 1 and items[0][0] == "":
        return items[0][1]
    children = defaultdict(list)
    for path, leaf in items:
        first, _, rest = path.partition(".")
        children[first].append((rest, leaf))
    if not all(key.isdigit() for key in children):
        return {key: tree_unflatten(below) for key, below in children.items()}
    found = {int(key): tree_unflatten(below) for key, below in children.items()}
    # What a list lacks in between are empty dictionaries.
    return [found.get(i, {}) for i in range(max(found, default=-1) + 1)]


def tree_reduce(fn, tree, initializer=None, is_leaf=None):
    """What `fn(sum so far, leaf)` gives over the leaves; without an initializer, from the first leaf on."""
    if _is_end(tree, is_leaf):
        return tree if initializer is None else fn(initializer, tree)
    for item in tree.values() if isinstance(tree, dict) else tree:
        initializer = tree_reduce(fn, item, initializer, is_leaf)
    return initializer


def tree_merge(tree_a, tree_b, merge_fn=None):
    """Both trees together; where both have a leaf, what `merge_fn` gives for them."""
    if isinstance(tree_a, (dict, list, tuple)) and len(tree_a) == 0:
        tree_a = None
    if isinstance(tree_b, (dict, list, tuple)) and len(tree_b) == 0:
        tree_b = None
    if tree_a is None or tree_b is None:
        return tree_b if tree_a is None else tree_a
    if isinstance(tree_a, dict) and isinstance(tree_b, dict):
        keys = [*tree_a, *(key for key in tree_b if key not in tree_a)]
        return {key: tree_merge(tree_a.get(key), tree_b.get(key), merge_fn) for key in keys}
    if isinstance(tree_a, (list, tuple)) and isinstance(tree_b, (list, tuple)):
        return type(tree_a)(tree_merge(a, b, merge_fn) for a, b in zip_longest(tree_a, tree_b))
    if merge_fn is None:
        raise ValueError("[tree_merge] trees with leaves in one place must come with a merge_fn but there is none.")
    return merge_fn(tree_a, tree_b)
