"""Haruna et al.: RAYDEN, reproduced."""
