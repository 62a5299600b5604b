"""A stand-in for the package gest-api, written after its published description (version 0.2): names, members and errors
that generators rely on, without pydantic. Tests use the package itself where it is installed."""
