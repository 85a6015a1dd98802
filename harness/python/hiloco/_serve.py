"""The process of a component whose model is python:FILE:CLASS."""

import sys

from .model import serve

if __name__ == "__main__":
    file, name = sys.argv[1:3]
    sys.argv = [file, *sys.argv[3:]]
    try:
        sys.exit(serve(file, name))
    except (BrokenPipeError, ConnectionResetError):
        sys.exit(0)
