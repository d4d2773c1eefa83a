"""Where the stages run: on this machine with more records than memory likes (`streaming`), or elsewhere.

An engine reads a table through `shoal.io.blocks.Blocks`, block by block and as often as it needs, and hands
every stage what the table in memory would have given it: the same integer view, the same partition, the same
cells. So what it publishes is what the table in memory publishes.
"""
