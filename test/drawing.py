"""What laws draw their examples from."""

from hypothesis import strategies as st


def random_numbers(bits: int = 16) -> st.SearchStrategy[int]:
    """
    Draw numbers of so many bits, the same ones on every commit.

    Where hypothesis draws integers it tries constants that it finds in the source, so an edit
    anywhere would draw other examples.
    """
    digits = st.lists(st.booleans(), min_size=bits, max_size=bits)
    return digits.map(lambda drawn: sum(bit << k for k, bit in enumerate(drawn)))
