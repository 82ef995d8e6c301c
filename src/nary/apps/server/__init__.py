"""The HTTP server: the predictor as a JSON API, and the explorer page."""
