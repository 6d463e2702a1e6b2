"""The experiment files: schema, loading and errors."""
