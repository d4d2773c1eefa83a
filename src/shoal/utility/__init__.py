"""What a published table is still good for, measured from its cells as anyone who gets it would read them."""
