"""Ahmadi Khatir, Izadkhah and Razmara: GCAA, reproduced."""
