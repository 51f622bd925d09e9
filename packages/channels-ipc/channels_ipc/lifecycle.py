"""Create the node of this process in a directory, and close it.

The node exists from the time when the first layer joins until the last layer leaves or the process ends. A forked child
creates a new node.
"""

import atexit
import os
import threading
from collections import Counter

from .node import Node

_nodes: dict[str, Node] = {}
_users: Counter[str] = Counter()
_lock = threading.Lock()


def join(directory: str) -> Node:
    """Return the node of this process in `directory`. All layers share the node, and each layer must call leave()."""
    with _lock:
        if directory not in _nodes or _nodes[directory].closed:
            _nodes[directory] = Node(directory)
        _users[directory] += 1
        return _nodes[directory]


def leave(directory: str) -> None:
    with _lock:
        _users[directory] -= 1
        if not _users[directory]:
            _nodes.pop(directory).close()


@atexit.register
def _leave_all() -> None:
    for node in _nodes.values():
        node.close()


def _before_fork() -> None:
    _lock.acquire()
    for node in _nodes.values():
        node.before_fork()


def _after_fork_in_parent() -> None:
    try:
        for node in _nodes.values():
            node.after_fork_in_parent()
    finally:
        _lock.release()


def _after_fork_in_child() -> None:
    for node in _nodes.values():
        node.after_fork_in_child()
    _nodes.clear()
    _users.clear()
    _lock.release()


os.register_at_fork(
    before=_before_fork,
    after_in_parent=_after_fork_in_parent,
    after_in_child=_after_fork_in_child,
)
