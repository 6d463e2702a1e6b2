"""What is made of scores: for each analysis a tidy frame, and its table."""
