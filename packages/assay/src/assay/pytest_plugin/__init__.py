"""The pytest plug-in: suites as tests, and flows for people's own tests."""
