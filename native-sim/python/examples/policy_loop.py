"""A policy loop: how fast may a host write, so that reads beside the writes stay fast?

Each simulated millisecond the policy looks at the slowest read. A late one halves the rate of writes; else it grows a little.
"""

import random

import meldsim

TARGET_US = 400
READS = 4
READ_BLOCKS, WRITE_BLOCKS = 16, 64
MAX_WRITES = 8  # a millisecond


def simulate(adaptive, milliseconds=1000):
    """Returns the latency that 99 % of reads keep, in microseconds, and the MiB a second that were written."""
    rng = random.Random(1)
    with meldsim.Device("7450-pro") as device:
        space = device.namespace(1 << 30)
        device.preload(space, 0, space.blocks)
        reads, writes, latencies, written, rate, due = set(), set(), [], 0, MAX_WRITES, 0.0
        for _ in range(milliseconds):
            while len(reads) < READS:
                reads.add(device.submit("read", space, rng.randrange(space.blocks - READ_BLOCKS), READ_BLOCKS, posted=True))
            due = min(due + rate, MAX_WRITES)
            while due >= 1 and len(writes) < 64:
                at = rng.randrange(space.blocks // WRITE_BLOCKS) * WRITE_BLOCKS
                writes.add(device.submit("write", space, at, WRITE_BLOCKS, posted=True))
                due -= 1
            slowest = 0.0
            for ticket, latency_us in device.step(1000):
                if ticket in reads:
                    reads.remove(ticket)
                    latencies.append(latency_us)
                    slowest = max(slowest, latency_us)
                else:
                    writes.remove(ticket)
                    written += WRITE_BLOCKS * space.block_bytes
            if adaptive:
                late = slowest > TARGET_US
                rate = max(0.1, rate / 2) if late else min(MAX_WRITES, rate + 0.01)
    latencies.sort()
    return latencies[len(latencies) * 99 // 100], written / (milliseconds / 1000) / 2**20


if __name__ == "__main__":
    for name, adaptive in (("as fast as it can", False), ("the policy", True)):
        p99_us, written = simulate(adaptive)
        print(f"{name:17}: 99 % of reads within {p99_us:4.0f} us, {written:4.0f} MiB/s written (simulated)")
