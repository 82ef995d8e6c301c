"""HTTP server for a trained model: ``app`` builds and starts it, ``routes`` holds the endpoints."""
