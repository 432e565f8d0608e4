import unittest

from totals import total


class Totals(unittest.TestCase):
    def test_without_a_discount(self):
        self.assertEqual(total([10, 20, 30]), 60)

    def test_with_a_discount(self):
        self.assertEqual(total([10, 20, 30], discount_percent=50), 30)


if __name__ == "__main__":
    unittest.main()
