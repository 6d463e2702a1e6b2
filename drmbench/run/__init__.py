"""From experiments to stored results: plan, cells, worker processes and the store."""
