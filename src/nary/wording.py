"""Numbers of things in messages."""


def counted(number: int, one: str, more: str | None = None) -> str:
    """``1 fact``, ``2,000 facts``; ``more`` is the plural if it is not ``one`` and an s."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"
