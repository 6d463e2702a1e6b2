"""One BLAS thread for products that are too small to gain from more.

numpy and scipy each bring a BLAS with threads of its own. Where small calls of both
alternate, the threads of one wait actively while the other works.
"""

from __future__ import annotations

import threading
from functools import cache
from types import TracebackType
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    """Return the libraries that are loaded; looking for them takes milliseconds."""
    return ThreadpoolController()


class OneBlasThread:
    """Limits BLAS to one thread while any Python thread is in the context.

    The setting belongs to the process: the first to enter changes it, and the last to
    leave restores it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                self._limits = _controller().limit(limits=1, user_api="blas")
            self._users += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limits.restore_original_limits()


#: The one context that all code of the process shares.
one_blas_thread = OneBlasThread()
