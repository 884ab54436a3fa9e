"""From fio to a figure: IOPS over queue depth on two devices. Usage: fio_to_figure.py [FIGURE]. Needs matplotlib."""

import sys

import meldsim

sweep = meldsim.run(["7450-pro", "melded-tlc-8x8"], rw="randread", bs="4k", size="16m", iodepth=[1, 4, 16, 64])
for row in sweep.rows():
    print(f"{row['profile']:15} depth {row['iodepth']:2}: {row['iops']:9.0f} IOPS, 99 % within {row['p99_us']:5.0f} us (simulated)")
sweep.plot(x="iodepth", by="profile").figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "figure.pdf")
