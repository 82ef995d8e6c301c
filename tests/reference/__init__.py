"""Second, deliberately plain implementations: what the fast ones are compared against."""
