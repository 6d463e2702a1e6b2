"""The sections of the report page, one module each; all return HTML."""
