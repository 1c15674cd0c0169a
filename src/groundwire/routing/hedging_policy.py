"""The parameters of the hedging policy.

What each rule changes is in `benchmarks/NOTES.md`, "Rules of routing switched off". The defaults were chosen by a
simulation of the fault patterns in `benchmarks/fates.py` and confirmed on sockets:
hedging at the running provider's own 95th percentile costs about 5 % more calls and removes the long tail.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["HedgePolicy"]


class HedgePolicy(NamedTuple):
    """When the next provider starts, and how often a failed one is retried."""

    quantile: float = 0.95
    """The share of the running provider's latencies after which a paid provider is started as a hedge."""
    free_quantile: float = 0.5
    """The same for a free provider."""
    shortest: float = 0.15
    """The minimum in seconds."""
    longest: float = 1.5
    """The maximum in seconds."""
    slot_wait: float = 2.0
    """Maximum seconds to wait for a rate-limit slot while other providers could be called."""
    outage_wait: float = 4.0
    """Maximum seconds to wait for the end of a short outage of all providers."""
    unknown: float = 0.8
    """Seconds, until a provider has enough samples."""
    extra_paid: float = 0.10
    """Maximum paid calls per search, in the long run, beyond those of a sequential chain: hedges, further rounds
    and control queries."""
    extra_paid_burst: float = 8.0
    """How many may be made at once after a quiet period."""
    most_requests: int = 3
    """Maximum requests of one search per second; further ones wait."""
    rounds: int = 3
    """Maximum rounds for transient failures."""
    retries: float = 0.20
    """Tokens that a search earns; a further round costs a whole one."""
    retries_burst: float = 10.0
    """Maximum tokens that accumulate."""
    retry_pause: float = 0.1
    """Seconds before the second round, doubled for the third, with a jitter of half."""
    least_for_retry: float = 0.5
    """Seconds that must be left for a further round."""
    most_drained: int = 32
    """Losing calls that continue to run; more are canceled."""
    fused: int = 3
    """How many providers are called at once for `fuse`."""
    fuse_max_wait: float = 1.0
    """Seconds for the others after one of them has results."""
