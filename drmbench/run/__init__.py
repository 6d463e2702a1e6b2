"""From a plan of cells to stored results."""
