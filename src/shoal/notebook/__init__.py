"""What a result shows when it is the last line of a notebook's cell."""
