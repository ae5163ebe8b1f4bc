"""Licences and terms of use, in whatever words they are said."""
