"""Tables, figures and checks from stored results."""
