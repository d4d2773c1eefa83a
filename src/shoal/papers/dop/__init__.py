"""Sharma, Kumar and Reddy: A density-driven anonymization framework, reproduced."""
