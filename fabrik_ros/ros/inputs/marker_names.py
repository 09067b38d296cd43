"""What nodes call the obstacles that they have from markers."""


def namespace_and_number(name: str) -> tuple[str, int]:
    """
    Split a name for a marker: an obstacle `part/1` has the namespace `part` and the number 1.

    Any other has its name for a namespace, and the number 0.
    """
    namespace, _, number = name.rpartition('/')
    if namespace and number.isdecimal() and str(int(number)) == number and len(number) < 10:
        return namespace, int(number)
    return name, 0


def name_in_node(name: str) -> str:
    """Name that a node gives to an obstacle whose name was split like that."""
    namespace, number = namespace_and_number(name)
    return f'{namespace}/{number}'
