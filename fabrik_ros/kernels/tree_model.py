"""
Several arms on one base as one table of numbers, which is what the kernels read.

A row for each of the m moving joints, parents before children, then a row for each of the k tips.
Rows are those of `arm_table.py`, with one number more: the row of the joint above, or -1.

"""

PARENT = 17
