"""What an order costs."""


def total(prices, discount_percent=0):
    """The sum of the prices, less the discount."""
    full = sum(prices)
    return full - full * discount_percent / 10
