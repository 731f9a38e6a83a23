"""A client of `semibandit serve`."""

from semibandit.client.client import Client
from semibandit.client.messages import ServedSlate

__all__ = ["Client", "ServedSlate"]
