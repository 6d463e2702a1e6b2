"""How methods are compared: splits, scaling, selection and metrics."""
