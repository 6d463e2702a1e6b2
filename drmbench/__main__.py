"""Run the command line as ``python -m drmbench``."""

from drmbench.cli import main

if __name__ == "__main__":
    main()
