#!/usr/bin/env python3
"""Repeats all that docs/sharing-and-power.md compares with others' figures, one part after the other, and fails where one of them does.

    thesis.py build/bin/warplens    kernels beside each other, powers, powers at other clocks, orders of issue, policies of co-scheduling: an hour
                                    or so of one core
"""

import pathlib
import sys

import beside
import modelled
import policies
import power

PARTS = ((beside, "check"), (beside, "camp"), (power, "check"), (power, "clocks"), (policies, "schedulers"), (policies, "barriers"), (policies, "partitions"), (policies, "pairs"))


def main(arguments):
    failed = []
    for part, verb in PARTS:
        print(f"\n{part.__name__}.py {verb}", flush=True)
        try:
            if part.main([verb, *arguments]) != 0:
                failed.append(f"{part.__name__}.py {verb}")
        except modelled.Failure as failure:
            failed.append(f"{part.__name__}.py {verb}: {failure}")
    print("\n" + ("failed: " + "; ".join(failed) if failed else "all of it holds"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [str(modelled.ROOT / "build/bin/warplens")]))
