"""The page of results: recorded results beside published figures, and a picture of them."""
