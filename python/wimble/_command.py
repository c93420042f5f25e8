"""The command `wimble`."""

import signal
import sys

from wimble import _wimble


def main() -> None:
    """Runs the command line of this process, as the binary does, and exits."""
    # Python turns Ctrl-C into an exception once Rust returns; the command handles it itself, at once.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_wimble.command(["wimble", *sys.argv[1:]]))
