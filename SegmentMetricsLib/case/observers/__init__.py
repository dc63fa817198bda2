"""Several observers of the same structures: how they agree, their consensus, and whether a test is one of them.

With two observers there are all pairs and how well they agree. From three on there are also a consensus, every observer
against the consensus of the others, where they differ, and whether a test is within what they do.
"""
