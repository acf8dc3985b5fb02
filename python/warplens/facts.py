"""Written from result/facts.h by test/result/facts_test.cpp, which compares it."""

from __future__ import annotations

from typing import Any, Dict, Optional

from .statistic import Statistic


class SiteFacts:
    """The figures of an access."""

    def __init__(self, data: Dict[str, Any]) -> None:
        #: warp-level executions in the snapshot; count
        self.executions: int = data["executions"]
        #: active lanes of 32, mean; per request
        self.active_lanes: float = data["active_lanes"]
        #: 32-byte sectors per request; per request
        self.sectors_per_request: Optional[float] = data.get("sectors_per_request")
        #: distinct bytes that lanes requested; bytes
        self.bytes_used: Optional[int] = data.get("bytes_used")
        #: bytes of all sectors touched; bytes
        self.bytes_moved: Optional[int] = data.get("bytes_moved")
        #: shared memory: extra passes per request; per request
        self.bank_conflicts: Optional[float] = data.get("bank_conflicts")
        #: constant memory: addresses per request; per request
        self.constant_addresses: Optional[float] = data.get("constant_addresses")
        #: L1 hit rate; fraction
        self.l1_hit_rate: Optional[Statistic] = Statistic.read(data.get("l1_hit_rate"))
        #: L2 hit rate; fraction
        self.l2_hit_rate: Optional[Statistic] = Statistic.read(data.get("l2_hit_rate"))
        #: hit rate of the SM's constant cache; fraction
        self.constant_hit_rate: Optional[Statistic] = Statistic.read(data.get("constant_hit_rate"))
        #: expected latency of a request; ns
        self.latency_ns: Optional[Statistic] = Statistic.read(data.get("latency_ns"))
        #: share of the kernel's latency; fraction
        self.latency_share: Optional[float] = data.get("latency_share")


class TotalFacts:
    """The figures of a kernel."""

    def __init__(self, data: Dict[str, Any]) -> None:
        #: hit rate of loads in the L1; fraction
        self.l1_read_hit_rate: Optional[Statistic] = Statistic.read(data.get("l1_read_hit_rate"))
        #: hit rate of loads in the L2; fraction
        self.l2_read_hit_rate: Optional[Statistic] = Statistic.read(data.get("l2_read_hit_rate"))
        #: hit rate of stores and atomics in the L2; fraction
        self.l2_write_hit_rate: Optional[Statistic] = Statistic.read(data.get("l2_write_hit_rate"))
        #: hit rate of addresses in the SMs' constant caches; fraction
        self.constant_hit_rate: Optional[Statistic] = Statistic.read(data.get("constant_hit_rate"))
        #: hit rate in the constant caches of groups of SMs; fraction
        self.constant_group_hit_rate: Optional[Statistic] = Statistic.read(data.get("constant_group_hit_rate"))
        #: hit rate of loads in the L2 partition next to the SM; fraction
        self.l2_near_hit_rate: Optional[Statistic] = Statistic.read(data.get("l2_near_hit_rate"))
        #: sectors that cross to the other L2 partition, per sector that loads look up; fraction
        self.l2_crossing_share: Optional[Statistic] = Statistic.read(data.get("l2_crossing_share"))
        #: mean latency of a read of DRAM, from the SM and back; ns
        self.dram_latency_ns: Optional[Statistic] = Statistic.read(data.get("dram_latency_ns"))
        #: bytes read from DRAM; bytes
        self.dram_read_bytes: Optional[float] = data.get("dram_read_bytes")
        #: bytes written to DRAM; bytes
        self.dram_write_bytes: Optional[float] = data.get("dram_write_bytes")
        #: bytes written to DRAM that were in the L2 before; bytes
        self.dram_write_bytes_before: Optional[float] = data.get("dram_write_bytes_before")
        #: share of first touches among the sectors that loads miss in the L2; fraction
        self.cold_miss_share: Optional[float] = data.get("cold_miss_share")
