"""Runs scenarios of real clients against a `signet serve` each: run.py --signet PROGRAM [--list] [SCENARIO ...]"""

import argparse
import os
import sys
import traceback

import apache
import python_clients
from signet import Server


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--signet", help="the program signet")
    options.add_argument("--list", action="store_true", help="print the names of the scenarios")
    options.add_argument("scenarios", nargs="*", help="the names; all without any")
    given = options.parse_args()
    scenarios = {**python_clients.SCENARIOS, **apache.SCENARIOS}
    if given.list:
        print("\n".join(scenarios))
        return 0
    failed = 0
    for name in given.scenarios or scenarios:
        try:
            if name in apache.SCENARIOS:
                scenarios[name](given.signet)
            else:
                with Server(given.signet) as server:
                    scenarios[name](server)
            print(f"ok {name}", flush=True)
        except Exception:  # noqa: BLE001: each fault of a scenario is its failure
            failed += 1
            print(f"not ok {name}", file=sys.stderr)
            traceback.print_exc()
    count = len(given.scenarios or scenarios)
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed else 0


# The servers have plain http on a loopback address.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
sys.exit(main())
