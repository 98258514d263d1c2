# SPDX-License-Identifier: Apache-2.0
"""_info.py - what the library says about devices, operations and more, as plain attributes."""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Dict


class Info(SimpleNamespace):
    """Attributes with the names of the C struct. asdict() gives them as a dictionary."""

    def asdict(self) -> Dict[str, Any]:
        """The attributes as a dictionary."""
        return dict(vars(self))

    def __getattr__(self, name: str) -> Any:  # only for what is not there, and for type checkers
        raise AttributeError("it has no %r, but %s" % (name, ", ".join(sorted(vars(self)))))
