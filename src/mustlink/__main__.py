"""``python -m mustlink`` is the command."""

from mustlink.cli import main

if __name__ == "__main__":
    main()
